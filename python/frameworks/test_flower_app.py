"""The example app on Flower and Ray, and the histogram on Ray, as their users start them."""

from __future__ import annotations

import json
import re
import shutil
import sys

import offline
from conftest import ROOT


def test_the_app_learns_digits_and_stops_at_its_budget(tmp_path):
    # `flwr run` writes into the app's folder.
    app = shutil.copytree(ROOT / "examples" / "flower", tmp_path / "app")
    output = tmp_path / "output"
    output.mkdir()
    printed = offline.run(
        [
            *("flwr", "run", ".", "local", "--stream"),
            *("--federation-config", "num-supernodes=20"),
            *("--run-config", f"epsilon=0.4 output='{output}'"),
        ],
        home=tmp_path / "home",
        folder=app,
    )
    assert (output / "result.json").exists(), printed[-5000:]
    result = json.loads((output / "result.json").read_text())
    # The budget ends it, not the number of rounds.
    assert 5 < result["rounds"] < 100 and result["epsilon"] <= 0.4
    assert "would exceed epsilon=0.4" in printed
    assert json.loads((output / "ledger.json").read_text())["num_releases"] == result["rounds"]
    # Ten classes: guessing is right once in ten times.
    assert result["accuracies"][0] < 0.2 and max(result["accuracies"]) > 0.5


def test_a_histogram_of_workers_is_one_histogram(tmp_path):
    example = ROOT / "examples" / "ray_histogram.py"
    printed = offline.run(
        [sys.executable, str(example), "--workers", "2", "--reports", "1000001"], home=tmp_path, folder=tmp_path
    )
    assert "1,000,001 reports by 2 workers" in printed
    # The intervals hold for all categories at once, in 99 of 100 runs: at worst a few are missed.
    assert int(re.search(r"(\d+) of 32 intervals hold", printed).group(1)) >= 30
