#!/usr/bin/env python3
"""Upper bound, lower bound and their ratio for every randomizer family: the tables of docs/how-tight-is-it.md.

    cargo build --release && python3 tools/how_tight.py            # prints the tables
    cargo build --release && python3 tools/how_tight.py --write    # puts them into the page

Needs nothing but Python's standard library and the built binary (--binary PATH for another one). Upper bounds and ratios are
rounded up, lower bounds down.
"""

import argparse
import decimal
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "how-tight-is-it.md"
BEGIN, END = "<!-- tables: begin -->\n", "<!-- tables: end -->\n"

# (title, who speaks, local epsilon, rounds, delta)
SETTINGS = [
    ("1,000 of 1,000,000 clients, ε0 = 2, 100,000 rounds, δ = 1e-8", "--clients 1e6 --sampled 1e3", 2, "1e5", "1e-8"),
    ("1,000 of 1,000,000 clients, ε0 = 1, 100,000 rounds, δ = 1e-8", "--clients 1e6 --sampled 1e3", 1, "1e5", "1e-8"),
    ("1,000 of 1,000,000 clients, ε0 = 3, 100,000 rounds, δ = 1e-8", "--clients 1e6 --sampled 1e3", 3, "1e5", "1e-8"),
    ("10,000 of 60,000 clients, ε0 = 1.5, 1,200 rounds, δ = 1e-5", "--clients 6e4 --sampled 1e4", 1.5, "1200", "1e-5"),
    ("2,000 of 60,000 clients, ε0 = 2, 6,000 rounds, δ = 1e-5", "--clients 6e4 --sampled 2e3", 2, "6000", "1e-5"),
    ("Plain shuffle of 10,000 clients, ε0 = 2, one round, δ = 1e-6", "--clients 1e4", 2, "1", "1e-6"),
    ("Check-in of 60,000 clients at rate 0.1, ε0 = 2, 6,800 rounds, δ = 1e-5", "--clients 6e4 --check-in 0.1", 2, "6800", "1e-5"),
]

# (name shown, flags, and those of others that must have the same answer; {e} is the local epsilon)
RANDOMIZERS = [
    ("`any`", "--randomizer any --local-epsilon {e}"),
    ("`rr`", "--randomizer rr --local-epsilon {e}"),
    ("`krr`, 10 values", "--randomizer krr --categories 10 --local-epsilon {e}"),
    (
        "`r-inf`, `r-1`, `r-2`, `ldp-sgd`",
        "--randomizer r-inf --local-epsilon {e}",
        "--randomizer r-1 --local-epsilon {e}",
        "--randomizer r-2 --local-epsilon {e}",
        "--randomizer ldp-sgd --local-epsilon {e}",
    ),
    ("`priv-unit`, d = 1,000", "--randomizer priv-unit --dimension 1000 --local-epsilon {e}"),
    ("`laplace`", "--randomizer laplace --local-epsilon {e}"),
    ("`discrete-laplace`", "--randomizer discrete-laplace --local-epsilon {e}"),
    ("`approximate`, δ0 = 1e-17", "--randomizer approximate --local-delta 1e-17 --local-epsilon {e}"),
    ("`gaussian`, σ = 5", "--randomizer gaussian --sigma 5"),
    ("`gaussian`, σ = 2", "--randomizer gaussian --sigma 2"),
    ("`gaussian`, σ = 1", "--randomizer gaussian --sigma 1"),
    ("`discrete-gaussian`, σ = 5", "--randomizer discrete-gaussian --sigma 5"),
    ("`sequential`", "--randomizer sequential --local-epsilon {e}"),
]


def shown(value, digits, rounding):
    """`value` with so many significant digits, rounded in this direction; no exponent."""
    exact = decimal.Decimal(value)
    if exact == 0:
        return "0"
    unit = decimal.Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return f"{exact.quantize(unit, rounding=rounding):f}" if unit <= 1 else f"{int(exact.to_integral_value(rounding)):,}"


def ask(binary, flags):
    run = subprocess.run([binary, "epsilon", "--json", *flags.split()], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{binary} epsilon {flags} failed:\n{run.stderr}")
    return json.loads(run.stdout)


def row(name, answer):
    upper, lower = answer["epsilon"], answer.get("epsilon_lower")
    if isinstance(lower, float) and isinstance(upper, float) and upper < lower:
        sys.exit(f"{name}: upper bound {upper} below lower bound {lower}")
    ratio = upper / lower if lower and isinstance(upper, float) else None
    cells = [
        name,
        shown(upper, 4, decimal.ROUND_CEILING) if isinstance(upper, float) else str(upper),
        shown(lower, 4, decimal.ROUND_FLOOR) if lower is not None else "none",
        shown(ratio, 4 if ratio < 1.01 else 3, decimal.ROUND_CEILING) if ratio else "none",
        f"`{answer['method']}`",
        f"`{answer['lower_method']}`" if "lower_method" in answer else "none",
    ]
    return "| " + " | ".join(cells) + " |\n"


def tables(binary):
    text = ""
    for title, scheme, epsilon, rounds, delta in SETTINGS:
        text += f"\n### {title}\n\n| randomizer | ε at most | ε at least | ratio | upper bound | lower bound |\n|---|---|---|---|---|---|\n"
        for name, *alike in RANDOMIZERS:
            rows = {
                row(name, ask(binary, f"{scheme} --rounds {rounds} --delta {delta} {flags.format(e=epsilon)}"))
                for flags in alike
            }
            if len(rows) > 1:
                sys.exit(f"{name} differ: {rows}")
            text += rows.pop()
    return text + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=str(ROOT / "target" / "release" / "shuffledp"))
    parser.add_argument("--write", action="store_true", help="rewrite the tables of the page")
    arguments = parser.parse_args()
    text = tables(arguments.binary)
    if not arguments.write:
        print(text, end="")
        return
    page = PAGE.read_text(encoding="utf-8")
    head, rest = page.split(BEGIN)
    PAGE.write_text(head + BEGIN + text + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
