"""shuffledp.dp_accounting against dp_accounting's own tests, conventions and numbers."""

from __future__ import annotations

import copy
import math

import dp_accounting
import pytest
import shuffledp
from dp_accounting import pld, privacy_accountant_test
from shuffledp.dp_accounting import (
    LocalDpEvent,
    LocalProfileDpEvent,
    LocalRandomizer,
    ShuffleAccountant,
    ShuffledCheckInDpEvent,
    ShuffledDpEvent,
    SubsampledShuffledDpEvent,
)

REPLACE_ONE = dp_accounting.NeighboringRelation.REPLACE_ONE
GAUSSIAN = dp_accounting.GaussianDpEvent(5.0)
LAPLACE = dp_accounting.LaplaceDpEvent(20.0)
RESPONSE = dp_accounting.RandomizedResponseDpEvent(0.9, 5)
SHUFFLED = ShuffledDpEvent(10_000, LocalDpEvent(1.0))
SUBSAMPLED = SubsampledShuffledDpEvent(60_000, 600, LocalDpEvent(1.5, randomizer=LocalRandomizer.LDP_SGD))
CHECK_IN = ShuffledCheckInDpEvent(60_000, 0.01, RESPONSE, drop_out=0.1)
# Any randomizer that is (0, 0.4)-, (0.5, 0.22)- and (1, 0)-LDP.
PROFILE = ShuffledDpEvent(5000, LocalProfileDpEvent([(0, 0.4), (0.5, 0.22), (1.0, 0.0)]))
ALL = [GAUSSIAN, LAPLACE, RESPONSE, SHUFFLED, SUBSAMPLED, CHECK_IN, PROFILE]


class TestConventions(privacy_accountant_test.PrivacyAccountantTest):
    """The tests that dp_accounting runs on its own accountants: empty ones, NoOp, NonPrivate, unsupported events, nested or not."""

    def _make_test_accountants(self):
        return [ShuffleAccountant(), ShuffleAccountant(REPLACE_ONE)]


def epsilon_of(*events, delta=1e-6):
    accountant = ShuffleAccountant()
    for event in events:
        accountant.compose(event)
    return accountant.get_epsilon(delta)


@pytest.mark.parametrize("event", ALL)
def test_ten_at_once_are_ten_times_one(event):
    once = ShuffleAccountant().compose(event, 10)
    singly = ShuffleAccountant()
    for _ in range(10):
        singly.compose(event)
    itself = ShuffleAccountant().compose(dp_accounting.SelfComposedDpEvent(event, 10))
    nested = dp_accounting.SelfComposedDpEvent(dp_accounting.SelfComposedDpEvent(event, 5), 2)
    listed = dp_accounting.ComposedDpEvent([dp_accounting.ComposedDpEvent([event] * 9), event])
    for same in (singly, itself, ShuffleAccountant().compose(nested), ShuffleAccountant().compose(listed)):
        assert same.get_epsilon(1e-6) == once.get_epsilon(1e-6)
        assert same.get_delta(0.5) == once.get_delta(0.5)
    assert once.get_epsilon(1e-6) > ShuffleAccountant().compose(event).get_epsilon(1e-6) * 1.5


def test_no_op_changes_nothing():
    padded = dp_accounting.ComposedDpEvent([dp_accounting.NoOpDpEvent(), SHUFFLED, dp_accounting.NoOpDpEvent()])
    assert epsilon_of(padded, dp_accounting.NoOpDpEvent()) == epsilon_of(SHUFFLED)
    assert isinstance(ShuffleAccountant().ledger, dp_accounting.NoOpDpEvent)


def test_non_private_stays():
    accountant = ShuffleAccountant().compose(SHUFFLED).compose(dp_accounting.NonPrivateDpEvent()).compose(SHUFFLED)
    assert (accountant.get_epsilon(0.5), accountant.get_delta(100.0)) == (math.inf, 1)


