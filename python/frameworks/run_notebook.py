"""Runs a notebook in a kernel and writes it with its outputs: run_notebook.py FROM TO."""

from __future__ import annotations

import pathlib
import sys

import nbformat
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient

source, target = map(pathlib.Path, sys.argv[1:])
notebook = nbformat.read(source, 4)
for cell in notebook.cells:
    if cell.cell_type == "code":
        cell["outputs"] = []
# Over sockets of the file system: the kernel listens on no network.
kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=str(target.parent / "kernel"))
NotebookClient(notebook, km=kernel, timeout=400, resources={"metadata": {"path": str(source.parent)}}).execute()
for cell in notebook.cells:
    cell.metadata.pop("execution", None)
nbformat.write(notebook, target)
