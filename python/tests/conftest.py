"""Shared fixtures: the command line's program, and a last line that `make test` can count."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import matplotlib
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Pictures are drawn, not shown.
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def control_c_is_on() -> Iterator[None]:
    """A shell starts what runs in its background with Ctrl-C ignored, and Python leaves it so: a test of it would wait forever."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def program() -> str:
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    path = target / "release" / "shuffledp"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing; build it with: cargo build --release")
    return str(path)


def _numbers(value: Any) -> Any:
    """JSON has no infinity: the contract writes the string "inf"."""
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return float("inf") if value == "inf" else value


def flags(arguments: dict[str, Any]) -> list[str]:
    """Keyword arguments as flags."""
    return [f"--{name.replace('_', '-')}={value!r}".replace("'", "") for name, value in arguments.items()]


@pytest.fixture
def command_line() -> Any:
    """Runs the program and reads its JSON."""

    def run(command: str, **arguments: Any) -> Any:
        line = [program(), command, *flags(arguments), "--json", "--all"]
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        return _numbers(json.loads(done.stdout))

    return run


def pytest_terminal_summary(terminalreporter: Any) -> None:
    count = lambda *kinds: sum(len(terminalreporter.stats.get(kind, [])) for kind in kinds)
    passed, failed = count("passed"), count("failed", "error")
    terminalreporter.write_line(f"test result: {'FAILED' if failed else 'ok'}. {passed} passed; {failed} failed")
