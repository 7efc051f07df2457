#!/usr/bin/env python3
"""Computes ε of the stored runs again, with the accounting of the program that is named.

    reaccount.py SHUFFLEDP

A run's weights do not depend on how its privacy is accounted for: accuracies stay, ε at most and ε at least change in
results.json, results.csv, curves/ and the table of README.md. Runs whose rounds are blocks or without privacy stay.
"""

import csv
import functools
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import collect

HERE = Path(__file__).resolve().parent
PRESETS = HERE / "../../crates/learning/src/training/presets"


def question(preset):
    """The flags of `shuffledp epsilon` for a preset's rounds, or None where a round is not one of reports."""
    config = tomllib.loads((PRESETS / f"{preset}.toml").read_text())
    algorithm = config["algorithm"]
    if algorithm["kind"] == "cldp-sgd":
        who = ["--sampled", str(algorithm["sampled"])]
    elif algorithm["kind"] == "check-in":
        who = ["--check-in", str(algorithm["rate"]), "--drop-out", str(algorithm.get("drop_out", 0))]
    else:
        return None
    randomizer = dict(algorithm["randomizer"])
    what = ["--randomizer", randomizer.pop("name")]
    if "whitening" in config.get("preparation", {}) and "share" in randomizer:
        randomizer["dimension"] = 10 * config["preparation"]["whitening"]["components"]
    for name, value in randomizer.items():
        what += [f"--{name.replace('_', '-')}", str(value)]
    clients = str(config.get("clients", 60_000))
    return ["--clients", clients, *who, *what, "--delta", str(config["delta"])]


@functools.cache
def epsilon(program, preset, rounds):
    """ε at most and ε at least after so many rounds."""
    answer = subprocess.check_output([program, "epsilon", *question(preset), "--rounds", str(rounds), "--json"])
    answer = json.loads(answer)
    return {name: answer[name] for name in ("epsilon", "epsilon_lower")}


def main(program):
    results = HERE / "results.json"
    lines = json.loads(results.read_text())
    for line in lines:
        preset = line["preset"]
        if question(preset) is None:
            continue
        line.update(epsilon(program, preset, line["rounds"]))
        path = HERE / "curves" / f"{preset}-{line['seed']}.csv"
        with open(path, newline="") as file:
            reader = csv.DictReader(file)
            columns, rows = reader.fieldnames, list(reader)
        for row in rows:
            row.update(epsilon(program, preset, int(row["round"])))
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    results.write_text(json.dumps(lines, indent=1, ensure_ascii=False) + "\n")
    collect.main([])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
