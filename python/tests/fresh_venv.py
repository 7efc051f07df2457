"""Run by `make test` in a venv that holds nothing but `pip install ./python`: importing needs numpy alone, and the README's lines give the headline
number."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def refusal(call) -> str:
    try:
        call()
    except ImportError as missing:
        return str(missing)
    raise AssertionError("should have needed something that is not there")


def main() -> None:
    for absent in ("pandas", "matplotlib", "dp_accounting", "scipy", "attr"):
        assert importlib.util.find_spec(absent) is None, f"{absent} is installed: this venv is not fresh"
    import shuffledp
    import shuffledp.plotting

    bounds = shuffledp.bounds(clients=100, local_epsilon=1, delta=1e-3)
    assert len(bounds) > 5
    assert refusal(bounds.to_frame) == "a frame needs pandas: pip install pandas"
    drawn = refusal(lambda: shuffledp.plotting.plot_rdp([2, 3], clients=100, local_epsilon=1))
    assert drawn == "a picture needs matplotlib: pip install matplotlib"
    assert "dp-accounting" in refusal(lambda: importlib.import_module("shuffledp.dp_accounting"))

    block = re.search(r"```python\n(import shuffledp\n.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert block and len(block.group(1).splitlines()) == 3
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(block.group(1), {})
    headline = re.search(r"# ([0-9.]+)\n$", block.group(1))
    assert headline and out.getvalue() == headline.group(1) + "\n", out.getvalue()
    print(f"fresh venv: ε = {out.getvalue().strip()}")


if __name__ == "__main__":
    main()
