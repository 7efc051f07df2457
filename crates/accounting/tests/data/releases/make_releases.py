"""δ(ε) of outputs that are not shuffled, to 30 digits: writes releases.json beside this file. Needs mpmath 1.3 or later."""

import json
import pathlib

import mpmath
from mpmath import mpf

mpmath.mp.dps = 40


def gaussian(mu, epsilon):
    """N(0,1) against N(μ,1)."""
    mu, epsilon = mpf(mu), mpf(epsilon)
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def laplace_density(x):
    return mpmath.exp(-abs(x)) / 2


def laplace(shift, epsilon):
    """Hockey-stick divergence of two Laplace laws, integrated as it stands."""
    shift, epsilon = mpf(shift), mpf(epsilon)
    ratio = mpmath.exp(epsilon)
    excess = lambda x: max(mpf(0), laplace_density(x) - ratio * laplace_density(x - shift))
    kink = (shift - epsilon) / 2
    edges = sorted({mpf(-120), mpf(0), min(max(kink, mpf(0)), shift), shift, mpf(120)})
    return mpmath.quad(excess, edges)


def response(noise, buckets, count, epsilon):
    """Randomized response, `count` times: all outcomes by how often the true and the other dataset's value were said."""
    noise, epsilon = mpf(noise), mpf(epsilon)
    low = noise / buckets
    high = 1 - noise + low
    rest = 1 - high - low
    total = mpf(0)
    for ups in range(count + 1):
        for downs in range(count + 1 - ups):
            others = count - ups - downs
            if others and buckets == 2:
                continue
            ways = mpmath.binomial(count, ups) * mpmath.binomial(count - ups, downs)
            common = ways * rest**others
            total += max(mpf(0), common * (high**ups * low**downs - mpmath.exp(epsilon) * low**ups * high**downs))
    return total


def main():
    cases = []
    for mu in ["1e-3", "0.1", "1", "4", "30"]:
        for sigmas in ["0", "0.5", "2", "6"]:
            epsilon = mpf(mu) ** 2 / 2 + mpf(sigmas) * mpf(mu)
            epsilon = float(mpmath.nstr(epsilon, 6))
            cases.append({"output": {"name": "gaussian", "mu": float(mu)}, "count": 1, "epsilon": epsilon, "delta": float(gaussian(mpf(float(mu)), epsilon))})
    # Ten Gaussian outputs are one with √10 times the μ.
    for epsilon in [0.5, 2.0, 5.0]:
        delta = gaussian(mpf(0.25) * mpmath.sqrt(10), epsilon)
        cases.append({"output": {"name": "gaussian", "mu": 0.25}, "count": 10, "epsilon": epsilon, "delta": float(delta)})
    for shift in [0.01, 1.0, 5.0, 40.0]:
        for share in [0.0, 0.25, 0.9, 0.999]:
            cases.append({"output": {"name": "laplace", "epsilon": shift}, "count": 1, "epsilon": share * shift, "delta": float(laplace(shift, share * shift))})
    for noise, buckets, count in [(0.5, 2, 1), (0.9, 2, 20), (0.75, 10, 12), (0.05, 3, 4), (0.999, 1000, 30)]:
        loss = float(mpmath.log1p(buckets * (1 - mpf(noise)) / mpf(noise)))
        # Between the sums of losses: at one of them a lattice that moves it by a hair shows.
        for share in [0.0, 0.12, 0.31]:
            epsilon = share * loss * count
            output = {"name": "randomized-response", "noise": noise, "buckets": buckets}
            cases.append({"output": output, "count": count, "epsilon": epsilon, "delta": float(response(noise, buckets, count, epsilon))})
    path = pathlib.Path(__file__).with_name("releases.json")
    path.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
