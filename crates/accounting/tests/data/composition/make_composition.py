#!/usr/bin/env python3
"""Many rounds of one pair by a contour integral: reference values for composition.

Independent of the project's code: no lattice, no FFT. With phi(s) = E_P[e^{s L}], L the privacy loss of one round,

    delta(eps) = 1/(2 pi i) * integral over Re s = theta > 0 of phi(s)^T e^{-s eps} / (s (s+1)) ds,

because (1 - e^{-y})_+ has the Laplace transform 1/(s (s+1)). theta is the saddle point, so that nothing cancels.
phi is summed over all outcomes of the pair outside of which there is less than 1e-28 of the mass; their
probabilities come from mpmath at 40 digits, the integral is the trapezoidal rule in doubles.

Accuracy: phi(s)^T carries about T * 1e-16, a relative 1e-11 of delta. The integrand is cut off where |phi^T| has fallen
below 1e-20; the losses are nearly on a lattice of spacing h, so it returns near t = 2 pi/h (about 1e6) and beyond, where
1/|s|^2 leaves little of it: a bound on that share is the uncertainty in the file.

Run: pip install mpmath numpy && ./make_composition.py (a minute)
"""
import json
from pathlib import Path

import mpmath as mp
import numpy as np

mp.mp.dps = 40
HERE = Path(__file__).parent
CUT = mp.mpf(10) ** -28


def binomial_table(trials, p):
    """{x: mass} for all masses that matter."""
    q = 1 - p
    mode = int(mp.floor((trials + 1) * p))
    mass = mp.binomial(trials, mode) * p**mode * q ** (trials - mode)
    table = {mode: mass}
    x, m = mode, mass
    while x < trials and m > CUT * mp.mpf("1e-3"):
        m = m * (trials - x) / (x + 1) * p / q
        x += 1
        table[x] = m
    x, m = mode, mass
    while x > 0 and m > CUT * mp.mpf("1e-3"):
        m = m * x / (trials - x + 1) * q / p
        x -= 1
        table[x] = m
    return table


def atoms(kind, e0, k, n):
    """Losses ln(P/Q), P-masses and the largest a - b of one round: a, b with probability pi each out of k, P/W = 1 - k/n + (x a + y b)/n."""
    e = mp.exp(mp.mpf(e0))
    if kind == "two-level":  # q = 1/2
        pi, x, y = 1 / (e + 1), e, mp.mpf(1)
    else:  # any
        kappa = 2 * e / (e + 1)
        pi, x, y = 1 / (2 * e), kappa * e, kappa
    losses, masses, steps = [], [], 0
    for m, weight in binomial_table(k, 2 * pi).items():
        for a, walk in binomial_table(m, mp.mpf("0.5")).items():
            w = weight * walk
            if w < CUT:
                continue
            p = (n - k + x * a + y * (m - a)) / n
            q = (n - k + y * a + x * (m - a)) / n
            losses.append(float(mp.log(p / q)))
            masses.append(float(w * p))
            steps = max(steps, 2 * a - m)
    return np.array(losses), np.array(masses), steps


def excess(losses, masses, s):
    """phi(s) - 1 for real s, accurately: E_P[1 - e^{-L}] = 0 takes the first order away."""
    return float(np.sum(masses * (np.expm1(s * losses) + s * np.expm1(-losses))))


def saddle(losses, masses, rounds, epsilon):
    low, high = 1e-6, 1e7
    for _ in range(200):
        mid = np.sqrt(low * high)
        tilted = masses * np.exp(mid * losses)
        slope = rounds * float(np.sum(tilted * losses) / np.sum(tilted)) - 1 / mid - 1 / (1 + mid)
        low, high = (mid, high) if slope < epsilon else (low, mid)
    return np.sqrt(low * high)


def delta(losses, masses, steps, rounds, epsilon):
    theta = saddle(losses, masses, rounds, epsilon)
    base = 1 + excess(losses, masses, theta)
    tilted = masses * np.exp(theta * losses) / base
    mean = float(np.sum(tilted * losses))
    deviation = np.sqrt(rounds * float(np.sum(tilted * (losses - mean) ** 2)))
    exponent = rounds * np.log1p(excess(losses, masses, theta)) - theta * epsilon

    def power(t):
        # (phi(theta + i t)/phi(theta))^T e^{-i t mean T}, from centred losses so that the phase stays small.
        centred = losses - mean
        # Summed as cos - 1 and sin - x: relative accuracy of the logarithm.
        u = t * centred
        real = float(np.sum(tilted * (-2 * np.sin(u / 2) ** 2)))
        imag = float(np.sum(tilted * np.sin(u)))
        return np.exp(rounds * np.log1p(complex(real, imag)))

    step = 0.1 / deviation
    total, t, j = 0.0, 0.0, 0
    while True:
        value = power(t)
        s = complex(theta, t)
        phase = np.exp(1j * t * (rounds * mean - epsilon))
        total += (0.5 if j == 0 else 1.0) * (value * phase / (s * (s + 1))).real
        if abs(value) < 1e-20:
            break
        j += 1
        t = j * step
    integral = total * step / np.pi
    # What returns at large t. Losses are nearly multiples of h = the largest over `steps`, so nothing returns before half of 2 pi/h
    # (probed below); from there on bands of ten deviations around its multiples, with |phi^T| = 1 in them, are an upper bound.
    first = np.pi / (np.max(losses) / steps)
    beyond = np.pi**2 / 6 * (20 / deviation) / first**2 / np.pi / integral
    for probe in np.geomspace(t * 1.01, first, 60):
        assert abs(power(probe)) < 1e-15, (probe, abs(power(probe)))
    return float(np.exp(exponent) * integral), float(theta), float(beyond)


def main():
    rows = []
    for kind, e0, k, n, rounds, epsilons in [
        ("two-level", "2", 1000, 10**6, 10**5, [0.05, 0.1, 0.14568, 0.18]),
        ("any", "2", 1000, 10**6, 10**5, [0.05, 0.13, 0.19587, 0.24]),
        ("any", "1.5", 10**4, 6 * 10**4, 1200, [0.2, 0.55024]),
    ]:
        losses, masses, steps = atoms(kind, e0, k, n)
        print(kind, e0, k, n, len(losses), "outcomes, missing mass", 1 - masses.sum())
        for epsilon in epsilons:
            value, theta, beyond = delta(losses, masses, steps, rounds, epsilon)
            print(f"  eps {epsilon}: delta {value:.10e} theta {theta:.2f} beyond {beyond:.1e}", flush=True)
            rows.append({
                "inputs": {"pair": kind, "local_epsilon": e0, "sampled": k, "clients": n, "rounds": rounds,
                           "epsilon": repr(epsilon)},
                "value": f"{value:.9e}",
                "relative_uncertainty": f"{beyond + 1e-9:.1e}",
            })
    (HERE / "many_rounds.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
