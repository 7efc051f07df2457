#!/usr/bin/env python3
"""Per-example gradients of the Girgis network, ours and PyTorch's in one run: `make bench-training`.

Both make every example's gradient, clamp its coordinates and keep the sum. The two take turns, so that a busy machine is busy for both, and the best
span of each counts: other programs only ever slow one down. Every turn's rates are kept. Writes results.json and README.md beside this file.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
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
    """Runs a program and returns its JSON output."""
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare(interpreter, threads, turns):
    """Both at this number of threads."""
    sweep = measure([interpreter, HERE / "torch_vmap.py", "--threads", str(threads), "--seconds", "0.2"])
    batch = max(sweep["by_batch"], key=sweep["by_batch"].get)
    ours, theirs = [], []
    for turn in range(turns):
        ours.append(measure([OURS, str(threads)]))
        theirs.append(measure([interpreter, HERE / "torch_vmap.py", "--threads", str(threads), "--batches", batch]))
        rates = [runs[-1]["examples_per_second"] for runs in (ours, theirs)]
        print(f"{threads} threads: {rates[0]:,.0f} and {rates[1]:,.0f}, ratio {rates[0] / rates[1]:.1f}", file=sys.stderr)
    ours, theirs = ([round(run["examples_per_second"]) for run in runs] for runs in (ours, theirs))
    return {
        "threads": threads,
        "torch": sweep["torch"],
        "torch_batch": int(batch),
        "parameters": sweep["parameters"],
        "shuffledp_examples_per_second": max(ours),
        "torch_examples_per_second": max(theirs),
        "ratio": round(max(ours) / max(theirs), 2),
        "shuffledp_turns": ours,
        "torch_turns": theirs,
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


ROW = "| {threads} | {shuffledp_examples_per_second:,} | {torch_examples_per_second:,} | {ratio} |"


def page(results):
    first = results["comparisons"][0]
    batches = " and ".join(str(each["torch_batch"]) for each in results["comparisons"])
    rows = "\n".join(ROW.format(**each) for each in results["comparisons"])
    return f"""# Per-example gradients: shuffledp and PyTorch

Written by `make bench-training`. The network of Girgis et al. ({first["parameters"]:,} weights, tanh), {results["machine"]}. Both sides make every
example's gradient, clamp its coordinates and keep the sum, in turns; PyTorch {first["torch"]} with `torch.func.vmap` at its best batch size
({batches}).

| threads | shuffledp, examples/s | torch.func.vmap, examples/s | ratio |
|---|---|---|---|
{rows}

Best half second of each, over several turns. Load average of the machine: {results["load_average_before"]} before, {results["load_average_after"]} after; where that
is above the number of threads, other programs took their share of both.
"""


if __name__ == "__main__":
    main()
