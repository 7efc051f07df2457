#!/usr/bin/env python3
"""The same shuffle questions to shuffledp and to its peers, in one run: `make bench-accounting`.

Writes results.json and README.md beside this file. What results.json has is not asked again: `--fresh` forgets
everything, `--ours` only our own times. The program is $SHUFFLEDP, else target/release/shuffledp; in-process times are
read from the criterion benchmark `questions`, which the make target runs first.
"""

import argparse
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
VENV = TARGET / "bench-venv"
RESULTS = HERE / "results.json"
PROGRAM = os.environ.get("SHUFFLEDP", str(TARGET / "release/shuffledp"))
LIMIT = 300
RUNS = 15

# id: what is asked in words, arguments of `shuffledp epsilon`. Our σ is over the clipping norm C at sensitivity 2C:
# noise σ at sensitivity 1 is --sigma 2σ.
QUESTIONS = {
    "shuffle-1e4": ("any randomizer, ε0 = 2, n = 1e4, δ = 1e-6", "--clients 1e4 --local-epsilon 2 --delta 1e-6"),
    "shuffle-1e5": ("any randomizer, ε0 = 2, n = 1e5, δ = 1e-8", "--clients 1e5 --local-epsilon 2 --delta 1e-8"),
    "shuffle-1e6": ("any randomizer, ε0 = 1, n = 1e6, δ = 1e-8", "--clients 1e6 --local-epsilon 1 --delta 1e-8"),
    "headline": (
        "headline: any randomizer, ε0 = 2, 1000 of 1e6, T = 1e5, δ = 1e-8",
        "--clients 1e6 --sampled 1000 --local-epsilon 2 --rounds 1e5 --delta 1e-8",
    ),
    "gaussian-1e3": (
        "Gaussian pair, σ = 1, n = 1000, δ = 1e-5",
        "--clients 1000 --randomizer gaussian --sigma 2 --delta 1e-5 --standing conjectured",
    ),
    "gaussian-6e4": (
        "Gaussian pair, σ = 9.48, n = 60000, δ = 1e-5",
        "--clients 60000 --randomizer gaussian --sigma 18.96 --delta 1e-5 --standing conjectured",
    ),
    "gaussian-6e4-order-60": (
        "the same, Rényi orders ≤ 60",
        "--clients 60000 --randomizer gaussian --sigma 18.96 --delta 1e-5 --standing conjectured --max-order 60",
    ),
    "gaussian-6e4-rigorous": (
        "Gaussian σ = 9.48, n = 60000, δ = 1e-5, rigorous",
        "--clients 60000 --randomizer gaussian --sigma 18.96 --delta 1e-5",
    ),
}

DP = "dp-accounting 0.6.0, pair by hand"
APPLE = "Apple ml-shuffling-amplification (copy in random-allocation 1.0.5)"
RA = "random-allocation 1.0.5"
# (question, peer, function of peers.py, arguments)
CASES = [
    ("shuffle-1e4", f"{DP}, grid 1e-4", "dp_accounting_pair", [2, 10**4, 10**4, 1, 1e-6, 1e-4]),
    ("shuffle-1e4", f"{DP}, grid 1e-6", "dp_accounting_pair", [2, 10**4, 10**4, 1, 1e-6, 1e-6]),
    ("shuffle-1e4", f"{APPLE}, step 10", "apple", [2, 10**4, 1e-6, 10]),
    ("shuffle-1e5", f"{DP}, grid 1e-6", "dp_accounting_pair", [2, 10**5, 10**5, 1, 1e-8, 1e-6]),
    ("shuffle-1e5", f"{APPLE}, step 10", "apple", [2, 10**5, 1e-8, 10]),
    ("shuffle-1e6", f"{DP}, grid 1e-6", "dp_accounting_pair", [1, 10**6, 10**6, 1, 1e-8, 1e-6]),
    ("shuffle-1e6", f"{APPLE}, step 10", "apple", [1, 10**6, 1e-8, 10]),
    ("headline", f"{DP}, grid 1e-7", "dp_accounting_pair", [2, 10**6, 1000, 10**5, 1e-8, 1e-7]),
    ("headline", f"{DP}, grid 1e-8", "dp_accounting_pair", [2, 10**6, 1000, 10**5, 1e-8, 1e-8]),
    ("gaussian-1e3", "PLD_accounting 2.0", "pld_accounting", [1.0, 1000, 1e-5]),
    ("gaussian-1e3", f"{RA}, decomposition", "random_allocation", ["Allocation (Our - Decomposition)", 1.0, 1000, 1e-5]),
    ("gaussian-1e3", f"{RA}, recursive", "random_allocation", ["Allocation (Our - Recursive)", 1.0, 1000, 1e-5]),
    ("gaussian-1e3", f"{RA}, RDP of DCO25", "random_allocation", ["Allocation (DCO25 - RDP)", 1.0, 1000, 1e-5]),
    ("gaussian-6e4", "PLD_accounting 2.0", "pld_accounting", [9.48, 60000, 1e-5]),
    ("gaussian-6e4", f"{RA}, decomposition", "random_allocation", ["Allocation (Our - Decomposition)", 9.48, 60000, 1e-5]),
    ("gaussian-6e4", f"{RA}, recursive", "random_allocation", ["Allocation (Our - Recursive)", 9.48, 60000, 1e-5]),
    ("gaussian-6e4", f"{RA}, RDP of DCO25", "random_allocation", ["Allocation (DCO25 - RDP)", 9.48, 60000, 1e-5]),
    ("gaussian-6e4-order-60", f"{RA}, direct, orders ≤ 60", "random_allocation", ["Allocation (Our - Direct)", 9.48, 60000, 1e-5, 60]),
    ("gaussian-6e4-rigorous", f"{RA}, shuffle by (ε0, δ0)", "random_allocation", ["Shuffle", 9.48, 60000, 1e-5]),
]

