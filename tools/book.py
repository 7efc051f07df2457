#!/usr/bin/env python3
"""Builds the book: gathers its chapters, lets mdBook render them, and checks the links of the result.

    python3 tools/book.py MDBOOK [OUTPUT]      OUTPUT is target/book unless told

The chapters are the pages of the repository that book/SUMMARY.md lists. They are copied, with every
file that they link to, into a folder that mirrors the repository, so a link that works in the
repository works in the book. The reference of the Python package is generated on the way
(tools/python_api.py).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import links
import python_api

ROOT = links.ROOT
BOOK = ROOT / "book"
# Files that a chapter may link to and that the book carries; larger ones stay in the repository.
LARGEST = 1 << 20


def copied(place: Path, source: Path) -> None:
    """Copies one file to its place in the mirror."""
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, place)


def chapter_text(page: Path, chapters: set[Path], mirror: Path) -> str:
    """A page as a chapter: files that it links to come along, and links that end in a folder or in a
    page outside of the book become plain text."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for link in {link.target for link in links.links(text) if links.is_local(link.target)}:
        name = unquote(link).partition("#")[0]
        if not name:
            continue
        target = ((ROOT / page).parent / name).resolve()
        relative = target.relative_to(ROOT)
        if relative in chapters:
            continue
        if target.is_file() and target.suffix != ".md" and target.stat().st_size <= LARGEST:
            copied(mirror / relative, target)
        else:
            text = re.sub(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(" + re.escape(link) + r"\)", r"\1", text)
    return text


def gather(mirror: Path) -> None:
    """Writes the sources of the book."""
    listed = links.chapters(ROOT)
    for page in listed:
        place = mirror / page
        place.parent.mkdir(parents=True, exist_ok=True)
        if page in links.GENERATED:
            place.write_text(python_api.page(), encoding="utf-8")
        else:
            place.write_text(chapter_text(page, set(listed), mirror), encoding="utf-8")
    summary = (ROOT / links.SUMMARY).read_text(encoding="utf-8")
    (mirror / "SUMMARY.md").write_text(summary.replace("](../", "]("), encoding="utf-8")


class Page(HTMLParser):
    """The anchors and the links of a rendered page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id" and value:
                self.anchors.add(value)
            if name in ("href", "src") and value and links.is_local(value):
                self.targets.append(unquote(value))


def broken(html: Path) -> list[str]:
    """Links of the rendered book that lead nowhere."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(html.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        # Served for any address that does not exist, with links from the root.
        if path.name == "404.html":
            continue
        for target in page.targets:
            name, _, anchor = target.partition("#")
            name = name.partition("?")[0]
            place = (path.parent / name).resolve() if name else path
            if not place.exists():
                found.append(f"{path.relative_to(html)}: {target}: there is no such file")
            elif anchor and place in pages and anchor not in pages[place].anchors:
                found.append(f"{path.relative_to(html)}: {target}: no such anchor")
    return found


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print("usage: tools/book.py MDBOOK [OUTPUT]", file=sys.stderr)
        return 2
    output = Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "target" / "book").resolve()
    shutil.rmtree(output, ignore_errors=True)
    gather(output / "src")
    for name in ("book.toml", "book.css"):
        copied(output / name, BOOK / name)
    # RUST_LOG: mdBook tells every step unless told.
    environment = {"RUST_LOG": "warn", **os.environ}
    subprocess.run([sys.argv[1], "build", str(output)], check=True, env=environment)
    found = broken(output / "html")
    print("\n".join(found) if found else f"the book: {output / 'html' / 'index.html'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
