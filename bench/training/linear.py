#!/usr/bin/env python3
"""A round of a linear model, ours and the matrix products of a peer in one run: part of `make bench-training`.

The peer is PyTorch if TORCH_PYTHON names a Python that has it or run.py has made its environment, else
NumPy of this Python. The two take turns, and the best round of each counts. On a busy machine look at the
CPU time of one thread: other programs do not count there. Writes linear.json and linear.md beside this file.
"""

import argparse
import json
import os
import platform
import resource
import sys

from run import HERE, TARGET, VENV, measure

OURS = TARGET / "release/examples/linear_speed"


def cpu_seconds():
    """CPU time of one of our rounds on one thread: that of many rounds less that of one, set-up included."""

    def used(seconds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        rounds = measure([OURS, "1", str(seconds)])["rounds"]
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return rounds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    (few, little), (many, much) = used(0), used(5)
    return (much - little) / max(many - few, 1)


def compare(interpreter, threads, turns):
    """Both at this number of threads."""
    ours, theirs = [], []
    for turn in range(turns):
        ours.append(measure([OURS, str(threads), "3"]))
        theirs.append(measure([interpreter, HERE / "linear_peer.py", "--threads", str(threads)]))
        print(f"{threads} threads: {ours[-1]} and {theirs[-1]}", file=sys.stderr)
    cpu = {}
    if threads == 1:
        ours_cpu = min(cpu_seconds() for _ in range(turns))
        theirs_cpu = min(run["cpu_seconds_per_round"] for run in theirs)
        cpu = {
            "shuffledp_cpu_seconds": round(ours_cpu, 4),
            "peer_cpu_seconds": round(theirs_cpu, 4),
            "cpu_ratio": round(theirs_cpu / ours_cpu, 2),
        }
    best = min(theirs, key=lambda run: run["seconds_per_round"])
    seconds = min(run["seconds_per_round"] for run in ours)
    return {
        "threads": threads,
        "peer": best["library"],
        "peer_block": best["block"],
        "shuffledp_seconds": round(seconds, 4),
        "peer_seconds": round(best["seconds_per_round"], 4),
        "ratio": round(best["seconds_per_round"] / seconds, 2),
        **cpu,
        "shuffledp_turns": [round(run["seconds_per_round"], 4) for run in ours],
        "peer_turns": [round(run["seconds_per_round"], 4) for run in theirs],
    }


CPU = """
CPU time of a round on one thread: shuffledp {shuffledp_cpu_seconds} s, {peer} {peer_cpu_seconds} s, ratio {cpu_ratio}.
"""
ROW = "| {threads} | {shuffledp_seconds} | {peer_seconds} | {ratio} |"


def page(results):
    first = results["comparisons"][0]
    rows = "\n".join(ROW.format(**each) for each in results["comparisons"])
    cpu = "".join(CPU.format(**each) for each in results["comparisons"] if "cpu_ratio" in each)
    return f"""# A round of a linear model: shuffledp and {first["peer"]}

Written by `make bench-training`. 60,000 clients, 3,472 features, 10 classes: scores, softmax, the factors
that clip every client's gradient to an ℓ2 norm, and the sum of the clipped gradients (8.3 GFLOP).
{results["machine"]}. The peer takes the same sum by two matrix products, in blocks of its best size, and
knows the lengths of the examples beforehand, which shuffledp computes in every round.

| threads | shuffledp, s | {first["peer"]}, s | ratio |
|---|---|---|---|
{rows}
{cpu}
Best round of each, over several turns. Load average of the machine: {results["load_average_before"]} before,
{results["load_average_after"]} after; where that is above the number of threads, other programs took
their share of both.
"""


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--threads", default="1,2", help="numbers of threads, with commas")
    arguments.add_argument("--turns", type=int, default=3)
    given = arguments.parse_args()
    made = VENV / "bin/python"
    interpreter = os.environ.get("TORCH_PYTHON") or (str(made) if made.exists() else sys.executable)
    results = {
        "machine": f"{platform.machine()}, {os.cpu_count()} processors",
        "load_average_before": round(os.getloadavg()[0], 1),
        "comparisons": [compare(interpreter, int(threads), given.turns) for threads in given.threads.split(",")],
        "load_average_after": round(os.getloadavg()[0], 1),
    }
    (HERE / "linear.json").write_text(json.dumps(results, indent=1) + "\n")
    (HERE / "linear.md").write_text(page(results))
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
