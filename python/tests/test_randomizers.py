"""Randomizers over arrays: laws, refusals, no copies, and the same coins whatever the threads."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy
import pytest
import shuffledp
from shuffledp import randomizers
from shuffledp.randomizers import Krr, RInf, Rr, SimulationRng, check_in, flatten, from_dict, shuffle, unflatten

VECTORS = [
    randomizers.RInf(local_epsilon=2.0, dimension=5, clip=0.5),
    randomizers.R1(local_epsilon=2.0, dimension=5, clip=0.5),
    randomizers.Duchi(local_epsilon=2.0, dimension=5, clip=0.5),
    randomizers.LdpSgd(local_epsilon=2.0, dimension=5, clip=0.5),
    randomizers.PrivUnit(local_epsilon=4.0, dimension=5, clip=0.5),
    randomizers.Gaussian(sigma=1.0, dimension=5, clip=0.5),
    randomizers.DiscreteGaussian(sigma=1.0, dimension=5, clip=0.5),
    randomizers.RoundedGaussian(sigma=1.0, dimension=5, clip=0.5),
    randomizers.Laplace(local_epsilon=4.0, dimension=5, clip=0.5),
    randomizers.DiscreteLaplace(local_epsilon=4.0, dimension=5, clip=0.5),
    randomizers.TopSet(local_epsilon=4.0, dimension=5, share=0.2, clip=0.5, public_seed=bytes(range(32))),
]
CATEGORIES = [Rr(local_epsilon=1.0), Krr(local_epsilon=1.0, categories=700)]

vectors = pytest.mark.parametrize("mechanism", VECTORS, ids=lambda mechanism: mechanism.name)
everything = pytest.mark.parametrize("mechanism", VECTORS + CATEGORIES, ids=lambda mechanism: mechanism.name)


def inputs(mechanism, count):
    """As many clients with different inputs, some of which have to be clipped."""
    rng = numpy.random.default_rng(5)
    if isinstance(mechanism, randomizers.CategoryRandomizer):
        return rng.integers(0, mechanism.categories, count)
    return rng.normal(scale=0.2, size=(count, mechanism.dimension)).astype(numpy.float32)


@everything
def test_a_batch_is_as_many_single_reports(mechanism):
    # More than one block, so that threads are at work.
    x = inputs(mechanism, 20_000 if mechanism.name in ("krr", "rr", "r-inf") else 5000)
    one, two = SimulationRng(3), SimulationRng(3)
    batch = mechanism.randomize_batch(x, rng=one)
    singles = [mechanism.randomize(item, rng=two) for item in x]
    assert batch.tolist() == (singles if batch.ndim == 1 else [list(report) for report in singles])
    # And the next batch goes on where this one ended.
    assert mechanism.randomize_batch(x[:10], rng=one).tolist() == mechanism.randomize_batch(x[:10], rng=two).tolist()


@everything
def test_released_coins_are_new_each_time(mechanism):
    x = inputs(mechanism, 200)
    assert mechanism.randomize_batch(x).tolist() != mechanism.randomize_batch(x).tolist()


@pytest.mark.parametrize(
    "mechanism", [m for m in VECTORS if m.name != "top-set"], ids=lambda mechanism: mechanism.name
)
def test_the_mean_is_unbiased(mechanism):
    x = numpy.tile(numpy.float32([0.2, -0.1, 0, 0.05, 0.1]), (20_000, 1))
    aggregator = mechanism.aggregator()
    assert aggregator.add_batch(mechanism.randomize_batch(x, rng=SimulationRng(1))) == 0
    assert aggregator.count == len(aggregator) == 20_000
    # The squared lengths of docs/randomizers.md are at most 8 here, so five standard deviations are 0.1.
    assert abs(aggregator.mean() - x[0]).max() < 0.1


@vectors
def test_float64_and_strides_are_the_same_vectors(mechanism):
    x = inputs(mechanism, 50)
    expected = mechanism.randomize_batch(x, rng=SimulationRng(1)).tolist()
    wide = numpy.zeros((50, 10), numpy.float32)
    wide[:, ::2] = x
    for same in [x.astype(numpy.float64), numpy.asfortranarray(x), wide[:, ::2], numpy.asfortranarray(x.astype(numpy.float64))]:
        assert mechanism.randomize_batch(same, rng=SimulationRng(1)).tolist() == expected


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_whole_numbers_of_every_type_are_categories(dtype):
    krr = Krr(local_epsilon=1.0, categories=100)
    x = numpy.arange(100)
    expected = krr.randomize_batch(x, rng=SimulationRng(1))
    assert (krr.randomize_batch(x.astype(dtype), rng=SimulationRng(1)) == expected).all()
    one, two = krr.aggregator(), krr.aggregator()
    one.add_batch(expected.astype(dtype))
    two.add_batch(krr.encode(expected))
    assert one.mean().tolist() == two.mean().tolist()


@vectors
def test_what_is_not_finite_is_refused_and_nothing_is_returned(mechanism):
    for wrong in [numpy.nan, numpy.inf, -numpy.inf, 1e39]:
        x = inputs(mechanism, 3000).astype(numpy.float64)
        x[2100, 3] = x[2900, 1] = wrong
        with pytest.raises(shuffledp.InputError) as refusal:
            mechanism.randomize_batch(x)
        assert str(refusal.value) == "input refused: a coordinate is NaN or infinite (row 2100)"
        with pytest.raises(shuffledp.InputError, match="^input refused: a coordinate is NaN or infinite$"):
            mechanism.randomize(x[2100])


def test_other_inputs_are_refused():
    mechanism, krr = VECTORS[0], Krr(local_epsilon=1.0, categories=7)
    unaligned = numpy.frombuffer(bytearray(81), dtype=numpy.uint8)[1:].view(numpy.float32).reshape(4, 5)
    for call, error, words in [
        (lambda: mechanism.randomize_batch(numpy.zeros((3, 4), "f4")), shuffledp.InputError, "the vector has 4 coordinates, and the mechanism takes 5 (row 0)"),
        (lambda: mechanism.randomize(numpy.zeros(4, "f4")), shuffledp.InputError, "the vector has 4 coordinates, and the mechanism takes 5"),
        (lambda: mechanism.randomize_batch(numpy.zeros(5, "f4")), ValueError, "x must have two dimensions or more, the first of them the clients, but has 1"),
        (lambda: mechanism.randomize_batch(numpy.zeros((3, 5, 5), "f4")), shuffledp.InputError, "the vector has 25 coordinates, and the mechanism takes 5 (row 0)"),
        (lambda: mechanism.randomize(numpy.zeros((2, 5), "f4")), shuffledp.InputError, "the vector has 10 coordinates, and the mechanism takes 5"),
        (lambda: mechanism.randomize([0.0] * 5), TypeError, "x must be a NumPy array of float32, float64 or float16, not list"),
        (lambda: mechanism.decode(b"\xff" * 3), shuffledp.ReportError, "report rejected"),
        (lambda: mechanism.decode(3), TypeError, "report must be bytes or a row of uint8"),
        (lambda: mechanism.randomize_batch(numpy.zeros((1, 5), "i4")), TypeError, "not an array of int32"),
        (lambda: mechanism.randomize_batch(unaligned), ValueError, "x is not aligned"),
        (lambda: krr.randomize(7), shuffledp.InputError, "input refused: the category is not below 7"),
        (lambda: krr.randomize(-1), shuffledp.InputError, "input refused: the category is not below 7"),
        (lambda: krr.randomize_batch(numpy.array([0, 3, -1, 9])), shuffledp.InputError, "the category is not below 7 (row 2)"),
        (lambda: krr.randomize_batch(numpy.array([0.5])), TypeError, "x must be a NumPy array of whole numbers, not an array of float64"),
        (lambda: RInf(local_epsilon=1.0, dimension=0, clip=1.0), shuffledp.ParameterError, "dimension must be at least 1, but is 0"),
        (lambda: RInf(local_epsilon=1.0, dimension=5, clip=0.0), shuffledp.ParameterError, "clip must be a finite number above 0, but is 0"),
        (lambda: RInf(local_epsilon=-1.0, dimension=5, clip=1.0), shuffledp.ParameterError, "local_epsilon must be a finite number of at least 0"),
        (lambda: randomizers.VectorRandomizer("krr", dimension=2, clip=1.0, local_epsilon=1.0), shuffledp.ParameterError, "randomizer krr needs categories"),
        (lambda: randomizers.CategoryRandomizer("r-inf", local_epsilon=1.0), shuffledp.ParameterError, "not a mechanism over categories"),
        (lambda: mechanism.aggregator().mean(), shuffledp.NoAnswerError, "no estimate: there are no reports yet"),
    ]:
        with pytest.raises(error) as refusal:
            call()
        assert words in str(refusal.value)


@everything
def test_reports_one_by_one_or_merged_are_a_batch(mechanism):
    reports = mechanism.randomize_batch(inputs(mechanism, 3000), rng=SimulationRng(2))
    whole, apart, other = mechanism.aggregator(), mechanism.aggregator(), mechanism.aggregator()
    whole.add_batch(reports)
    for report in reports[:1000]:
        apart.add(report if reports.ndim == 1 else report.tobytes())
    other.add_batch(reports[1000::2])
    apart.add_batch(reports[1001::2])
    before = copy.copy(apart)
    apart.merge(other)
    assert before.count == 2000 and apart.count == whole.count == 3000
    assert numpy.allclose(apart.mean(), whole.mean(), rtol=0, atol=1e-12)


def test_what_no_client_sent_is_refused_and_changes_nothing():
    krr = Krr(local_epsilon=1.0, categories=700)
    frames = krr.encode(krr.randomize_batch(inputs(krr, 40_000), rng=SimulationRng(1)))
    frames[[20_001, 30_000]] = 255
    aggregator = krr.aggregator()
    with pytest.raises(shuffledp.ReportError, match=r"^report rejected: it says 65535, and this mechanism says at most 699 \(row 20001\)$"):
        aggregator.add_batch(frames)
    assert aggregator.count == 0
    assert aggregator.add_batch(frames, skip_rejected=True) == 2
    assert aggregator.count == 39_998
    for wrong in [b"", b"\0\0\0", 700, -1, 2**40]:
        with pytest.raises(shuffledp.ReportError):
            aggregator.add(wrong)
    with pytest.raises(shuffledp.ReportError, match="not categories"):
        VECTORS[0].aggregator().add_batch(numpy.arange(3))
    with pytest.raises(shuffledp.NoAnswerError, match="different mechanisms"):
        aggregator.merge(Krr(local_epsilon=2.0, categories=700).aggregator())
    assert aggregator.count == 39_998


def test_intervals_hold_the_truth():
    krr = Krr(local_epsilon=1.0, categories=4)
    aggregator = krr.aggregator()
    aggregator.add_batch(krr.randomize_batch(numpy.repeat([0, 1, 2, 3], [4000, 3000, 2000, 1000]), rng=SimulationRng(4)))
    every, each = aggregator.intervals(confidence=0.99), aggregator.intervals(confidence=0.99, coverage="each")
    truth = numpy.array([0.4, 0.3, 0.2, 0.1])
    assert (every.lower < each.lower).all() and (each.upper < every.upper).all()
    assert (every.lower < truth).all() and (truth < every.upper).all()
    assert every.estimate.tolist() == aggregator.mean().tolist()
    assert (every.upper - every.lower).max() < 0.2
    with pytest.raises(shuffledp.NoAnswerError, match="no interval is known"):
        VECTORS[5].aggregator().intervals()
    with pytest.raises(shuffledp.ParameterError, match="confidence must be at least 0.5 and below 1"):
        aggregator.intervals(confidence=1.0)


@everything
def test_accounting_takes_the_randomizer_itself(mechanism):
    named = dict(randomizer=mechanism.name)
    for name in ("local_epsilon", "sigma", "categories", "share"):
        if f"{name}=" in repr(mechanism):
            named[name] = pickle.loads(pickle.dumps(mechanism)).__getnewargs_ex__()[1][name]
    if mechanism.name in ("priv-unit", "top-set"):
        named["dimension"] = mechanism.dimension
    assert shuffledp.epsilon(clients=1000, randomizer=mechanism, delta=1e-6) == shuffledp.epsilon(clients=1000, delta=1e-6, **named)
    with pytest.raises(shuffledp.ParameterError, match="local_epsilon is already in the randomizer that was passed; leave it out"):
        shuffledp.epsilon(clients=1000, randomizer=mechanism, local_epsilon=1, delta=1e-6)


@everything
def test_copies_are_equal(mechanism):
    again = pickle.loads(pickle.dumps(mechanism))
    assert again == mechanism and hash(again) == hash(mechanism) and type(again) is type(mechanism)
    assert repr(again) == repr(mechanism)
    assert RInf(local_epsilon=1.0, dimension=5, clip=0.5) != VECTORS[0] != CATEGORIES[0]
    by_name = randomizers.VectorRandomizer("r-inf", local_epsilon=2.0, dimension=5, clip=0.5)
    assert pickle.loads(pickle.dumps(by_name)) == by_name


def test_top_set_finds_the_direction_over_rounds():
    """Every round has a rotation of its own; what is left of one round's bias shrinks with their number."""
    x = numpy.random.default_rng(1).normal(size=64).astype(numpy.float32)
    x /= numpy.linalg.norm(x)
    clients = numpy.tile(x, (1000, 1))

    def cosine(rounds):
        total = numpy.zeros(64)
        for seed in rounds:
            mechanism = randomizers.TopSet(
                local_epsilon=4.0, dimension=64, share=0.125, clip=1.0, public_seed=seed.to_bytes(32, "little")
            )
            aggregator = mechanism.aggregator()
            aggregator.add_batch(mechanism.randomize_batch(clients, rng=SimulationRng(seed)))
            total += aggregator.mean() / len(rounds)
        return total @ x / numpy.linalg.norm(total), total @ x

    one, many = cosine(range(1)), cosine(range(40))
    # The same seed in all rounds: the bias stays.
    again = cosine([7] * 40)
    assert one[0] < 0.9 and again[0] < 0.9 and many[0] > 0.97
    # Its length is right for a dense vector: within what 64 coordinates and 40,000 reports leave.
    assert abs(many[1] - 1) < 0.06


