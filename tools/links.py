#!/usr/bin/env python3
"""Checks the Markdown of this repository: links, anchors, the book's table of contents, line length.

    python3 tools/links.py            every Markdown file of the repository
    python3 tools/links.py FOLDER     every Markdown file below FOLDER (for tests)

A relative link must name a file or folder that exists, spelled in the right case, and an anchor must
be a heading of that page. Links to the web are not followed. Every page below docs/ must be in
book/SUMMARY.md, so that no page is lost. Prose lines of the pages in WRAPPED have at most 100
characters. Needs nothing but Python.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import Iterator, NamedTuple
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
SUMMARY = Path("book/SUMMARY.md")
# Written by `make book`, not committed (tools/python_api.py).
GENERATED = {Path("docs/python-api.md")}
# Build output and downloads.
SKIPPED = {"target", "node_modules", "dist", "wheels"}
# Pages whose prose is wrapped. The gallery is written by `make reproduce`.
WRAPPED = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "book"]
UNWRAPPED = ["docs/gallery", "docs/python.md"]
COLUMNS = 100

FENCE = re.compile(r"^( *)(```+|~~~+).*?(?:^ *\2[`~]* *$|\Z)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# [text](target) and ![text](target "title"); text may hold one level of brackets.
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$", re.MULTILINE)


class Link(NamedTuple):
    """A link of a page: the line that it stands in, and where it points."""

    line: int
    target: str


def blank(match: re.Match[str]) -> str:
    """The same lines without their text, so that line numbers stay."""
    return re.sub(r"[^\n]", " ", match.group(0))


def links(text: str) -> Iterator[Link]:
    """The links of a page, without those in code and comments."""
    for pattern in (FENCE, COMMENT, CODE):
        text = pattern.sub(blank, text)
    for match in LINK.finditer(text):
        yield Link(text.count("\n", 0, match.start()) + 1, match.group(1))


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and mdBook make it."""
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")


@lru_cache(maxsize=None)
def anchors(page: Path) -> frozenset[str]:
    """All anchors of a page. A repeated heading gets -1, -2, and so on."""
    found: set[str] = set()
    seen: dict[str, int] = {}
    for heading in HEADING.findall(FENCE.sub(blank, page.read_text(encoding="utf-8"))):
        name = slug(heading)
        count = seen.get(name, 0)
        seen[name] = count + 1
        found.add(f"{name}-{count}" if count else name)
    return frozenset(found)


def exists(path: Path) -> bool:
    """Whether the path exists in exactly this spelling, also where file names ignore case."""
    return path.exists() and all(part.name in {entry.name for entry in part.parent.iterdir()} for part in chain(path))


def chain(path: Path) -> list[Path]:
    """The path and its parents, without the root of the file system."""
    return [part for part in [path, *path.parents] if part.name]


def is_local(target: str) -> bool:
    """Whether a link points into the repository."""
    return not re.match(r"[a-z][a-z0-9+.-]*:|//", target)


def pages(root: Path) -> list[Path]:
    """Every Markdown file, without hidden folders, build output and downloads."""

    def below(folder: Path) -> Iterator[Path]:
        for entry in sorted(folder.iterdir()):
            if entry.is_dir():
                if not entry.name.startswith(".") and entry.name not in SKIPPED and not entry.is_symlink():
                    yield from below(entry)
            elif entry.suffix == ".md":
                yield entry

    return list(below(root))


def broken(root: Path, page: Path) -> Iterator[str]:
    """Returns the broken links of a page."""
    for link in links(page.read_text(encoding="utf-8")):
        if not is_local(link.target):
            continue
        name, _, anchor = unquote(link.target).partition("#")
        where = f"{page.relative_to(root)}:{link.line}: {link.target}"
        place = (page.parent / name).resolve() if name else page
        if name.startswith("/") or not place.is_relative_to(root):
            yield f"{where}: the link leaves the repository"
        elif place.relative_to(root) in GENERATED:
            continue
        elif not exists(place):
            yield f"{where}: there is no such file"
        elif anchor and (place.suffix != ".md" or anchor not in anchors(place)):
            yield f"{where}: the page has no heading #{anchor}"


def chapters(root: Path) -> list[Path]:
    """The pages of the book in their order, relative to the root."""
    summary = root / SUMMARY
    targets = [link.target for link in links(summary.read_text(encoding="utf-8"))]
    return [(summary.parent / target).resolve().relative_to(root) for target in targets]


def contents(root: Path) -> Iterator[str]:
    """Pages of docs/ that the book leaves out, and chapters that stand there twice."""
    listed = chapters(root)
    for chapter in sorted({chapter for chapter in listed if listed.count(chapter) > 1}):
        yield f"{SUMMARY}: {chapter} stands there twice"
    for page in sorted((root / "docs").rglob("*.md")):
        if page.relative_to(root) not in listed:
            yield f"{SUMMARY}: {page.relative_to(root)} is missing"


def long_lines(root: Path, page: Path) -> Iterator[str]:
    """Prose lines that are too long. Tables, code, headings, comments and single long words may be."""
    name = page.relative_to(root).as_posix()
    inside = [any(name == place or name.startswith(place + "/") for place in places) for places in (WRAPPED, UNWRAPPED)]
    if inside != [True, False]:
        return
    text = COMMENT.sub(blank, FENCE.sub(blank, page.read_text(encoding="utf-8")))
    for number, line in enumerate(text.splitlines(), 1):
        code = line.startswith("    ") and not line.lstrip().startswith(("-", "*"))
        if len(line) > COLUMNS and not line.lstrip().startswith(("|", "#", "![")) and not code and " " in line.strip():
            yield f"{name}:{number}: {len(line)} characters; wrap prose at {COLUMNS}"


def check(root: Path) -> list[str]:
    """Everything that is wrong, a line each."""
    found: list[str] = []
    for page in pages(root):
        found += broken(root, page)
        found += long_lines(root, page)
    if (root / SUMMARY).exists():
        found += contents(root)
    return found


def main() -> int:
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    found = check(root)
    print("\n".join(found) if found else f"{len(pages(root))} Markdown files: links, anchors and lines are right")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
