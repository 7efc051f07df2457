"""The notebook on Flower runs, and prints what is committed. WRITE_NOTEBOOKS=1 writes what it shows now."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys

import nbformat
import offline
from conftest import ROOT

NOTEBOOK = ROOT / "python" / "notebooks" / "flower" / "federated-training-on-flower.ipynb"
# Committed with its picture, and looked at in a browser.
MOST_BYTES = 100_000


def shown(path: pathlib.Path) -> list[tuple[str, int]]:
    """Returns the output of each code cell, and its number of pictures. Pictures depend on this run's coins."""
    seen = []
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "code":
            text = "".join(output.text for output in cell.outputs if output.output_type == "stream")
            seen.append((text, sum("image/png" in output.get("data", {}) for output in cell.outputs)))
    return seen


def test_the_notebook_shows_what_is_committed(tmp_path):
    fresh = tmp_path / "notebook.ipynb"
    runner = pathlib.Path(__file__).with_name("run_notebook.py")
    offline.run([sys.executable, str(runner), str(NOTEBOOK), str(fresh)], home=tmp_path / "home", folder=tmp_path)
    if os.environ.get("WRITE_NOTEBOOKS"):
        shutil.copy(fresh, NOTEBOOK)
    assert shown(fresh) == shown(NOTEBOOK)
    assert any(text for text, _ in shown(fresh)) and sum(pictures for _, pictures in shown(fresh)) == 1
    assert NOTEBOOK.stat().st_size < MOST_BYTES
