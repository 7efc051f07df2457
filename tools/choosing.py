#!/usr/bin/env python3
"""Writes the table and the figure of docs/choosing-a-randomizer.md.

    choosing.py SHUFFLEDP     the program; the figure needs matplotlib

The table: how many rounds each randomizer may run until ε, and how noisy the mean gradient of all those rounds is,
compared with a trusted server that adds Gaussian noise once at the same ε. The figure: the stored training runs.
"""

import csv
import json
import math
import subprocess
import sys
from pathlib import Path
from statistics import NormalDist

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/choosing-a-randomizer.md"
FIGURE = ROOT / "docs/images/choosing-a-randomizer.svg"
BEGIN, END = "<!-- table: written by tools/choosing.py -->", "<!-- end of table -->"
CLIENTS, RATE, DELTA, EPSILON, DIMENSION = 60_000, 0.1, 1e-5, 0.42, 4_000
NORMAL = NormalDist()


def debias(local_epsilon):
    return (math.exp(local_epsilon) + 1) / (math.exp(local_epsilon) - 1)


def duchi(local_epsilon):
    """B²/d over C²: docs/randomizers.md. The ratio of Gamma functions is √(d/2)(1 − 1/(4d) + …)."""
    return debias(local_epsilon) ** 2 * math.pi / 2 * (1 - 1 / (2 * DIMENSION))


def top_set(local_epsilon, share):
    """(q/(t·φ(z_q)))², the square of every decoded coordinate over C²."""
    odds = 1 / share / math.expm1(local_epsilon)
    return (share * (1 + odds) / NORMAL.pdf(NORMAL.inv_cdf(1 - share))) ** 2


def rows():
    """Name, flags, variance of one report per coordinate over C², bytes of a report."""
    for sigma in (2, 3, 5, 8):
        flags = ["--randomizer", "rounded-gaussian", "--sigma", str(sigma)]
        yield f"`rounded-gaussian`, σ = {sigma}", flags, sigma**2 * (1 + 1 / 48), math.ceil(DIMENSION * 5 / 8)
    for local_epsilon in (0.5, 1, 2, 4):
        flags = ["--randomizer", "ldp-sgd", "--local-epsilon", str(local_epsilon)]
        yield f"`ldp-sgd`, ε0 = {local_epsilon}", flags, duchi(local_epsilon), 8
    for local_epsilon, share in ((1, 0.19), (2, 0.1667), (3, 0.1), (4, 0.0625)):
        flags = ["--randomizer", "top-set", "--local-epsilon", str(local_epsilon), "--dimension", str(DIMENSION)]
        flags += ["--share", str(share)]
        yield f"`top-set`, ε0 = {local_epsilon}, share {share}", flags, top_set(local_epsilon, share), 2


def rounds(program, flags):
    """The largest number of rounds within EPSILON."""
    scheme = ["--clients", str(CLIENTS), "--check-in", str(RATE), "--delta", str(DELTA)]
    question = ["calibrate", "--solve", "rounds", "--target-epsilon", str(EPSILON), *scheme, *flags, "--json"]
    return json.loads(subprocess.check_output([program, *question]))["value"]


def central_mu():
    """μ of the Gaussian mechanism whose ε at DELTA is EPSILON."""

    def delta(mu):
        return NORMAL.cdf(-EPSILON / mu + mu / 2) - math.exp(EPSILON) * NORMAL.cdf(-EPSILON / mu - mu / 2)

    low, high = 1e-3, 10.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if delta(middle) < DELTA else (low, middle)
    return low


def table(program):
    # A trusted server adds noise of deviation 2C/(nμ) to the mean of all clients' gradients.
    central = (2 / (CLIENTS * central_mu())) ** 2
    lines = [
        "| randomizer | rounds | reports of a client | bytes a report | bytes of a client in all | variance, central = 1 |",
        "|---|---|---|---|---|---|",
    ]
    for name, flags, variance, size in rows():
        count = rounds(program, flags)
        reports = count * RATE
        ratio = variance / (reports * CLIENTS) / central
        total = f"{reports * size:,.0f}"
        lines.append(f"| {name} | {count:,} | {reports:,.0f} | {size:,} | {total} | {ratio:.2f} |")
    return "\n".join(lines)


def draw():
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams.update({"svg.hashsalt": "shuffledp", "font.family": "sans-serif", "svg.fonttype": "none"})
    figure, axes = pyplot.subplots(figsize=(7.2, 4.2), layout="constrained")
    styles = {"gaussian": ("Gaussian noise", "#0072b2"), "one-bit": ("one-bit reports", "#d55e00"), "top-set": ("13-bit top-set reports", "#009e73")}
    for mechanism, (name, colour) in styles.items():
        for target in ("0.1", "0.42", "1"):
            path = ROOT / f"experiments/training/curves/scattering-{mechanism}-{target}-1.csv"
            with open(path, newline="") as file:
                points = [(float(row["epsilon"]), 100 * float(row["test_accuracy"])) for row in csv.DictReader(file)]
            axes.plot(*zip(*points), color=colour, linewidth=1.4, label=name if target == "0.1" else None)
            axes.plot(*points[-1], marker="o", color=colour, markersize=5)
    axes.set(xscale="log", xlim=(0.015, 1.1), ylim=(88, 99), xlabel="ε at most (δ = 1e-5, 60,000 clients)", ylabel="test accuracy, %")
    axes.set_xticks([0.02, 0.05, 0.1, 0.2, 0.42, 1], ["0.02", "0.05", "0.1", "0.2", "0.42", "1"])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    axes.set_title("MNIST, a linear model on public features: nine runs, each to its budget")
    figure.savefig(FIGURE, metadata={"Date": None})


def main(program):
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table(program)}\n{END}{rest.split(END)[1]}")
    draw()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
