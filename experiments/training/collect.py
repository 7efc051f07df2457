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

# Ours, on public features: what clients hold and send.
OURS = {
    "scattering-gaussian-0.1": "MNIST, Gaussian noise",
    "scattering-gaussian-0.42": "MNIST, Gaussian noise",
    "scattering-gaussian-1": "MNIST, Gaussian noise",
    "scattering-one-bit-0.1": "MNIST, one-bit reports",
    "scattering-one-bit-0.42": "MNIST, one-bit reports",
    "scattering-one-bit-1": "MNIST, one-bit reports",
    "scattering-top-set-0.1": "MNIST, 13-bit reports",
    "scattering-top-set-0.42": "MNIST, 13-bit reports",
    "scattering-top-set-1": "MNIST, 13-bit reports",
    "fashion-gaussian-0.1": "Fashion-MNIST, Gaussian noise",
    "fashion-gaussian-0.42": "Fashion-MNIST, Gaussian noise",
    "fashion-gaussian-1": "Fashion-MNIST, Gaussian noise",
}
KNOWN = PAPERS | OURS


def between(name):
    """The lines of README.md between which a table stands."""
    return f"<!-- {name}: written by collect.py -->", f"<!-- end of {name} -->"


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


def table(lines, presets, second):
    """A row for each preset; `second` heads the column that says what `presets` say of them."""
    rows = [
        f"| preset | {second} | rounds | ε at most | ε at least | accuracy, weights averaged | accuracy, last weights | seeds | minutes |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for preset, paper in presets.items():
        runs = [line for line in lines if line["preset"] == preset]
        if not runs:
            rows.append(f"| `{preset}` | {paper} | – | – | – | – | – | – | – |")
            continue
        most = max(runs, key=lambda line: line["rounds"])
        # Shorter runs cost less and learnt less: they do not belong into one row.
        runs = [run for run in runs if run["rounds"] == most["rounds"]]
        seeds = ", ".join(str(line["seed"]) for line in runs)
        minutes = span([round(run["seconds"] / 60, 1 if run["seconds"] < 600 else None) for run in runs])
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
        if line["preset"] in KNOWN and (key not in fresh or fresh[key][0]["rounds"] < line["rounds"]):
            fresh[key] = (line, curve)
    for key, (line, curve) in fresh.items():
        if key not in known or known[key]["rounds"] <= line["rounds"]:
            known[key] = line
            write_curve(line, curve)
    order = list(KNOWN)
    lines = sorted((line for line in known.values() if line["preset"] in KNOWN), key=lambda line: (order.index(line["preset"]), line["seed"]))
    results.write_text(json.dumps(lines, indent=1, ensure_ascii=False) + "\n")
    with open(HERE / "results.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    readme = HERE / "README.md"
    text = readme.read_text()
    for name, presets, second in [("results", PAPERS, "the paper"), ("public features", OURS, "what")]:
        begin, end = between(name)
        before, rest = text.split(begin)
        after = rest.split(end)[1]
        text = f"{before}{begin}\n{table(lines, presets, second)}\n{end}{after}"
    readme.write_text(text)
    print(f"{len(fresh)} runs gathered, {len(lines)} in all", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
