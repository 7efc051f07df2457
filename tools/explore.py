#!/usr/bin/env python3
"""Property tests with random seeds; `make test` draws the same cases every time, so that a failure is one's own.

    python3 tools/explore.py [ROUNDS]    that many random seeds (10), each for all property tests
    python3 tools/explore.py --replay    the seeds that failed before (`make test` does this)

A seed that fails is added to tools/failing-seeds.txt, to be committed with its repair. Better still, add the case that
proptest prints as a test of its own, and delete the line: a seed means other cases once the test changes.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEEDS = ROOT / "tools/failing-seeds.txt"

# Package, and the arguments of `cargo test` that choose its property tests.
TESTS = {
    "shuffledp-accounting": ["--lib", "--test", "pair_properties", "--test", "published_properties"],
    "shuffledp-number": ["--test", "numbers"],
    "shuffledp-randomizers": ["--test", "exact_ratios", "--test", "frames"],
    "shuffledp-report": ["--test", "plots"],
    "shuffledp-wire": ["--test", "properties"],
    "shuffledp": ["--test", "properties"],
}


def passes(package: str, seed: str) -> bool:
    """Whether the property tests of a package pass with this seed."""
    command = [os.environ.get("CARGO", "cargo"), "test", "--quiet", "--release", "--package", package, "--no-fail-fast"]
    environment = dict(os.environ, PROPTEST_RNG_SEED=seed)
    return subprocess.run([*command, *TESTS[package]], cwd=ROOT, env=environment, check=False).returncode == 0


def failed_before() -> list[tuple[str, str]]:
    """The kept (package, seed) pairs."""
    lines = SEEDS.read_text(encoding="utf-8").splitlines()
    return [(package, seed) for package, seed in (line.split() for line in lines if line and not line.startswith("#"))]


def main() -> int:
    if sys.argv[1:] == ["--replay"]:
        broken = [f"{package} {seed}" for package, seed in failed_before() if not passes(package, seed)]
        print("\n".join(f"still fails: {line}" for line in broken) or "no kept seed fails")
        return 1 if broken else 0
    known = failed_before()
    found = []
    for _ in range(int(sys.argv[1]) if sys.argv[1:] else 10):
        seed = str(secrets.randbits(63))
        print(f"== seed {seed}", flush=True)
        found += [(package, seed) for package in TESTS if not passes(package, seed)]
    with SEEDS.open("a", encoding="utf-8") as file:
        file.writelines(f"{package} {seed}\n" for package, seed in found if (package, seed) not in known)
    print("\n".join(f"fails: {package} with seed {seed}, kept" for package, seed in found) or "nothing failed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
