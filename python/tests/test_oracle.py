"""An oracle that shares nothing with the code: the definitions of the papers, summed directly with mpmath."""

from __future__ import annotations

from collections import defaultdict

import mpmath
import pytest
import shuffledp
from mpmath import mpf

mpmath.mp.dps = 30

Law = dict[tuple[int, ...], mpf]


def binomial(n: int, p: mpf) -> list[mpf]:
    return [mpmath.binomial(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]


def mixture(*parts: tuple[mpf, Law]) -> Law:
    mixed: Law = defaultdict(mpf)
    for weight, law in parts:
        for outcome, mass in law.items():
            mixed[outcome] += weight * mass
    return mixed


def clones(others: int, e: mpf) -> Law:
    """How many of `others` reports are copies of the victim's first and of its second law (Feldman, McMillan, Talwar 2021): each with
    probability 1/(2e^ε0)."""
    law: Law = {}
    for copies, mass in enumerate(binomial(others, 1 / e)):
        for first, split in enumerate(binomial(copies, mpf(1) / 2)):
            law[first, copies - first] = mass * split
    return law


def with_victim(law: Law, first: mpf) -> Law:
    """The victim adds a copy of its first law with this probability, else one of its second."""
    joined: Law = defaultdict(mpf)
    for (a, b), mass in law.items():
        joined[a + 1, b] += mass * first
        joined[a, b + 1] += mass * (1 - first)
    return joined


def any_randomizer(clients: int, sampled: int, local_epsilon: float) -> tuple[Law, Law]:
    e = mpmath.exp(mpf(local_epsilon))
    speaks = mpf(sampled) / clients
    crowd, alone = clones(sampled - 1, e), clones(sampled, e)
    p = mixture((speaks, with_victim(crowd, e / (e + 1))), (1 - speaks, alone))
    q = mixture((speaks, with_victim(crowd, 1 / (e + 1))), (1 - speaks, alone))
    return p, q


def check_in(clients: int, rate: float, local_epsilon: float) -> tuple[Law, Law]:
    """Outcomes (copies of the first law, copies of the second, absent)."""
    e, r = mpmath.exp(mpf(local_epsilon)), mpf(rate)
    others: Law = defaultdict(mpf)
    others[0, 0, 0] = mpf(1)
    step = {(1, 0, 0): r / (2 * e), (0, 1, 0): r / (2 * e), (0, 0, 1): 1 - r, (0, 0, 0): r * (1 - 1 / e)}
    for _ in range(clients - 1):
        others = product(others, step)
    first, second = e / (e + 1), 1 / (e + 1)
    p = product(others, {(1, 0, 0): r * first, (0, 1, 0): r * second, (0, 0, 1): 1 - r})
    q = product(others, {(1, 0, 0): r * second, (0, 1, 0): r * first, (0, 0, 1): 1 - r})
    return p, q


def product(one: Law, other: Law) -> Law:
    """Counts add up."""
    total: Law = defaultdict(mpf)
    for a, mass in one.items():
        for b, more in other.items():
            total[tuple(x + y for x, y in zip(a, b))] += mass * more
    return total


def hockey_stick(p: Law, q: Law, epsilon: float, rounds: int = 1) -> mpf:
    """Σ (P − e^ε·Q)₊ over all outcomes of all rounds."""
    t = mpmath.exp(mpf(epsilon))
    pairs = [(mass, q.get(outcome, mpf(0))) for outcome, mass in p.items()]
    composed = [(mpf(1), mpf(1))]
    for _ in range(rounds):
        composed = [(a * c, b * d) for a, b in composed for c, d in pairs]
    return sum((max(mpf(0), a - t * b) for a, b in composed), mpf(0))


def by_the_pair(**question):
    """The bound that is computed from the pair. (Another method may answer with less: far out, the local guarantee does.)"""
    return {bound.id: bound.value for bound in shuffledp.bounds(**question)}["any-ldp-pld"]


@pytest.mark.parametrize("clients, sampled, local_epsilon", [(2, 2, 0.5), (30, 30, 1.0), (60, 60, 3.0), (80, 40, 2.0), (500, 20, 1.5)])
def test_any_randomizer(clients, sampled, local_epsilon):
    p, q = any_randomizer(clients, sampled, local_epsilon)
    for share in (0.0, 0.1, 0.4):
        epsilon = share * local_epsilon
        truth = hockey_stick(p, q, epsilon)
        answer = by_the_pair(clients=clients, sampled=sampled, local_epsilon=local_epsilon, epsilon=epsilon)
        assert answer >= truth
        # 512 lattice points to a deviation: a curve is above the true one by a few 1e-6 of what it is at its largest, and where it is steep by more.
        assert answer <= truth * mpf("1.01") + mpf("1e-15")


def test_two_rounds():
    p, q = any_randomizer(9, 9, 1.0)
    for epsilon in (0.0, 0.3, 0.9):
        truth = hockey_stick(p, q, epsilon, rounds=2)
        answer = by_the_pair(clients=9, local_epsilon=1.0, rounds=2, epsilon=epsilon)
        assert truth <= answer <= truth * mpf("1.01")


@pytest.mark.parametrize("clients, rate, local_epsilon", [(6, 0.5, 1.0), (12, 0.2, 2.0)])
def test_check_in(clients, rate, local_epsilon):
    p, q = check_in(clients, rate, local_epsilon)
    for share in (0.0, 0.2, 0.5):
        epsilon = share * local_epsilon
        truth = hockey_stick(p, q, epsilon)
        answer = by_the_pair(clients=clients, check_in=rate, local_epsilon=local_epsilon, epsilon=epsilon)
        assert truth <= answer <= truth * mpf("1.01") + mpf("1e-15")


def ones(zeros_and_ones: tuple[int, int], flip: mpf) -> Law:
    """How many ones are reported by randomized response."""
    zeros, held = zeros_and_ones
    law: Law = defaultdict(mpf)
    for a, mass in enumerate(binomial(zeros, flip)):
        for b, more in enumerate(binomial(held, 1 - flip)):
            law[(a + b,)] += mass * more
    return law


@pytest.mark.parametrize("clients, local_epsilon", [(5, 0.5), (20, 1.0), (20, 3.0)])
def test_randomized_response_itself(clients, local_epsilon):
    """Not a dominating pair but the protocol: the worst of all datasets, which for binary randomized response can be scanned."""
    flip = 1 / (1 + mpmath.exp(mpf(local_epsilon)))
    question = dict(clients=clients, randomizer="rr", local_epsilon=local_epsilon)
    for share in (0.0, 0.1, 0.3):
        epsilon = share * local_epsilon
        truth = mpf(0)
        for held in range(clients):
            p, q = ones((clients - held, held), flip), ones((clients - 1 - held, held + 1), flip)
            truth = max(truth, hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
        answer = shuffledp.explain(epsilon=epsilon, **question)
        assert answer.lower <= truth * (1 + mpf("1e-9"))
        assert truth <= answer.value <= truth * mpf("1.01")


def test_rdp_of_the_pair():
    p, q = any_randomizer(25, 25, 1.0)
    orders = [1.5, 2.0, 7.0, 40.0]
    curve = shuffledp.rdp_curve(orders, clients=25, local_epsilon=1.0)
    for order, divergence in zip(orders, curve.divergences.tolist()):
        moment = sum((mass**order * q[outcome] ** (1 - mpf(order)) for outcome, mass in p.items() if mass), mpf(0))
        truth = mpmath.log(moment) / (order - 1)
        assert truth <= divergence <= truth * mpf("1.001")
