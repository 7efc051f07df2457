"""Files that survive a power cut."""

from __future__ import annotations

import os
import pathlib
import tempfile


def replace(path: pathlib.Path, text: str) -> None:
    """Puts ``text`` in the place of the file; it returns when the disk has it.

    Whoever reads the file sees the old text or the new one, never a part.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