def test_public_seeds_are_top_sets_alone():
    mechanism = VECTORS[-1]
    assert mechanism.public_seed == bytes(range(32)) and VECTORS[0].public_seed is None
    assert "public_seed=b'" in repr(mechanism)
    parameters = dict(local_epsilon=4.0, dimension=5, share=0.2, clip=0.5)
    other = randomizers.TopSet(**parameters, public_seed=bytes(32))
    assert mechanism != other and hash(mechanism) != hash(other)
    # Reports of two rounds cannot be added up.
    aggregators = [of.aggregator() for of in (mechanism, other)]
    with pytest.raises(shuffledp.NoAnswerError, match="different rounds"):
        aggregators[0].merge(aggregators[1])
    with pytest.raises(shuffledp.NoAnswerError, match="no interval is known"):
        aggregators[0].intervals()
    for wrong, words in [
        (lambda: randomizers.TopSet(**parameters, public_seed=bytes(31)), "public_seed must be 32 bytes, but has 31"),
        (lambda: randomizers.TopSet(**{**parameters, "share": 0.6}), "share must be above 0 and at most 0.5, but is 0.6"),
        (lambda: randomizers.TopSet(**{**parameters, "share": 0.0}), "share must be above 0 and at most 0.5, but is 0"),
        (lambda: randomizers.TopSet(**{**parameters, "dimension": 1}), "dimension must be between 2 and 1e9, but is 1"),
        (
            lambda: randomizers.VectorRandomizer("r-1", local_epsilon=1.0, dimension=5, clip=1.0, public_seed=bytes(32)),
            "public_seed belongs to randomizer top-set",
        ),
        (lambda: randomizers.VectorRandomizer("top-set", local_epsilon=1.0, dimension=5, clip=1.0), "top-set needs share"),
    ]:
        with pytest.raises(shuffledp.ParameterError) as refusal:
            wrong()
        assert words in str(refusal.value)
    with pytest.raises(TypeError):
        randomizers.TopSet(**parameters, public_seed=5)


