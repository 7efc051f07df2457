#!/usr/bin/env python3
"""Builds the wheels and the source distribution of the Python package into target/wheels. Publishes nothing.

    python3 tools/wheels.py            wheels for manylinux2014 and musllinux, source distribution, checks
    python3 tools/wheels.py LIBC...    only these wheels: manylinux, musllinux
    python3 tools/wheels.py --check    checks what is there, and builds nothing

One wheel serves every CPython from 3.10 on (abi3). Zig is the linker, so that a wheel runs on systems that are older than the one that built it: glibc 2.17 or musl 1.2.
Every wheel carries a bill of materials (CycloneDX). The checks: tags, bill of materials, README; the wheel for this machine installed into a fresh environment of every Python that is here and asked a
question; the source distribution built again, offline and with the locked versions.

Needs rustup, and pip's index for maturin, zig and numpy. docs/releasing.md says how a release is made.
"""

from __future__ import annotations

import email
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
WHEELS = TARGET / "wheels"
TOOLS = TARGET / "python" / "wheel-tools"
# As in python/requirements-test.txt; zig is the linker and the C compiler.
REQUIREMENTS = ["maturin==1.16.0", "ziglang==0.17.0"]
# The libc of a wheel, maturin's name of it, and rustc's target.
BUILDS = {
    "manylinux": ("manylinux2014", "x86_64-unknown-linux-gnu"),
    "musllinux": ("musllinux_1_2", "x86_64-unknown-linux-musl"),
}
QUESTION = "clients=1_000_000, sampled=1000, local_epsilon=2, rounds=100_000, delta=1e-8"
OLDEST = (3, 10)


def run(*words: str | Path, **settings) -> str:
    """Runs a command and returns its output; what it says on the way is shown."""
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True, **settings).stdout


