#!/usr/bin/env python3
"""Writes the reference of the Python package as Markdown, from its sources.

    python3 tools/python_api.py > python-api.md

Signatures come from the Python files and the stubs, so nothing has to be built or imported. The
words of the native half are the doc comments of python/src.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from pathlib import Path
from typing import Iterator

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "shuffledp"
NATIVE = ROOT / "python" / "src"

# What a documented Rust item begins with, after its attributes.
ITEM = re.compile(r"^\s*(?:pub(?:\([a-z]+\))? )?(?:const )?(fn|struct|enum) (?:r#)?(\w+)")
IMPL = re.compile(r"^impl(?:<[^>]*>)? (\w+)(?:<[^>]*>)? \{")
RENAMED = re.compile(r'name = "(\w+)"')


def rust_docs() -> dict[tuple[str, str], str]:
    """Doc comments of the native half, by class ("" for functions) and name."""
    found: dict[tuple[str, str], str] = {}
    for path in sorted(NATIVE.rglob("*.rs")):
        comment: list[str] = []
        attributes = ""
        owner = ""
        renamed: dict[str, str] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            stripped = line.strip()
            if stripped.startswith("///"):
                comment.append(stripped[3:].removeprefix(" "))
            elif stripped.startswith("#["):
                attributes += stripped
            elif impl := IMPL.match(line):
                owner = renamed.get(impl.group(1), impl.group(1))
                comment, attributes = [], ""
            elif item := ITEM.match(line):
                kind, name = item.groups()
                shown = RENAMED.search(attributes)
                public = shown.group(1) if shown else name
                if kind == "fn":
                    key = (owner if line.startswith(" ") else "", public)
                else:
                    renamed[name] = public
                    key = ("", public)
                if comment:
                    found.setdefault(key, "\n".join(comment))
                comment, attributes = [], ""
            elif line.startswith("}"):
                owner = ""
            elif stripped and not stripped.startswith("//") and not attributes.count("[") > attributes.count("]"):
                comment, attributes = [], ""
    return found


def indented(text: str) -> str:
    """A docstring as Markdown: examples become code, ``x`` becomes `x`."""
    lines = textwrap.dedent(text.expandtabs()).strip().replace("``", "`").splitlines()
    result: list[str] = []
    example = False
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if not example and line and not line.startswith(" ") and re.match(r" {4}\S", following) and line[0] == "`":
            # A term and its description, as docstrings write them.
            line = f"- {line}:"
        begins = line.lstrip().startswith(">>>")
        if begins and not example:
            result += ["```python"]
            example = True
        elif example and not line.strip():
            result += ["```"]
            example = False
        result.append(line)
    if example:
        result.append("```")
    return "\n".join(result)


def docstring(node: ast.AST) -> str:
    """The docstring of a class, a function or a module."""
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.Module)):
        return ast.get_docstring(node) or ""
    return ""


def signature(node: ast.FunctionDef, owner: str) -> str:
    """How a function is called."""
    arguments = ast.unparse(node.args)
    if owner:
        arguments = re.sub(r"^(self|cls)(: [^,]*)?(, |$)", "", arguments)
    returned = f" -> {ast.unparse(node.returns)}" if node.returns and node.name not in ("__init__", "__new__") else ""
    name = owner if node.name in ("__init__", "__new__") else f"{owner}.{node.name}" if owner else node.name
    return f"{name}({arguments}){returned}"


def decorated(node: ast.FunctionDef, name: str) -> bool:
    return any(ast.unparse(decorator).split(".")[-1] == name for decorator in node.decorator_list)


def members(node: ast.ClassDef, docs: dict[tuple[str, str], str]) -> Iterator[str]:
    """The constructor, attributes and methods of a class, in the order of the source."""
    attributes = []
    methods = []
    for child in node.body:
        if isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
            attributes.append((child.target.id, ast.unparse(child.annotation), ""))
        if not isinstance(child, ast.FunctionDef):
            continue
        words = docstring(child) or docs.get((node.name, child.name), "")
        if decorated(child, "property"):
            attributes.append((child.name, ast.unparse(child.returns) if child.returns else "", words))
        elif child.name in ("__init__", "__new__") or not child.name.startswith("_"):
            methods.append((signature(child, node.name), words, child.name))
    for call, _, name in methods:
        if name in ("__init__", "__new__"):
            yield f"```python\n{call}\n```\n"
    attributes = [row for row in attributes if not row[0].startswith("_")]
    if attributes:
        yield "| attribute | type | |\n|---|---|---|"
        for name, kind, words in attributes:
            cells = [f"`{name}`", f"`{kind}`" if kind else "", first_sentence(words)]
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
        yield ""
    for call, words, name in methods:
        if name not in ("__init__", "__new__"):
            yield f"```python\n{call}\n```\n\n{indented(words)}\n"


def first_sentence(words: str) -> str:
    return " ".join(indented(words).split("\n\n")[0].split())


def public_names(tree: ast.Module) -> list[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def module(name: str, paths: list[Path], docs: dict[tuple[str, str], str]) -> Iterator[str]:
    """One importable module: what its __all__ names, wherever it is defined."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    defined: dict[str, ast.ClassDef | ast.FunctionDef] = {}
    for tree in trees:
        for node in tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not decorated_overload(node):
                defined.setdefault(node.name, node)
    yield f"## {name}\n\n{indented(docstring(trees[0]))}\n"
    for public in public_names(trees[0]):
        node = defined.get(public)
        if node is None:
            continue
        words = docstring(node) or docs.get(("", public), "")
        yield f"### {name}.{public}\n"
        if isinstance(node, ast.FunctionDef):
            yield f"```python\n{signature(node, '')}\n```\n\n{indented(words)}\n"
        else:
            bases = ", ".join(ast.unparse(base) for base in node.bases)
            yield f"{indented(words)}\n" if words else (f"A `{bases}`.\n" if bases else "")
            yield from members(node, docs)


def decorated_overload(node: ast.ClassDef | ast.FunctionDef) -> bool:
    return isinstance(node, ast.FunctionDef) and decorated(node, "overload")


def page() -> str:
    """The whole reference."""
    docs = rust_docs()
    private = sorted(PACKAGE.glob("_*.py")) + sorted(PACKAGE.glob("_*.pyi"))
    private.remove(PACKAGE / "__init__.py")
    lines = [
        "# Python reference\n",
        "Generated from the sources. [The guide to the package](python.md) comes first; parameters of",
        "questions mean what the flags of the [command line](command-line.md) mean.\n",
    ]
    lines += module("shuffledp", [PACKAGE / "__init__.py", *private], docs)
    for path in sorted(PACKAGE.glob("[a-z]*.py")):
        lines += module(f"shuffledp.{path.stem}", [path, *private], docs)
    for path in sorted(PACKAGE.glob("[a-z]*/__init__.py")):
        parts = sorted(part for part in path.parent.glob("*.py") if part != path)
        lines += module(f"shuffledp.{path.parent.name}", [path, *parts, *private], docs)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
