"""Asking: what is accepted, what is refused, what comes back."""

from __future__ import annotations

import math
import threading

import numpy
import pytest
import shuffledp

ROUND = dict(clients=10_000, local_epsilon=1.0)


def test_whole_numbers_may_be_written_as_people_write_them():
    expected = shuffledp.epsilon(clients=1_000_000, local_epsilon=2, rounds=10, delta=1e-6)
    for million, ten in [(1e6, 10.0), (numpy.int64(1_000_000), numpy.uint8(10)), (numpy.float64(1e6), 10)]:
        assert shuffledp.epsilon(clients=million, local_epsilon=2, rounds=ten, delta=1e-6) == expected


@pytest.mark.parametrize("clients", [1.5, -5, math.nan, math.inf, 2**60, 2**70, -(2**70), 1e300])
def test_what_is_not_a_count_is_refused(clients):
    with pytest.raises(shuffledp.ParameterError, match="^clients must be .*between 1 and 2\\^53, but is "):
        shuffledp.epsilon(clients=clients, local_epsilon=1, delta=1e-6)


def test_wrong_types_and_unknown_names_are_type_errors():
    with pytest.raises(TypeError, match="clients must be a whole number, not str"):
        shuffledp.epsilon(clients="many", local_epsilon=1, delta=1e-6)
    with pytest.raises(TypeError, match="local_epsilon must be a number, not dict"):
        shuffledp.epsilon(clients=10, local_epsilon={}, delta=1e-6)
    with pytest.raises(TypeError, match="clients"):
        shuffledp.epsilon(local_epsilon=1, delta=1e-6)
    with pytest.raises(TypeError, match="unexpected keyword argument 'local_epsilom'"):
        shuffledp.epsilon(clients=10, local_epsilom=1, delta=1e-6)
    with pytest.raises(TypeError, match="delta"):
        shuffledp.epsilon(clients=10, local_epsilon=1)
    with pytest.raises(TypeError, match="positional"):
        shuffledp.epsilon(1e-6, clients=10, local_epsilon=1)


@pytest.mark.parametrize(
    "wrong, words",
    [
        (dict(clients=10), "randomizer any needs local_epsilon"),
        (dict(clients=10, randomizer="rappor", local_epsilon=1), "'rappor' is not a randomizer; use one of any, rr, "),
        (dict(clients=10, sampled=5, check_in=0.5, local_epsilon=1), "sampled cannot be used with check_in"),
        (dict(clients=10, drop_out=0.5, local_epsilon=1), "drop_out needs check_in"),
        (dict(clients=10, local_epsilon=1, standing="hearsay"), "'hearsay' is not a standing"),
    ],
)
def test_refusals_say_what_to_change(wrong, words):
    with pytest.raises(shuffledp.ParameterError) as refusal:
        shuffledp.epsilon(delta=1e-6, **wrong)
    assert words in str(refusal.value)
    assert isinstance(refusal.value, ValueError)


def test_none_counts_as_not_given():
    spelled_out = dict(sampled=None, check_in=None, drop_out=None, randomizer=None, sigma=None, rounds=None, standing=None)
    assert shuffledp.epsilon(delta=1e-6, **ROUND, **spelled_out) == shuffledp.epsilon(delta=1e-6, **ROUND)


def test_exactly_one_number_is_given():
    for given in [{}, dict(delta=1e-6, epsilon=1.0), dict(delta=1e-6, order=2.0)]:
        with pytest.raises(shuffledp.ParameterError, match="exactly one of delta, epsilon and order"):
            shuffledp.explain(**ROUND, **given)


def test_a_remembered_answer_is_the_answer():
    questions = [dict(clients=1 + i % 10, local_epsilon=0.5 + i) for i in range(300)]
    first = [shuffledp.epsilon(delta=1e-5, **question) for question in questions]
    # More than are remembered, then backwards: some are computed again.
    assert [shuffledp.epsilon(delta=1e-5, **question) for question in reversed(questions)] == first[::-1]
    # The standing is not part of what is remembered.
    question = dict(clients=1000, randomizer="gaussian", sigma=9.0, delta=1e-5)
    proven, believed = shuffledp.epsilon(**question), shuffledp.epsilon(standing="conjectured", **question)
    assert believed < proven == shuffledp.epsilon(**question)


