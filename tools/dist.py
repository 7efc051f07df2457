#!/usr/bin/env python3
"""Builds the archives of a release into target/archives. Publishes nothing.

    python3 tools/dist.py                 the static build, x86_64-unknown-linux-musl
    python3 tools/dist.py TARGET...       other targets of rustc
    python3 tools/dist.py --check         checks the archives that are there, and builds nothing

Each archive holds the program, completions, manual pages, licences, the licences of every crate that
is linked, and a bill of materials (CycloneDX). SHA256SUMS has the sums of all files. Every archive is
unpacked again and its program asked a question. Needs cargo, a C compiler for the target (Debian:
musl-tools), and nothing but Python's standard library. docs/releasing.md says how a release is made.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from materials import Materials

ROOT = Path(__file__).resolve().parent.parent
CARGO = os.environ.get("CARGO", "cargo")
PROGRAM = "shuffledp"
STATIC = "x86_64-unknown-linux-musl"
SUMS = "SHA256SUMS"
# Where each shell looks for a completion script of this program.
COMPLETIONS = {
    "bash": "shuffledp.bash",
    "zsh": "_shuffledp",
    "fish": "shuffledp.fish",
    "elvish": "shuffledp.elv",
    "powershell": "_shuffledp.ps1",
}
# Files of the repository that every archive holds, and their names there.
TEXTS = {
    "deploy/INSTALL.md": "INSTALL.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "LICENSE-APACHE": "LICENSE-APACHE",
    "LICENSE-MIT": "LICENSE-MIT",
    "SECURITY.md": "SECURITY.md",
}


def run(*words: str, **settings) -> str:
    """Runs a command and returns its output; what it says on the way is shown."""
    return subprocess.run(words, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True, **settings).stdout


def host() -> str:
    """The target that rustc builds for unless told otherwise."""
    return re.search(r"^host: (.*)$", run("rustc", "-vV"), re.MULTILINE).group(1)


def commit_time() -> int:
    """The time of every file in an archive: SOURCE_DATE_EPOCH, else the commit's, so that two builds agree."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or run("git", "log", "-1", "--format=%ct"))


def build(target: str, folder: Path) -> Path:
    """Builds the program for a target, without this machine's paths in it, and returns it."""
    if target not in run("rustup", "target", "list", "--installed").split():
        run("rustup", "target", "add", target)
    home = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    sysroot = run("rustc", "--print", "sysroot").strip()
    # The last that matches counts.
    forget = {home: "/cargo", sysroot: "/rust", str(ROOT): "/shuffledp"}
    flags = [os.environ.get("RUSTFLAGS", "")] + [f"--remap-path-prefix={path}={name}" for path, name in forget.items()]
    environment = os.environ | {
        "CARGO_INCREMENTAL": "0",  # rustc cannot optimise across crates and build incrementally
        "CARGO_TARGET_DIR": str(folder),
        "RUSTFLAGS": " ".join(flags).strip(),
    }
    run(CARGO, "build", "--locked", "--profile", "dist", "--target", target, "-p", PROGRAM, env=environment)
    return folder / target / "dist" / PROGRAM


def contents(program: Path, target: str, runs_here: bool) -> dict[str, bytes]:
    """The files of an archive by name. Completions and manuals come from the program, or from one that runs here."""
    speaker = program if runs_here else Path(run_locally())
    files = {PROGRAM: program.read_bytes()}
    for source, name in TEXTS.items():
        files[name] = (ROOT / source).read_bytes()
    for shell, name in COMPLETIONS.items():
        files[f"completions/{name}"] = run(str(speaker), "completions", shell).encode()
    files[f"man/man1/{PROGRAM}.1"] = run(str(speaker), "man").encode()
    for command in commands(speaker):
        files[f"man/man1/{PROGRAM}-{command}.1"] = run(str(speaker), "man", command).encode()
    materials = Materials(ROOT, CARGO, PROGRAM, target)
    files["THIRD-PARTY.md"] = materials.notices().encode()
    files["sbom.cdx.json"] = materials.cyclonedx(commit_time()).encode()
    return files


def run_locally() -> str:
    """A program that runs on this machine, for what only the program itself can say."""
    run(CARGO, "build", "--locked", "--release", "-p", PROGRAM)
    folder = json.loads(run(CARGO, "metadata", "--no-deps", "--format-version", "1"))["target_directory"]
    return f"{folder}/release/{PROGRAM}"


