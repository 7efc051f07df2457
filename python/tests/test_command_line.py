"""The same numbers as the command line, to the last digit."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess

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
    dict(clients=20_000, randomizer="top-set", dimension=9760, share=0.125, local_epsilon=2, rounds=5),
    dict(clients=3000, randomizer="approximate", local_epsilon=1, local_delta=1e-12, rounds=2),
    dict(clients=5000, sampled=500, randomizer="gaussian", sigma=9.5, rounds=4),
    dict(clients=5, randomizer="ldp-sgd", local_epsilon=0.25, standing="conjectured"),
    dict(clients=7000, randomizer="laplace", local_epsilon=1, rounds=12, max_order=30),
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_epsilon_and_every_bound_on_it(question, command_line):
    expected = command_line("epsilon", delta=1e-6, **question)
    assert shuffledp.explain(delta=1e-6, **question).as_dict() == expected
    assert shuffledp.epsilon(delta=1e-6, **question) == expected["epsilon"]


@pytest.mark.parametrize("question", QUESTIONS[:6])
def test_delta_and_every_bound_on_it(question, command_line):
    expected = command_line("delta", epsilon=0.3, **question)
    assert shuffledp.explain(epsilon=0.3, **question).as_dict() == expected
    assert shuffledp.delta(epsilon=0.3, **question) == expected["delta"]


def test_renyi_divergences(tmp_path):
    question = dict(clients=60_000, sampled=2000, local_epsilon=2, rounds=6000)
    table = tmp_path / "orders.csv"
    sweep = ["--sweep", "order=2..32:5", "--quantity", "rdp", "-o", str(table)]
    subprocess.run([program(), "plot", *flags(question), *sweep], capture_output=True, check=True)
    rows = list(csv.DictReader(io.StringIO(table.read_text())))
    rigorous = [row for row in rows if (row["kind"], row["standing"]) == ("upper", "rigorous")]
    orders = sorted({float(row["order"]) for row in rows})
    best = [min(float(row["value"]) for row in rigorous if float(row["order"]) == order) for order in orders]
    assert len(orders) >= 3
    assert shuffledp.rdp_curve(orders, **question).divergences.tolist() == best


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


@pytest.mark.parametrize(
    "question",
    [
        dict(solve="rounds", clients=1_000_000, sampled=1000, local_epsilon=2),
        dict(solve="local_epsilon", clients=20_000, randomizer="rr", rounds=3),
        dict(solve="sampled", clients=50_000, local_epsilon=1, rounds=2000),
        dict(solve="check_in", clients=50_000, drop_out=0.1, local_epsilon=1, rounds=2000),
        dict(solve="clients", local_epsilon=1.5, rounds=4),
    ],
)
def test_calibration(question):
    found = shuffledp.calibrate(target_epsilon=0.2, delta=1e-6, **question)
    spelled = {**question, "solve": question["solve"].replace("_", "-")}
    line = [program(), "calibrate", *flags(spelled), "--target-epsilon=0.2", "--delta=1e-6", "--json"]
    expected = json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)
    assert found.solved.replace("_", "-") == expected["solved"]
    for name in ("value", "epsilon", "target_epsilon", "delta", "tolerance", "next_value", "next_epsilon", "method", "standing"):
        assert getattr(found, name) == expected[name], name
    # Fed back, it meets the target, and the next value does not.
    asked = {name: value for name, value in question.items() if name != "solve"}
    assert shuffledp.epsilon(delta=1e-6, **asked, **{found.solved: found.value}) == found.epsilon <= 0.2
    assert shuffledp.epsilon(delta=1e-6, **asked, **{found.solved: found.next_value}) == found.next_epsilon > 0.2


def test_what_cannot_be_calibrated_is_refused():
    goal = dict(target_epsilon=0.2, delta=1e-6, clients=1000)
    for wrong, words in [
        (dict(solve="noise", local_epsilon=1), "'noise' cannot be solved for; use one of local_epsilon, sigma, "),
        (dict(solve="rounds", rounds=3, local_epsilon=1), "rounds is solved for, so it has no value of its own"),
        (dict(solve="sigma"), "sigma does not belong to randomizer any, which takes local_epsilon"),
        (dict(solve="rounds", local_epsilon=1, target_epsilon=0), "target_epsilon must be a finite number above 0"),
    ]:
        with pytest.raises(shuffledp.ParameterError) as refusal:
            shuffledp.calibrate(**{**goal, **wrong})
        assert words in str(refusal.value)
    with pytest.raises(shuffledp.NoAnswerError, match="no rounds meets ε ≤ 1e-5 at δ = 1e-6: the best is ε ≤ .*, at rounds 1"):
        shuffledp.calibrate(solve="rounds", target_epsilon=1e-5, delta=1e-6, clients=1000, local_epsilon=1)


def test_where_nothing_answers_the_reasons_are_said():
    question = dict(clients=100, randomizer="approximate", local_epsilon=1, local_delta=1e-9)
    with pytest.raises(shuffledp.NoAnswerError) as refusal:
        shuffledp.explain(order=2, **question)
    lines = str(refusal.value).splitlines()
    assert lines[0] == "no rigorous upper bound on rdp applies"
    assert "  girgis-theorem-1: the bound is for ε0-LDP randomizers, and this one is not (it has a δ0)" in lines
    # No flags.
    assert not any("--" in line for line in lines)
    question = dict(clients=10, local_epsilon=1)
    assert "name a randomizer for which it is" in shuffledp.explain(delta=1e-3, **question).not_applicable["two-level-pld"]


def test_the_types_know_the_tables():
    """The stubs list exactly the arguments that the native half accepts."""
    import typing

    from shuffledp import _arguments

    names = typing.get_args(_arguments.RandomizerName)
    with pytest.raises(shuffledp.ParameterError) as refusal:
        shuffledp.epsilon(clients=10, randomizer="nothing", delta=1e-6)
    known = str(refusal.value).split("use one of ")[1].split(";")[0]
    assert known.split(", ") == list(names)
    arguments = set(_arguments.QuestionArguments.__annotations__)
    help_page = subprocess.run([program(), "epsilon", "--help"], capture_output=True, text=True, check=True).stdout
    flags_of_a_question = set(re.findall(r"^ +--([a-z-]+) <", help_page, re.MULTILINE)) - {"delta", "report"}
    assert {flag.replace("-", "_") for flag in flags_of_a_question} == arguments


def test_warnings_are_given_and_can_be_read():
    with pytest.warns(shuffledp.PrivacyWarning, match="meaningless"):
        assert shuffledp.epsilon(clients=100, local_epsilon=2, delta=0.5) == 0
    answer = shuffledp.explain(clients=100, local_epsilon=2, delta=0.5)
    assert [warning.split(" ")[0] for warning in answer.warnings] == ["δ", "ε"]
    assert shuffledp.explain(clients=10_000, local_epsilon=1, delta=1e-8).warnings == []


def test_zero_out_is_asked_for_by_name(command_line):
    question = dict(clients=10_000, sampled=100, randomizer="gaussian", sigma=5, rounds=10, adjacency="zero-out")
    answer = shuffledp.explain(delta=1e-6, **question)
    assert answer.adjacency == "zero-out"
    assert answer.as_dict() == command_line("epsilon", delta=1e-6, **question)
    assert answer.value < shuffledp.epsilon(delta=1e-6, **{**question, "adjacency": None})
    with pytest.raises(shuffledp.NoAnswerError, match="zero vector"):
        shuffledp.epsilon(clients=100, randomizer="rr", local_epsilon=1, delta=1e-6, adjacency="zero-out")
