"""Measures the overhead of a call from Python: `python bench/python/overhead.py`. The goal is below 20 µs."""

from __future__ import annotations

import platform
import timeit
from typing import Callable

import dp_accounting
import shuffledp
from shuffledp.dp_accounting import LocalDpEvent, ShuffleAccountant, SubsampledShuffledDpEvent

LIMIT = 20e-6


def cached(call: Callable[[], object]) -> float:
    """The best of five runs of 2000 calls, per call."""
    call()
    return min(timeit.repeat(call, number=2000, repeat=5)) / 2000


def main() -> None:
    accountant = shuffledp.Accountant()
    accountant.compose(clients=1_000_000, sampled=1000, local_epsilon=2, count=100_000)
    theirs = ShuffleAccountant().compose(SubsampledShuffledDpEvent(1_000_000, 1000, LocalDpEvent(2.0)), 100_000)

    def headline() -> float:
        return shuffledp.epsilon(clients=1_000_000, sampled=1000, local_epsilon=2, rounds=100_000, delta=1e-8)

    def its_delta() -> float:
        return shuffledp.delta(clients=1_000_000, sampled=1000, local_epsilon=2, rounds=100_000, epsilon=0.1)

    calls: dict[str, Callable[[], object]] = {
        "shuffledp.epsilon": headline,
        "shuffledp.delta": its_delta,
        "Accountant.epsilon": lambda: accountant.epsilon(1e-8),
        "ShuffleAccountant.get_epsilon": lambda: theirs.get_epsilon(1e-8),
    }
    print(f"Python {platform.python_version()}, dp_accounting {getattr(dp_accounting, '__version__', '0.6')}")
    slowest = 0.0
    for name, call in calls.items():
        seconds = cached(call)
        slowest = max(slowest, seconds)
        print(f"{name:32} {seconds * 1e6:6.2f} µs")
    # With these and the one about δ, as far back as an answer is remembered.
    for i in range(254):
        shuffledp.epsilon(clients=3, local_epsilon=0.5 + i / 1000, delta=1e-6)
    once = timeit.timeit(headline, number=1)
    print(f"{'the first after 255 others, once':32} {once * 1e6:6.2f} µs")
    print(f"{'below' if slowest < LIMIT else 'NOT below'} {LIMIT * 1e6:.0f} µs")


if __name__ == "__main__":
    main()
