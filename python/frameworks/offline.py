"""Runs commands where no network but the loopback is: Ray and Flower's SuperLink listen on every interface."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

# A namespace for the network, and one for processes: what they leave running ends with the command.
_NAMESPACE = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]

_QUIET = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}


def namespace() -> Sequence[str]:
    """The command that makes one, as root or with a user namespace; the test is skipped where none can be made."""
    for line in (_NAMESPACE, [*_NAMESPACE, "--map-root-user"]):
        try:
            if subprocess.run([*line, "ip", "link", "set", "lo", "up"], capture_output=True).returncode == 0:
                return line
        except FileNotFoundError:
            break
    pytest.skip("no network namespace can be made here (unshare, ip): Ray would listen on every interface")


def run(command: Sequence[str], *, home: Path, folder: Path, more: Mapping[str, str] | None = None) -> str:
    """Returns the output of a command. The limit ends a run that hangs."""
    tools = str(Path(sys.executable).parent)
    environment = {
        **os.environ,
        **_QUIET,
        **(more or {}),
        "HOME": str(home),
        "FLWR_HOME": str(home / "flwr"),
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
    }
    (home / "flwr").mkdir(parents=True, exist_ok=True)
    line = ["sh", "-c", f"ip link set lo up && exec {shlex.join(command)}"]
    done = subprocess.run(
        [*namespace(), *line],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout
