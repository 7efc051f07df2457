"""The same numbers as the command line, to the last digit."""

from __future__ import annotations

import csv
import io
import subprocess

import numpy
import pytest
import shuffledp
from conftest import flags, program

HEADLINE = dict(clients=1_000_000, sampled=1000, local_epsilon=2, rounds=100_000)

QUESTIONS = [
    HEADLINE,
    dict(clients=10_000, local_epsilon=1.5),
    dict(clients=60_000, sampled=2000, randomizer="rr", local_epsilon=2, rounds=6000),
    dict(clients=10_000, randomizer="krr", categories=10, local_epsilon=1, rounds=3),
    dict(clients=50_000, check_in=0.02, drop_out=0.1, local_epsilon=0.5, rounds=40),
    dict(clients=20_000, randomizer="priv-unit", dimension=50, local_epsilon=4, rounds=5),
    dict(clients=3000, randomizer="approximate", local_epsilon=1, local_delta=1e-12, rounds=2),
    dict(clients=5000, sampled=500, randomizer="gaussian", sigma=9.5, rounds=4),
    dict(clients=5, randomizer="ldp-sgd", local_epsilon=0.25, standing="conjectured"),
    dict(clients=7000, randomizer="laplace", local_epsilon=1, rounds=12, max_order=30),
]


def _said(answer: shuffledp.Answer) -> dict[str, object]:
    """Everything, but for the sentences in which the command line names its flags."""
    said = answer.as_dict()
    said["not_applicable"] = [entry["id"] for entry in said["not_applicable"]]
    return said


@pytest.mark.parametrize("question", QUESTIONS)
def test_epsilon_and_every_bound_on_it(question, command_line):
    expected = command_line("epsilon", delta=1e-6, **question)
    expected["not_applicable"] = [entry["id"] for entry in expected["not_applicable"]]
    assert _said(shuffledp.explain(delta=1e-6, **question)) == expected
    assert shuffledp.epsilon(delta=1e-6, **question) == expected["epsilon"]


@pytest.mark.parametrize("question", QUESTIONS[:6])
def test_delta_and_every_bound_on_it(question, command_line):
    expected = command_line("delta", epsilon=0.3, **question)
    expected["not_applicable"] = [entry["id"] for entry in expected["not_applicable"]]
    assert _said(shuffledp.explain(epsilon=0.3, **question)) == expected
    assert shuffledp.delta(epsilon=0.3, **question) == expected["delta"]


def test_renyi_divergences():
    question = dict(clients=60_000, sampled=2000, local_epsilon=2, rounds=6000)
    orders = [2.0, 3.0, 8.0, 32.0]
    sweep = ["--sweep", "order=2..32:5", "--quantity", "rdp", "-o", "-"]
    done = subprocess.run([program(), "plot", *flags(question), *sweep], capture_output=True, text=True, check=True)
    best: dict[float, float] = {}
    for row in csv.DictReader(io.StringIO(done.stdout)):
        if row["kind"] == "upper" and row["standing"] == "rigorous":
            order, value = float(row["order"]), float(row["rdp"])
            best[order] = min(value, best.get(order, numpy.inf))
    orders = sorted(best)
    assert len(orders) >= 3
    assert shuffledp.rdp_curve(orders, **question).divergences.tolist() == [best[order] for order in orders]


@pytest.mark.parametrize(
    "wrong",
    [
        dict(clients=0, local_epsilon=1, delta=1e-6),
        dict(clients=10, sampled=11, local_epsilon=1, delta=1e-6),
        dict(clients=10, local_epsilon=-1, delta=1e-6),
        dict(clients=10, local_epsilon=float("nan"), delta=1e-6),
        dict(clients=10, local_epsilon=1e300, rounds=2**60, delta=1e-6),
        dict(clients=10, check_in=0, local_epsilon=1, delta=1e-6),
        dict(clients=10, check_in=0.5, drop_out=1, local_epsilon=1, delta=1e-6),
        dict(clients=10, randomizer="krr", local_epsilon=1, delta=1e-6),
        dict(clients=10, randomizer="krr", local_epsilon=1, categories=1, delta=1e-6),
        dict(clients=10, randomizer="gaussian", local_epsilon=1, sigma=1, delta=1e-6),
        dict(clients=10, randomizer="gaussian", sigma=0, delta=1e-6),
        dict(clients=10, local_epsilon=1, delta=0),
        dict(clients=10, local_epsilon=1, delta=1e-6, max_order=1),
    ],
)
def test_refusals_have_the_same_words(wrong):
    done = subprocess.run([program(), "epsilon", *flags(wrong)], capture_output=True, text=True)
    assert done.returncode == 2
    said = done.stderr.removeprefix("error: ").split("\n\n")[0]
    with pytest.raises(shuffledp.ParameterError) as refusal:
        shuffledp.epsilon(**wrong)
    # --local-epsilon is local_epsilon here.
    assert str(refusal.value).replace("_", "-") == said.replace("--", "").replace("_", "-")


def test_where_nothing_answers_the_reasons_are_the_same():
    question = dict(clients=100, randomizer="gaussian", sigma=4)
    sweep = ["--sweep", "order=2..3:2", "--quantity", "rdp", "-o", "-"]
    del sweep  # The command line has no single question about Rényi divergences: only the words are compared.
    with pytest.raises(shuffledp.NoAnswerError) as refusal:
        shuffledp.explain(order=2, **question)
    lines = str(refusal.value).splitlines()
    assert lines[0] == "no rigorous upper bound on rdp applies"
    assert any(line.endswith("standing='conjectured' would admit it") for line in lines)
    assert not any("--" in line for line in lines)