def test_shuffling_is_a_permutation():
    x = numpy.arange(5000, dtype=numpy.uint16).reshape(1000, 5)
    mixed = shuffle(x, rng=SimulationRng(1))
    assert sorted(mixed.tolist()) == x.tolist() != mixed.tolist()
    assert shuffle(x, rng=SimulationRng(1)).tolist() == mixed.tolist()
    assert shuffle(x).tolist() != shuffle(x).tolist()


def test_control_c_is_heard_in_a_batch():
    # Half a minute's work.
    x = numpy.zeros((3_000, 20_000), numpy.float32)
    mechanism = randomizers.DiscreteGaussian(sigma=1.0, dimension=20_000, clip=1.0)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            mechanism.randomize_batch(x)
    finally:
        timer.cancel()
    assert mechanism.randomize_batch(x[:3]).shape == (3, mechanism.frame_len)


MILLION = """
import resource, sys, numpy
from shuffledp.randomizers import RInf, Krr, SimulationRng
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
mechanism = RInf(local_epsilon=2.0, dimension=64, clip=1.0)
x = numpy.ones((1_000_000, 64), numpy.float32)
mechanism.aggregator().add_batch(mechanism.randomize_batch(x[:100_000]))
before = peak()
frames = mechanism.randomize_batch(x)
after = peak()
aggregator = mechanism.aggregator()
aggregator.add_batch(frames)
wide = numpy.zeros((1_000_000, 256), numpy.uint8)
wide[:, 0] = frames[:, 0]
last = peak()
other = mechanism.aggregator()
other.add_batch(wide[:, :1])
assert other.count == aggregator.count == 1_000_000
assert other.mean().tolist() == aggregator.mean().tolist()
print(after - before, peak() - last, x.nbytes, wide.nbytes)
"""


