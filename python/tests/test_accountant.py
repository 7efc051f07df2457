"""The running accountant."""

from __future__ import annotations

import copy
import pickle
import random

import pytest
import shuffledp

TRAINING = dict(clients=60_000, sampled=600, randomizer="ldp-sgd", local_epsilon=1.0)
SURVEY = dict(clients=60_000, randomizer="krr", categories=8, local_epsilon=1.5)


def composed() -> shuffledp.Accountant:
    accountant = shuffledp.Accountant()
    accountant.compose(count=100, **TRAINING)
    accountant.compose(**SURVEY)
    accountant.compose_gaussian(noise_multiplier=40.0, count=3)
    accountant.compose_laplace(noise_multiplier=100.0)
    accountant.compose_randomized_response(noise_parameter=0.99, num_buckets=4)
    return accountant


def test_nothing_costs_nothing():
    accountant = shuffledp.Accountant()
    assert (accountant.epsilon(1e-9), accountant.delta(0.0), accountant.local_epsilon(), len(accountant)) == (0, 0, 0, 0)
    with pytest.raises(shuffledp.ParameterError, match="delta must be strictly between 0 and 1, but is 2"):
        accountant.epsilon(2.0)


def test_ten_at_once_are_ten_times_one():
    once, singly = shuffledp.Accountant(), shuffledp.Accountant()
    once.compose(count=10, **TRAINING)
    once.compose_randomized_response(noise_parameter=0.9, num_buckets=3, count=10)
    for _ in range(10):
        singly.compose(**TRAINING)
        singly.compose_randomized_response(noise_parameter=0.9, num_buckets=3)
    assert once == singly and len(once) == 20
    assert once.epsilon(1e-7) == singly.epsilon(1e-7)
    assert once.delta(0.1) == singly.delta(0.1)


@pytest.mark.parametrize(
    "round_, count",
    [
        (dict(clients=1_000_000, sampled=1000, local_epsilon=2), 100_000),
        (dict(clients=1000, randomizer="rr", local_epsilon=1), 3),
        (dict(clients=20, randomizer="krr", categories=5, local_epsilon=1), 7),
        (dict(clients=5000, check_in=0.1, randomizer="gaussian", sigma=3), 50),
        (dict(clients=100, randomizer="gaussian", sigma=0.5), 2),
        (dict(clients=800, check_in=0.125, randomizer="priv-unit", dimension=500, local_epsilon=4), 2),
        (dict(clients=800, check_in=0.125, randomizer="top-set", dimension=500, share=0.25, local_epsilon=2), 2),
    ],
)
def test_the_question_and_the_accountant_agree(round_, count):
    accountant = shuffledp.Accountant()
    accountant.compose(count=count, **round_)
    assert accountant.epsilon(1e-8) == shuffledp.epsilon(rounds=count, delta=1e-8, **round_)
    assert accountant.delta(0.3) == shuffledp.delta(rounds=count, epsilon=0.3, **round_)


def test_an_epsilon_that_no_round_reaches_has_no_delta():
    """One in a hundred speaks: a round loses at most ln(1 + 0.01·(e − 1)) = 0.0171, whatever is reported, and two of them less than 0.05."""
    accountant = shuffledp.Accountant()
    accountant.compose(count=2, clients=60_000, sampled=600, local_epsilon=1.0)
    for epsilon in (0.05, 0.5):
        assert accountant.delta(epsilon) < 1e-200


def test_a_refused_round_leaves_nothing_behind():
    accountant = composed()
    before, epsilon = accountant.to_json(), accountant.epsilon(1e-6)
    for wrong, error in [
        (dict(clients=0, local_epsilon=1), shuffledp.ParameterError),
        (dict(clients=10, local_epsilon=40), shuffledp.ShuffledpError),
        (dict(clients=10, local_epsilon=1, count=0), shuffledp.ParameterError),
        (dict(clients=10, local_epsilon=1, count=-3), shuffledp.ParameterError),
        (dict(clients=10, local_epsilon=1, count=1.5), shuffledp.ParameterError),
        (dict(count=2**53, **TRAINING), shuffledp.NumericalError),
        (dict(clients=10, local_epsilon=1, rounds=3), TypeError),
    ]:
        with pytest.raises(error):
            accountant.compose(**wrong)
    for noise in (0.0, -1.0, 1e-3, float("nan"), float("inf")):
        with pytest.raises(shuffledp.ParameterError, match="noise_multiplier must be a finite number of at least 0.002"):
            accountant.compose_gaussian(noise_multiplier=noise)
    with pytest.raises(shuffledp.ParameterError, match="noise_parameter must be strictly between 0 and 1"):
        accountant.compose_randomized_response(noise_parameter=1.0, num_buckets=2)
    assert (accountant.to_json(), accountant.epsilon(1e-6)) == (before, epsilon)


def test_composing_changes_the_answer():
    accountant = composed()
    before = accountant.epsilon(1e-6)
    accountant.compose(**SURVEY)
    assert accountant.epsilon(1e-6) > before


