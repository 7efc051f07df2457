"""One question to one peer: `peers.py CASE` prints {"epsilon", "wall", "cpu"} as JSON. Runs inside the scratch venv.

Imports and just-in-time compilation are not timed. What a user would have to write to ask the question is timed with it.
"""

import json
import math
import resource
import sys
import time

MEMORY_GB = 10


def linear_pair(local_epsilon, clients, speaking, tail):
    """ln P and ln Q over the counts (a, b) of the dominating pair of any ε0-LDP randomizer, two tails of mass `tail` cut.

    Binomial tails are cut separately for a+b and for a; the caller puts what may be missing at infinite loss.
    """
    import numpy as np
    from scipy import stats

    e = math.exp(local_epsilon)
    kappa = 2 * e / (e + 1)
    low, high = stats.binom.ppf(tail, speaking, 1 / e), stats.binom.isf(tail, speaking, 1 / e)
    total = np.arange(max(int(low) - 1, 0), min(int(high) + 1, speaking) + 1)
    first = np.maximum(stats.binom.ppf(tail, total, 0.5).astype(int) - 1, 0)
    last = np.minimum(stats.binom.isf(tail, total, 0.5).astype(int) + 1, total)
    length = last - first + 1
    a = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length - first, length)
    c = np.repeat(total, length)
    base = np.repeat(stats.binom.logpmf(total, speaking, 1 / e), length) + stats.binom.logpmf(a, c, 0.5)
    rest = 1 - speaking / clients
    p = base + np.log(rest + kappa * (e * a + (c - a)) / clients)
    q = base + np.log(rest + kappa * (a + e * (c - a)) / clients)
    return p, q


def dp_accounting_pair(local_epsilon, clients, speaking, rounds, delta, grid):
    from dp_accounting.pld import privacy_loss_distribution as pld

    def ask():
        tail = max(delta / rounds / 1e6, 1e-16)
        p, q = linear_pair(local_epsilon, clients, speaking, tail)
        upper, lower = dict(enumerate(p.tolist())), dict(enumerate(q.tolist()))
        # P/W is at most a few; 8 covers the four tails.
        upper["cut"] = math.log(8 * tail)
        loss = pld.from_two_probability_mass_functions(lower, upper, value_discretization_interval=grid)
        return (loss.self_compose(rounds) if rounds > 1 else loss).get_epsilon_for_delta(delta)

    return ask


def apple(local_epsilon, clients, delta, step):
    """Apple's ml-shuffling-amplification, of which random-allocation carries a copy."""
    from random_allocation.external_sources.shuffle_external import numericalanalysis

    return lambda: numericalanalysis(clients, local_epsilon, delta, 25, step, True)


def pld_accounting(sigma, clients, delta):
    """Random allocation of one Gaussian to one of n steps is the pair of the shuffle Gaussian at sensitivity 1."""
    from PLD_accounting import gaussian_allocation_epsilon_range

    def ask(steps=clients):
        return gaussian_allocation_epsilon_range(delta=delta, sigma=sigma, num_steps=steps)[0]

    ask(10)
    return ask


def random_allocation(method, sigma, clients, delta, orders=None):
    from random_allocation.comparisons.definitions import PrivacyParams, SchemeConfig, methods_dict

    params = PrivacyParams(sigma=sigma, num_steps=clients, num_selected=1, num_epochs=1, epsilon=None, delta=delta)
    config = SchemeConfig(allocation_direct_alpha_orders=orders and list(range(2, orders + 1)))
    return lambda: methods_dict[method].epsilon_calculator(params, config)


def main():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_GB << 30, MEMORY_GB << 30))
    function, arguments = json.loads(sys.argv[1])
    ask = globals()[function](*arguments)
    best = None
    # The fastest of three where that is cheap.
    for _ in range(3):
        wall, cpu = time.perf_counter(), time.process_time()
        epsilon = ask()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        if best is None or cpu < best["cpu"]:
            best = {"epsilon": float(epsilon), "wall": wall, "cpu": cpu}
        if wall > 10:
            break
    print(json.dumps(best))


main()