# What peers answer here is proven for the question; elsewhere their pair of datasets is believed to be the worst.
PROVEN = {"shuffle-1e4", "shuffle-1e5", "shuffle-1e6", "headline", "gaussian-6e4-rigorous"}

# Not on PyPI. Wall times on a comparable machine, within a factor of two; no ε was recorded unless given.
RECORDED = [
    ("shuffle-1e6", "Apple ml-shuffling-amplification, T = 25, step = 10", 10.5, "3.8 % above exact"),
    ("shuffle-1e6", "wangsw PrivacyAmplification, stronger clones (unproven for this class)", 10, None),
    ("shuffle-1e4", "Koskela numerical-shuffler-experiments", 27, None),
    ("shuffle-1e5", "Koskela numerical-shuffler-experiments", 329, None),
    ("gaussian-6e4-order-60", "spliew/shuffgauss, order 60 alone", 30.5, None),
]


def venv():
    python = VENV / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
    return str(python)


def load_average():
    return round(os.getloadavg()[0], 1)


def ask_ours(arguments):
    """The whole process, start included: the fastest of RUNS in processor time, and the fastest in wall time."""
    times = []
    for _ in range(RUNS):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        out = subprocess.run([PROGRAM, "epsilon", *arguments.split(), "--json"], check=True, capture_output=True, text=True)
        wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall))
    answer = {key: value for key, value in json.loads(out.stdout).items() if key in ("epsilon", "method", "standing", "epsilon_lower")}
    return {**answer, "cpu": min(t[0] for t in times), "wall": min(t[1] for t in times), "load": load_average()}


def in_process(question):
    """Criterion's median for the method alone, in seconds."""
    estimates = TARGET / "criterion/questions" / question / "new/estimates.json"
    return json.loads(estimates.read_text())["median"]["point_estimate"] / 1e9 if estimates.exists() else None


def ask_peer(python, function, arguments):
    command = [python, "-W", "ignore", HERE / "peers.py", json.dumps([function, arguments])]
    # Processor time, not wall time: a busy or paused machine must not make a peer look unable to answer.
    limits = lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
    run = subprocess.run(command, capture_output=True, text=True, preexec_fn=limits)
    if run.returncode == 0:
        return {**json.loads(run.stdout.splitlines()[-1]), "load": load_average()}
    last = (run.stderr.strip().splitlines() or [f"exit code {run.returncode}"])[-1]
    reasons = {-signal.SIGXCPU: f"no answer in {LIMIT} s of processor time"}
    failed = "out of memory (10 GB)" if "MemoryError" in last else reasons.get(run.returncode, last[:120])
    return {"failed": failed, "load": load_average()}


def seconds(value):
    if value is None:
        return "–"
    return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"


def ratio(peer, ours):
    return "–" if not peer or not ours else f"{peer / ours:,.0f}×" if peer / ours >= 10 else f"{peer / ours:.1f}×"


