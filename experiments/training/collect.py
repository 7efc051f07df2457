#!/usr/bin/env python3
"""Gathers finished runs of `shuffledp train`: results.csv, results.json, curves/ and the tables of README.md.

    collect.py FOLDER…     folders that hold run folders

Runs are known by what their run.json says, not by where they lie; of two runs of one preset and seed the one of more rounds counts. Results of
earlier runs that are not in the folders stay.
"""

import csv
import json
import statistics
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path

HERE = Path(__file__).resolve().parent
COLUMNS = ["preset", "seed", "rounds", "epsilon", "epsilon_lower", "delta", "accuracy_averaged", "accuracy_last", "seconds", "threads", "version", "command"]

# What the papers say: accuracy, and the ε that they report there.
PAPERS = {
    "girgis-fig5a": "90 ± 0.5 % at ε = 2.91",
    "girgis-fig5a-tuned": "90 ± 0.5 % at ε = 2.91",
    "girgis-fig5b": "89.7 ± 0.5 % at ε = 5.8",
    "girgis-fig5b-tuned": "89.7 ± 0.5 % at ε = 5.8",
    "checkin-fig3a": "90 % at ε ≈ 1 (8.28 by its own formula), 6,800 rounds",
    "checkin-fig3b": "a curve (flawed accounting)",
    "checkin-fig4": "90 % at ε = 0.67 (flawed accounting)",
    "gaussian-fig1b": "80 % (conjectured accounting)",
    "enhanced-fig4": "97.07 % (flawed accounting)",
    "reference": "no privacy",
}
BEGIN, END = "<!-- results: written by collect.py -->", "<!-- end of results -->"


def run_of(folder):
    """A line of the results, and the run's curve."""
    record = json.loads((folder / "run.json").read_text())
    config, result = record["config"], record["result"]
    if result.get("sketch"):
        sys.exit(f"{folder}: a sketch is not a result")
    averaged = "test_accuracy_last" in result
    curve = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    if any(metrics.get("sketch") for metrics in curve):
        sys.exit(f"{folder}: metrics.jsonl is of a sketch, which is not a result")
    line = {
        "preset": config["name"],
        "seed": config["seed"],
        "rounds": record["rounds"],
        "epsilon": result["epsilon"],
        "epsilon_lower": result["epsilon_lower"],
        "delta": result["delta"],
        "accuracy_averaged": result["test_accuracy"] if averaged else "",
        "accuracy_last": result["test_accuracy_last"] if averaged else result["test_accuracy"],
        "seconds": round(record["seconds"], 1),
        "threads": record["threads"],
        "version": record["version"],
        "command": f"shuffledp train --preset {config['name']} --seed {config['seed']} --rounds {config['rounds']}",
    }
    return line, curve


def write_curve(line, curve):
    """Accuracy and ε at every evaluation, a few kilobytes."""
    folder = HERE / "curves"
    folder.mkdir(exist_ok=True)
    columns = ["round", "test_accuracy", "test_accuracy_last", "train_loss", "epsilon", "epsilon_lower", "participants"]
    with open(folder / f"{line['preset']}-{line['seed']}.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(curve)


def percent(values):
    """Mean, and the smallest and the largest of several."""
    values = [100 * value for value in values if value != ""]
    if not values:
        return "–"
    mean = f"{statistics.mean(values):.2f} %"
    return mean if len(values) == 1 else f"{mean} ({min(values):.2f}–{max(values):.2f})"


def span(numbers):
    """The only one, or the smallest and the largest."""
    least, most = min(numbers), max(numbers)
    return str(least) if least == most else f"{least}–{most}"


def digits(epsilon, rounding):
    """ε with four decimals, rounded in this direction."""
    return "–" if epsilon == "inf" else str(Decimal(epsilon).quantize(Decimal("0.0001"), rounding))


def table(lines):
    """A row for each preset."""
    rows = [
        "| preset | the paper | rounds | ε at most | ε at least | accuracy, weights averaged | accuracy, last weights | seeds | minutes |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for preset, paper in PAPERS.items():
        runs = [line for line in lines if line["preset"] == preset]
        if not runs:
            rows.append(f"| `{preset}` | {paper} | – | – | – | – | – | – | – |")
            continue
        most = max(runs, key=lambda line: line["rounds"])
        # Shorter runs cost less and learnt less: they do not belong into one row.
        runs = [run for run in runs if run["rounds"] == most["rounds"]]
        seeds = ", ".join(str(line["seed"]) for line in runs)
        minutes = span([round(run["seconds"] / 60) for run in runs])
        rows.append(
            f"| `{preset}` | {paper} | {most['rounds']:,} | {digits(most['epsilon'], ROUND_CEILING)} | {digits(most['epsilon_lower'], ROUND_FLOOR)} "
            f"| {percent([run['accuracy_averaged'] for run in runs])} | {percent([run['accuracy_last'] for run in runs])} | {seeds} | {minutes} |"
        )
    return "\n".join(rows)


def main(folders):
    results = HERE / "results.json"
    known = {(line["preset"], line["seed"]): line for line in json.loads(results.read_text())} if results.exists() else {}
    fresh = {}
    for record in sorted(path for folder in folders for path in Path(folder).glob("*/run.json")):
        line, curve = run_of(record.parent)
        key = (line["preset"], line["seed"])
        if line["preset"] in PAPERS and (key not in fresh or fresh[key][0]["rounds"] < line["rounds"]):
            fresh[key] = (line, curve)
    for key, (line, curve) in fresh.items():
        if key not in known or known[key]["rounds"] <= line["rounds"]:
            known[key] = line
            write_curve(line, curve)
    order = list(PAPERS)
    lines = sorted((line for line in known.values() if line["preset"] in PAPERS), key=lambda line: (order.index(line["preset"]), line["seed"]))
    results.write_text(json.dumps(lines, indent=1, ensure_ascii=False) + "\n")
    with open(HERE / "results.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    readme = HERE / "README.md"
    text = readme.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    readme.write_text(f"{before}{BEGIN}\n{table(lines)}\n{END}{after}")
    print(f"{len(fresh)} runs gathered, {len(lines)} in all", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
