#!/usr/bin/env python3
"""The link checker finds what is planted, and nothing else."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import links

GOOD = """# A page

[itself](#a-page), [the other](sub/other.md#2-some-speak-ε0), [a folder](sub), <https://example.org>
and a [link over
two lines](sub/other.md). `[not a link](nowhere.md)`

```sh
[nor this](nowhere.md)
```
"""
OTHER = "# Other\n\n## 2. Some *speak*, `ε0`\n\n## Twice\n\n## Twice\n\n[back](../page.md) [second](#twice-1)\n"


class Links(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.write("page.md", GOOD)
        self.write("sub/other.md", OTHER)

    def write(self, name: str, text: str) -> None:
        links.anchors.cache_clear()
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def found(self) -> list[str]:
        return links.check(self.root)

    def test_good_pages_pass(self) -> None:
        self.assertEqual(self.found(), [])

    def test_each_planted_error_is_found(self) -> None:
        for target, reason in [
            ("nowhere.md", "no such file"),
            ("sub/Other.md", "no such file"),
            ("sub/other.md#three-times", "no heading"),
            ("#twice", "no heading"),
            ("../../elsewhere.md", "leaves the repository"),
            ("/page.md", "leaves the repository"),
        ]:
            with self.subTest(target):
                self.write("page.md", f"{GOOD}\n![x]({target})\n")
                self.assertEqual(len(self.found()), 1, self.found())
                self.assertIn(reason, self.found()[0])
                self.assertIn("page.md:11:", self.found()[0])

    def test_a_page_that_the_book_leaves_out_is_found(self) -> None:
        self.write("docs/new.md", "# New\n")
        self.write("book/SUMMARY.md", "# Summary\n\n[A page](../page.md)\n")
        self.assertEqual(self.found(), ["book/SUMMARY.md: docs/new.md is missing"])
        self.write("book/SUMMARY.md", "# Summary\n\n[New](../docs/new.md)\n[Again](../docs/new.md)\n")
        self.assertEqual(self.found(), ["book/SUMMARY.md: docs/new.md stands there twice"])

    def test_long_prose_is_found_and_long_tables_are_not(self) -> None:
        self.write("README.md", f"| {'x ' * 80}|\n\n{'word ' * 20}end\n")
        self.assertEqual(self.found(), ["README.md:3: 103 characters; wrap prose at 100"])


if __name__ == "__main__":
    unittest.main()