def test_a_million_reports_are_not_copied(tmp_path):
    """In a process of its own, for the peak of memory never goes down."""
    done = subprocess.run([sys.executable, "-c", MILLION], capture_output=True, text=True, check=True, cwd=tmp_path)
    randomizing, adding, vectors, reports = map(int, done.stdout.split())
    assert vectors == reports == 256_000_000
    # What is returned is a megabyte; the rest is the allocator's and the threads' own.
    assert randomizing < 20_000_000
    assert adding < 20_000_000


@vectors
def test_float16_and_arrays_of_any_shape_are_vectors(mechanism):
    x = inputs(mechanism, 30).astype(numpy.float16)
    expected = mechanism.randomize_batch(x.astype(numpy.float32), rng=SimulationRng(1)).tolist()
    assert mechanism.randomize_batch(x, rng=SimulationRng(1)).tolist() == expected
    assert mechanism.randomize_batch(x.reshape(30, 5, 1), rng=SimulationRng(1)).tolist() == expected
    strided = numpy.asfortranarray(x.astype(numpy.float32).reshape(30, 1, 5))
    assert mechanism.randomize_batch(strided, rng=SimulationRng(1)).tolist() == expected
    rng = SimulationRng(1)
    assert list(mechanism.randomize(x[0].reshape(5, 1), rng=rng)) == expected[0]
    assert list(mechanism.randomize(x[1:2], rng=rng)) == expected[1]
    assert mechanism.randomize_batch(x[:0].reshape(0, 1, 5)).shape == (0, mechanism.frame_len)