@pytest.mark.parametrize(
    "event",
    [
        dp_accounting.GaussianDpEvent(0.0),
        dp_accounting.LaplaceDpEvent(0.0),
        dp_accounting.RandomizedResponseDpEvent(0.0, 3),
        ShuffledDpEvent(100, dp_accounting.GaussianDpEvent(0.0)),
        ShuffledDpEvent(100, dp_accounting.NonPrivateDpEvent()),
        ShuffledDpEvent(100, dp_accounting.RandomizedResponseDpEvent(0.0, 2)),
    ],
)
def test_no_noise_is_not_private(event):
    assert epsilon_of(event) == math.inf


@pytest.mark.parametrize(
    "event",
    [
        dp_accounting.RandomizedResponseDpEvent(0.3, 1),
        dp_accounting.RandomizedResponseDpEvent(1.0, 3),
        ShuffledDpEvent(100, dp_accounting.RandomizedResponseDpEvent(1.0, 3)),
        ShuffledDpEvent(100, dp_accounting.NoOpDpEvent()),
        ShuffledDpEvent(100, LocalDpEvent(0.0)),
    ],
)
def test_what_says_nothing_costs_nothing(event):
    assert epsilon_of(event, delta=1e-9) == 0
    assert ShuffleAccountant().compose(event, 5).get_delta(0.0) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize(
    "event, reason",
    [
        (dp_accounting.ZCDpEvent(1.0), "ZCDpEvent is not among"),
        (dp_accounting.PoissonSampledDpEvent(0.1, LAPLACE), "of a Poisson sample only a GaussianDpEvent"),
        (dp_accounting.PoissonSampledDpEvent(1.1, GAUSSIAN), "sampling_probability must be between 0 and 1, but is 1.1"),
        (dp_accounting.PoissonSampledDpEvent(0.1, dp_accounting.GaussianDpEvent(-1.0)), "noise_multiplier must be"),
        (dp_accounting.UnsupportedDpEvent(), "UnsupportedDpEvent is not among"),
        (ShuffledDpEvent(0, LocalDpEvent(1.0)), "clients must be between 1 and 2^53, but is 0"),
        (ShuffledDpEvent(10, LocalDpEvent(-1.0)), "local_epsilon must be a finite number of at least 0, but is -1"),
        (SubsampledShuffledDpEvent(10, 11, LocalDpEvent(1.0)), "sampled must be at most the number of clients"),
        (ShuffledCheckInDpEvent(10, 1.5, LocalDpEvent(1.0)), "check_in must be above 0 and at most 1, but is 1.5"),
        (ShuffledDpEvent(10, LocalDpEvent(1.0, randomizer=LocalRandomizer.PRIV_UNIT)), "priv-unit needs dimension"),
        (ShuffledDpEvent(10, LocalDpEvent(1.0, 0.1, LocalRandomizer.R_1)), "local_delta does not belong to"),
        (ShuffledDpEvent(10, LocalProfileDpEvent([])), "a list of 0 points: give between 1 and 100000"),
        (ShuffledDpEvent(10, LocalProfileDpEvent([(0, 0.1), (1, 0.2)])), "point 2 (ε = 1, δ = 0.2): δ must not increase"),
        (LocalProfileDpEvent([(0, 0.1)]), "LocalProfileDpEvent is not among"),
        (dp_accounting.GaussianDpEvent(-1.0), "noise_multiplier must be a finite number of at least 0.002, but is -1"),
        (dp_accounting.RandomizedResponseDpEvent(1.5, 2), "noise_parameter must be strictly between 0 and 1"),
        (dp_accounting.SelfComposedDpEvent(SHUFFLED, -1), "count must be a whole number of at least 0, but is -1"),
        (dp_accounting.SelfComposedDpEvent(SHUFFLED, 2**54), "count must be between 1 and 2^53"),
    ],
)
def test_what_is_refused_is_refused_whole(event, reason):
    """Nothing is composed half: not what stands before it, not what stands after it."""
    accountant = ShuffleAccountant().compose(SHUFFLED)
    before, ledger = accountant.get_epsilon(1e-6), accountant.ledger
    half = dp_accounting.ComposedDpEvent([GAUSSIAN, dp_accounting.NonPrivateDpEvent(), event, LAPLACE])
    for refused in (event, half):
        assert not accountant.supports(refused)
        with pytest.raises(dp_accounting.UnsupportedEventError) as refusal:
            accountant.compose(refused)
        assert reason in str(refusal.value)
        assert accountant.ledger == ledger
        assert accountant.get_epsilon(1e-6) == before


