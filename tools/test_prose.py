#!/usr/bin/env python3
"""The style checker finds what is planted, and nothing else."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import prose  # noqa: E402

LONG = "many words " * 12

GOOD = {
    "good.md": f"# A heading {LONG}\n\n| a table | {LONG} |\n\nShort prose with `in earnest` as code.\n\n"
    f"```text\n{LONG} in earnest\n```\n\n<!-- {LONG} -->\n\n{'x' * 150}\n{LONG} prose: allow\n",
    "good.rs": "/// Returns it.\n/// What follows is a second line.\nfn a() {}\n// What a plain comment asks.\n/// Whatever it is.\n"
    f"fn b() {{}}\nlet text = \"in earnest {LONG}\";\n",
    "good.py": '"""The module."""\n\nx = "What"\n',
    "notes.txt": "/// What\nin earnest\n",
}
BAD = {
    "bad.md": f"Do it in earnest.\n{LONG}\n",
    "bad.rs": f"/// What it is.\nfn a() {{}}\n    //! Who says it.\n// {LONG}\n// We utilise it.\n",
    "bad.py": '"""What it is."""\n',
}


class Prose(unittest.TestCase):
    def findings(self, files: dict[str, str]) -> set[tuple[str, str, int]]:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                (Path(folder) / name).write_text(text, encoding="utf-8")
            found = prose.findings(Path(folder), list(files))
        return {(finding.path, finding.rule, finding.line) for finding in found}

    def test_what_is_right_passes(self) -> None:
        self.assertEqual(self.findings(GOOD), set())

    def test_what_is_wrong_is_found(self) -> None:
        planted = {
            ("bad.md", "words", 1),
            ("bad.md", "markdown", 2),
            ("bad.rs", "opening", 1),
            ("bad.rs", "opening", 3),
            ("bad.rs", "comments", 4),
            ("bad.rs", "words", 5),
            ("bad.py", "opening", 1),
        }
        self.assertEqual(self.findings(BAD), planted)
        self.assertEqual({rule for _, rule, _ in planted}, set(prose.RULES))

    def test_generated_pages_are_left_alone_and_enforced_rules_exist(self) -> None:
        self.assertEqual(prose.findings(Path("/"), ["docs/gallery/README.md"]), [])
        self.assertLessEqual(prose.ENFORCED, set(prose.RULES))
        self.assertEqual(prose.part("crates/wire/src/lib.rs"), "crates/wire")


if __name__ == "__main__":
    unittest.main(verbosity=0)
