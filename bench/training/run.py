#!/usr/bin/env python3
"""Per-example gradients of the Girgis network, ours and PyTorch's in one run: `make bench-training`.

Both make every example's gradient, clamp its coordinates and keep the sum. The two take turns, so that a busy machine is busy for both; the
median of each counts, and the ratio is taken pair by pair. Rates are also given per second of processor time, which other programs on the
machine disturb less. Writes results.json and README.md beside this file.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
VENV = TARGET / "bench-training-venv"
OURS = TARGET / "release/examples/gradient_speed"


def python():
    """The Python of an environment with PyTorch, made if need be."""
    if os.environ.get("TORCH_PYTHON"):
        return os.environ["TORCH_PYTHON"]
    found = VENV / "bin/python"
    if not found.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([found, "-m", "pip", "install", "--quiet", "-r", HERE / "requirements.txt"], check=True)
    return str(found)


def measure(command):
    """What the program printed, with the processor time it took for each second of the clock."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    busy = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / wall
    return json.loads(printed) | {"processors_used": round(busy, 2)}


def compare(interpreter, threads, turns):
    """Both at this number of threads."""
    sweep = measure([interpreter, HERE / "torch_vmap.py", "--threads", str(threads), "--seconds", "0.3"])
    batch = max(sweep["by_batch"], key=sweep["by_batch"].get)
    ours, theirs = [], []
    for turn in range(turns):
        ours.append(measure([OURS, str(threads), "1"]))
        theirs.append(measure([interpreter, HERE / "torch_vmap.py", "--threads", str(threads), "--batches", batch]))
        rates = [runs[-1]["examples_per_second"] for runs in (ours, theirs)]
        print(f"{threads} threads: {rates[0]:,.0f} and {rates[1]:,.0f}, ratio {rates[0] / rates[1]:.1f}", file=sys.stderr)
    rate = lambda runs: round(statistics.median(run["examples_per_second"] for run in runs))
    per_processor = lambda runs: round(statistics.median(run["examples_per_second"] / run["processors_used"] for run in runs))
    ratios = sorted(a["examples_per_second"] / b["examples_per_second"] for a, b in zip(ours, theirs))
    return {
        "threads": threads,
        "torch": theirs[0]["torch"],
        "torch_batch": int(batch),
        "parameters": ours[0]["parameters"],
        "shuffledp_examples_per_second": rate(ours),
        "torch_examples_per_second": rate(theirs),
        "ratio": round(statistics.median(ratios), 2),
        "ratio_lowest": round(ratios[0], 2),
        "ratio_highest": round(ratios[-1], 2),
        "shuffledp_per_processor_second": per_processor(ours),
        "torch_per_processor_second": per_processor(theirs),
    }


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--threads", default="1,2", help="numbers of threads, with commas")
    arguments.add_argument("--turns", type=int, default=5)
    given = arguments.parse_args()
    interpreter = python()
    results = {
        "machine": f"{platform.machine()}, {os.cpu_count()} processors",
        "load_average_before": round(os.getloadavg()[0], 1),
        "comparisons": [compare(interpreter, int(threads), given.turns) for threads in given.threads.split(",")],
        "load_average_after": round(os.getloadavg()[0], 1),
    }
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (HERE / "README.md").write_text(page(results))
    print(json.dumps(results, indent=1))


ROW = (
    "| {threads} | {shuffledp_examples_per_second:,} | {torch_examples_per_second:,} | {ratio} ({ratio_lowest} to {ratio_highest}) "
    "| {shuffledp_per_processor_second:,} | {torch_per_processor_second:,} |"
)


def page(results):
    first = results["comparisons"][0]
    batches = " and ".join(str(each["torch_batch"]) for each in results["comparisons"])
    rows = "\n".join(ROW.format(**each) for each in results["comparisons"])
    return f"""# Per-example gradients: shuffledp and PyTorch

Written by `make bench-training`. The network of Girgis et al. ({first["parameters"]:,} weights, tanh), {results["machine"]}. Both sides make every
example's gradient, clamp its coordinates and keep the sum, in turns; PyTorch {first["torch"]} with `torch.func.vmap` at its best batch size
({batches}).

| threads | shuffledp, examples/s | torch.func.vmap | ratio, turn by turn | shuffledp per processor second | torch |
|---|---|---|---|---|---|
{rows}

Load average of the machine: {results["load_average_before"]} before, {results["load_average_after"]} after. Where that is above the number of threads, other programs took their share: PyTorch,
whose threads wait for each other, suffers more from that with two threads than with one.
"""


if __name__ == "__main__":
    main()