def test_a_nested_event_is_the_one_that_is_blamed():
    tree = dp_accounting.SingleEpochTreeAggregationDpEvent(1.0, 2)
    details = ShuffleAccountant()._maybe_compose(ShuffledDpEvent(10, tree), 1, False)
    assert details.invalid_event == tree
    assert "a client's own event must be one of LocalDpEvent" in details.error_message


def test_asking_whether_it_is_supported_changes_nothing():
    accountant = ShuffleAccountant()
    for event in ALL:
        assert accountant.supports(event)
    assert accountant.supports(dp_accounting.SelfComposedDpEvent(SHUFFLED, 10**6))
    assert accountant.get_epsilon(1e-6) == 0


def test_counts_are_checked_as_dp_accounting_does():
    accountant = ShuffleAccountant()
    for count, error in [(0, ValueError), (-1, (ValueError, dp_accounting.UnsupportedEventError)), (1.5, Exception)]:
        with pytest.raises(error):
            accountant.compose(SHUFFLED, count)
        assert accountant.get_epsilon(1e-6) == 0
    with pytest.raises(TypeError, match="must be `DpEvent`"):
        accountant.compose("shuffled")


def test_composed_zero_times_is_not_composed():
    nothing = dp_accounting.ComposedDpEvent([SHUFFLED, dp_accounting.SelfComposedDpEvent(GAUSSIAN, 0)])
    assert epsilon_of(nothing) == epsilon_of(SHUFFLED)


def test_other_relations_are_refused():
    for relation in dp_accounting.NeighboringRelation:
        if relation is not REPLACE_ONE:
            with pytest.raises(ValueError, match="REPLACE_ONE only"):
                ShuffleAccountant(relation)


@pytest.mark.parametrize("event", [SHUFFLED, SUBSAMPLED, CHECK_IN, PROFILE, ShuffledDpEvent(9, LocalDpEvent(2.0, 1e-9))])
def test_events_survive_named_tuples(event):
    wrapped = dp_accounting.SelfComposedDpEvent(event, 3)
    assert dp_accounting.DpEvent.from_named_tuple(wrapped.to_named_tuple()) == wrapped
    assert copy.deepcopy(event) == event and hash(event) == hash(copy.deepcopy(event))


@pytest.mark.parametrize(
    "event, question",
    [
        (SHUFFLED, dict(clients=10_000, local_epsilon=1.0)),
        (SUBSAMPLED, dict(clients=60_000, sampled=600, randomizer="ldp-sgd", local_epsilon=1.5)),
        (ShuffledDpEvent(3000, dp_accounting.LaplaceDpEvent(4.0)), dict(clients=3000, randomizer="laplace", local_epsilon=0.5)),
        (ShuffledDpEvent(3000, dp_accounting.GaussianDpEvent(9.0)), dict(clients=3000, randomizer="gaussian", sigma=9.0)),
        (
            ShuffledDpEvent(4000, LocalDpEvent(3.0, randomizer=LocalRandomizer.PRIV_UNIT, dimension=20)),
            dict(clients=4000, randomizer="priv-unit", dimension=20, local_epsilon=3.0),
        ),
        (
            ShuffledDpEvent(4000, LocalDpEvent(3.0, randomizer=LocalRandomizer.TOP_SET, dimension=20, share=0.25)),
            dict(clients=4000, randomizer="top-set", dimension=20, share=0.25, local_epsilon=3.0),
        ),
        (
            ShuffledCheckInDpEvent(5000, 0.1, LocalDpEvent(1.0, 1e-12), 0.2),
            dict(clients=5000, check_in=0.1, drop_out=0.2, randomizer="approximate", local_epsilon=1.0, local_delta=1e-12),
        ),
        (
            ShuffledDpEvent(4000, LocalDpEvent(1.0, randomizer=LocalRandomizer.SEQUENTIAL)),
            dict(clients=4000, randomizer="sequential", local_epsilon=1.0),
        ),
        (
            ShuffledCheckInDpEvent(5000, 0.1, LocalProfileDpEvent(((0, 0.2), (1, 0.01)))),
            dict(clients=5000, check_in=0.1, randomizer="profile", profile=[(0, 0.2), (1, 0.01)]),
        ),
        # 0.9 of noise over 5 values: (0.1 + 0.18)/0.18.
        (
            ShuffledDpEvent(4000, RESPONSE),
            dict(clients=4000, randomizer="krr", categories=5, local_epsilon=math.log(0.28 / 0.18)),
        ),
    ],
)
def test_events_mean_what_the_accountant_means(event, question):
    accountant = shuffledp.Accountant()
    accountant.compose(count=7, **question)
    assert ShuffleAccountant().compose(event, 7).get_epsilon(1e-6) == pytest.approx(accountant.epsilon(1e-6), rel=1e-6)


