"""Every example that is shown runs, and shows what it says."""

from __future__ import annotations

import doctest
import importlib
import re
import runpy

import pytest
import shuffledp
from conftest import ROOT

MODULES = [
    "_bounds",
    "_curves",
    "_html",
    "_native",
    "_questions",
    "_training",
    "datasets",
    "dp_accounting",
    "plotting",
    "randomizers",
]


@pytest.mark.parametrize("name", ["shuffledp", *(f"shuffledp.{module}" for module in MODULES)])
def test_docstrings(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0 and result.failed == 0


def test_everything_public_is_documented():
    for module in (shuffledp, shuffledp.randomizers):
        for name in module.__all__:
            if name != "__version__":
                assert getattr(module, name).__doc__, name


GUIDES = [f"docs/guides/{name}.md" for name in ["budget", "coming-from", "telemetry"]]


@pytest.mark.parametrize("page", ["README.md", "python/README.md", "docs/python.md", *GUIDES])
def test_pages(page, capsys):
    """Python in a page runs from top to bottom, and a comment after print says what is printed."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert blocks
    scope: dict[str, object] = {}
    expected = []
    for block in blocks:
        exec(compile(block, page, "exec"), scope)
        expected += re.findall(r"^print\(.*\)  # (.*)$", block, flags=re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == expected


def test_the_readme_gives_the_headline_number(command_line):
    headline = command_line("epsilon", clients=1_000_000, sampled=1000, local_epsilon=2, rounds=100_000, delta=1e-8)
    for page in ["README.md", "python/README.md"]:
        assert f"  # {headline['epsilon']!r}\n" in (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "python").glob("*.py")), ids=lambda path: path.name)
def test_examples(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    # An example ends with what it printed when it was written.
    written = re.search(r'^# Prints:\n((?:#.*\n?)+)\Z', path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert written, "the example does not say what it prints"
    assert printed == "".join(f"{line[2:]}\n" for line in written.group(1).splitlines())