def environment(folder: Path, python: str, *packages: str) -> Path:
    """A fresh virtual environment with these packages; returns its interpreter."""
    run(python, "-m", "venv", folder)
    interpreter = folder / "bin" / "python"
    if packages:
        run(interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return interpreter


def maturin(*words: str) -> None:
    """Runs maturin, with zig beside it."""
    if not (TOOLS / "bin" / "maturin").exists():
        environment(TOOLS, sys.executable, *REQUIREMENTS)
    path = f"{TOOLS / 'bin'}{os.pathsep}{os.environ['PATH']}"
    run(TOOLS / "bin" / "maturin", *words, cwd=ROOT / "python", env=os.environ | {"PATH": path, "CARGO_TARGET_DIR": str(TARGET)})


def build(libc: str) -> None:
    compatibility, target = BUILDS[libc]
    if target not in run("rustup", "target", "list", "--installed").split():
        run("rustup", "target", "add", target)
    print(f"== {compatibility}", flush=True)
    maturin("build", "--release", "--locked", "--zig", "--compatibility", compatibility, "--target", target, "--out", str(WHEELS))


def source() -> None:
    print("== source distribution", flush=True)
    maturin("sdist", "--out", str(WHEELS))


def check_wheel(wheel: Path) -> None:
    """Tags, README and bill of materials."""
    if not re.fullmatch(r"shuffledp-[^-]+-cp310-abi3-(manylinux_2_17_x86_64\.manylinux2014_x86_64|manylinux2014_x86_64\.manylinux_2_17_x86_64|musllinux_1_2_x86_64)\.whl", wheel.name):
        raise SystemExit(f"{wheel.name}: not an abi3 wheel for manylinux2014 or musllinux")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = email.message_from_bytes(archive.read(next(n for n in names if n.endswith(".dist-info/METADATA"))))
        materials = [json.loads(archive.read(name)) for name in names if "/sboms/" in name and name.endswith(".json")]
    if "shuffledp.epsilon(" not in metadata.get_payload() or metadata["Description-Content-Type"] is None:
        raise SystemExit(f"{wheel.name}: no README")
    components = {component["name"] for bill in materials for component in bill.get("components", [])}
    if not {"pyo3", "shuffledp-accounting"} <= components:
        raise SystemExit(f"{wheel.name}: no bill of materials, or not of what is in it")
    for needed in ("shuffledp/_native.abi3.so", "shuffledp/_native.pyi", "shuffledp/py.typed"):
        if needed not in names:
            raise SystemExit(f"{wheel.name}: {needed} is missing")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {len(components)} components in its bill of materials")


def pythons() -> list[str]:
    """Every Python on this machine that a wheel is for."""
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    folders += sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin"))
    found: dict[tuple[int, ...], str] = {}
    for folder in folders:
        for python in sorted(folder.glob("python3.*")) if folder.is_dir() else []:
            if not re.fullmatch(r"python3\.\d+", python.name):
                continue
            asked = subprocess.run([python, "-c", "import sys, venv, ensurepip; print(*sys.version_info[:2])"], capture_output=True, text=True)
            if asked.returncode == 0:
                found.setdefault(tuple(map(int, asked.stdout.split())), str(python))
    return [python for version, python in sorted(found.items()) if version >= OLDEST]


def ask(interpreter: Path) -> str:
    """The headline question, away from the sources."""
    return run(interpreter, "-c", f"import shuffledp; print(shuffledp.epsilon({QUESTION}))", cwd="/").strip()


def headline() -> str:
    """Returns the answer that the README states."""
    text = (ROOT / "python" / "README.md").read_text(encoding="utf-8")
    return re.search(r"print\(answer\)  # ([0-9.]+)", text).group(1)


def check_installed(wheel: Path) -> None:
    for python in pythons():
        with tempfile.TemporaryDirectory() as folder:
            answer = ask(environment(Path(folder) / "venv", python, str(wheel)))
        if answer != headline():
            raise SystemExit(f"{python}: {wheel.name} answers {answer}, not {headline()}")
        print(f"{python}: ε = {answer}")


def check_source(archive: Path) -> None:
    """It has a lock file and everything that the build reads, and no network is asked."""
    with tarfile.open(archive) as opened:
        names = [Path(*Path(name).parts[1:]).as_posix() for name in opened.getnames()]
    for needed in ("Cargo.lock", "PKG-INFO", "crates/accounting/Cargo.toml"):
        if needed not in names:
            raise SystemExit(f"{archive.name}: {needed} is missing")
    settings = {"CARGO_NET_OFFLINE": "true", "MATURIN_PEP517_ARGS": "--locked --offline", "CARGO_TARGET_DIR": str(TARGET)}
    path = f"{TOOLS / 'bin'}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        built = ["pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder, str(archive)]
        run(TOOLS / "bin" / "python", "-m", *built, env=os.environ | settings | {"PATH": path}, cwd="/")
        wheel = next(Path(folder).glob("*.whl"))
        interpreter = environment(Path(folder) / "venv", sys.executable, "numpy")
        run(interpreter, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel))
        answer = ask(interpreter)
    if answer != headline():
        raise SystemExit(f"{archive.name}: its wheel answers {answer}, not {headline()}")
    print(f"{archive.name}: {archive.stat().st_size / 1e6:.1f} MB, builds offline with the locked versions, ε = {answer}")


def check() -> None:
    wheels, archives = sorted(WHEELS.glob("*.whl")), sorted(WHEELS.glob("*.tar.gz"))
    if not wheels:
        raise SystemExit(f"no wheels in {WHEELS}; build them with: make wheels")
    for wheel in wheels:
        check_wheel(wheel)
    for wheel in wheels:
        # The other libc is not here.
        if "manylinux" in wheel.name:
            check_installed(wheel)
    for archive in archives:
        check_source(archive)


def main() -> None:
    words = sys.argv[1:]
    if words != ["--check"]:
        WHEELS.mkdir(parents=True, exist_ok=True)
        for old in [*WHEELS.glob("*.whl"), *WHEELS.glob("*.tar.gz")]:
            old.unlink()
        source()
        for libc in words or BUILDS:
            if libc not in BUILDS:
                raise SystemExit(f"{libc} is not among {', '.join(BUILDS)}")
            build(libc)
    check()


if __name__ == "__main__":
    main()
