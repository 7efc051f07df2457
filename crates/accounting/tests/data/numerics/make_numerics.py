#!/usr/bin/env python3
"""Writes reference values of the special functions, one JSON file a section, from mpmath at 50 digits.

Run in this folder: python3 make_numerics.py [SECTION…]. Needs mpmath only; all sections take some ten minutes; the output is
deterministic.

Every input is an exact double, written by repr, so there is no input rounding. Every truth is written as its nearest double
together with the relative residual, truth/double − 1. Tails are checked to 25 digits by a second method before they are
written:

* incomplete beta: quadrature of the density against a continued fraction or, when both parameters are large, the
  hypergeometric series; binomial tails also against the sum of the mass;
* incomplete gamma: series or continued fraction against quadrature;
* inverses: Newton at 50 digits until nothing moves; the function it inverts is the one checked above.
"""

import json
import random
import sys
from functools import lru_cache

from mpmath import mp, mpf

mp.dps = 50
CHECK = mpf(10) ** -25  # two methods must agree to this
ROWS = []


def near(value):
    """The double next to an arbitrary number: inputs may be any double, so this one is then exact."""
    return float(value)


def write(function, group, inputs, truth):
    nearest = float(truth)
    residual = 0.0 if nearest == 0 else float(truth / mpf(nearest) - 1)
    row = {"function": function, "group": group, "inputs": [repr(x) for x in inputs]}
    ROWS.append(row | {"truth": repr(nearest), "residual": repr(residual)})


def agree(first, second, what):
    assert abs(first / second - 1) < CHECK, (what, mp.nstr(first, 35), mp.nstr(second, 35))


# ---------------------------------------------------------------- gamma and binomial


def stirling_error(x):
    x = mpf(x)
    with mp.workdps(90):
        return +(mp.loggamma(x + 1) - (x + mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)


def ln_binomial(n, k):
    with mp.workdps(90):
        n, k = mpf(n), mpf(k)
        return +(mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1))


def ln_pmf(k, n, p):
    with mp.workdps(90):
        p = mpf(p)
        return ln_binomial(n, k) + k * mp.log(p) + (n - k) * mp.log(1 - p)


def deviance(x, m):
    with mp.workdps(90):
        x, m = mpf(x), mpf(m)
        return +(x * mp.log(x / m) + m - x)


# ---------------------------------------------------------------- incomplete beta


def beta_power_term(a, b, x, y=None):
    """x^a y^b / B(a, b); y = 1 − x may be given when 1 − x would lose it."""
    with mp.workdps(90):
        a, b, x = mpf(a), mpf(b), mpf(x)
        y = 1 - x if y is None else y
        return mp.exp(a * mp.log(x) + b * mp.log(y) + mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b))


