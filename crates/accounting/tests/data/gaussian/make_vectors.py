"""Reference values for the shuffle Gaussian pair at extreme corners: python3 make_vectors.py [section ...] (needs mpmath; about ten minutes).

sigma is the noise at sensitivity 1, half of the library's. Written are exact formulas evaluated with 90 digits, by other means than
the library's: the classical coefficients e^(k(k-1)s/2)/k! raised to the n-th power, and plain quadrature for the reverse direction.
"""
import json
import sys
from decimal import Decimal as D, getcontext, MAX_EMAX, MIN_EMIN
from itertools import combinations_with_replacement
from math import factorial
from mpmath import mp, mpf, exp, log, sqrt, pi

getcontext().prec = 90
getcontext().Emax, getcontext().Emin = MAX_EMAX, MIN_EMIN
mp.dps = 90


def series(sigma, top, rate=D(1)):
    """rate * E[w^j]/j! + (1 - rate)/j!, j = 0..top."""
    q = (D(1) / (D(sigma) * D(sigma))).exp()
    a, g, f, p = [], D(1), D(1), D(1)
    for j in range(top + 1):
        a.append((rate * g + 1 - rate) / f)
        g, p, f = g * p, p * q, f * (j + 1)
    return a


def product(a, b):
    return [sum((a[j] * b[m - j] for j in range(m + 1)), D(0)) for m in range(len(a))]


def power(a, n):
    """The n-th power of a series with a[0] = 1: J.C.P. Miller's recurrence where its terms are positive, else squaring."""
    if n + 1 >= len(a) - 1:
        c = [D(1)]
        for m in range(1, len(a)):
            c.append(sum(((j * (n + 1) - m) * a[j] * c[m - j] for j in range(1, m + 1)), D(0)) / m)
        return c
    out = [D(1)] + [D(0)] * (len(a) - 1)
    while n:
        if n & 1:
            out = product(out, a)
        a, n = product(a, a), n >> 1
    return out


def divergence(c, clients, order):
    """ln(order! clients^-order c[order]) / (order - 1)."""
    value = factorial(order) * c[order] / D(clients) ** order
    return value.ln() / (order - 1)


def moments_shuffle(sigma, n, orders):
    c = power(series(sigma, max(orders)), n)
    return [divergence(c, n, o) for o in orders]


def moments_subsampled(sigma, n, k, orders):
    top = max(orders)
    rest, f = [], D(1)
    for j in range(top + 1):
        rest.append(D(n - k) ** j / f if n > k or j == 0 else D(0))
        f *= j + 1
    c = product(power(series(sigma, top), k), rest)
    return [divergence(c, n, o) for o in orders]


def moments_check_in(sigma, n, rate, orders):
    c = power(series(sigma, max(orders), D(rate)), n)
    return [divergence(c, n, o) for o in orders]


def text(value):
    return str(value.quantize(D(1).scaleb(value.adjusted() - 29)))


def out(name, rows):
    with open(name + ".json", "w") as file:
        json.dump([{"inputs": i, "value": text(v)} for i, v in rows], file, indent=1)
        file.write("\n")
    print(name, len(rows), flush=True)


def quadrature(sigma, n, orders):
    """(E[W^o], E[W^(1-o)]) for each order: trapezoidal rule in every coordinate (spectrally accurate for Gaussian weights).

    Asserts on the way the two inequalities of the proof that the second is never the larger.
    """
    mp.dps = 25
    s = 1 / mpf(sigma) ** 2
    reach = 9 + (max(orders) + 1) * sqrt(s)
    count = {1: 600, 2: 260, 3: 110}[n]
    h = 2 * reach / count
    nodes = [-reach + h * i for i in range(count + 1)]
    ws = [exp(-g * g / 2) * h / sqrt(2 * pi) for g in nodes]
    es = [exp(sqrt(s) * g - s / 2) for g in nodes]
    sums, rhos = {}, {}
    powers = sorted({p for o in orders for p in (o, 1 - o)} | {0})
    for p in powers:
        sums[p], rhos[p] = mpf(0), mpf(0)
    for cell in combinations_with_replacement(range(count + 1), n):
        weight = mpf(1)
        for i in cell:
            weight *= ws[i]
        if weight < mpf(10) ** -60 and n == 3 and max(orders) * sqrt(s) < 3:
            continue
        repeats = factorial(n)
        for i in set(cell):
            repeats //= factorial(cell.count(i))
        weight *= repeats
        total = sum(es[i] for i in cell)
        rho = sum(es[i] ** 2 for i in cell) / total ** 2
        v = total / n
        for p in powers:
            term = weight * v ** p
            sums[p] += term
            rhos[p] += term * rho
    mean = {p: rhos[p] / sums[p] for p in powers}
    for o in orders:
        slack = mpf(10) ** -9
        assert mean[1 - o] <= mean[0] * (1 + slack) and mean[0] <= mean[o] * (1 + slack), (sigma, n, o)
    return [(log(sums[o]) / (o - 1), log(sums[1 - o]) / (o - 1)) for o in orders]


def shuffle():
    for sigma in ("0.025", "0.3", "1", "40", "5000"):
        for n in (1, 2, 5, 1000, 10**9):
            orders = [2, 3, 7, 50, 300]
            for o, v in zip(orders, moments_shuffle(sigma, n, orders)):
                yield {"clients": n, "sigma": sigma, "order": o}, v


def subsampled():
    for sigma in ("0.025", "1", "9.48", "5000"):
        for n, k in ((5, 2), (100, 10), (60000, 600), (10**9, 1), (10**9, 10**6)):
            orders = [2, 3, 7, 50, 200]
            for o, v in zip(orders, moments_subsampled(sigma, n, k, orders)):
                yield {"clients": n, "sampled": k, "sigma": sigma, "order": o}, v


def check_in():
    for sigma in ("0.025", "1", "9.48", "5000"):
        for n, r in ((1, "0.3"), (3, "0.5"), (40, "0.9"), (60000, "0.1"), (10**9, "0.0001")):
            orders = [2, 3, 7, 50, 200]
            for o, v in zip(orders, moments_check_in(sigma, n, r, orders)):
                yield {"clients": n, "rate": r, "sigma": sigma, "order": o}, v


def directions():
    for n, sigma, orders in ((1, "0.5", (2, 3, 5)), (1, "2", (2, 3, 5)), (2, "0.7", (2, 3, 4)), (2, "2", (2, 3, 8)),
                             (3, "1", (2, 3)), (3, "2.5", (2, 3, 6))):
        for o, (f, r) in zip(orders, quadrature(sigma, n, orders)):
            for direction, value in (("forward", f), ("reverse", r)):
                yield {"clients": n, "sigma": sigma, "order": o, "direction": direction}, D(mp.nstr(value, 20))


def large_orders():
    getcontext().prec = 60
    for n, sigma in ((60000, "9.48"), (10**9, "0.025"), (10**9, "5000")):
        orders = [3000, 10000]
        for o, v in zip(orders, moments_shuffle(sigma, n, orders)):
            yield {"clients": n, "sigma": sigma, "order": o}, v


if __name__ == "__main__":
    sections = {f.__name__: f for f in (shuffle, subsampled, check_in, directions, large_orders)}
    for name in sys.argv[1:] or sections:
        out(name, list(sections[name]()))