def test_saved_and_loaded(tmp_path):
    accountant = composed()
    path = tmp_path / "ledger.json"
    accountant.save(path)
    accountant.save(str(path))
    assert [entry.name for entry in tmp_path.iterdir()] == ["ledger.json"]
    loaded = shuffledp.Accountant.load(path)
    assert loaded == accountant and loaded.epsilon(1e-6) == accountant.epsilon(1e-6)
    for text in ["", "{}", path.read_text()[:-20], path.read_text().replace("replace-one", "add-remove")]:
        path.write_text(text)
        with pytest.raises(shuffledp.StateError, match="saved state rejected"):
            shuffledp.Accountant.load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(shuffledp.StateError, match="not text"):
        shuffledp.Accountant.load(path)
    with pytest.raises(FileNotFoundError):
        shuffledp.Accountant.load(tmp_path / "nowhere.json")


def test_every_float_survives_saving():
    """A ledger that comes back with another last digit would count the same round as two."""
    draw = random.Random(7)
    for _ in range(300):
        accountant = shuffledp.Accountant()
        accountant.compose(clients=1000, check_in=draw.random(), local_epsilon=draw.random() * 10 ** draw.randint(-8, 0))
        assert shuffledp.Accountant.from_json(accountant.to_json()) == accountant


def test_copies_are_independent():
    accountant = composed()
    for twin in (copy.copy(accountant), copy.deepcopy(accountant), pickle.loads(pickle.dumps(accountant))):
        assert twin == accountant
        twin.compose(**SURVEY)
        assert twin != accountant


def test_merging():
    one, other, both = shuffledp.Accountant(), shuffledp.Accountant(), shuffledp.Accountant()
    one.compose(**TRAINING)
    other.compose(count=2, **TRAINING)
    other.compose_laplace(noise_multiplier=9)
    both.compose(count=3, **TRAINING)
    both.compose_laplace(noise_multiplier=9)
    one.merge(other)
    assert one == both
    one.merge(one)
    assert len(one) == 8


def test_the_local_epsilon_is_what_collusion_leaves():
    accountant = shuffledp.Accountant()
    accountant.compose(count=3, clients=100, local_epsilon=0.5)
    accountant.compose_laplace(noise_multiplier=8)
    assert accountant.local_epsilon() == pytest.approx(1.75, rel=1e-12)
    accountant.compose_gaussian(noise_multiplier=8)
    assert accountant.local_epsilon() == float("inf")


def test_its_loss_distribution():
    accountant = composed()
    loss = shuffledp.loss_distribution(accountant)
    assert loss.delta(0.2) == pytest.approx(accountant.delta(0.2), rel=1e-3)
    with pytest.raises(TypeError, match="either an accountant or"):
        shuffledp.loss_distribution(accountant, clients=10, local_epsilon=1)


def test_composing_can_be_chained():
    accountant = shuffledp.Accountant()
    chained = accountant.compose(**TRAINING).compose_gaussian(noise_multiplier=40).compose_laplace(noise_multiplier=90)
    assert chained is accountant and chained.merge(composed()) is accountant
    assert accountant.compose_randomized_response(noise_parameter=0.9, num_buckets=3) is accountant


def test_a_round_that_would_exceed_the_budget_is_known_before():
    accountant = shuffledp.Accountant().compose(**SURVEY)
    delta = 1e-6
    left = accountant.rounds_left(epsilon=0.4, delta=delta, **TRAINING)
    assert left > 10 and len(accountant) == 1
    assert not accountant.would_exceed(epsilon=0.4, delta=delta, count=left, **TRAINING)
    assert accountant.would_exceed(epsilon=0.4, delta=delta, count=left + 1, **TRAINING)
    # What is said beforehand is what is found afterwards, on both sides.
    within = copy.copy(accountant).compose(count=left, **TRAINING).epsilon(delta)
    beyond = copy.copy(accountant).compose(count=left + 1, **TRAINING).epsilon(delta)
    assert within <= 0.4 < beyond
    assert not accountant.would_exceed(epsilon=within, delta=delta, count=left, **TRAINING)
    for wrong in [dict(epsilon=-1, delta=delta), dict(epsilon=float("nan"), delta=delta), dict(epsilon=1, delta=0)]:
        for ask in (accountant.would_exceed, accountant.rounds_left):
            with pytest.raises(shuffledp.ParameterError):
                ask(**wrong, **TRAINING)
    with pytest.raises(TypeError, match="would_exceed.. got an unexpected keyword argument 'rounds'"):
        accountant.would_exceed(epsilon=1, delta=delta, rounds=3, **TRAINING)


def test_nothing_is_left_of_a_budget_that_is_spent():
    accountant = composed()
    spent = accountant.epsilon(1e-6)
    assert accountant.rounds_left(epsilon=spent, delta=1e-6, **TRAINING) == 0
    assert accountant.rounds_left(epsilon=spent / 2, delta=1e-6, **TRAINING) == 0
