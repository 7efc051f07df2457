"""Batches from Python against the same loop in Rust: `python bench/python/batches.py`. The ratio of CPU times has to stay below 1.2.

Both run on one thread with released coins, in turns, and the best of each counts; the Rust side is `crates/randomizers/examples/batch_times.rs`. There categories are also encoded, here
they become an array of int64 that is new each time.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import time
from typing import Any, Callable

# Before the threads start.
os.environ["RAYON_NUM_THREADS"] = "1"

import numpy
from shuffledp import randomizers

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIMENSION, ROWS, LIMIT = 13_706, 1000, 1.2


def in_rust() -> dict[str, float]:
    """Nanoseconds per report."""
    line = ["cargo", "run", "--quiet", "--release", "-p", "shuffledp-randomizers", "--example", "batch_times"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    return {name: float(time) for name, time in map(str.split, done.stdout.splitlines())}


def best(call: Callable[[], Any], times: int, reports: int) -> float:
    """The best of seven, in nanoseconds of CPU time per report."""
    found = []
    for _ in range(7):
        started = time.process_time_ns()
        for _ in range(times):
            call()
        found.append((time.process_time_ns() - started) / (times * reports))
    return min(found)


def in_python() -> dict[str, float]:
    """Nanoseconds per report."""
    vectors = (numpy.sin(numpy.arange(ROWS * DIMENSION, dtype=numpy.float32)) * 0.01).astype(numpy.float32)
    rows = vectors.reshape(ROWS, DIMENSION)
    categories = numpy.arange(1_000_000) % 1000
    krr = randomizers.Krr(local_epsilon=2.0, categories=1000)
    r_inf = randomizers.RInf(local_epsilon=2.0, dimension=DIMENSION, clip=0.01)
    r_1 = randomizers.R1(local_epsilon=2.0, dimension=DIMENSION, clip=0.01)
    duchi = randomizers.Duchi(local_epsilon=2.0, dimension=DIMENSION, clip=1.0)
    discrete = randomizers.DiscreteGaussian(sigma=1.0, dimension=DIMENSION, clip=1.0)
    return {
        "krr": best(lambda: krr.randomize_batch(categories), 1, len(categories)),
        "r-inf": best(lambda: r_inf.randomize_batch(rows), 20, ROWS),
        "r-1": best(lambda: r_1.randomize_batch(rows), 20, ROWS),
        "r-2": best(lambda: duchi.randomize_batch(rows), 1, ROWS),
        "discrete-gaussian": best(lambda: discrete.randomize_batch(rows[:100]), 1, 100),
    }


def main() -> None:
    rounds = [(in_rust(), in_python()) for _ in range(3)]
    rust, python = ({name: min(times[name] for times in side) for name in side[0]} for side in zip(*rounds))
    print(f"{'mechanism':20} {'Rust, ns':>12} {'Python, ns':>12} {'ratio':>6}")
    for name, nanoseconds in rust.items():
        print(f"{name:20} {nanoseconds:12.1f} {python[name]:12.1f} {python[name] / nanoseconds:6.2f}")
    slowest = max(python[name] / nanoseconds for name, nanoseconds in rust.items())
    print(f"{'below' if slowest < LIMIT else 'NOT below'} {LIMIT}")


if __name__ == "__main__":
    main()
