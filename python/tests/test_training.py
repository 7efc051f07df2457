"""Training from Python is the command line's, to the last bit."""

from __future__ import annotations

import json
import subprocess

import numpy
import pytest
import shuffledp
from conftest import program

CONFIG = """
name = "small"
seed = 3
rounds = 6
delta = 1e-5
evaluate_every = 2

[data]
kind = "digits"
train = 600
test = 100

[model]
kind = "linear"

[algorithm]
kind = "cldp-sgd"
sampled = 200
clip = 0.01
randomizer = { name = "r-inf", local_epsilon = 2.0 }

[step.schedule]
kind = "constant"
rate = 0.5
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(CONFIG)
    return path


def test_the_same_run_as_the_command_lines(config, tmp_path):
    line = [program(), "train", "--config", str(config), "-o", str(tmp_path / "theirs"), "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    theirs = [json.loads(text) for text in done.stdout.splitlines()]
    result = shuffledp.train(config, output=tmp_path / "ours")
    assert len(theirs) == len(result.metrics) == 3
    for one, other in zip(result.metrics, theirs):
        known = {name: value for name, value in one.items() if value is not None}
        known.pop("seconds"), other.pop("seconds")
        assert known == other
    for name in ("ledger.json", "weights.safetensors"):
        assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes()
    # The file ends with the weights, float32, in an order of its own.
    kept = (tmp_path / "theirs" / "weights.safetensors").read_bytes()[-result.weights.nbytes :]
    assert sorted(numpy.frombuffer(kept, numpy.float32)) == sorted(result.weights)
    assert result.accountant == shuffledp.Accountant.load(tmp_path / "theirs" / "ledger.json")
    assert result.epsilon[-1] == result.accountant.epsilon(1e-5)


def test_what_a_run_returns(config):
    rounds, evaluations = [], []
    result = shuffledp.train(config, rounds=5, on_round=rounds.append, on_evaluation=evaluations.append)
    assert rounds == [1, 2, 3, 4, 5]
    assert result.round.tolist() == [2, 4, 5] and [line["round"] for line in evaluations] == [2, 4, 5]
    for name in ("test_accuracy", "train_loss", "epsilon", "epsilon_lower", "participants", "seconds"):
        column = getattr(result, name)
        assert isinstance(column, numpy.ndarray) and column.shape == (3,)
    assert (numpy.diff(result.epsilon) > 0).all() and (result.epsilon_lower <= result.epsilon).all()
    assert (result.participants == 200).all() and result.clients == 600 and not result.stopped_by_budget
    assert result.to_frame().index.tolist() == [2, 4, 5]
    assert "5 rounds" in repr(result) and result.config["seed"] == 3
    again = shuffledp.train(config, rounds=5)
    assert (again.weights == result.weights).all()
    other = shuffledp.train(config, rounds=5, seed=4)
    assert (other.weights != result.weights).any()


def test_a_dictionary_is_a_configuration(config):
    by_file = shuffledp.train(config)
    by_dict = shuffledp.train(by_file.config)
    assert (by_dict.weights == by_file.weights).all() and by_dict.config == by_file.config


def test_a_budget_ends_a_run(config):
    whole = shuffledp.train(config)
    budget = float(whole.epsilon[1] + whole.epsilon[2]) / 2
    result = shuffledp.train(config, target_epsilon=budget)
    assert result.stopped_by_budget and 4 <= result.round[-1] < 6 and result.epsilon[-1] <= budget


def test_a_bar_shows_how_far_it_is(config, capsys):
    shuffledp.train(config, progress=True)
    shown = capsys.readouterr().err
    assert "6/6 rounds" in shown and "ε ≤" in shown and shown.endswith("\n")
    shuffledp.train(config, progress=False)
    assert capsys.readouterr().err == ""


def test_what_a_callback_raises_ends_the_run(config):
    def stop(round_):
        if round_ == 2:
            raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        shuffledp.train(config, on_round=stop)


def test_what_cannot_be_trained_is_refused(config, tmp_path):
    with pytest.raises(shuffledp.ParameterError, match="preset must be one of quick, "):
        shuffledp.train("quik")
    with pytest.raises(FileNotFoundError, match="nowhere.toml"):
        shuffledp.train(tmp_path / "nowhere.toml")
    with pytest.raises(shuffledp.TrainingError, match="small.toml: TOML parse error"):
        config.write_text(CONFIG.replace("rate = 0.5", 'rate = "fast"'))
        shuffledp.train(config)
    config.write_text(CONFIG)
    with pytest.raises(shuffledp.ParameterError, match="rounds must be at least 1, but is 0"):
        shuffledp.train(config, rounds=0)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    with pytest.raises(shuffledp.TrainingError, match="is not empty"):
        shuffledp.train(config, output=tmp_path / "full")
    with pytest.raises(shuffledp.TrainingError, match="configuration: missing field"):
        shuffledp.train({"name": "nothing"})
    assert "scattering-gaussian-1" in shuffledp.presets()
