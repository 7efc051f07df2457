#!/usr/bin/env python3
"""Checks what the dependencies promise: Rust versions, licences, sources, duplicates, one table of versions.

    python3 tools/dependencies.py

Asks `cargo metadata` and `cargo tree`, and reads deny.toml, so it needs nothing but cargo and Python 3.11, and takes a second:
continuous integration runs it. `make lint` runs cargo-deny too, which takes minutes to install and reads the
licences' texts as well.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any, Iterator

ROOT = Path(__file__).resolve().parent.parent
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"
KINDS = ("dependencies", "dev-dependencies", "build-dependencies")


def version(text: str) -> tuple[int, ...]:
    """A Rust version as numbers: 1.85 and 1.85.0 are the same."""
    numbers = [int(part) for part in text.split("-")[0].split(".")]
    return tuple(numbers + [0] * (3 - len(numbers)))


def rust_versions(packages: list[dict[str, Any]], ours: str) -> Iterator[str]:
    """Dependencies that need a later Rust than the workspace promises."""
    for package in packages:
        needs = package["rust_version"]
        if package["source"] and needs and version(needs) > version(ours):
            yield f"{package['name']} {package['version']} needs Rust {needs}, the workspace promises {ours} (rust-version)"


def is_allowed(expression: str, allowed: set[str]) -> bool:
    """Whether an SPDX expression can be met with these licences. OR binds less than AND."""
    # The old way of writing OR.
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))

    def alternatives() -> bool:
        value = conjunction()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            # Read the other side also where it no longer matters.
            other = conjunction()
            value = value or other
        return value

    def conjunction() -> bool:
        value = licence()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            other = licence()
            value = value and other
        return value

    def licence() -> bool:
        name = tokens.pop(0)
        if name == "(":
            value = alternatives()
            tokens.pop(0)
            return value
        if tokens and tokens[0] == "WITH":
            name += f" WITH {tokens[1]}"
            del tokens[:2]
        return name in allowed

    return alternatives()


def licences(packages: list[dict[str, Any]], allowed: set[str]) -> Iterator[str]:
    """Packages whose licence deny.toml does not allow."""
    for package in packages:
        expression = package["license"] or ""
        if not expression or not is_allowed(expression, allowed):
            yield f"{package['name']} {package['version']}: licence {expression or 'not given'}; deny.toml allows others"


def sources(packages: list[dict[str, Any]]) -> Iterator[str]:
    """Packages that come from elsewhere than crates.io or this repository."""
    for package in packages:
        if package["source"] not in (None, CRATES_IO):
            yield f"{package['name']} comes from {package['source']}; use a version on crates.io"


def bans(packages: list[dict[str, Any]], deny: dict[str, Any]) -> Iterator[str]:
    """Crates that deny.toml bans, and second versions that it does not excuse."""
    banned = {entry["crate"]: entry["reason"] for entry in deny["deny"]}
    excused = [entry["crate"] for entry in deny["skip"]]
    versions: dict[str, set[str]] = defaultdict(set)
    for package in packages:
        if package["name"] in banned:
            yield f"{package['name']} is banned: {banned[package['name']]}"
        versions[package["name"]].add(package["version"])
    used = set()
    for name, found in sorted(versions.items()):
        excuses = [entry for entry in excused for one in found if f"{name}@{one}".startswith(entry)]
        used.update(excuses)
        if len(found) > 1 and len(set(excuses)) < len(found) - 1:
            yield f"{name} is there in versions {', '.join(sorted(found))}; align them, or give a reason in deny.toml (skip)"
    for entry in sorted(set(excused) - used):
        yield f"deny.toml excuses {entry}, which is not there; delete the line"


def one_table(manifests: list[Path]) -> Iterator[str]:
    """Dependencies whose version is not in the workspace's table."""
    for manifest in manifests:
        content = tomllib.loads(manifest.read_text(encoding="utf-8"))
        tables = [content, *content.get("target", {}).values()]
        for table in tables:
            for kind in KINDS:
                for name, entry in table.get(kind, {}).items():
                    if not (isinstance(entry, dict) and entry.get("workspace")):
                        where = manifest.relative_to(ROOT)
                        yield f"{where}: {name} has a version of its own; move it to [workspace.dependencies]"


def built(cargo: str) -> set[tuple[str, str]]:
    """Name and version of each package that some member builds; the lock file also has those of features that nobody
    turns on."""
    command = [cargo, "tree", "--locked", "--workspace", "--all-features", "--target", "all", "--prefix", "none"]
    listed = subprocess.run([*command, "--format", "{p}"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = (line.split() for line in listed.splitlines() if line)
    return {(name, number.removeprefix("v")) for name, number, *_ in lines}


def problems() -> Iterator[str]:
    """All that is wrong, one sentence each."""
    cargo = os.environ.get("CARGO", "cargo")
    command = [cargo, "metadata", "--locked", "--all-features", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    used = built(cargo)
    packages = [package for package in metadata["packages"] if (package["name"], package["version"]) in used]
    members = [package for package in packages if package["id"] in set(metadata["workspace_members"])]
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    deny = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
    yield from rust_versions(packages, workspace["package"]["rust-version"])
    yield from licences(packages, set(deny["licenses"]["allow"]))
    yield from sources(packages)
    yield from bans(packages, deny["bans"])
    yield from one_table([Path(member["manifest_path"]) for member in members])


def main() -> int:
    found = list(problems())
    print("\n".join(found) or "the dependencies keep their promises")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