@pytest.mark.parametrize(
    "event, question",
    [
        (ShuffledDpEvent(10_000, LocalDpEvent(1.0)), dict(clients=10_000, local_epsilon=1.0)),
        (SubsampledShuffledDpEvent(60_000, 600, LocalDpEvent(1.0)), dict(clients=60_000, sampled=600, local_epsilon=1.0)),
        (ShuffledCheckInDpEvent(60_000, 0.01, LocalDpEvent(1.0)), dict(clients=60_000, check_in=0.01, local_epsilon=1.0)),
        (ShuffledDpEvent(10_000, GAUSSIAN), dict(clients=10_000, randomizer="gaussian", sigma=5.0)),
        (SubsampledShuffledDpEvent(60_000, 600, GAUSSIAN), dict(clients=60_000, sampled=600, randomizer="gaussian", sigma=5.0)),
        (ShuffledCheckInDpEvent(60_000, 0.01, GAUSSIAN), dict(clients=60_000, check_in=0.01, randomizer="gaussian", sigma=5.0)),
    ],
)
def test_events_are_as_tight_as_the_best_bound(event, question):
    answer = shuffledp.explain(delta=1e-6, rounds=50, **question)
    assert answer.method.startswith("displacement-")
    epsilon = ShuffleAccountant().compose(event, 50).get_epsilon(1e-6)
    assert answer.lower <= epsilon == pytest.approx(answer.value, rel=1e-6)


def test_a_profile_may_come_from_dp_accounting():
    """A client's mechanism by dp_accounting's own loss distribution, shuffled."""
    loss = theirs(GAUSSIAN)
    epsilons = [i / 50 for i in range(150)]
    points = list(zip(epsilons, loss.get_delta_for_epsilon(epsilons)))
    epsilon = epsilon_of(SubsampledShuffledDpEvent(60_000, 600, LocalProfileDpEvent(points)))
    assert epsilon == pytest.approx(epsilon_of(SubsampledShuffledDpEvent(60_000, 600, GAUSSIAN)), rel=0.01)


def test_points_are_pairs():
    assert LocalProfileDpEvent([[0, 1], [2, 0.5]]) == LocalProfileDpEvent(((0.0, 1.0), (2.0, 0.5)))
    for wrong in (None, 3, [1, 2], [(1, 2, 3)], [("a", 0)]):
        with pytest.raises(TypeError, match="points must be a list of pairs"):
            LocalProfileDpEvent(wrong)


