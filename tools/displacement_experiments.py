#!/usr/bin/env python3
"""Checks the theorems of docs/theory/displacement.md by brute force, and reference values.

    python3 tools/displacement_experiments.py

Needs numpy only and takes less than a minute. It shares no code with the Rust crates: every bound
is computed plainly from its formula, every protocol is enumerated. The random numbers are seeded,
so the output is always the same.
"""

import itertools
import math

import numpy as np

RNG = np.random.default_rng(20240607)


# ---------------------------------------------------------------- laws with finitely many values


def plus(first, second):
    """The law of the sum of two independent draws. A law is (values, probabilities)."""
    values = np.add.outer(first[0], second[0]).ravel()
    masses = np.multiply.outer(first[1], second[1]).ravel()
    return merged(values, masses)


def merged(values, masses):
    rounded = np.round(values, 12)
    unique, where = np.unique(rounded, return_inverse=True)
    return unique, np.bincount(where, masses, len(unique))


def power(law, count):
    total = (np.zeros(1), np.ones(1))
    for _ in range(count):
        total = plus(total, law)
    return total


def call(law, x):
    """E(X − x)₊ at one or several x."""
    x = np.atleast_1d(x)
    return (np.maximum(law[0][None, :] - x[:, None], 0.0) * law[1][None, :]).sum(1)


def law_of_potential(kinks, potential):
    """The law whose call connects `potential` at the kinks, 0 at the top.

    Chords of a convex function are above it, so kinks may be rounded."""
    kinks = np.unique(np.append(np.round(kinks, 9), kinks.max() + 1e-6))
    values = potential(kinks)
    slopes = np.concatenate([[-1.0], np.diff(values) / np.diff(kinks), [0.0]])
    masses = np.diff(slopes)
    assert masses.min() > -1e-5, masses.min()
    return kinks, np.maximum(masses, 0.0)


# ---------------------------------------------------------------- profiles and slots


class Profile:
    """δ(s) = max over ordered pairs of inputs of Σ(R_x − s·R_x')₊, for a finite randomizer.

    Rows are inputs, columns are symbols."""

    def __init__(self, rows):
        self.rows = rows
        pairs = [(x, z) for x in range(len(rows)) for z in range(len(rows)) if x != z]
        self.upper = np.array([rows[x] for x, _ in pairs])
        self.lower = np.array([rows[z] for _, z in pairs])
        self.limit = max(p[q == 0].sum() for p, q in zip(self.upper, self.lower))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = self.upper / self.lower
        self.ratios = np.unique(np.round(ratios[np.isfinite(ratios) & (ratios > 0)], 12))
        # The maximum of two curves has kinks where they cross, too.
        self.kinks = np.unique(np.concatenate([self.ratios, self.crossings()]))

    def curves(self, s):
        s = np.atleast_1d(s)
        differences = self.upper[:, None, :] - s[None, :, None] * self.lower[:, None, :]
        return np.maximum(differences, 0.0).sum(2)

    def crossings(self):
        grid = np.unique(np.concatenate([[0.0], self.ratios, [self.ratios.max() + 1.0]]))
        curves, found = self.curves(grid), []
        for i, j in itertools.combinations(range(len(curves)), 2):
            d = curves[i] - curves[j]
            for c in np.nonzero(d[:-1] * d[1:] < 0)[0]:
                found.append(grid[c] + (grid[c + 1] - grid[c]) * d[c] / (d[c] - d[c + 1]))
        return np.array(found)

    def __call__(self, s):
        return self.curves(s).max(0)

    def slot(self, t):
        """G*_t of Theorem T3, less δ(∞): the charge for that is made by the caller."""
        above, below = self.kinks[self.kinks >= t] - t, 1 - t * self.kinks[self.kinks >= 1 / t]
        kinks = [np.zeros(1), above, below]

        def potential(c):
            above = self(np.maximum(t + c, t))
            below = 1 - t - c + t * self((1 + np.maximum(-c, 0)) / t)
            return np.where(c >= 0, above, below) - self.limit

        return law_of_potential(np.concatenate(kinks), potential)


def sampled(law, k, n, t):
    """E[((1−k/n)(1−t) + (1/n)·ΣG)₊]."""
    return call(power(law, k), -(n - k) * (1 - t))[0] / n


def thinned(law, rate, t):
    return merged(np.append(law[0], 1 - t), np.append(rate * law[1], 1 - rate))