@lru_cache
def gauss_legendre(count):
    """Positive nodes with weights, by Newton from the usual cosine start."""
    rule = []
    for i in range(1, count // 2 + 1):
        x = mp.cos(mp.pi * (mpf(i) - mpf("0.25")) / (count + mpf("0.5")))
        for _ in range(8):
            before, here = mpf(1), x
            for k in range(2, count + 1):
                before, here = here, ((2 * k - 1) * x * here - (k - 1) * before) / k
            slope = count * (x * here - before) / (x * x - 1)
            x -= here / slope
        rule.append((x, 2 / ((1 - x * x) * slope * slope)))
    return rule


def quadrature(value, cut):
    """Integral of a smooth decaying function over [0, cut]: panels, finer towards 0 where a singularity may be near."""
    points = [mpf(0)] + [cut / 2**k for k in range(12, 4, -1)] + [cut * i / 16 for i in range(1, 17)]
    total = mpf(0)
    for left, right in zip(points, points[1:]):
        middle, half = (left + right) / 2, (right - left) / 2
        total += half * sum(w * (value(middle - half * x) + value(middle + half * x)) for x, w in gauss_legendre(40))
    return total


def beta_tail_by_quadrature(a, b, x):
    """Lower tail, x below the mean: integral over t = x·(1 − s), in panels that end where nothing is left."""
    a, b, x = mpf(a), mpf(b), mpf(x)
    y = 1 - x

    def fall(s):
        return -((a - 1) * mp.log1p(-s / x) + (b - 1) * mp.log1p(s / y))

    def value(s):
        return mp.exp(-fall(s))

    slope = max((a - 1) / x - (b - 1) / y, mpf(0))
    curvature = abs((a - 1) / x**2) + abs((b - 1) / y**2) + mpf(10) ** -20  # not zero when a = b = 1
    cut = min(240 / (slope + mp.sqrt(slope**2 + 240 * curvature)), x)
    while cut < x and fall(cut) < 120:
        cut = min(cut * mpf("1.25"), x)
    if cut == x and (a < 5 or b < 5):
        # An end point singularity of t^(a-1): tanh-sinh takes it.
        return beta_power_term(a, b, x) / (x * y) * mp.quad(value, [0, x / 4, x / 2, 3 * x / 4, x], method="tanh-sinh")
    return beta_power_term(a, b, x) / (x * y) * quadrature(value, cut)


def beta_tail_by_fraction(a, b, x, y=None):
    """Lower tail, x below the mean: DLMF 8.17.22 by the modified Lentz method, at 50 digits whatever it takes."""
    a, b, x = mpf(a), mpf(b), mpf(x)
    qab, qap, qam = a + b, a + 1, a - 1
    c = mpf(1)
    d = 1 / (1 - qab * x / qap)
    h = d
    m = 0
    while True:
        m += 1
        aa = m * (b - m) * x / ((qam + 2 * m) * (a + 2 * m))
        d = 1 / (1 + aa * d)
        c = 1 + aa / c
        h *= d * c
        aa = -(a + m) * (qab + m) * x / ((a + 2 * m) * (qap + 2 * m))
        d = 1 / (1 + aa * d)
        c = 1 + aa / c
        delta = d * c
        h *= delta
        if abs(delta - 1) < mpf(10) ** -35:
            return beta_power_term(a, b, x, y) * h / a
        assert m < 400_000, (a, b, x)


def beta_tail_by_series(a, b, x, y=None):
    """Lower tail: power term/a · Σ Π (a+b+i)/(a+1+i)·x, all terms positive."""
    total = term = mpf(1)
    i = 0
    while term > total * mpf(10) ** -32:
        term = term * x * (a + b + i) / (a + 1 + i)
        total += term
        i += 1
    # The terms fall at least as fast as here: what is left is at most term/(1 − ratio), 10⁻²⁷ of the total at worst.
    return beta_power_term(a, b, x, y) * total / a


def beta_small_tail(a, b, x, y=None):
    # The fraction takes some √min(a, b) steps, the series some a/√min(a, b), three times cheaper each.
    by_series = min(a, b) >= 10**5 and a <= 10 * b
    return beta_tail_by_series(a, b, x, y) if by_series else beta_tail_by_fraction(a, b, x, y)


def beta_tails(a, b, x, y=None, check=True):
    """(I, 1 − I) at an exact x (double or mpf), or at an exact 1 − x = y where that is smaller."""
    a, b, x = mpf(a), mpf(b), mpf(x)
    y = 1 - x if y is None else y
    if x <= a / (a + b):
        lower = beta_small_tail(a, b, x, y)
        if check:
            agree(lower, beta_tail_by_quadrature(a, b, x), ("beta", a, b, x))
        return lower, 1 - lower
    upper = beta_small_tail(b, a, y, x)
    if check:
        agree(upper, beta_tail_by_quadrature(b, a, y), ("beta", a, b, x))
    return 1 - upper, upper


def binomial_upper_by_sum(k, n, p):
    """P(X ≥ k) term by term, k at or above the mean."""
    p = mpf(p)
    term = mp.exp(ln_pmf(k, n, p))
    odds = p / (1 - p)
    total = mpf(0)
    j = k
    while j <= n and term > total * mpf(10) ** -40:
        total += term
        term *= odds * (n - j) / (j + 1)
        j += 1
    return total


# ---------------------------------------------------------------- incomplete gamma


def gamma_power_term(a, x):
    with mp.workdps(90):
        a, x = mpf(a), mpf(x)
        return mp.exp(a * mp.log(x) - x - mp.loggamma(a))


def gamma_tails(a, x, check=True):
    """(P, Q); the small one by series (lower) or fraction (upper), checked by quadrature."""
    a, x = mpf(a), mpf(x)
    if x <= a:
        term = total = 1 / a
        n = 0
        while term > total * mpf(10) ** -35:
            n += 1
            term *= x / (a + n)
            total += term
        small = gamma_power_term(a, x) * total
        if check:
            agree(small, gamma_by_quadrature(a, x, True), ("gamma", a, x))
        return small, 1 - small
    b = x + 1 - a
    c = mpf(10) ** 1000
    d = 1 / b
    h = d
    n = 0
    while True:
        n += 1
        an = n * (a - n)
        b += 2
        d = 1 / (an * d + b)
        c = b + an / c
        delta = c * d
        h *= delta
        if abs(delta - 1) < mpf(10) ** -35:
            break
    small = gamma_power_term(a, x) * h
    if check:
        agree(small, gamma_by_quadrature(a, x, False), ("gamma", a, x))
    return 1 - small, small


def gamma_by_quadrature(a, x, lower):
    sign = -1 if lower else 1
    end = x if lower else mp.inf

    def fall(s):
        return sign * s - (a - 1) * mp.log1p(sign * s / x)

    slope = max(sign * (1 - (a - 1) / x), mpf(0))
    cut = min(240 / (slope + mp.sqrt(slope**2 + 240 * abs(a - 1) / x**2 + mpf(10) ** -20)), end)
    while cut < end and fall(cut) < 120:
        cut = min(cut * mpf("1.25"), end)
    if lower and cut == x and a < 5:
        # An end point singularity of t^(a-1): tanh-sinh takes it.
        points = [0, x / 4, x / 2, 3 * x / 4, x]
        return gamma_power_term(a, x) / x * mp.quad(lambda s: mp.exp(-fall(s)), points, method="tanh-sinh")
    return gamma_power_term(a, x) / x * quadrature(lambda s: mp.exp(-fall(s)), cut)


# ---------------------------------------------------------------- inverses


def invert(ln_tail_and_slope, start, target):
    """Newton on ln tail, concave and increasing in w, halving the bracket instead where Newton gains less than a digit."""
    low, high = mpf(-1600), mpf(1600)
    w, last = mpf(start), mpf("inf")
    for _ in range(300):
        value, slope = ln_tail_and_slope(w)
        low, high = (low, w) if value > target else (w, high)
        step = (target - value) / slope
        if abs(step) < mpf(10) ** -26 * max(1, abs(w)):
            return w + step
        slow = abs(value - target) > last / 10
        last = abs(value - target)
        w = (low + high) / 2 if slow or not low <= w + step <= high else w + step
    raise AssertionError("no convergence")


def beta_quantile(a, b, p, lower):
    """x with lower (or upper) tail p; solved in the logit; answers (x, 1 − x)."""
    if not lower:
        y, x = beta_quantile(b, a, p, True)
        return x, y
    a, b, p = mpf(a), mpf(b), mpf(p)

    def at(w):
        x, y = 1 / (1 + mp.exp(-w)), 1 / (1 + mp.exp(w))
        tail = beta_tails(a, b, x, y, check=False)[0]
        return mp.log(tail), beta_power_term(a, b, x, y) / tail

    w = invert(at, mp.log(a / b), mp.log(p))
    return 1 / (1 + mp.exp(-w)), 1 / (1 + mp.exp(w))


def gamma_quantile(a, p, lower):
    a, p = mpf(a), mpf(p)
    index = 0 if lower else 1
    sign = 1 if lower else -1

    def at(w):
        x = mp.exp(sign * w)
        tail = gamma_tails(a, x, check=False)[index]
        return mp.log(tail), gamma_power_term(a, x) / tail

    return mp.exp(sign * invert(at, sign * mp.log(a), mp.log(p)))


# ---------------------------------------------------------------- the vectors


def logit_point(a, b, sigmas):
    """A double that many deviations from the mean in the logit, or so."""
    a, b = mpf(a), mpf(b)
    w = mp.log(a / b) + sigmas * mp.sqrt(1 / a + 1 / b)
    return near(1 / (1 + mp.exp(-w)))


def gamma_and_binomial():
    for x in [1e-300, 1e-10, 1e-3, 0.1, 0.25, 0.5, 0.61, 0.62, 0.9, 1.5, 2.5, 5.5, 10.5, 15.999, 1.0, 2.0, 7.0, 15.0]:
        write("stirling_error", "x < 16", [x], stirling_error(x))
    for x in [16.0, 16.5, 20.0, 33.3, 100.0, 1e3, 12345.678, 1e6, 1e9, 1e12]:
        write("stirling_error", "16 ≤ x ≤ 1e12", [x], stirling_error(x))
    for x in [1e-300, 1e-5, 0.3, 0.5, 1.4616, 3.5, 10.1, 100.5, 1e4, 1e6, 1e9, 1e15, 1.0001, 1.999]:
        write("ln_gamma", "1e-300 ≤ x ≤ 1e15", [x], mp.loggamma(mpf(x)))
    for n, k in [(5.0, 2.0), (60.0, 30.0), (100.0, 3.0), (1000.0, 499.0), (1e4, 17.0), (1e6, 2.0), (1e6, 5e5), (1e9, 1.0),
                 (1e9, 2.0), (1e9, 3.0), (1e9, 100.0), (1e9, 31622.0), (1e9, 123456789.0), (1e9, 5e8), (1e9, 999999990.0)]:
        write("ln_binomial", "integers, n ≤ 1e9", [n, k], ln_binomial(n, k))
    for n, k in [(5.5, 2.25), (100.1, 50.3), (1e4 + 0.5, 3.25), (1e6 + 0.25, 1.5), (1e9, 1234.5), (1e9, 1.0 + 2.0**-20)]:
        write("ln_binomial", "real, k and n − k ≥ 1", [n, k], ln_binomial(n, k))
    for x, m in [(1.0, 1.0 + 2.0**-50), (5e8, 5e8 + 1.0), (5e8, 5.0001e8), (3.0, 10.0), (10.0, 3.0), (1.0, 1e9), (1e9, 1.0),
                 (0.5, 5e5), (100.0, 61.0), (100.0, 40.0), (100.0, 39.0), (100.0, 250.0), (100.0, 249.0), (1e-5, 3.0)]:
        write("deviance", "0 < x, m ≤ 1e9", [x, m], deviance(x, m))


def binomial():
    small = [(k, n, p) for n, p in [(1, 0.3), (10, 0.1), (50, 0.7), (1000, 0.01), (1000, 0.999)] for k in {0, 1, n // 3, n - 1, n}]
    for k, n, p in small:
        if ln_pmf(k, n, p) > -690:
            write("pmf", "n ≤ 1e3, pmf ≥ 1e-300", [k, n, p], mp.exp(ln_pmf(k, n, p)))
        write("ln_pmf", "n ≤ 1e9", [k, n, p], ln_pmf(k, n, p))
    for n in [10**6, 10**9]:
        for p in [0.1, 0.5, 1 / 3, 0.9, 1e-3, 1e-6, 0.999, 0.7310585786300049]:
            sigma = mp.sqrt(n * mpf(p) * (1 - mpf(p)))
            for sigmas in [-36.5, -10, -3, 0, 2, 8, 20, 36.5]:
                k = int(n * mpf(p) + sigmas * sigma)
                if not 0 <= k <= n:
                    continue
                value = ln_pmf(k, n, p)
                if value < -690:
                    continue
                write("pmf", "1e6 ≤ n ≤ 1e9, pmf ≥ 1e-300", [k, n, p], mp.exp(value))
                write("ln_pmf", "n ≤ 1e9", [k, n, p], value)
                if sigmas in (2, 20) or p == 0.1 or (n == 10**6 and p in (0.5, 1e-3)):
                    if sigmas >= 0:
                        truth = beta_tails(k, n - k + 1, p)[0]
                        agree(truth, binomial_upper_by_sum(k, n, p), ("binomial", k, n, p))
                        write("upper_tail", "n ≤ 1e9, tail ≥ 1e-300", [k, n, p], truth)
                    else:
                        truth = beta_tails(k + 1, n - k, p)[1]
                        agree(truth, binomial_upper_by_sum(n - k, n, 1 - mpf(p)), ("binomial", k, n, p))
                        write("lower_tail", "n ≤ 1e9, tail ≥ 1e-300", [k, n, p], truth)


def beta():
    moderate = [(0.5, 0.5), (1.0, 3.0), (2.5, 0.75), (7.0, 19.5), (29.5, 31.0), (30.0, 30.0), (100.0, 3.0), (250.25, 900.5)]
    for a, b in moderate:
        for sigmas in [-12, -4, -1, -0.1, 0.1, 1, 4, 12]:
            x = logit_point(a, b, sigmas)
            if 0 < x < 1:
                lower, upper = beta_tails(a, b, x)
                if min(lower, upper) > mpf(10) ** -300:
                    write("regularised_beta.lower", "½ ≤ a, b ≤ 1e3", [a, b, x], lower)
                    write("regularised_beta.upper", "½ ≤ a, b ≤ 1e3", [a, b, x], upper)
    large = [(1e5, 2e5), (35.0, 1e9), (3.0, 1e9), (1e9, 77.5), (123456.5, 1e7), (1e6, 1e9), (1e9, 1e9), (5e8, 5e8 + 1.0), (1e9, 1.0)]
    for a, b in large:
        for sigmas in [-36, -9, -1, -0.01, 0.5, 5, 25]:
            x = logit_point(a, b, sigmas)
            if not 0 < x < 1:
                continue
            lower, upper = beta_tails(a, b, x)
            if min(lower, upper) > mpf(10) ** -300:
                write("regularised_beta.lower", "1 ≤ a, b ≤ 1e9", [a, b, x], lower)
                write("regularised_beta.upper", "1 ≤ a, b ≤ 1e9", [a, b, x], upper)
    # Caps of the sphere: |cap| = I_{γ²}(½, (d−1)/2), dimension d to 10⁶.
    for d in [2, 3, 10, 57, 100, 1000, 10**4, 10**5, 10**6]:
        for c in [1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 12.0, 36.0]:
            x = near(mpf(c) ** 2 / (d - 1))
            if x >= 1:
                continue
            lower, upper = beta_tails(0.5, (d - 1) / 2, x)
            if min(lower, upper) > mpf(10) ** -300:
                write("regularised_beta.lower", "a = ½, b = (d−1)/2, d ≤ 1e6", [0.5, (d - 1) / 2, x], lower)
                write("regularised_beta.upper", "a = ½, b = (d−1)/2, d ≤ 1e6", [0.5, (d - 1) / 2, x], upper)
            lower = beta_tails((d - 1) / 2, 0.5, 1 - x)[0]
            if lower > mpf(10) ** -300:
                write("regularised_beta.lower", "a = (d−1)/2, b = ½, d ≤ 1e6", [(d - 1) / 2, 0.5, 1 - x], lower)
    # The same caps seen as a = b = (d−1)/2 at (1+γ)/2.
    for d in [3, 100, 10**4, 10**6]:
        for c in [0.01, 1.0, 5.0, 20.0, 37.0]:
            gamma = mpf(c) / mp.sqrt(d)
            if gamma < 1:
                x = near((1 + gamma) / 2)
                half = (d - 1) / 2
                upper = beta_tails(half, half, x)[1]
                if upper > mpf(10) ** -300:
                    write("regularised_beta.upper", "a = b = (d−1)/2, d ≤ 1e6", [half, half, x], upper)


def beta_inverses():
    probabilities = [1e-300, 1e-100, 1e-20, 1e-9, 1e-3, 0.05, 0.3, 0.5]
    for a, b in [(0.5, 0.5), (1.0, 3.0), (2.0, 5e3), (7.0, 19.5), (30.0, 40.0), (250.25, 900.5), (1e4, 2e4), (0.5, 499999.5), (499999.5, 0.5), (3.0, 1e9), (1e5, 5e4)]:
        for p in probabilities:
            for lower in (True, False):
                x, y = beta_quantile(a, b, p, lower)
                if min(x, y) < mpf(10) ** -300:
                    continue
                name = "inverse_beta" if lower else "inverse_beta_upper"
                group = "½ ≤ a, b ≤ 1e9, p ≥ 1e-300"
                write(name + ".x", group, [a, b, p], x)
                write(name + ".y", group, [a, b, p], y)


def incomplete_gamma():
    for a in [0.5, 1.0, 2.5, 10.0, 29.9, 30.0, 100.5, 1e4, 1e6, 5e7 + 0.5, 1e9]:
        group = "½ ≤ a ≤ 30" if a < 30 else "30 ≤ a ≤ 1e9"
        for sigmas in [-36, -15, -5, -1, -0.01, 0.01, 1, 5, 15, 36]:
            for shape in ("linear", "log"):
                root = mp.sqrt(mpf(a))
                x = near(a + sigmas * root if shape == "linear" else a * mp.exp(sigmas / root))
                if not 0 < x < 5000 * max(a, 1):
                    continue
                if a > 1e8 and sigmas not in (-36, -1, 0.01, 5, 36):
                    continue
                lower, upper = gamma_tails(a, x)
                if min(lower, upper) > mpf(10) ** -300:
                    write("regularised_gamma.lower", group, [a, x], lower)
                    write("regularised_gamma.upper", group, [a, x], upper)
    for a in [0.5, 1.0, 3.25, 29.0, 31.0, 1000.0, 1e6]:
        for p in [1e-300, 1e-50, 1e-9, 1e-3, 0.2, 0.5]:
            x = gamma_quantile(a, p, True)
            if x > mpf(10) ** -300:
                write("inverse_gamma", "½ ≤ a ≤ 1e6, p ≥ 1e-300", [a, p], x)
            write("inverse_gamma_upper", "½ ≤ a ≤ 1e6, q ≥ 1e-300", [a, p], gamma_quantile(a, p, False))


def normal():
    for x in [8.0, 3.0, 1.0, 0.1, 0.0, -0.3, -1.0, -2.0, -5.0]:
        write("normal.cdf", "−5 ≤ x ≤ 8", [x], mp.ncdf(mpf(x)))
    for x in [-10.0, -19.99, -20.5, -36.123456789, -37.0] + [-5 - random.random() * 32 for _ in range(60)]:
        write("normal.cdf", "−37 ≤ x ≤ −5", [x], mp.erfc(-mpf(x) / mp.sqrt(2)) / 2)
    for x in [10.0, 3.0, 1.0, 0.1, 0.0, -0.3, -5.0, -19.99, -20.0, -20.01, -25.0, -38.0, -100.0, -1e4, -12345678.9, -1e8]:
        with mp.workdps(120):
            value = +mp.log(mp.erfc(-mpf(x) / mp.sqrt(2)) / 2) if x > -1e3 else None
        if value is None:  # erfc underflows nothing in mpmath, but its series is slow: DLMF 7.12.1, exact to 60 digits here
            u = 1 / mpf(x) ** 2
            term, series, k = mpf(1), mpf(1), 0
            while abs(term) > mpf(10) ** -60:
                k += 1
                term *= -(2 * k - 1) * u
                series += term
            value = -mpf(x) ** 2 / 2 - mp.log(2 * mp.pi) / 2 - mp.log(-mpf(x)) + mp.log(series)
        write("normal.ln_cdf", "−1e8 ≤ x ≤ 10", [x], value)
    for p in [1e-300, 1e-200, 1e-100, 1e-30, 1e-15, 1e-6, 0.01, 0.1, 0.2, 0.2499, 0.2501, 0.3, 0.45, 0.4999, 0.5 - 2.0**-50, 0.75, 0.999]:
        q = mpf(p) if p < 0.5 else 1 - mpf(p)
        root = mp.findroot(lambda z: mp.log(mp.erfc(-z / mp.sqrt(2)) / 2) - mp.log(q), -mp.sqrt(2 * abs(mp.log(q))) if q < 0.2 else mpf(-0.1))
        write("normal.quantile", "1e-300 ≤ p ≤ 0.999", [p], root if p < 0.5 else -root)


SECTIONS = {
    "gamma_and_binomial": gamma_and_binomial,
    "normal": normal,
    "incomplete_gamma": incomplete_gamma,
    "beta": beta,
    "beta_inverses": beta_inverses,
    "binomial": binomial,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or SECTIONS:
        ROWS.clear()
        random.seed(20240501)
        SECTIONS[name]()
        with open(name + ".json", "w", encoding="utf-8") as file:
            file.write("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS) + "\n]\n")
        print(name, len(ROWS), "vectors", flush=True)