def theirs(event, count=1, grid=1e-4):
    """dp_accounting's loss distribution of a standard event: pessimistic, on a grid. It ignores the count of randomized response, and refuses
    Laplace noise with REPLACE_ONE, which is the same noise at half the multiplier."""
    if isinstance(event, dp_accounting.GaussianDpEvent):
        one = pld.privacy_loss_distribution.from_gaussian_mechanism(
            event.noise_multiplier, value_discretization_interval=grid, neighboring_relation=REPLACE_ONE
        )
    elif isinstance(event, dp_accounting.LaplaceDpEvent):
        one = pld.privacy_loss_distribution.from_laplace_mechanism(
            event.noise_multiplier / 2, value_discretization_interval=grid
        )
    else:
        one = pld.privacy_loss_distribution.from_randomized_response(
            event.noise_parameter, event.num_buckets, value_discretization_interval=grid
        )
    return one.self_compose(count) if count > 1 else one


@pytest.mark.parametrize("event", [GAUSSIAN, dp_accounting.GaussianDpEvent(2.0), LAPLACE, dp_accounting.LaplaceDpEvent(1.0), RESPONSE])
@pytest.mark.parametrize("count", [1, 20])
def test_standard_events_agree_with_dp_accounting(event, count):
    ours, peer = ShuffleAccountant().compose(event, count), theirs(event, count)
    for delta in (1e-2, 1e-5, 1e-8):
        expected = peer.get_epsilon_for_delta(delta)
        # Both are above the truth: theirs by its grid of 1e-4 and the mass it cuts off, ours by less than 1e-3 of ε.
        assert ours.get_epsilon(delta) == pytest.approx(expected, rel=2e-3, abs=2e-4)


def test_standard_events_mix():
    ours = ShuffleAccountant().compose(GAUSSIAN, 4).compose(LAPLACE, 3).compose(RESPONSE, 2)
    peer = theirs(GAUSSIAN, 4).compose(theirs(LAPLACE, 3)).compose(theirs(RESPONSE, 2))
    for delta in (1e-2, 1e-5, 1e-8):
        assert ours.get_epsilon(delta) == pytest.approx(peer.get_epsilon_for_delta(delta), rel=2e-3, abs=2e-4)
    for epsilon in (0.5, 2.0):
        assert ours.get_delta(epsilon) == pytest.approx(peer.get_delta_for_epsilon(epsilon), rel=1e-2)


def test_a_shuffled_round_mixes_with_standard_events():
    """The round's loss distribution, handed to dp_accounting as it is, composes with theirs to the same ε."""
    loss = shuffledp.loss_distribution(clients=2000, local_epsilon=2.0, rounds=30)
    grid = 1e-4
    # Their grid: every loss rounded up to it.
    masses: dict[int, float] = {}
    for value, probability in zip(loss.losses.tolist(), loss.probabilities.tolist()):
        index = math.ceil(value / grid)
        masses[index] = masses.get(index, 0.0) + probability
    pmf = pld.pld_pmf.create_pmf(masses, grid, loss.infinity, pessimistic_estimate=True)
    peer = pld.privacy_loss_distribution.PrivacyLossDistribution(pmf).compose(theirs(GAUSSIAN, 2))
    event = ShuffledDpEvent(2000, LocalDpEvent(2.0))
    ours = ShuffleAccountant().compose(event, 30).compose(GAUSSIAN, 2)
    alone = ShuffleAccountant().compose(event, 30)
    for delta in (1e-3, 1e-6):
        # Rounding every loss up moves all 1 of them by up to the grid.
        assert ours.get_epsilon(delta) <= peer.get_epsilon_for_delta(delta) + 1e-3
        assert ours.get_epsilon(delta) >= peer.get_epsilon_for_delta(delta) - 3e-3
        assert alone.get_epsilon(delta) < ours.get_epsilon(delta)


def test_no_delta_is_the_local_sum():
    accountant = ShuffleAccountant().compose(SHUFFLED, 3).compose(LAPLACE)
    assert accountant.get_epsilon(0) == pytest.approx(3.1, rel=1e-12)
    assert accountant.get_epsilon(1) == 0
    assert (accountant.get_delta(3.2), accountant.get_delta(math.inf)) == (0, 0)
    accountant.compose(GAUSSIAN)
    assert accountant.get_epsilon(0) == math.inf
    assert 0 <= accountant.get_delta(math.inf) < 1e-290
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="target_delta must be between 0 and 1"):
            accountant.get_epsilon(wrong)
    for wrong in (-0.1, math.nan):
        with pytest.raises(ValueError, match="target_epsilon must be at least 0"):
            accountant.get_delta(wrong)


