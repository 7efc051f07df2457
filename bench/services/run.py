#!/usr/bin/env python3
"""Measures the services on this machine, in one run: `make bench-services`.

Durable reports a second and how long each waits, with the disk's own rate beside; a batch of a million sealed and sent within its memory while another round takes
reports; what sealing and opening cost a core. Everything runs on loopback, clients included, on the same processors. Writes results.json and README.md beside this file.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXAMPLES = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples"


def measure(name, *arguments, folder=None):
    """Runs a program and returns its output."""
    print(" ".join([name, *map(str, arguments)]), file=sys.stderr, flush=True)
    command = [EXAMPLES / name, *map(str, arguments)]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=folder).stdout
    print(text, file=sys.stderr, end="")
    return json.loads(text) if text else None


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--reports", type=int, default=50_000, help="durable reports, each turn")
    arguments.add_argument("--turns", type=int, default=3, help="of the intake; the best one counts, all are kept")
    arguments.add_argument("--batch", type=int, default=1_000_000, help="reports of the large batch")
    arguments.add_argument("--seconds", type=int, default=60, help="of the sustained intake")
    arguments.add_argument("--rate", type=int, default=10_000, help="reports a second of the sustained intake")
    arguments.add_argument("--folder", default=".", help="where the stores are made, and whose disk is measured")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        results = {
            "machine": f"{platform.machine()}, {os.cpu_count()} processors",
            "load_average_before": round(os.getloadavg()[0], 1),
            "report": measure("report_speed"),
            "server": measure("batch_speed", given.reports, folder=folder),
            "intake": [measure("load", "intake", given.reports, 128, folder=folder) for _ in range(given.turns)],
        }
        results["sustained"] = measure("load", "sustained", given.seconds, given.rate, 128, folder=folder)
        results["written"] = [measure("load", "written", count, folder=folder) for count in (100_000, 1_000_000)]
        measure("load", "fill", "large", given.batch, folder=folder)
        os.sync()
        results["batch"] = measure("load", "batch", "large", folder=folder)
        shutil.rmtree(Path(folder) / "large")
    results["load_average_after"] = round(os.getloadavg()[0], 1)
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (HERE / "README.md").write_text(page(results))
    print((HERE / "README.md").read_text())


def page(results):
    best = max(results["intake"], key=lambda turn: turn["per_second"])
    batch, server, report = results["batch"], results["server"], results["report"]
    beside, sustained = batch["beside"], results["sustained"]
    written = max(turn["written_bytes_per_report"] for turn in results["written"])
    each = "; ".join(f"{turn['written_bytes_per_report']:,} at {turn['reports']:,} reports" for turn in results["written"])
    turns = "; ".join(f"{turn['per_second']:,}/s with p99 {turn['p99_ms']} ms" for turn in results["intake"])
    rates = [turn["durable_writes_per_second"] for turn in results["intake"]]
    return f"""# The services under load

Written by `make bench-services`. {results["machine"]}; everything on loopback, plain HTTP, clients and servers on the same processors. Reports carry 1 KB and are
sealed beforehand. The disk made {min(rates):,} to {max(rates):,} writes of 4 KB durable a second, in the same run.

| | target | measured |
|---|---|---|
| shuffler: durable reports a second ({best["connections"]} connections) | 5,000 | {best["per_second"]:,} |
| shuffler: 99 of 100 reports acknowledged within | 100 ms | {best["p99_ms"]} ms |
| the same, sustained: a minute at an even {sustained["wanted_per_second"]:,} a second | 10,000 | {sustained["per_second"]:,} |
| the same, sustained: 99 of 100 reports acknowledged within | 100 ms | {sustained["p99_ms"]} ms |
| shuffler: bytes that a store writes for a report of 1 KB, up to the sealed batch | 8,192 | {written:,} |
| shuffler: memory while a batch of {batch["reports"]:,} is sealed and sent | 512 MB | {batch["memory_megabytes"]} MB |
| server: reports opened and added up a second, per core | 10,000 | {server["reports_per_second_and_core"]:,} |

- Every turn of the intake: {turns}. Half of the reports waited {best["p50_ms"]} ms, the longest {best["longest_ms"]} ms; a report cost {best["processor_microseconds_per_report"]} µs of
  processor, its client included.
- A burst fits the logs; the sustained minute does not. In it {sustained["durable"]:,} reports came, half were acknowledged within {sustained["p50_ms"]} ms, all within
  {sustained["longest_ms"]} ms; the process wrote {sustained["written_bytes_per_report_taken"]:,} bytes for each until the last was taken, and
  {sustained["written_bytes_per_report_sent"]:,} until the server had the batch. The disk made {sustained["durable_writes_per_second"]:,} durable writes a second just before.
- A store by itself writes, in bytes for each report: {each}.
- The batch took {batch["seconds"]} s from the shuffler's start to the server's acknowledgement. Meanwhile another round took {beside["per_second"]:,} reports a second: half within
  {beside["p50_ms"]} ms, 99 of 100 within {beside["p99_ms"]} ms, all within {beside["longest_ms"]} ms. The memory is that of the whole process: shuffler, the receiving server, the
  other round's clients and their sealed reports.
- The server's figure is of the processor's time for everything: HTTP at both ends, hashing, opening, decoding, adding, one transaction.
- One report costs one core {report["seal_microseconds"]} µs to seal (both layers), {report["open_outer_microseconds"]} µs to open for the shuffler, {report["open_inner_microseconds"]} µs for the server.

Load average of the machine: {results["load_average_before"]} before, {results["load_average_after"]} after, the measurements' own load included.
"""


if __name__ == "__main__":
    main()