def everybody(slot_law, others, gamma, defect, local, t, charge):
    """Theorem T2, or T2' if the defect is not 0: U_m from U_0 = local."""
    bound = local
    for m in range(1, others + 1):
        mean = call(power(slot_law, m), 0.0)[0] / m + charge
        bound = gamma * mean + (1 - gamma + defect) * bound + defect * (bound - (1 - t))
    return bound


def types(e, t):
    """G of the types A, B, C, D, O of an ε0-LDP randomizer."""
    laws = {
        "A": ([(1, e), (1, 1 / e)], [1 / (e + 1), e / (e + 1)]),
        "B": ([(e, 1), (1 / e, 1)], [1 / (e + 1), e / (e + 1)]),
        "C": ([(e, 1), (1, e), (1 / e, 1 / e)], [1 / (e + 2), 1 / (e + 2), e / (e + 2)]),
        "D": ([(e, e), (1 / e, 1), (1, 1 / e)], np.array([1, e, e]) / (2 * e + 1)),
        "O": ([(e, e), (1 / e, 1 / e)], [1 / (e + 1), e / (e + 1)]),
    }

    def slot(points, masses):
        return np.array([a - t * b for a, b in points]), np.array(masses)

    return {name: slot(*law) for name, law in laws.items()}


def worst_types(e, k, n, t, names):
    laws, worst = types(e, t), 0.0
    for choice in itertools.combinations_with_replacement(names, k):
        total = (np.zeros(1), np.ones(1))
        for name in choice:
            total = plus(total, laws[name])
        worst = max(worst, call(total, -(n - k) * (1 - t))[0] / n)
    return worst


def block_law(e, t, size):
    """The law whose call is the largest over all assignments of A, B, C to a block, centred."""
    laws = {name: (law[0] - (1 - t), law[1]) for name, law in types(e, t).items()}
    sums = []
    for choice in itertools.combinations_with_replacement("ABC", size):
        total = (np.zeros(1), np.ones(1))
        for name in choice:
            total = plus(total, laws[name])
        sums.append(total)
    kinks = np.unique(np.concatenate([law[0] for law in sums]))
    # Chords over the kinks of all: a little above the maximum, whose own kinks lie between.
    return law_of_potential(kinks, lambda c: np.max([call(law, c) for law in sums], axis=0))


# ---------------------------------------------------------------- the protocol, enumerated


def shifted(law, row):
    """The law of a multiset of reports and one more. Axes are the counts of the symbols."""
    total = np.zeros_like(law)
    for symbol, probability in enumerate(row):
        total += probability * np.roll(law, 1, axis=symbol)
    return total


def subsets(rows, most):
    """Sums over all subsets of clients of each size of the laws of their multisets."""
    symbols = len(rows[0]) if len(rows) else 1
    sums = [np.zeros((most + 2,) * symbols) for _ in range(most + 1)]
    sums[0][(0,) * symbols] = 1.0
    for row in rows:
        for size in range(most, 0, -1):
            sums[size] = sums[size] + shifted(sums[size - 1], row)
    return sums


def divergence(sums, first, second, k, n, t):
    """H_t of one round in which k of n clients speak, of the victim's laws `first` and `second`."""
    both = (1 - t) * sums[k] + shifted(sums[k - 1], first) - t * shifted(sums[k - 1], second)
    return np.maximum(both, 0.0).sum() / math.comb(n, k)


class Tally:
    """How often each bound was compared with the truth, and by how much it was ever exceeded."""

    def __init__(self):
        self.rows = {}

    def compare(self, name, truth, bound):
        count, worst = self.rows.get(name, (0, -math.inf))
        self.rows[name] = (count + 1, max(worst, truth - bound))

    def show(self):
        for name, (count, worst) in self.rows.items():
            print(f"  {name:<34}{count:>9,} comparisons, exceeded by at most {worst:+.1e}")
        counts, worsts = zip(*self.rows.values())
        total, worst = sum(counts), max(worsts)
        print(f"  {'all':<34}{total:>9,} comparisons, exceeded by at most {worst:+.1e}")


def pure_randomizer(e, inputs, symbols):
    """Rows whose ratios are within [1/E, E], some of them at the ends."""
    while True:
        shape = (inputs, symbols)
        is_extreme = RNG.random(shape) < 0.7
        levels = np.where(is_extreme, RNG.integers(0, 2, shape), RNG.random(shape))
        rows = e ** (0.999 * levels) * RNG.random(symbols)
        rows /= rows.sum(1, keepdims=True)
        ratio = max((rows[x] / rows[z]).max() for x in range(inputs) for z in range(inputs))
        if 1.05 < ratio:
            return rows, ratio


