"""A hundred million simulated reports of k-ary randomized response, added up by Ray's workers.

    pip install 'ray==2.55.1' ./python
    python examples/ray_histogram.py --workers 2
    python examples/ray_histogram.py --workers 2 --reports 1000000

Every worker simulates clients, randomizes their categories and adds the reports up; what comes back
is one `Aggregator` a worker, and `merge` adds those up. Beside the histogram stand the intervals
that hold for all categories at once, and ε.

Ray listens on all interfaces of the machine: run it where nobody else can reach them.
"""

from __future__ import annotations

import argparse
import os
import time

# Before Ray is imported.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import numpy
import ray
import shuffledp
from shuffledp.randomizers import Aggregator, Krr

CATEGORIES = 32
LOCAL_EPSILON = 4.0
DELTA = 1e-9
# Reports that one worker holds in memory at once.
BATCH = 1_000_000


def shares() -> numpy.ndarray:
    """How common each category is among the simulated clients: category k in proportion to 1/(k + 1)."""
    weights = 1 / numpy.arange(1, CATEGORIES + 1)
    return weights / weights.sum()


def part(reports: int, seed: int) -> Aggregator:
    """The sum of so many clients' reports. The seed draws who they are; their coins are never seeded."""
    mechanism = Krr(local_epsilon=LOCAL_EPSILON, categories=CATEGORIES)
    aggregator = mechanism.aggregator()
    clients = numpy.random.default_rng(seed)
    limits = numpy.cumsum(shares())[:-1]
    for start in range(0, reports, BATCH):
        categories = numpy.searchsorted(limits, clients.random(min(BATCH, reports - start)), side="right")
        aggregator.add_batch(mechanism.randomize_batch(categories))
    return aggregator


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=int, default=100_000_000)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if given.reports < 1 or given.workers < 1:
        parser.error("--reports and --workers must be at least 1")

    ray.init(num_cpus=given.workers, include_dashboard=False, log_to_driver=False)
    # One core each: the workers share the machine, and the coins of a batch would take all of it.
    remote = ray.remote(num_cpus=1, runtime_env={"env_vars": {"RAYON_NUM_THREADS": "1"}})(part)
    # The workers' start is not part of the measurement.
    ray.get([remote.remote(1, 0) for _ in range(given.workers)])
    start = time.perf_counter()
    sizes = [given.reports * (w + 1) // given.workers - given.reports * w // given.workers for w in range(given.workers)]
    parts = ray.get([remote.remote(size, seed) for seed, size in enumerate(sizes)])
    total = parts[0]
    for other in parts[1:]:
        total.merge(other)
    seconds = time.perf_counter() - start

    found = total.intervals(confidence=0.99)
    inside = int(((found.lower <= shares()) & (shares() <= found.upper)).sum())
    mechanism = Krr(local_epsilon=LOCAL_EPSILON, categories=CATEGORIES)
    epsilon = shuffledp.epsilon(clients=given.reports, randomizer=mechanism, delta=DELTA)
    print(f"{total.count:,} reports by {given.workers} workers in {seconds:.1f} s: {total.count / seconds:,.0f} a second")
    print("category   estimate   99 % interval of all")
    for category in range(5):
        row = found.estimate[category], found.lower[category], found.upper[category]
        print(f"{category:8}   {row[0]:.5f}    {row[1]:.5f} to {row[2]:.5f}")
    print(f"{inside} of {CATEGORIES} intervals hold the clients' share")
    print(f"ε ≤ {epsilon:.4g} at δ = {DELTA:g} if a shuffler hides who sent what; ε0 = {LOCAL_EPSILON:g} if not")
    ray.shutdown()


if __name__ == "__main__":
    main()