def test_threads_may_ask_at_once():
    expected = [shuffledp.epsilon(clients=5000 + i, local_epsilon=1, delta=1e-7) for i in range(8)]
    found = [math.nan] * 8

    def ask(i):
        found[i] = shuffledp.epsilon(clients=5000 + i, local_epsilon=1, delta=1e-7)

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_bounds_are_a_list_and_a_frame():
    bounds = shuffledp.bounds(delta=1e-6, rounds=5, **ROUND)
    frame = bounds.to_frame()
    assert [bound.id for bound in bounds] == frame.index.tolist()
    assert [bound.value for bound in bounds] == frame["value"].tolist()
    assert set(frame["standing"]) >= {"rigorous", "lower"}
    rigorous = frame[frame["standing"] == "rigorous"]["value"].min()
    assert rigorous == shuffledp.epsilon(delta=1e-6, rounds=5, **ROUND)
    assert frame[frame["standing"] == "lower"]["value"].max() <= rigorous
    assert all(bound.citation for bound in bounds)
    assert "<code>displacement-any-pld</code>" in bounds._repr_html_()


def test_an_answer_shows_what_it_is():
    answer = shuffledp.explain(delta=1e-6, **ROUND)
    assert repr(answer).startswith(f"Answer(epsilon={answer.value!r}, method=")
    with pytest.raises(AttributeError):
        answer.value = 0.0


def test_a_loss_distribution_gives_the_same_delta():
    loss = shuffledp.loss_distribution(rounds=30, **ROUND)
    assert loss.losses.dtype == loss.probabilities.dtype == numpy.float64
    assert 1 - 1e-12 <= loss.probabilities.sum() + loss.infinity < 1 + 1e-6
    for epsilon in (0.0, 0.05, 0.1, 0.2):
        asked = shuffledp.delta(epsilon=epsilon, rounds=30, **ROUND)
        assert loss.delta(epsilon) == pytest.approx(asked, rel=1e-3, abs=1e-12)


def test_a_loss_distribution_has_what_is_charged_to_delta_at_infinity():
    for question in [
        dict(clients=1000, sampled=100, randomizer="gaussian", sigma=3.0, rounds=5),
        dict(clients=1000, randomizer="approximate", local_epsilon=1.0, local_delta=1e-8, rounds=5),
    ]:
        loss = shuffledp.loss_distribution(**question)
        accountant = shuffledp.Accountant()
        rounds = question.pop("rounds")
        accountant.compose(count=rounds, **question)
        assert loss.infinity >= rounds * question.get("local_delta", 0.0)
        for epsilon in (0.0, 0.02, 0.05):
            assert loss.delta(epsilon) == pytest.approx(accountant.delta(epsilon), rel=1e-3)


def test_rdp_curves_convert_to_epsilon():
    """Converted by dp_accounting, the curve gives our own Rényi bound, and not less than the loss distribution."""
    from dp_accounting import rdp

    question = dict(clients=100_000, local_epsilon=1.0, rounds=200)
    curve = shuffledp.rdp_curve(**question)
    assert (numpy.diff(curve.divergences) > 0).all()
    epsilon, _ = rdp.compute_epsilon(curve.orders, curve.divergences, 1e-8)
    bound = {bound.id: bound.value for bound in shuffledp.bounds(delta=1e-8, **question)}["any-ldp-rdp"]
    # Theirs has the listed orders only, and the best one is between 63 and 128.
    assert bound * (1 - 1e-9) <= epsilon <= bound * 1.05
    assert shuffledp.epsilon(delta=1e-8, **question) <= epsilon
    with pytest.raises(ValueError, match="2 dimensions"):
        shuffledp.rdp_curve([[2.0]], **question)
    with pytest.raises(shuffledp.ParameterError, match="order must be a finite number above 1"):
        shuffledp.rdp_curve([1.0], **question)