def rows(results):
    for question, peer, _, _ in CASES:
        ours, theirs = results["ours"][question], results["peers"].get(f"{question} | {peer}")
        if theirs is None:
            continue
        failed = theirs.get("failed")
        time_ = theirs.get("cpu")
        fastest = max((time_ or 0) / t for t in (ours["cpu"], ours["in_process"]) if t)
        slowest = (time_ or 0) / ours["cpu"]
        faster = "no answer" if failed else "yes" if slowest >= 100 else "in process only" if fastest >= 100 else "**no**"
        tighter = "no answer" if failed else "yes" if ours["epsilon"] <= theirs["epsilon"] else "**no**"
        yield (
            QUESTIONS[question][0], peer, failed or f"{theirs['epsilon']:.6g}", "–" if failed else seconds(time_),
            f"{ours['epsilon']:.6g}", seconds(ours["cpu"]), seconds(ours["in_process"]),
            "–" if failed else f"{ratio(time_, ours['cpu'])} / {ratio(time_, ours['in_process'])}", faster, tighter,
        )
    for question, peer, wall, remark in RECORDED:
        ours = results["ours"][question]
        yield (
            QUESTIONS[question][0], f"{peer}: *recorded, not run here*", remark or "–", seconds(wall),
            f"{ours['epsilon']:.6g}", seconds(ours["cpu"]), seconds(ours["in_process"]),
            f"{ratio(wall, ours['cpu'])} / {ratio(wall, ours['in_process'])}",
            "yes" if wall / ours["cpu"] >= 100 else "in process only" if ours["in_process"] and wall / ours["in_process"] >= 100 else "**no**",
            "yes" if remark else "not recorded",
        )


def beaten(results):
    """The proven answers of peers, and how many of them are smaller than ours."""
    pairs = [
        (theirs["epsilon"], results["ours"][question]["epsilon"])
        for question, peer, _, _ in CASES
        if question in PROVEN and "epsilon" in (theirs := results["peers"].get(f"{question} | {peer}", {}))
    ]
    return len(pairs), sum(theirs < ours for theirs, ours in pairs)


def report(results):
    head = ("question", "peer", "peer's ε", "peer's time", "our ε", "our process", "our library", "ratio: process / library", "100× faster?", "tighter or equal?")
    table = list(rows(results))
    lines = ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *table]]
    loads = [entry["load"] for part in ("ours", "peers") for entry in results[part].values()]
    asked = [row for row in table if row[8] != "no answer"]
    missed, looser = sum(row[8] != "yes" for row in asked), sum(row[9] == "**no**" for row in asked)
    proven, smaller = beaten(results)
    commands = "\n".join(f"| {text} | `shuffledp epsilon {arguments}` | {results['ours'][key]['method']} | {results['ours'][key]['standing']} |" for key, (text, arguments) in QUESTIONS.items())
    (HERE / "README.md").write_text(f"""# The race against peers

Made by `make bench-accounting`; do not edit. {results['machine']}, load average {min(loads):g} to {max(loads):g} while it ran;
shuffledp at commit {results['commit']}.

Of {len(asked)} comparisons with an answer, {missed} are *not* 100 times faster as a whole process, and in {looser} our ε is *larger* than the peer's.
{proven} of the peers' answers are proven for the question; {smaller or "none"} of them {"are" if smaller > 1 else "is"} smaller than ours.

{chr(10).join(lines)}

- Times are processor time (user and system, all threads), the fastest of several runs, so that other work on the machine
  does not count; recorded times are wall time. Peers: the call only, without imports and just-in-time compilation, with the
  code that a user must write to build the pair. "Our process": start of the program, the answer, the lower bound next to it
  and every other bound it chooses from. "Our library": the one method, never asked before, criterion's median
  (`crates/accounting/benches/questions.rs`); – where it was not measured, or no single method answers.
- dp-accounting has no shuffle mechanism: its pair is ours, handed over as two dictionaries (`peers.py`).
- Gaussian pair: random allocation of one Gaussian report to one of n steps is the pair of the shuffle Gaussian at
  sensitivity 1. That it is the worst pair of datasets for shuffling is conjectured, for the peers' numbers as for ours.
- A peer has {LIMIT} s of processor time and 10 GB to answer.

| question | asked of us as | method | standing |
| --- | --- | --- | --- |
{commands}
""")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fresh", action="store_true", help="forget all results")
    parser.add_argument("--ours", action="store_true", help="forget our own times")
    parser.add_argument("--commit", help="commit of the program that is measured [default: HEAD]")
    options = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() and not options.fresh else {"ours": {}, "peers": {}}
    if options.ours:
        results["ours"] = {}
    results["machine"] = f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}"
    commit = options.commit or subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    def save():
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")

    for question, (text, arguments) in QUESTIONS.items():
        if question not in results["ours"]:
            print(f"shuffledp: {text}", flush=True)
            results["ours"][question] = {**ask_ours(arguments), "in_process": in_process(question)}
            results["commit"] = commit
            save()
    python = None
    for question, peer, function, arguments in CASES:
        key = f"{question} | {peer}"
        if key not in results["peers"]:
            python = python or venv()
            print(f"{peer}: {QUESTIONS[question][0]}", flush=True)
            results["peers"][key] = ask_peer(python, function, arguments)
            save()
    report(results)
    print(f"table: {(HERE / 'README.md').relative_to(ROOT)}")


main()
