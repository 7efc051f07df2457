"""The notebooks run, and show what is committed. WRITE_NOTEBOOKS=1 writes what they show now."""

from __future__ import annotations

import gc
import os
import pathlib
from typing import Any

import nbformat
import pytest
from conftest import ROOT
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient

NOTEBOOKS = sorted((ROOT / "python" / "notebooks").glob("*.ipynb"))
# Committed with their pictures, and looked at in a browser.
MOST_BYTES = 100_000


def shown(cell: Any) -> list[str]:
    """Returns a cell's outputs as a reader sees them: text as it is, and a mark for each picture."""
    seen = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if output.output_type == "stream":
            seen.append(output.text)
        elif "image/png" in data:
            seen.append("a picture")
        else:
            # Where there is HTML nobody sees the plain text, which has all digits.
            seen.append(data.get("text/html", data.get("text/plain", "")))
    return seen


# The kernel's sockets are closed when they are collected.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    committed = nbformat.read(path, 4)
    assert path.stat().st_size < MOST_BYTES
    fresh = nbformat.read(path, 4)
    for cell in fresh.cells:
        cell.pop("outputs", None)
        if cell.cell_type == "code":
            cell["outputs"] = []
    # Over sockets of the file system: nothing listens on the network. Not in the folder of the sources.
    kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=str(tmp_path / "kernel"))
    NotebookClient(fresh, km=kernel, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    gc.collect()
    if os.environ.get("WRITE_NOTEBOOKS"):
        for cell in fresh.cells:
            cell.metadata.pop("execution", None)
        nbformat.write(fresh, path)
        return
    for number, (cell, of_committed) in enumerate(zip(fresh.cells, committed.cells)):
        assert shown(cell) == shown(of_committed), f"cell {number} of {path.name} shows something else: WRITE_NOTEBOOKS=1"


def test_there_are_notebooks() -> None:
    assert {path.stem for path in NOTEBOOKS} >= {"which-epsilon-do-i-publish", "choosing-a-randomizer-and-a-budget"}