@pytest.mark.parametrize(
    "make_event, bracket, discrete",
    [
        (lambda epsilon0: ShuffledDpEvent(50_000, LocalDpEvent(epsilon0)), (0.05, 6.0), False),
        (lambda rate: ShuffledCheckInDpEvent(2_000, rate, LocalDpEvent(2.0)), (0.01, 1.0), False),
        (lambda noise: dp_accounting.ComposedDpEvent([SHUFFLED, dp_accounting.GaussianDpEvent(noise)]), (1.0, 500.0), False),
        (lambda rounds: dp_accounting.SelfComposedDpEvent(SHUFFLED, rounds), (1, 10_000), True),
        (lambda clients: ShuffledDpEvent(clients, LocalDpEvent(2.0)), (10, 10**7), True),
    ],
)
def test_calibrate_dp_mechanism_never_exceeds_the_budget(make_event, bracket, discrete):
    budget, delta = 0.2, 1e-6
    found = dp_accounting.calibrate_dp_mechanism(
        ShuffleAccountant,
        make_event,
        budget,
        delta,
        dp_accounting.ExplicitBracketInterval(*bracket),
        discrete=discrete,
        tol=None if discrete else 1e-4,
    )
    epsilon = ShuffleAccountant().compose(make_event(found)).get_epsilon(delta)
    # Rounds are whole: eight of them are 4 % short of the budget.
    assert budget * 0.95 < epsilon <= budget


def test_calibrate_dp_mechanism_searches_by_itself():
    noise = dp_accounting.calibrate_dp_mechanism(
        ShuffleAccountant,
        lambda noise: ShuffledDpEvent(1000, dp_accounting.LaplaceDpEvent(noise)),
        0.5,
        1e-5,
        dp_accounting.LowerEndpointAndGuess(0.1, 1.0),
        tol=1e-3,
    )
    accountant = ShuffleAccountant().compose(ShuffledDpEvent(1000, dp_accounting.LaplaceDpEvent(noise)))
    assert 0.45 < accountant.get_epsilon(1e-5) <= 0.5


@pytest.mark.parametrize("rate, noise, steps", [(0.01, 1.0, 1000), (0.05, 2.0, 200), (0.5, 5.0, 50)])
def test_a_history_of_dp_sgd_stands_beside_shuffled_rounds(rate, noise, steps):
    """Returns dp_accounting's answer for the same pair."""
    step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise))
    training = dp_accounting.SelfComposedDpEvent(step, steps)
    theirs = pld.PLDAccountant(REPLACE_ONE).compose(training).get_epsilon(1e-6)
    ours = epsilon_of(training, delta=1e-6)
    # Their lattice rounds up as well, by 1e-4 a loss.
    assert 0.99 * theirs <= ours <= 1.01 * theirs
    both = ShuffleAccountant().compose(training).compose(SUBSAMPLED, 100).get_epsilon(1e-6)
    assert ours < both < ours + epsilon_of(dp_accounting.SelfComposedDpEvent(SUBSAMPLED, 100), delta=1e-6)


def test_a_sample_of_nobody_or_of_everybody():
    sampled = dp_accounting.PoissonSampledDpEvent
    assert epsilon_of(sampled(0.0, GAUSSIAN), delta=1e-6) == 0
    assert epsilon_of(sampled(1.0, GAUSSIAN), delta=1e-6) == epsilon_of(GAUSSIAN, delta=1e-6)
    assert epsilon_of(sampled(0.5, dp_accounting.GaussianDpEvent(0.0)), delta=1e-6) == math.inf
    assert epsilon_of(sampled(0.5, GAUSSIAN), delta=1e-6) < epsilon_of(GAUSSIAN, delta=1e-6)
