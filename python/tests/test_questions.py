"""Signatures that are spelled out, arrays of questions, and what notebooks show."""

from __future__ import annotations

import inspect

import numpy
import pytest
import shuffledp
from shuffledp import _html, _native, _questions

QUESTION = dict(clients=5000, local_epsilon=1.0)
ROUND = [name for name, *_ in _native._parameters() if name not in ("rounds", "adjacency", "standing", "max_order")]


@pytest.mark.parametrize("name", ["epsilon", "delta", "explain", "calibrate"])
def test_signatures_are_those_of_the_tables(name):
    table = [row[0] for row in _native._parameters()]
    signature = inspect.signature(getattr(shuffledp, name))
    parameters = [parameter for parameter in signature.parameters if parameter in table]
    assert parameters == table
    assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in signature.parameters.values())
    # Everything may be left out but what a question cannot do without.
    required = {p for p in parameters if signature.parameters[p].default is inspect.Parameter.empty}
    assert required == (set() if name == "calibrate" else {"clients"})
    for row in _native._parameters():
        assert f"{row[0]}: {row[2]}" in inspect.getdoc(getattr(shuffledp, name))


@pytest.mark.parametrize("name, more", [("compose", ["count"]), ("would_exceed", ["epsilon", "delta", "count"]), ("rounds_left", ["epsilon", "delta"])])
def test_the_accountant_says_what_a_round_takes(name, more):
    signature = inspect.signature(getattr(shuffledp.Accountant, name))
    assert set(signature.parameters) - {"self"} == {*ROUND, *more}


def test_another_name_is_refused_with_the_one_that_is_meant():
    for call, words in [
        (lambda: shuffledp.epsilon(n=10, local_epsilon=1, delta=1e-6), r"epsilon\(\) got an unexpected keyword argument 'n'; did you mean clients\?"),
        (lambda: shuffledp.explain(clients=10, eps0=1, delta=1e-6), "explain.*did you mean local_epsilon"),
        (lambda: shuffledp.calibrate(solve="rounds", target_epsilon=1, delta=1e-6, noise=1), "calibrate.*did you mean sigma"),
        (lambda: shuffledp.delta(clients=10, local_epsilon=1, epsilon=1, colour=3), "unexpected keyword argument 'colour'$"),
        (lambda: shuffledp.epsilon(10), "positional"),
        (lambda: shuffledp.epsilon(local_epsilon=1, delta=1e-6), "clients"),
    ]:
        with pytest.raises(TypeError, match=words):
            call()


def test_arrays_are_broadcast():
    rounds, deltas = [1, 5, 20], [1e-6, 1e-8]
    found = shuffledp.epsilon(rounds=numpy.array(rounds)[:, None], delta=deltas, **QUESTION)
    assert found.shape == (3, 2) and found.dtype == numpy.float64
    assert found.tolist() == [[shuffledp.epsilon(rounds=t, delta=d, **QUESTION) for d in deltas] for t in rounds]
    assert shuffledp.epsilon(rounds=range(1, 3), delta=1e-6, **QUESTION).shape == (2,)
    assert shuffledp.delta(epsilon=numpy.linspace(0.05, 0.1, 3), **QUESTION).shape == (3,)
    assert shuffledp.epsilon(rounds=[], delta=1e-6, **QUESTION).shape == (0,)
    alone = shuffledp.epsilon(rounds=numpy.int64(5), delta=numpy.float64(1e-6), **QUESTION)
    assert type(alone) is float and alone == found[1, 0]
    # A profile is a list of its own, and not one of questions.
    profile = numpy.array([(0, 0.3), (0.5, 0.1), (1, 0.02), (2, 0)])
    two = shuffledp.epsilon(clients=[1000, 10_000], randomizer="profile", profile=profile, delta=1e-6)
    assert two.shape == (2,) and two[0] > two[1]
    with pytest.raises(shuffledp.ParameterError, match="rounds must be"):
        shuffledp.epsilon(rounds=[1, 0], delta=1e-6, **QUESTION)
    with pytest.raises(ValueError, match="broadcast"):
        shuffledp.epsilon(rounds=[1, 2, 3], delta=[1e-6, 1e-7], **QUESTION)
    with pytest.raises(TypeError, match="must be"):
        shuffledp.explain(rounds=[1, 2], delta=1e-6, **QUESTION)


def test_a_warning_points_to_who_asked():
    with pytest.warns(shuffledp.PrivacyWarning) as caught:
        shuffledp.epsilon(clients=100, local_epsilon=2, delta=0.5)
    assert {warning.filename for warning in caught} == {__file__}


def test_a_notebook_shows_both_sides_rounded_to_the_safe_side():
    answer = shuffledp.explain(delta=1e-6, **QUESTION)
    shown = answer._repr_html_()
    assert f"ε ≤ {_html.rounded(answer.value, 'upper')}" in shown and f"ε ≥ {_html.rounded(answer.lower, 'lower')}" in shown
    assert "at δ = 1e-06" in shown and "rigorous" in shown and "Warnings" not in shown
    assert all(assumption.replace("'", "&#x27;") in shown for assumption in answer.assumptions)
    warned = shuffledp.explain(clients=100, local_epsilon=2, delta=0.5)
    assert "Warnings" in warned._repr_html_()
    for value in (0.123456789, 120.0, 3.0, 1e-9, 123456.7, 2.5e7, 73048.0):
        upper, lower = float(_html.rounded(value, "upper")), float(_html.rounded(value, "lower"))
        assert lower <= value <= upper and upper - lower <= 2e-4 * value
    assert _html.rounded(120.0, "upper") == "120"


def test_a_table_of_bounds_has_the_best_at_the_top():
    found = shuffledp.bounds(delta=1e-6, **QUESTION)
    shown = found._repr_html_()
    rigorous = sorted((b.value, b.id) for b in found if (b.kind, b.standing) == ("upper", "rigorous"))
    places = [shown.index(f"<code>{identifier}</code>") for _, identifier in rigorous]
    assert places == sorted(places) and shown.index("≥") > shown.rindex("≤ ")
    assert all(bound.note.split("<")[0][:20] in shown.replace("&#x27;", "'") for bound in found)


def test_incremental_answers_are_upper_bounds_hardly_larger():
    accountant = shuffledp.Accountant()
    for i in range(24):
        accountant.compose(clients=60_000, sampled=500 + i, randomizer="ldp-sgd", local_epsilon=1.0)
        incremental = accountant.epsilon(1e-6, incremental=True)
        if i % 8 == 7:
            exact = accountant.epsilon(1e-6)
            assert exact * (1 - 1e-4) <= incremental <= exact * 1.001
    assert accountant.epsilon(1e-6, incremental=True) == incremental
    few = shuffledp.Accountant().compose(**QUESTION)
    assert few.epsilon(1e-6, incremental=True) == few.epsilon(1e-6)
    with pytest.raises(shuffledp.ParameterError):
        accountant.epsilon(2.0, incremental=True)


def test_there_is_one_place_for_questions():
    assert shuffledp.epsilon is _questions.epsilon and shuffledp.explain is _questions.explain
