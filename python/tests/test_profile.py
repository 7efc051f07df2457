"""Randomizers that are given by points of their local privacy profile."""

from __future__ import annotations

import math

import numpy
import pytest
import shuffledp


def gaussian_profile(sigma: float, count: int = 2000, least: float = 1e-18) -> list[tuple[float, float]]:
    """δ(ε) of Gaussian noise (Balle and Wang 2018, theorem 8): two records are 2C apart, the noise has σC."""
    mu = 2 / sigma
    above = lambda x: math.erfc(x / math.sqrt(2)) / 2
    delta = lambda epsilon: above(epsilon / mu - mu / 2) - math.exp(epsilon) * above(epsilon / mu + mu / 2)
    points = [(epsilon, delta(epsilon)) for epsilon in numpy.linspace(0, 10 * mu + mu**2, count).tolist()]
    return [point for point in points if point[1] > least]


def pure_profile(local_epsilon: float) -> list[tuple[float, float]]:
    """No ε0-LDP randomizer has more: that of binary randomized response."""
    return [(0.0, math.tanh(local_epsilon / 2)), (local_epsilon, 0.0)]


SCHEMES = [
    dict(clients=10_000),
    dict(clients=60_000, sampled=600, rounds=500),
    dict(clients=60_000, check_in=0.01, rounds=500),
]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_points_of_the_gaussian_profile_are_the_gaussian(scheme):
    named = shuffledp.explain(randomizer="gaussian", sigma=5.0, delta=1e-6, **scheme)
    given = shuffledp.explain(randomizer="profile", profile=gaussian_profile(5.0), delta=1e-6, **scheme)
    assert given.value == pytest.approx(named.value, rel=0.01)
    # Chords are above the curve: points never say less.
    assert given.value >= named.value * (1 - 1e-6)
    assert named.lower is not None and named.lower <= given.value


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_pure_profile_is_any(scheme):
    named = shuffledp.explain(local_epsilon=1.5, delta=1e-6, **scheme)
    given = shuffledp.explain(randomizer="profile", profile=pure_profile(1.5), delta=1e-6, **scheme)
    assert given.value == pytest.approx(named.value, rel=1e-6)


def test_fewer_points_say_less():
    """Every second point: chords, which are above the curve."""
    fine = gaussian_profile(4.0, count=201)
    question = dict(clients=20_000, sampled=500, rounds=20, randomizer="profile", delta=1e-6)
    assert shuffledp.epsilon(profile=fine, **question) <= shuffledp.epsilon(profile=fine[::20], **question)


def test_a_better_profile_never_costs_more():
    """Laplace noise has less than its ε0 alone allows."""
    epsilon0 = 1.0
    laplace = [(epsilon, max(0.0, -math.expm1((epsilon - epsilon0) / 2))) for epsilon in numpy.linspace(0, epsilon0, 101).tolist()]
    question = dict(clients=10_000, sampled=1000, rounds=30, delta=1e-6)
    given = shuffledp.epsilon(randomizer="profile", profile=laplace, **question)
    assert given <= shuffledp.epsilon(local_epsilon=epsilon0, **question)


def test_pairs_may_be_tuples_lists_and_rows():
    points = pure_profile(1.0)
    question = dict(clients=1000, randomizer="profile", delta=1e-5)
    expected = shuffledp.epsilon(profile=points, **question)
    for same in (tuple(points), [list(point) for point in points], numpy.array(points), zip(*zip(*points)), [(0, points[0][1]), (1, 0)]):
        assert shuffledp.epsilon(profile=same, **question) == expected
    # Also where it is one round, and where it is solved for another number.
    accountant = shuffledp.Accountant()
    accountant.compose(clients=1000, randomizer="profile", profile=points)
    assert accountant.epsilon(1e-5) == pytest.approx(expected, rel=1e-6)
    assert shuffledp.Accountant.from_json(accountant.to_json()) == accountant
    assert accountant.local_epsilon() == 1
    found = shuffledp.calibrate(solve="rounds", target_epsilon=1.0, clients=1000, randomizer="profile", profile=points, delta=1e-5)
    assert found.value > 1