def half_randomizer(e):
    """Two-level with q = 1/2 on four symbols: each input has two high ones."""
    halves = [(0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2)]
    rows = []
    for index in RNG.choice(6, 3, replace=False):
        row = np.ones(4)
        row[list(halves[index])] = e
        rows.append(row / row.sum())
    return np.array(rows)


def enumerate_protocols():
    print("(a) Exact enumeration of small protocols, every dataset, k, direction")
    tally = Tally()
    grid = [0.6, 0.8, 0.95, 1.0, 1.02, 1.1, 1.3, 1.7, 2.5]
    for trial in range(30):
        kind = ["pure", "half", "leaky"][trial % 3]
        e = math.exp(RNG.uniform(0.2, 2.5))
        if kind == "pure":
            rows, e = pure_randomizer(e, 3, 3)
        elif kind == "half":
            rows = half_randomizer(e)
        else:
            # Some symbols are impossible for some inputs: not ε0-LDP for any ε0.
            rows = RNG.random((3, 3)) * (RNG.random((3, 3)) < 0.75) + np.eye(3) * 0.2
            rows /= rows.sum(1, keepdims=True)
        profile = Profile(rows)
        gamma = rows.min(0).sum()
        inputs = range(len(rows))
        most = 3 if kind == "half" else 4
        slots = {t: profile.slot(t) for t in grid}
        for n in range(2, most + 1):
            for t in grid:
                limit, local = profile.limit, profile(t)[0]
                bounds = {}
                for k in range(1, n):
                    found = {"T1 with T3, k of n": sampled(slots[t], k, n, t) + k * limit / n}
                    if t >= 1:
                        found["sampling cap"] = k / n * profile(1 + (t - 1) * n / k)[0]
                    if kind != "leaky":
                        found["corollary, any ε0-LDP"] = sampled(corollary_slot(e, t), k, n, t)
                        if 1 / widest(e) <= t <= widest(e):
                            found["types A, B, C"] = worst_types(e, k, n, t, "ABC")
                            if k >= 2:
                                law = power(block_law(e, t, 2), -(-k // 2))
                                found["types in blocks of 2"] = call(law, n * (t - 1))[0] / n
                    if kind == "half":
                        found["q = 1/2, largest over h"] = worst_types(e, k, n, t, "AB")
                    bounds[k] = found
                found = {}
                charge = limit
                for ratio in (2.0, 6.0):
                    defect = profile(ratio)[0] / ratio
                    name = f"T2', 1/γ = {ratio:g}"
                    found[name] = everybody(slots[t], n - 1, 1 / ratio, defect, local, t, charge)
                if gamma > 0:
                    found["T2"] = everybody(slots[t], n - 1, gamma, 0.0, local, t, charge)
                bounds[n] = found
                at_rate = {}
                for rate in (0.3, 0.8):
                    one = thinned(slots[t], rate, t)
                    # K ~ Bin(n, r): Σ_(k<n) Pr(k)·kη/n ≤ rη, and the local profile if all come.
                    charges = rate * limit + rate**n * local
                    spare = 1 - rate + rate * gamma
                    alone = (1 - rate) * max(1 - t, 0.0) + rate * local
                    at_rate[rate] = {
                        "check-in, thinned slots": call(power(one, n), 0.0)[0] / n + charges,
                        "check-in, T2 of the thinned": everybody(
                            one, n - 1, spare, 0.0, alone, t, rate * charge
                        ),
                    }
                    if t >= 1:
                        at_rate[rate]["check-in, cap r·δ(t)"] = rate * local
                for others in itertools.combinations_with_replacement(inputs, n - 1):
                    sums = subsets([rows[i] for i in others], n)
                    for x, y in itertools.permutations(inputs, 2):
                        pair = (rows[x], rows[y])
                        truths = [max(1 - t, 0.0)]
                        truths += [divergence(sums, *pair, k, n, t) for k in range(1, n + 1)]
                        for k, found in bounds.items():
                            for name, bound in found.items():
                                tally.compare(name, truths[k], bound)
                        for rate, found in at_rate.items():
                            truth = float(np.dot(binomial(n, rate), truths))
                            for name, bound in found.items():
                                tally.compare(name, truth, bound)
                        if n >= 3:
                            # One or two of the others collude: they and their reports are known.
                            colluders(tally, rows, others, (x, y), n, t, slots, limit)
    tally.show()


def colluders(tally, rows, others, victim, n, t, slots, limit):
    for bad in range(1, n - 1):
        honest = n - bad
        sums = subsets([rows[i] for i in others[bad:]], honest)
        for k in range(1, honest):
            truth = 0.0
            for seen in range(0, min(bad, k) + 1):
                weight = math.comb(bad, seen) * math.comb(honest, k - seen) / math.comb(n, k)
                if k == seen:
                    truth += weight * max(1 - t, 0.0)
                else:
                    pair = (rows[victim[0]], rows[victim[1]])
                    truth += weight * divergence(sums, *pair, k - seen, honest, t)
            bound = sampled(slots[t], k, honest, t) + k * limit / honest
            tally.compare("colluders: n honest, k as it is", truth, bound)


def corollary_slot(e, t):
    if not 1 / e < t < e:
        return np.array([1 - t]), np.ones(1)
    return np.array([e - t, 1 - t * e, 0.0]), np.array([1, 1, e - 1]) / (e + 1)


def widest(e):
    return (e * e + e + 1) / (2 * e + 1)


# ---------------------------------------------------------------- (b) orders of the types


def convex_gap(small, large):
    """By how much the call of `small` exceeds that of `large`, at most. They have the same mean."""
    kinks = np.concatenate([small[0], large[0]])
    return (call(small, kinks) - call(large, kinks)).max()


def orders_of_types():
    print("(b) Orders of the types, and overlapping high sets")
    for name, inside in (("O", lambda e: e + 1), ("D", widest)):
        worst, outside = -math.inf, math.inf
        for e in np.exp(np.linspace(0.02, 6, 150)):
            for share in np.linspace(-1, 1, 201):
                t = inside(e) ** share
                laws = types(e, t)
                worst = max(worst, convex_gap(laws[name], laws["C"]))
            for share in (-1.01, 1.01):
                laws = types(e, inside(e) ** share)
                outside = min(outside, convex_gap(laws[name], laws["C"]))
        print(f"  {name} below C within its range of t:    exceeded by at most  {worst:+.1e}")
        print(f"  {name} below C 1 % outside of its range: exceeded by at least {outside:+.1e}")
    worst = {"S0": -math.inf, "S1": -math.inf, "S1 up to 1+1/E": -math.inf}
    for _ in range(4000):
        e = math.exp(RNG.uniform(0.05, 5))
        t = RNG.choice([1.0, 1 + RNG.random() / e, 1 + RNG.random() * (e - 1), e])
        cells = random_halves()
        worst["S0"] = max(worst["S0"], overlap_gap(e, t, cells, "S0"))
        worst["S1"] = max(worst["S1"], overlap_gap(e, t, cells, "S1"))
        if t <= 1 + 1 / e:
            worst["S1 up to 1+1/E"] = max(worst["S1 up to 1+1/E"], overlap_gap(e, t, cells, "S1"))
    print(f"  S0 by the complement of S1, t ≥ 1:     exceeded by at most  {worst['S0']:+.1e}")
    allowed = worst["S1 up to 1+1/E"]
    print(f"  S1 by that of S0, 1 ≤ t ≤ 1+1/E:       exceeded by at most  {allowed:+.1e}")
    print(f"  S1 by that of S0, t ≥ 1:               exceeded by up to    {worst['S1']:+.1e}")
    # S0 = S1, the complement of Sz.
    gap = overlap_gap(43.7, 1.023, {(1, 1, 0): 0.5, (0, 0, 1): 0.5}, "S1")
    print(f"  the same at E = 43.7, t = 1.023:       exceeded by          {gap:+.3e}")


def random_halves():
    """ω of the cells (in S0?, in S1?, in Sz?), each set of measure 1/2."""
    weights = RNG.dirichlet(np.ones(4)) if RNG.random() < 0.7 else np.eye(4)[RNG.integers(4)]
    cells = {}
    # A set and its complement are exchanged in half of the mass: all three measures are 1/2.
    for weight, cell in zip(weights, [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1)]):
        cells[cell] = weight / 2
        cells[tuple(1 - bit for bit in cell)] = weight / 2
    return cells


def half_law(e, t, cells):
    """The law of G under R_z, of cells of ω."""
    values, masses = [], []
    for (zero, one, z), mass in cells.items():
        level = [1.0, e]
        values.append((level[zero] - t * level[one]) / level[z])
        masses.append(2 / (e + 1) * level[z] * mass)
    return merged(np.array(values), np.array(masses))


def overlap_gap(e, t, cells, replaced):
    changed = {}
    for (zero, one, z), mass in cells.items():
        cell = (1 - one, one, z) if replaced == "S0" else (zero, 1 - zero, z)
        changed[cell] = changed.get(cell, 0.0) + mass
    return convex_gap(half_law(e, t, cells), half_law(e, t, changed))


# ---------------------------------------------------------------- (c) reference values


def normal_tail(x):
    return np.array([0.5 * math.erfc(v / math.sqrt(2)) for v in np.ravel(x)]).reshape(np.shape(x))


def gaussian_profile(mu):
    def delta(s):
        a = np.log(s) / mu
        return normal_tail(a - mu / 2) - s * normal_tail(a + mu / 2)

    return delta


def laplace_profile(e):
    return lambda s: np.where(s < e, 1 - np.sqrt(np.minimum(s, e) / e), 0.0)


def lattice_slot(delta, t, spacing, up, down):
    """The centred law of T3 on a lattice: connect the dots of its call and its put."""
    c = spacing * np.arange(up + 1)
    calls = np.where(c >= t - 1, delta(1 + c), (t - c).clip(1.0) * delta(1 + c / (t - c).clip(1.0)))
    puts = t * delta(1 + spacing * np.arange(down + 1) / t)
    excess = calls[-1]
    slopes = [-np.diff(dots) / spacing for dots in (calls, puts)]
    right, left = (slope - np.append(slope[1:], 0.0) for slope in slopes)
    masses = np.concatenate([left[::-1], [1 - right.sum() - left.sum()], right]).clip(0.0)
    return -down, masses, excess


def lattice_call(first, masses, count, spacing, x, rate=1.0):
    """E(S − x)₊ of `count` draws, each of which happens with probability `rate`: tilted FFT."""
    values = spacing * (first + np.arange(len(masses)))
    if rate < 1:
        masses = rate * masses
        masses[-first] += 1 - rate

    def tilted(theta):
        weights = np.where(masses > 0, masses, 0) * np.exp(theta * (values - values[-1]))
        scale = weights.sum()
        return weights / scale, math.log(scale) + theta * values[-1]

    low, high = 0.0, 40.0 / spacing
    for _ in range(60):
        theta = 0.5 * (low + high)
        mean = count * (tilted(theta)[0] * values).sum()
        low, high = (theta, high) if mean < x else (low, theta)
    weights, ln_scale = tilted(low)
    mean = (weights * values).sum()
    deviation = math.sqrt(count * (weights * (values - mean) ** 2).sum())
    support = count * (len(masses) - 1) + 1
    window = min(support, 40 * deviation / spacing + 2 * len(masses))
    length = 1 << int(math.ceil(math.log2(window)))
    cycle = np.zeros(length)
    np.add.at(cycle, np.arange(len(masses)) % length, weights)
    sums = np.fft.irfft(np.fft.rfft(cycle) ** count, length)
    centre = int(round(count * mean / spacing)) - count * first
    start = max(centre - length // 2, 0) if length < support else 0
    index = start + (np.arange(length) - start) % length
    above = (index + count * first) * spacing - x
    kept = above > 0
    untilted = sums[kept] * above[kept] * np.exp(-low * above[kept])
    return math.exp(count * ln_scale - low * x) * untilted.sum()


def binomial(count, p):
    k = np.arange(count + 1)
    ln = [math.lgamma(count + 1) - math.lgamma(i + 1) - math.lgamma(count - i + 1) for i in k]
    return np.exp(np.array(ln) + k * math.log(p) + (count - k) * math.log1p(-p))


def two_binomials(a, b, p, value):
    """E(value(i, j))₊ of i ~ Bin(a, p), j ~ Bin(b, p)."""
    i, j = np.arange(a + 1)[:, None], np.arange(b + 1)[None, :]
    return (binomial(a, p)[:, None] * binomial(b, p)[None, :] * np.maximum(value(i, j), 0.0)).sum()


def corollary(e, k, n, t):
    """Signals a + b ~ Bin(k, 2/(E+1)), a fair half of them up."""
    signals, total = binomial(k, 2 / (e + 1)), 0.0
    for count in np.nonzero(signals > 1e-40)[0]:
        ups = np.arange(count + 1)
        value = (1 - k / n) * (1 - t) + (ups * (e - t) + (count - ups) * (1 - t * e)) / n
        total += signals[count] * (binomial(count, 0.5) * np.maximum(value, 0.0)).sum()
    return total


def one_bit(e, k, n, t, h):
    def value(a, b):
        up = 1 - k / n + (h + e * b + (k - h - b) / e) / n
        return up - t * (1 - k / n + (k - h + e * a + (h - a) / e) / n)

    return two_binomials(h, k - h, 1 / (e + 1), value)


def spare(e, others, t, gamma, term):
    bound = max((e - t) / (e + 1), 0.0)
    for m in range(1, others + 1):
        bound = gamma * term(m) + (1 - gamma) * bound
    return bound


def reference_values():
    print("(c) Reference values of one round, recomputed")
    e2, e1, million = math.exp(2), math.e, 10**6
    headline = [(0.0, 3.933975672342461e-5), (3e-4, 3.264311502175415e-8)]
    headline.append((6e-4, 9.731177939360752e-15))
    by_h = [(0, 1.090063371226275e-7), (1, 1.092471139333577e-7), (500, 8.221905105172078e-8)]
    exact = []
    for epsilon, reference in headline:
        value = corollary(e2, 1000, million, math.exp(epsilon))
        exact.append((f"corollary, 1e3 of 1e6, ε0 = 2, ε = {epsilon:g}", value, reference))
    for h, reference in by_h:
        value = one_bit(e2, 1000, million, math.exp(2e-4), h)
        exact.append((f"q = 1/2, h = {h}, 1e3 of 1e6, ε0 = 2, ε = 2e-4", value, reference))
    value = largest_over_h(e2, 100, 1000, math.exp(0.03))
    exact.append(("q = 1/2, 100 of 1,000, ε0 = 2, ε = 0.03", value, 0.00128538674534004))
    t = math.exp(0.2)
    value = spare(e2, 59, t, 1 / e2, lambda m: corollary(e2, m, m, t))
    exact.append(("T2, any ε0-LDP, n = 60, ε0 = 2, ε = 0.2", value, 0.101706189531479))
    t = math.exp(0.1)
    value = spare(e1, 11, t, 2 / (e1 + 1), lambda m: largest_over_h(e1, m, m, t))
    exact.append(("T2, q = 1/2, n = 12, ε0 = 1, ε = 0.1", value, 0.1002087736388891))
    for name, value, reference in exact:
        print(f"  {name:<48}{value:.12e}   off by   {value / reference - 1:+.1e}")
    gauss, laplace = gaussian_profile(0.4), laplace_profile(4.0)
    sparse = 1049576
    # (name, profile, draws, population, t, how far up, rate, reference)
    lattices = [
        ("σ = 5, 20 of 84, t = 1.03125", gauss, 20, 84, 1.03125, 64, 1.0, 1.413121696274e-3),
        ("σ = 5, 1e3 of 1,049,576, t = 1", gauss, 1000, sparse, 1.0, 48, 1.0, 5.735758268599e-6),
        ("the same, t = 1 + 2^-15", gauss, 1000, sparse, 1 + 2.0**-15, 48, 1.0, 8.778636382867e-8),
        ("the same, t = 1 + 2^-14", gauss, 1000, sparse, 1 + 2.0**-14, 48, 1.0, 3.574026345883e-11),
        ("σ = 5, check-in, 64 at 1/4, t = 1.125", gauss, 64, 64, 1.125, 64, 0.25, 1.5005807204e-6),
        ("laplace E = 4, 20 of 84, t = 1.125", laplace, 20, 84, 1.125, 3, 1.0, 3.565169209772e-3),
        ("the same, check-in of 64, t = 1.25", laplace, 64, 64, 1.25, 3, 0.25, 5.252095235425e-4),
    ]
    spacing = 1 / 128
    for name, delta, draws, population, t, up, rate, reference in lattices:
        points = int(up / spacing)
        first, masses, excess = lattice_slot(delta, t, spacing, points, int(math.ceil(t * points)))
        value = lattice_call(first, masses, draws, spacing, population * (t - 1), rate)
        value = (value + draws * rate * excess) / population
        if rate < 1:
            value += rate**population * float(delta(np.array(t)))
        print(f"  {name:<48}{value:.12e}   above by {value / reference - 1:+.1e}")


def largest_over_h(e, k, n, t):
    return max(one_bit(e, k, n, t, h) for h in range(k + 1))


if __name__ == "__main__":
    enumerate_protocols()
    orders_of_types()
    reference_values()