def test_a_vector_that_is_randomized_is_not_changed():
    x = numpy.full((2, 5), 9.0, numpy.float32)
    VECTORS[0].randomize_batch(x.reshape(2, 5, 1))
    assert (x == 9).all()


@everything
def test_an_aggregator_that_was_pickled_goes_on(mechanism):
    """Two workers add up a share each, and send what they have; one is asked for the whole."""
    reports = mechanism.randomize_batch(inputs(mechanism, 900), rng=SimulationRng(2))
    whole = mechanism.aggregator()
    whole.add_batch(reports)
    arrived = []
    for share in (reports[:400], reports[400:]):
        worker = mechanism.aggregator()
        worker.add_batch(share)
        arrived.append(pickle.loads(pickle.dumps(worker)))
    one, other = arrived
    one.merge(other)
    assert one.count == 900 and numpy.allclose(one.mean(), whole.mean(), rtol=0, atol=1e-12)
    assert one.randomizer == mechanism and one.randomizer is not mechanism
    empty = pickle.loads(pickle.dumps(mechanism.aggregator()))
    empty.merge(whole)
    assert empty.mean().tolist() == whole.mean().tolist()


def test_an_aggregator_that_was_altered_on_the_way_is_refused():
    krr = Krr(local_epsilon=1.0, categories=4)
    aggregator = krr.aggregator()
    aggregator.add_batch(numpy.array([0, 1, 2, 2]))
    restore, (randomizer, saved) = aggregator.__reduce__()
    assert restore(randomizer, saved).mean().tolist() == aggregator.mean().tolist()
    for wrong in [b"", saved[:-1], bytes([9]) + saved[1:], saved[:-1] + b"\1", saved + bytes(8)]:
        with pytest.raises(shuffledp.StateError, match="the saved aggregate is not one of these"):
            restore(randomizer, wrong)
    with pytest.raises(shuffledp.StateError, match="of another size"):
        restore(Krr(local_epsilon=1.0, categories=5), saved)


@everything
def test_parameters_can_be_read_and_written(mechanism):
    import json

    written = json.loads(json.dumps(mechanism.to_dict()))
    assert written["randomizer"] == mechanism.name
    again = from_dict(written)
    assert again == mechanism and type(again) is type(mechanism)
    for name, value in mechanism.parameters.items():
        assert getattr(mechanism, name) == value
    assert repr(mechanism) == f"{type(mechanism).__name__}({', '.join(f'{k}={v!r}' for k, v in mechanism.parameters.items())})"