@pytest.mark.parametrize(
    "profile, words",
    [
        ([], "a list of 0 points: give between 1 and 100000"),
        ([(0.5, 0.1)], "point 1 (ε = 0.5, δ = 0.1): the first point must be at ε = 0"),
        ([(0, 0.5), (1, 0.4), (2, 0.1)], "point 3 (ε = 2, δ = 0.1): δ is not convex in e^ε"),
        ([(0, 0.1), (1, 0.2)], "point 2 (ε = 1, δ = 0.2): δ must not increase"),
        ([(0, 0.3), (0, 0.2)], "point 2 (ε = 0, δ = 0.2): ε must increase from point to point"),
        ([(0, 0.9), (0.1, 0.0)], "point 2 (ε = 0.1, δ = 0): δ falls faster than that of any two laws"),
        ([(0, 1.5)], "point 1 (ε = 0, δ = 1.5): δ must be between 0 and 1"),
        ([(0, math.nan)], "δ must be between 0 and 1"),
        ([(0, 0.5), (math.inf, 0)], "ε must be between 0 and 700"),
        ([(0, 0.5), (701, 0)], "ε must be between 0 and 700"),
    ],
)
def test_refusals_say_which_point_and_what_to_change(profile, words):
    with pytest.raises(shuffledp.ParameterError) as refusal:
        shuffledp.epsilon(clients=1000, randomizer="profile", profile=profile, delta=1e-6)
    assert str(refusal.value).startswith("profile must be a convex curve of points (epsilon, delta), but is ")
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    "profile, words",
    [
        ("0,0.5", "profile must be a list of pairs (epsilon, delta), not str"),
        (0.5, "profile must be a list of pairs (epsilon, delta), not float"),
        ([0, 0.5], "profile must be a list of pairs (epsilon, delta), but point 1 is no pair of numbers"),
        ([(0, 0.5), (1, "0")], "but point 2 is no pair of numbers"),
        ([(0, 0.5), (1, 0.1, 0.01)], "but point 2 is no pair of numbers"),
        ([(0, 0.5), (1,)], "but point 2 is no pair of numbers"),
        (numpy.zeros((3, 3)), "but point 1 is no pair of numbers"),
    ],
)
def test_what_holds_no_pairs_is_a_type_error(profile, words):
    with pytest.raises(TypeError) as refusal:
        shuffledp.epsilon(clients=1000, randomizer="profile", profile=profile, delta=1e-6)
    assert words in str(refusal.value)


def test_a_profile_belongs_to_its_own_randomizer():
    points = pure_profile(1.0)
    for wrong, words in [
        (dict(randomizer="profile"), "randomizer profile needs profile"),
        (dict(local_epsilon=1, profile=points), "profile does not belong to randomizer any, which takes local_epsilon"),
        (dict(randomizer="profile", profile=points, local_epsilon=1), "local_epsilon does not belong to randomizer profile"),
    ]:
        with pytest.raises(shuffledp.ParameterError) as refusal:
            shuffledp.epsilon(clients=1000, delta=1e-6, **wrong)
        assert words in str(refusal.value)
    for name, parameters in [("profile", dict(profile=points)), ("sequential", dict(local_epsilon=1.0))]:
        with pytest.raises(shuffledp.ParameterError, match="is a class of randomizers, and only one that is named can be run"):
            shuffledp.audit(randomizer=name, **parameters)


@pytest.mark.parametrize("scheme", SCHEMES[:2])
def test_reports_that_depend_on_those_before_cost_no_less(scheme):
    """Displacement needs reports that do not look at one another: what holds without that is the clones' bound."""
    sequential = shuffledp.explain(randomizer="sequential", local_epsilon=1.0, delta=1e-6, **scheme)
    apart = shuffledp.explain(local_epsilon=1.0, delta=1e-6, **scheme)
    assert "displacement" not in sequential.method
    assert apart.value <= sequential.value
