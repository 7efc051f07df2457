#!/usr/bin/env python3
"""Tests of tools/dist.py: archives, their sums, and the question whether a program is static."""

from __future__ import annotations

import hashlib
import struct
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import dist  # noqa: E402


def elf(*headers: tuple[int, bytes]) -> bytes:
    """An ELF file of 64 bits that has nothing but program headers, each with its contents."""
    start = 64 + 56 * len(headers)
    table, data = b"", b""
    for kind, contents in headers:
        table += struct.pack("<IIQQQQQQ", kind, 0, start + len(data), 0, 0, len(contents), 0, 0)
        data += contents
    head = b"\x7fELF\x02\x01".ljust(0x20, b"\0") + struct.pack("<Q", 64)
    head = head.ljust(0x36, b"\0") + struct.pack("<HH", 56, len(headers))
    return head.ljust(64, b"\0") + table + data


class Static(unittest.TestCase):
    def test_an_interpreter_or_a_library_is_seen(self) -> None:
        relocations, needed, end = struct.pack("<QQ", 7, 1), struct.pack("<QQ", 1, 1), struct.pack("<QQ", 0, 0)
        self.assertTrue(dist.is_static(elf((1, b"code"))))
        self.assertTrue(dist.is_static(elf((1, b"code"), (2, relocations + end + needed))))
        self.assertFalse(dist.is_static(elf((1, b"code"), (2, relocations + needed + end))))
        self.assertFalse(dist.is_static(elf((3, b"/lib/ld.so"))))

    def test_another_file_is_refused(self) -> None:
        with self.assertRaises(SystemExit):
            dist.is_static(b"#!/bin/sh\n")


class Archives(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def test_bytes_depend_on_contents_alone(self) -> None:
        files = {"shuffledp": b"program", "a/b": b"text"}
        first, second = self.folder / "first", self.folder / "second"
        dist.pack(first, "top", files, 1)
        dist.pack(second, "top", dict(reversed(files.items())), 1)
        self.assertEqual(first.read_bytes(), second.read_bytes())

    def refused(self, words: str) -> None:
        with self.assertRaisesRegex(SystemExit, words):
            dist.check(self.folder, "another-machine")

    def test_wrong_and_missing_sums_are_refused(self) -> None:
        name = f"shuffledp-1.0.0-{dist.STATIC}.tar.xz"
        archive, sums = self.folder / name, self.folder / dist.SUMS
        dist.pack(archive, name.removesuffix(".tar.xz"), {"shuffledp": elf((1, b"code"))}, 1)
        sums.write_text("")
        self.refused("SHA256SUMS lacks shuffledp-1.0.0")
        sums.write_text(f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {name}\n")
        dist.check(self.folder, "another-machine")
        sums.write_text(f"{'0' * 64}  {name}\n")
        self.refused("does not have the SHA-256")

    def test_a_program_that_needs_a_library_or_knows_this_machine_is_refused(self) -> None:
        name = f"shuffledp-1.0.0-{dist.STATIC}.tar.xz"
        archive = self.folder / name
        path = f"{dist.ROOT}/crates".encode()
        for program, words in [(elf((3, b"/lib/ld.so")), "not static"), (elf((1, path)), "contains the path")]:
            dist.pack(archive, name.removesuffix(".tar.xz"), {"shuffledp": program}, 1)
            (self.folder / dist.SUMS).write_text(f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {name}\n")
            self.refused(words)


if __name__ == "__main__":
    unittest.main(verbosity=0)