def commands(program: Path) -> list[str]:
    """The commands of the program, as its help lists them."""
    block = run(str(program), "--help").split("Commands:\n", 1)[1].split("\n\n", 1)[0]
    return [name for name in re.findall(r"^  (\S+)", block, re.MULTILINE) if name != "help"]


def pack(archive: Path, top: str, files: dict[str, bytes], time: int) -> None:
    """Writes an archive whose bytes depend on its contents alone."""
    with tarfile.open(archive, "w:xz", preset=9, format=tarfile.PAX_FORMAT) as tar:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mtime = len(data), time
            entry.mode = 0o755 if name == PROGRAM else 0o644
            tar.addfile(entry, io.BytesIO(data))


def is_static(program: bytes) -> bool:
    """Whether an ELF file (64 bits, little-endian) names no interpreter and no shared library."""
    if program[:6] != b"\x7fELF\x02\x01":
        raise SystemExit("the program is not an ELF file of 64 bits")
    (headers,) = struct.unpack_from("<Q", program, 0x20)
    size, count = struct.unpack_from("<HH", program, 0x36)
    for index in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", program, headers + index * size)
        if kind == 3:  # PT_INTERP
            return False
        if kind == 2:  # PT_DYNAMIC: pairs of tag and value, where 1 is DT_NEEDED and 0 ends the list
            for tag, _ in struct.iter_unpack("<QQ", program[offset : offset + length]):
                if tag == 1:
                    return False
                if tag == 0:
                    break
    return True


def check(folder: Path, here: str) -> None:
    """Checks the sums of a folder and every archive in it: that it unpacks, and that its program answers."""
    lines = (folder / SUMS).read_text().splitlines()
    for line in lines:
        wanted, name = line.split("  ", 1)
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != wanted:
            raise SystemExit(f"{name} does not have the SHA-256 that {SUMS} says")
    archives = sorted(folder.glob("*.tar.xz"))
    unlisted = {path.name for path in archives} - {line.split("  ", 1)[1] for line in lines}
    if not archives or unlisted:
        raise SystemExit(f"{SUMS} lacks {', '.join(sorted(unlisted))}" if unlisted else "there is no archive")
    for archive in archives:
        top = archive.name.removesuffix(".tar.xz")
        target = top.removeprefix(f"{PROGRAM}-").split("-", 1)[1]
        with tempfile.TemporaryDirectory() as scratch:
            with tarfile.open(archive) as tar:
                tar.extractall(scratch, filter="data")
            program = Path(scratch) / top / PROGRAM
            data = program.read_bytes()
            private = [text for text in (str(ROOT), str(Path.home())) if len(text) > 1 and f"{text}/".encode() in data]
            if private:
                raise SystemExit(f"{archive.name}: the program contains the path {private[0]}")
            static = is_static(data) if "linux" in target else False
            if target == STATIC and not static:
                raise SystemExit(f"{archive.name}: the program is not static")
            if runs_on(here, target):
                answer = run(str(program), "epsilon", *"--clients 1e4 --local-epsilon 1 --delta 1e-6 --json".split())
                epsilon = json.loads(answer)["epsilon"]
                print(f"{archive.name}: answers, ε = {epsilon}")
            print(
                f"{archive.name}: {archive.stat().st_size / 1e6:.1f} MB packed, program {len(data) / 1e6:.1f} MB"
                f"{', static' if static else ''}"
            )


def runs_on(here: str, target: str) -> bool:
    """Whether programs for a target run on this machine: the same processor and system."""
    return target == here or (target == STATIC and here.startswith("x86_64-unknown-linux"))


def main() -> None:
    targets = sys.argv[1:] or [STATIC]
    metadata = json.loads(run(CARGO, "metadata", "--no-deps", "--format-version", "1"))
    folder = Path(metadata["target_directory"])
    version = next(package["version"] for package in metadata["packages"] if package["name"] == PROGRAM)
    out, here = folder / "archives", host()
    if targets == ["--check"]:
        return check(out, here)
    out.mkdir(parents=True, exist_ok=True)
    for old in out.iterdir():
        old.unlink()
    for target in targets:
        top = f"{PROGRAM}-{version}-{target}"
        files = contents(build(target, folder), target, runs_on(here, target))
        pack(out / f"{top}.tar.xz", top, files, commit_time())
        (out / f"{top}.cdx.json").write_bytes(files["sbom.cdx.json"])
    made = sorted(path for path in out.iterdir() if path.name != SUMS)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made]
    (out / SUMS).write_text("".join(sums))
    check(out, here)
    print(f"in {out}")


if __name__ == "__main__":
    main()