def test_what_a_randomizer_does_not_have_is_none():
    assert (VECTORS[0].sigma, VECTORS[0].share, VECTORS[5].local_epsilon) == (None, None, None)
    for wrong, words in [
        ({}, "randomizer must be one of rr, krr, r-inf"),
        ({"randomizer": "any", "local_epsilon": 1}, "but is 'any'"),
        ({"randomizer": "rr", "local_epsilon": 1, "sigma": 2}, "sigma does not belong to randomizer rr"),
        ({"randomizer": "krr", "local_epsilon": 1}, "randomizer krr: .*categories"),
    ]:
        with pytest.raises(shuffledp.ParameterError, match=words):
            from_dict(wrong)


@everything
def test_a_report_is_decoded_to_what_it_says(mechanism):
    reports = mechanism.randomize_batch(inputs(mechanism, 20), rng=SimulationRng(8))
    if reports.ndim == 1:
        frames = mechanism.encode(reports)
        assert [mechanism.decode(frame) for frame in frames] == reports.tolist()
        assert mechanism.decode(frames[3].tobytes()) == reports[3]
        with pytest.raises(shuffledp.ReportError):
            mechanism.decode(bytes(mechanism.frame_len + 1))
        return
    aggregator = mechanism.aggregator()
    aggregator.add_batch(reports)
    decoded = numpy.mean([mechanism.decode(report) for report in reports], axis=0)
    assert numpy.allclose(decoded, aggregator.mean(), rtol=0, atol=1e-9)


def test_simulations_go_on_where_they_were():
    rng = SimulationRng(5)
    krr = CATEGORIES[1]
    krr.randomize_batch(numpy.arange(7), rng=rng)
    again = pickle.loads(pickle.dumps(rng))
    assert (again.seed, again.position) == (5, 7) and again == rng == SimulationRng(5, position=7)
    assert copy.deepcopy(rng) == rng and repr(again) == "SimulationRng(seed=5, position=7)"
    assert krr.randomize_batch(numpy.arange(50), rng=again).tolist() == krr.randomize_batch(numpy.arange(50), rng=rng).tolist()
    assert again == rng != SimulationRng(5)
    with pytest.raises(TypeError):
        hash(rng)


def test_the_coin_of_a_check_in_is_as_likely_as_accounted_for():
    assert check_in(0.0, 1000).sum() == 0 and check_in(1.0, 1000).all()
    shown = check_in(0.25, 100_000)
    # Five standard deviations are 0.007.
    assert shown.dtype == bool and abs(shown.mean() - 0.25) < 0.007
    assert check_in(0.5, 1000, rng=SimulationRng(3)).tolist() == check_in(0.5, 1000, rng=SimulationRng(3)).tolist()
    assert check_in(0.5, 1000).tolist() != check_in(0.5, 1000).tolist()
    assert {type(check_in(0.5)), type(check_in(0.5, rng=SimulationRng(1)))} == {bool}
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(shuffledp.ParameterError, match="rate must be between 0 and 1"):
            check_in(wrong)


def test_lists_of_arrays_are_vectors_and_back():
    weights = [numpy.arange(6.0).reshape(2, 3), numpy.float32(7), numpy.arange(8, 10, dtype=numpy.float16), numpy.zeros((0, 4))]
    vector = flatten(weights)
    assert vector.dtype == numpy.float32 and vector.tolist() == [0, 1, 2, 3, 4, 5, 7, 8, 9]
    back = unflatten(vector, [numpy.asarray(part) for part in weights])
    assert [(part.shape, part.dtype) for part in back] == [(numpy.shape(part), numpy.asarray(part).dtype) for part in weights]
    assert all((part == whole).all() for part, whole in zip(back, weights))
    by_shape = unflatten(vector, [(3, 3)])
    assert by_shape[0].shape == (3, 3)
    by_shape[0][0, 0] = 5
    assert vector[0] == 0
    with pytest.raises(ValueError, match=r"vector must have one dimension and 8 numbers, but has the shape \(9,\)"):
        unflatten(vector, [(2, 4)])
    with pytest.raises(TypeError, match="number 1 is of complex128"):
        flatten([numpy.zeros(2), numpy.zeros(2, complex)])
