#!/usr/bin/env python3
"""A round of a linear model by matrix products of NumPy or PyTorch: seconds, as one JSON object.

    python linear_peer.py --threads 2

60,000 examples of 3,472 features, 10 classes: scores, softmax, a factor for each example that clips
its gradient to an l2 norm, and the sum of the clipped gradients. The lengths of the examples are
computed once and not counted. Blocks of several sizes are tried, and the best round counts. PyTorch is
used if it can be imported, else NumPy.
"""

import argparse
import json
import os
import time

FEATURES, CLASSES, CLIP = 3472, 10, 0.1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--examples", type=int, default=60_000)
    parser.add_argument("--blocks", default="1024,8192,60000")
    return parser.parse_args()


def of_numpy(given):
    """The name of the library, and a function that does a round in blocks."""
    import numpy as np

    random = np.random.default_rng(1)
    x = random.standard_normal((given.examples, FEATURES), dtype=np.float32) * np.float32(1 / FEATURES**0.5)
    weights = random.standard_normal((CLASSES, FEATURES), dtype=np.float32)
    labels = random.integers(0, CLASSES, given.examples)
    lengths = np.linalg.norm(x, axis=1)

    def round_(block):
        total = np.zeros((CLASSES, FEATURES))
        for first in range(0, given.examples, block):
            rows = slice(first, min(first + block, given.examples))
            p = x[rows] @ weights.T
            p -= p.max(axis=1, keepdims=True)
            np.exp(p, out=p)
            p /= p.sum(axis=1, keepdims=True)
            p[np.arange(len(p)), labels[rows]] -= 1
            norms = np.linalg.norm(p, axis=1) * lengths[rows]
            p *= np.minimum(1, CLIP / np.maximum(norms, 1e-30))[:, None]
            total += p.T @ x[rows]
        return total

    return f"NumPy {np.__version__}", round_


def of_torch(given):
    """The same with PyTorch."""
    import torch

    torch.set_num_threads(given.threads)
    torch.manual_seed(1)
    x = torch.randn(given.examples, FEATURES) / FEATURES**0.5
    weights = torch.randn(CLASSES, FEATURES)
    labels = torch.randint(0, CLASSES, (given.examples, 1))
    lengths = x.norm(dim=1)

    def round_(block):
        total = torch.zeros(CLASSES, FEATURES, dtype=torch.float64)
        for first in range(0, given.examples, block):
            rows = slice(first, min(first + block, given.examples))
            p = torch.softmax(x[rows] @ weights.T, dim=1)
            p.scatter_add_(1, labels[rows], -torch.ones(len(p), 1))
            norms = p.norm(dim=1) * lengths[rows]
            p *= (CLIP / norms.clamp(min=1e-30)).clamp(max=1)[:, None]
            total += p.T @ x[rows]
        return total

    return f"PyTorch {torch.__version__}", round_


def main():
    given = arguments()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(given.threads)
    try:
        library, round_ = of_torch(given)
    except ImportError:
        library, round_ = of_numpy(given)
    best, cpu = {}, {}
    for block in map(int, given.blocks.split(",")):
        started, best[block], cpu[block] = time.perf_counter(), float("inf"), float("inf")
        while time.perf_counter() - started < given.seconds:
            start, used = time.perf_counter(), time.process_time()
            round_(block)
            best[block] = min(best[block], time.perf_counter() - start)
            cpu[block] = min(cpu[block], time.process_time() - used)
    block = min(best, key=best.get)
    print(
        json.dumps(
            {
                "library": library,
                "threads": given.threads,
                "block": block,
                "seconds_per_round": best[block],
                "cpu_seconds_per_round": min(cpu.values()),
            }
        )
    )


if __name__ == "__main__":
    main()
