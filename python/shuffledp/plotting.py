"""Pictures, with matplotlib: every function draws on the axes it is given, or on new ones, and returns them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence

import numpy

from ._curves import rdp_curve
from ._native import Answer
from ._questions import explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike
    from typing_extensions import Unpack

    from ._arguments import QuestionArguments

__all__ = ["plot_delta", "plot_epsilon", "plot_rdp"]

_LABELS = {
    "clients": "clients n",
    "sampled": "clients sampled per round k",
    "check_in": "check-in rate r",
    "drop_out": "drop-out q",
    "local_epsilon": "local ε0",
    "local_delta": "local δ0",
    "sigma": "noise σ (clipping norms)",
    "categories": "categories m",
    "dimension": "dimension d",
    "rounds": "rounds T",
    "delta": "δ",
}
_COUNTS = ("clients", "sampled", "categories", "dimension", "rounds")


def _axes(axes: Optional[Axes]) -> Axes:
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError as missing:
        raise ImportError("a picture needs matplotlib: pip install matplotlib") from missing
    return pyplot.subplots()[1]


def _draw(axes: Axes, x: Sequence[float], answers: Sequence[Answer], published: bool) -> None:
    """The answer, what no analysis can go below, and what the literature says."""
    upper = numpy.array([answer.value for answer in answers])
    lower = numpy.array([numpy.nan if answer.lower is None else answer.lower for answer in answers])
    standing = "rigorous" if all(answer.standing == "rigorous" for answer in answers) else "not all rigorous"
    axes.plot(x, upper, color="C0", linewidth=2.5, label=f"upper bound ({standing})", zorder=3)
    if not numpy.isnan(lower).all():
        axes.plot(x, lower, color="C0", linestyle="--", label="lower bound", zorder=3)
    if published:
        _draw_published(axes, x, answers)
    axes.legend()


def _draw_published(axes: Axes, x: Sequence[float], answers: Sequence[Answer]) -> None:
    """Every other upper bound that says something, by the name that people know it by."""
    found = [{bound.id: bound for bound in answer.bounds if bound.kind == "upper"} for answer in answers]
    known = {identifier: bound for bounds in found for identifier, bound in bounds.items()}
    ours = {answer.method for answer in answers}
    colour = 0
    for identifier, bound in known.items():
        values = numpy.array([bounds[identifier].value if identifier in bounds else numpy.nan for bounds in found])
        if identifier in ours or not numpy.isfinite(values).any():
            continue
        colour += 1
        label = bound.name if bound.standing == "rigorous" else f"{bound.name} ({bound.standing})"
        style = "-" if bound.standing == "rigorous" else ":"
        axes.plot(x, numpy.where(numpy.isfinite(values), values, numpy.nan), style, color=f"C{1 + colour % 9}", linewidth=1, label=label)


def _spans_a_decade(values: Sequence[float]) -> bool:
    return min(values) > 0 and max(values) > 10 * min(values)


def plot_epsilon(
    sweep: str,
    values: ArrayLike,
    *,
    delta: Optional[float] = None,
    published: bool = True,
    ax: Optional[Axes] = None,
    **question: Any,
) -> Axes:
    """ε against any number of the question, next to what no analysis can go below.

    ``sweep`` names the argument that takes each of ``values``; the others are given as for :func:`shuffledp.epsilon`. Every other
    upper bound is drawn as well, by its name and its standing, unless ``published`` is False.

    >>> from shuffledp.plotting import plot_epsilon
    >>> axes = plot_epsilon("rounds", [1, 10, 100], clients=10_000, local_epsilon=1, delta=1e-6)
    >>> axes.get_xlabel(), axes.get_ylabel(), axes.get_xscale()
    ('rounds T', 'ε at δ = 1e-06', 'log')
    """
    if sweep not in _LABELS:
        raise ValueError(f"'{sweep}' is not an argument that holds a number; use one of {', '.join(_LABELS)}")
    if sweep in question or (sweep == "delta" and delta is not None):
        raise ValueError(f"{sweep} is swept, so it has no value of its own")
    points = [float(value) for value in numpy.asarray(values, dtype=numpy.float64).ravel()]
    if sweep in _COUNTS:
        points = sorted({float(round(point)) for point in points})
    answers = []
    for point in points:
        asked: Dict[str, Any] = {"delta": delta, **question, sweep: point}
        answers.append(explain(**asked))
    axes = _axes(ax)
    _draw(axes, points, answers, published)
    axes.set_xlabel(_LABELS[sweep])
    axes.set_ylabel("ε" if sweep == "delta" else f"ε at δ = {delta}")
    if _spans_a_decade(points):
        axes.set_xscale("log")
    if _spans_a_decade([answer.value for answer in answers]):
        axes.set_yscale("log")
    return axes


def plot_delta(
    epsilons: ArrayLike,
    *,
    published: bool = True,
    ax: Optional[Axes] = None,
    **question: Unpack[QuestionArguments],
) -> Axes:
    """δ against ε: the privacy profile, next to what no analysis can go below, and unless ``published`` is False every other upper bound.

    >>> from shuffledp.plotting import plot_delta
    >>> axes = plot_delta([0.0, 0.05, 0.1], clients=10_000, local_epsilon=1)
    >>> axes.get_yscale()
    'log'
    """
    points = [float(value) for value in numpy.asarray(epsilons, dtype=numpy.float64).ravel()]
    answers = [explain(epsilon=point, **question) for point in points]
    axes = _axes(ax)
    _draw(axes, points, answers, published)
    axes.set_xlabel("ε")
    axes.set_ylabel("δ")
    axes.set_yscale("log")
    return axes


def plot_rdp(
    orders: Optional[ArrayLike] = None, *, ax: Optional[Axes] = None, **question: Unpack[QuestionArguments]
) -> Axes:
    """The Rényi divergence against its order.

    >>> from shuffledp.plotting import plot_rdp
    >>> axes = plot_rdp([2, 4, 8, 16, 32], clients=10_000, local_epsilon=1, rounds=10)
    >>> len(axes.lines)
    1
    """
    curve = rdp_curve(orders, **question)
    axes = _axes(ax)
    axes.plot(curve.orders, curve.divergences, label="upper bound")
    axes.set_xlabel("Rényi order λ")
    axes.set_ylabel("Rényi divergence")
    axes.set_xscale("log")
    axes.set_yscale("log")
    return axes
