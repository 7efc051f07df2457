"""Pictures."""

from __future__ import annotations

import pytest
import shuffledp
from matplotlib import pyplot
from shuffledp.plotting import plot_delta, plot_epsilon, plot_rdp

ROUND = dict(clients=5000, local_epsilon=1.0)


@pytest.fixture(autouse=True)
def close_pictures():
    yield
    pyplot.close("all")


def test_what_is_drawn_is_what_is_asked():
    axes = plot_epsilon("rounds", [1, 3, 30], delta=1e-6, **ROUND)
    upper, lower, *published = axes.lines
    assert upper.get_xdata().tolist() == [1, 3, 30]
    assert upper.get_ydata().tolist() == [shuffledp.epsilon(delta=1e-6, rounds=t, **ROUND) for t in (1, 3, 30)]
    assert (lower.get_ydata() <= upper.get_ydata()).all()
    shown = [text.get_text() for text in axes.get_legend().get_texts()]
    assert shown[:2] == ["upper bound (rigorous)", "lower bound"]
    # The others by the names that people know, and each as it is in the table.
    answers = [shuffledp.explain(delta=1e-6, rounds=t, **ROUND) for t in (1, 3, 30)]
    others = {bound.id: bound for answer in answers for bound in answer.bounds if bound.kind == "upper" and bound.id not in {a.method for a in answers}}
    names = {bound.name if bound.standing == "rigorous" else f"{bound.name} ({bound.standing})" for bound in others.values()}
    assert len(published) > 3 and set(shown[2:]) <= names and not any(name in others for name in shown)
    alone = plot_epsilon("rounds", [1, 3], delta=1e-6, published=False, **ROUND)
    assert len(alone.lines) == 2


def test_given_axes_are_drawn_on():
    _, axes = pyplot.subplots()
    assert plot_delta([0.0, 0.1], ax=axes, **ROUND) is axes
    assert plot_rdp([2, 3], ax=axes, **ROUND) is axes
    assert plot_epsilon("delta", [1e-6, 1e-4], ax=axes, **ROUND) is axes


def test_what_cannot_be_swept_is_refused():
    with pytest.raises(ValueError, match="'colour' is not an argument that holds a number"):
        plot_epsilon("colour", [1], delta=1e-6, **ROUND)
    with pytest.raises(ValueError, match="clients is swept"):
        plot_epsilon("clients", [1], delta=1e-6, **ROUND)
