"""Lists the components of a build: a bill of materials (CycloneDX) and the licences' texts.

Both follow from `cargo metadata` for one target and from Cargo.lock. A crate that only helps to build
(a build script's, a macro's) is listed in the bill with scope "excluded" and has no notice: nothing of
it is in the program.
"""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import tomllib
import uuid
from functools import cached_property
from pathlib import Path

LICENCE_FILE = re.compile(r"^(licen[cs]e|copying|copyright|unlicense|notice)", re.IGNORECASE)
# Linked although no crate of Cargo.lock says so.
ALSO_LINKED = {
    "the Rust standard library": "MIT OR Apache-2.0, copyright The Rust Project contributors; https://www.rust-lang.org",
}
IN_STATIC_BUILDS = {
    "musl, the C library": "MIT, copyright Rich Felker and others; https://musl.libc.org",
}


class Materials:
    """The packages of one program for one target."""

    def __init__(self, root: Path, cargo: str, program: str, target: str) -> None:
        def ask(*words: str) -> str:
            return subprocess.run([cargo, *words], check=True, cwd=root, stdout=subprocess.PIPE, text=True).stdout

        metadata = json.loads(ask("metadata", "--locked", "--format-version", "1", "--filter-platform", target))
        # The metadata are of the whole workspace; this is what the program's own features ask for.
        tree = ask("tree", "--locked", "-p", program, "--target", target, "-e", "normal,build", "--prefix", "none")
        used = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
        packages = [it for it in metadata["packages"] if (it["name"], f"v{it['version']}") in used]
        self.packages = {package["id"]: package for package in packages}
        self.nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
        self.program = next(id for id, package in self.packages.items() if package["name"] == program)
        self.target = target
        lock = tomllib.loads((root / "Cargo.lock").read_text())
        self.sums = {(it["name"], it["version"]): it.get("checksum") for it in lock["package"]}

    def _reach(self, start: set[str], kinds: set[str | None], through_macros: bool) -> set[str]:
        """All packages that one gets to from `start` by dependencies of these kinds."""
        found, next_ones = set(), list(start)
        while next_ones:
            id = next_ones.pop()
            if id in found or id not in self.packages or (not through_macros and self._is_macro(id)):
                continue
            found.add(id)
            for dependency in self.nodes[id]["deps"]:
                if any(kind["kind"] in kinds for kind in dependency["dep_kinds"]):
                    next_ones.append(dependency["pkg"])
        return found

    def _is_macro(self, id: str) -> bool:
        return any("proc-macro" in target["kind"] for target in self.packages[id]["targets"])

    @cached_property
    def linked(self) -> list[dict]:
        """Packages of which something may be in the program, sorted; the program's own among them."""
        return self._sorted(self._reach({self.program}, {None}, through_macros=False))

    @cached_property
    def helpers(self) -> list[dict]:
        """Packages that only help to build."""
        everything = self._reach({self.program}, {None, "build"}, through_macros=True)
        return self._sorted(everything - {package["id"] for package in self.linked})

    def _sorted(self, ids: set[str]) -> list[dict]:
        return sorted((self.packages[id] for id in ids), key=lambda it: (it["name"], it["version"]))

    @staticmethod
    def is_ours(package: dict) -> bool:
        """Whether a package is one of this workspace."""
        return package["source"] is None

    def cyclonedx(self, time: int) -> str:
        """The bill of materials as CycloneDX 1.5, in JSON."""
        program = self.packages[self.program]
        listed = [(package, "required") for package in self.linked if package["id"] != self.program]
        listed += [(package, "excluded") for package in self.helpers]
        references = {package["id"]: reference(package) for package, _ in listed} | {self.program: reference(program)}
        components = [self._component(package, scope) for package, scope in listed]
        components += [bundled(package) for package, scope in listed if package["name"] == "libsqlite3-sys"]
        graph = []
        for id, name in sorted(references.items(), key=lambda it: it[1]):
            kinds = {None, "build"}
            below = [it for it in self.nodes[id]["deps"] if any(kind["kind"] in kinds for kind in it["dep_kinds"])]
            graph.append({"ref": name, "dependsOn": sorted(references[it["pkg"]] for it in below if it["pkg"] in references)})
        identity = f"{reference(program)} {self.target} {sorted(references.values())}"
        bill = {
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, identity)}",
            "version": 1,
            "metadata": {
                "timestamp": datetime.datetime.fromtimestamp(time, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "component": self._component(program, None) | {"type": "application"},
                "properties": [{"name": "cargo:target", "value": self.target}],
            },
            "components": components,
            "dependencies": graph,
        }
        return json.dumps(bill, indent=1, ensure_ascii=False) + "\n"

    def _component(self, package: dict, scope: str | None) -> dict:
        name, version = package["name"], package["version"]
        component = {"type": "library", "bom-ref": reference(package), "name": name, "version": version}
        if scope:
            component["scope"] = scope
        if package["description"]:
            component["description"] = " ".join(package["description"].split())
        checksum = self.sums.get((name, version))
        if checksum:
            component["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        if package["license"]:
            component["licenses"] = [{"expression": expression(package)}]
        if not self.is_ours(package):
            component["purl"] = f"pkg:cargo/{name}@{version}"
        return component

    def notices(self) -> str:
        """Every crate in the program with its licence, then each text once."""
        others = [package for package in self.linked if not self.is_ours(package)]
        texts: dict[str, list[str]] = {}
        lines = []
        for package in others:
            name = f"{package['name']} {package['version']}"
            found = licence_texts(Path(package["manifest_path"]).parent)
            authors = ", ".join(re.sub(r" *<.*?>", "", author) for author in package["authors"]) or "its authors"
            remark = "" if found else f"; by {authors}; its package has no text of it: {package['repository']}"
            lines.append(f"- {name}: {expression(package)}{remark}")
            for text in found:
                texts.setdefault(text, []).append(name)
        also = ALSO_LINKED | (IN_STATIC_BUILDS if self.target.endswith("musl") else {})
        lines += [f"- {name}: {licence}" for name, licence in also.items()]
        parts = [
            "# Licences of others\n",
            f"The program for {self.target} contains code of these packages. Their texts follow, each once.\n",
            "\n".join(lines) + "\n",
        ]
        for text, names in sorted(texts.items(), key=lambda it: (-len(it[1]), it[1])):
            parts.append(f"## {', '.join(names)}\n\n```text\n{text}\n```\n")
        return "\n".join(parts)


def expression(package: dict) -> str:
    """The licence as an SPDX expression; old manifests write `/` for OR."""
    return re.sub(r" */ *", " OR ", package["license"] or "NOASSERTION")


def reference(package: dict) -> str:
    """A name of a package that occurs once in a bill."""
    return f"{package['name']}@{package['version']}"


def bundled(package: dict) -> dict:
    """SQLite's C source, which its Rust package carries and compiles."""
    header = (Path(package["manifest_path"]).parent / "sqlite3/sqlite3.h").read_text()
    version = re.search(r'^#define SQLITE_VERSION\s+"(.*)"', header, re.MULTILINE).group(1)
    return {
        "type": "library",
        "bom-ref": f"sqlite@{version}",
        "name": "sqlite",
        "version": version,
        "scope": "required",
        "description": "compiled from the source in libsqlite3-sys",
        "licenses": [{"license": {"name": "Public domain (SQLite)", "url": "https://www.sqlite.org/copyright.html"}}],
        "cpe": f"cpe:2.3:a:sqlite:sqlite:{version}:*:*:*:*:*:*:*",
    }


def licence_texts(folder: Path) -> list[str]:
    """The texts in a package's folder whose names begin as licences' do, and those in a folder of licences."""
    files = []
    for path in sorted(folder.iterdir()):
        if LICENCE_FILE.match(path.name) and path.suffix not in {".rs", ".html"}:
            files += sorted(path.iterdir()) if path.is_dir() else [path]
    texts = [path.read_text(errors="replace") for path in files if path.is_file()]
    # Line ends and indentation differ between copies of one text.
    return ["\n".join(line.rstrip() for line in text.strip("\ufeff\n").splitlines()) for text in texts]
