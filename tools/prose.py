#!/usr/bin/env python3
"""Checks the house style of comments and pages: how doc comments begin, words to avoid, line length.

    python3 tools/prose.py             what breaks an enforced rule; fails if there is any
    python3 tools/prose.py --all       what breaks any rule, and how often in each part of the repository

A line with the words `prose: allow` is not checked. Needs nothing but Python and git.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Iterator, NamedTuple

# The switch: the rules (of RULES below) that `make lint` and `make test` insist on. The others are only
# counted, by --all.
ENFORCED: set[str] = {"opening", "words", "markdown", "comments"}

# Doc comments say what an item is or does; one that begins so is a riddle.
OPENING = re.compile(r"(What|Whose|Who)\b(?!ever)")
# Words to avoid, and what to write instead.
WORDS = {
    r"in earnest": "in production",
    r"trusts? nobody but": "verifies every message",
    r"what (it|they) (is|are) worth": "its status",
    r"is a last word": "stays closed",
    r"\b(utili[sz]e|leverage)[sd]?\b": "use",
    r"\bin order to\b": "to",
    r"\bblazing(ly)?\b": "give the measured time",
}
MARKDOWN_COLUMNS = 100
COMMENT_COLUMNS = 120
# Pages that programs write.
GENERATED = ("docs/gallery/", "docs/python-api.md", "bench/services/README.md", "bench/accounting/README.md", "bench/training/linear.md")

RULES = {
    "opening": "a doc comment begins with what the item is or does, not with a question",
    "words": "plain words",
    "markdown": f"prose lines of Markdown have at most {MARKDOWN_COLUMNS} characters",
    "comments": f"comment lines have at most {COMMENT_COLUMNS} characters",
}
ALLOW = "prose: allow"


class Finding(NamedTuple):
    """A line that breaks a rule."""

    rule: str
    path: str
    line: int
    problem: str


def words(path: str, number: int, text: str) -> Iterator[Finding]:
    """The words to avoid in a line of prose."""
    for pattern, instead in WORDS.items():
        match = re.search(pattern, text, re.IGNORECASE)
        if match:
            yield Finding("words", path, number, f'"{match.group(0)}": write "{instead}"')


def of_markdown(path: str, text: str) -> Iterator[Finding]:
    """Findings of a page. Code, tables, headings, pictures and lines without a space are not wrapped."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        marker = re.match(r"\s*(```+|~~~+)", line)
        if marker:
            fence = None if fence == marker.group(1) else fence or marker.group(1)
            continue
        if fence or ALLOW in line:
            continue
        yield from words(path, number, re.sub(r"`[^`]*`", "", line))
        is_prose = not re.match(r"\s*(\||#|<|!\[|\[[^\]]*\]:)|    ", line) and " " in line.strip().lstrip("-* ")
        if is_prose and len(line) > MARKDOWN_COLUMNS:
            yield Finding("markdown", path, number, f"{len(line)} characters; wrap at {MARKDOWN_COLUMNS}")


def of_rust(path: str, text: str) -> Iterator[Finding]:
    """Findings of a Rust file's comments."""
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.match(r"\s*(//[/!]?)\s?(.*)", line)
        kind = comment.group(1) if comment else ""
        if comment and ALLOW not in line:
            body = comment.group(2)
            if kind in ("///", "//!") and before != kind and OPENING.match(body):
                yield Finding("opening", path, number, f"begins with {body.split()[0]!r}")
            yield from words(path, number, re.sub(r"`[^`]*`", "", body))
            if len(line) > COMMENT_COLUMNS and not body.startswith(("|", ">>>")):
                yield Finding("comments", path, number, f"{len(line)} characters; wrap at {COMMENT_COLUMNS}")
        before = kind


def of_python(path: str, text: str) -> Iterator[Finding]:
    """Findings of a Python file's documentation."""
    for number, line in enumerate(text.splitlines(), 1):
        if ALLOW in line:
            continue
        opening = re.match(r'\s*r?"""(.*)', line)
        if opening and OPENING.match(opening.group(1)):
            yield Finding("opening", path, number, f"begins with {opening.group(1).split()[0]!r}")


CHECKS = {".md": of_markdown, ".rs": of_rust, ".py": of_python}


def findings(root: Path, names: list[str]) -> list[Finding]:
    """All findings in these files of a folder."""
    found: list[Finding] = []
    for name in names:
        check = CHECKS.get(Path(name).suffix)
        if check and not name.startswith(GENERATED) and (root / name).is_file():
            found += check(name, (root / name).read_text(encoding="utf-8"))
    return found


def part(path: str) -> str:
    """The crate or top folder that a file belongs to."""
    folders = Path(path).parts
    return "/".join(folders[:2]) if folders[0] == "crates" else folders[0]


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    listed = subprocess.run(["git", "ls-files"], cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout
    # This file and its test name what they forbid.
    own = {"tools/prose.py", "tools/test_prose.py"}
    found = findings(root, [name for name in listed.splitlines() if name not in own])
    if sys.argv[1:] == ["--all"]:
        for finding in found:
            print(f"{finding.path}:{finding.line}: {finding.rule}: {finding.problem}")
        for rule, meaning in RULES.items():
            counts = Counter(part(finding.path) for finding in found if finding.rule == rule)
            listing = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
            print(f"{rule} ({meaning}): {sum(counts.values())}{': ' + listing if listing else ''}")
        return 0
    wrong = [finding for finding in found if finding.rule in ENFORCED]
    for finding in wrong:
        print(f"{finding.path}:{finding.line}: {finding.problem}")
    counted = len(found) - len(wrong)
    print(f"prose: {len(wrong)} lines to mend; {counted} break rules that are not enforced (--all lists them)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
