#!/usr/bin/env python3
"""Builds target/explorer/explorer.html: the accounting as WebAssembly, uPlot, and the page, in one
file that loads nothing. `shuffledp explore` carries the file if it was there when the program was
built, so `make explorer` calls this first and builds the program afterwards.

Nothing downloaded is kept in the repository: uPlot comes from npm, is checked against the digest
below and stays in target/explorer. Where a tool is missing, this says the line that installs it."""

import base64
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "crates/explorer/page"
OUT = ROOT / "target/explorer"
TARGET = "wasm32-unknown-unknown"
UPLOT = "1.6.32"
UPLOT_SHA256 = "4b8a8191e425658e3ea8c8c1314b0fc679c861ee3a1af2b20c7b16ba50b5133d"


def stop(reason: str, line: str) -> None:
    sys.exit(f"explorer: {reason}; type: {line}")


def module() -> bytes:
    """The accounting as WebAssembly."""
    libraries = subprocess.run(
        ["rustc", "--print", "target-libdir", "--target", TARGET], capture_output=True, text=True, cwd=ROOT
    )
    if libraries.returncode != 0 or not Path(libraries.stdout.strip()).is_dir():
        stop(f"Rust cannot compile for {TARGET} yet", f"rustup target add {TARGET}")
    # Paths of this machine do not belong into a file that is passed on.
    flags = f"--remap-path-prefix={ROOT}=. --remap-path-prefix={Path.home()}=~"
    if cargo_home := os.environ.get("CARGO_HOME"):
        flags += f" --remap-path-prefix={cargo_home}=cargo"
    command = [os.environ.get("CARGO", "cargo"), "build", "--locked", "--profile", "explorer", "--target", TARGET]
    command += ["-p", "shuffledp-explorer", "--lib", "--target-dir", str(OUT / "build")]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "RUSTFLAGS": flags})
    return (OUT / "build" / TARGET / "explorer/shuffledp_explorer.wasm").read_bytes()


def uplot() -> dict[str, str]:
    """uPlot's files by name, from the package as npm has it."""
    package = OUT / f"uplot-{UPLOT}.tgz"
    if not package.is_file():
        if not shutil.which("npm"):
            stop("npm, which fetches the plotting library, is missing", "install Node.js (apt-get install npm)")
        subprocess.run(["npm", "pack", "--silent", f"uplot@{UPLOT}"], cwd=OUT, check=True, stdout=subprocess.DEVNULL)
    if hashlib.sha256(package.read_bytes()).hexdigest() != UPLOT_SHA256:
        package.unlink()
        sys.exit(f"explorer: uPlot {UPLOT} is not the package that was reviewed; it was deleted")
    with tarfile.open(package) as files:
        names = ["LICENSE", "dist/uPlot.min.css", "dist/uPlot.iife.min.js"]
        return {name: files.extractfile(f"package/{name}").read().decode() for name in names}


def assembled(wasm: bytes, plots: dict[str, str]) -> str:
    """The page with everything in it."""
    packed = base64.b64encode(gzip.compress(wasm, 9, mtime=0)).decode()
    read = lambda name: (PAGE / name).read_text()
    parts = {
        "@STYLE@": read("style.css").replace("@UPLOT_STYLE@", plots["dist/uPlot.min.css"]),
        "@UPLOT_VERSION@": UPLOT,
        "@UPLOT_LICENCE@": plots["LICENSE"].replace("&", "&amp;").replace("<", "&lt;"),
        "@WASM@": packed,
        "@WORKER@": read("worker.js"),
        "@UPLOT@": plots["dist/uPlot.iife.min.js"],
        "@PAGE@": read("page.js"),
    }
    page = read("index.html")
    for place, text in parts.items():
        if page.count(place) != 1 or "</script" in text:
            sys.exit(f"explorer: cannot put {place} into the page")
        page = page.replace(place, text)
    return page


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    page = assembled(module(), uplot())
    file = OUT / "explorer.html"
    file.write_text(page)
    print(f"wrote {file.relative_to(ROOT)}, {len(page.encode()) // 1024} KB")


if __name__ == "__main__":
    main()
