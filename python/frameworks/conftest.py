"""A last line that `make` can count, as for the other Python tests."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The scene of server, shuffler and clients is that of the package's own tests.
sys.path.append(str(ROOT / "python" / "tests"))


def program() -> str:
    """The program that `make` built."""
    path = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "shuffledp"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing; build it with: cargo build --release")
    return str(path)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    count = lambda *kinds: sum(len(terminalreporter.stats.get(kind, [])) for kind in kinds)
    passed, failed = count("passed"), count("failed", "error")
    terminalreporter.write_line(f"test result: {'FAILED' if failed else 'ok'}. {passed} passed; {failed} failed")
