"""Types of the parameters of a question. The names are the command line's flags with ``_`` for ``-``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, Optional, TypedDict, Union

if TYPE_CHECKING:
    from ._native import CategoryRandomizer, VectorRandomizer

RandomizerName = Literal[
    "any",
    "rr",
    "krr",
    "k-subset",
    "r-inf",
    "r-1",
    "r-2",
    "ldp-sgd",
    "priv-unit",
    "top-set",
    "approximate",
    "gaussian",
    "discrete-gaussian",
    "rounded-gaussian",
    "laplace",
    "discrete-laplace",
    "profile",
    "sequential",
]
Adjacency = Literal["replace-one", "zero-out"]
Standing = Literal["rigorous", "conjectured", "asymptotic", "flawed"]

# A whole number; 1e6 is one too.
Count = Union[int, float]

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    # One number, or many: the answer is an array then.
    Counts = Union[Count, Sequence[int], Sequence[float], range, NDArray[numpy.number]]
    Reals = Union[float, Sequence[float], NDArray[numpy.number]]
    Randomizer = Union[RandomizerName, VectorRandomizer, CategoryRandomizer]
    Profile = Iterable[Sequence[float]]


# What `calibrate` can look for.
Solvable = Literal["local_epsilon", "sigma", "rounds", "clients", "sampled", "check_in"]


class _Optional(TypedDict, total=False):
    # Clients drawn each round, afresh, without replacement, hidden from the server.
    sampled: Optional[Count]
    # Probability that a client decides, on its own, to participate in a round.
    check_in: Optional[float]
    # Probability that a client who checked in is not heard.
    drop_out: Optional[float]
    # Which randomizer, by name or as an object that has its parameters in it; "any" ε0-LDP one if it is left out.
    randomizer: Optional[Union[RandomizerName, VectorRandomizer, CategoryRandomizer]]
    # ε0: what one report promises locally.
    local_epsilon: Optional[float]
    # δ0 of an (ε0, δ0)-LDP randomizer.
    local_delta: Optional[float]
    # Noise standard deviation over the clipping norm C; the sensitivity is 2C.
    sigma: Optional[float]
    # How far apart two records can be, in the unit of σ; 2 if it is left out, for σ in clipping norms.
    sensitivity: Optional[float]
    # Number of values of a randomizer over categories.
    categories: Optional[Count]
    # Dimension of the vectors.
    dimension: Optional[Count]
    # Share of all signed coordinates that a client's set holds, at most 1/2.
    share: Optional[float]
    # Points (ε, δ) of a local privacy profile, from ε = 0 on, convex in e^ε: pairs, or an array with two columns.
    profile: Optional[Iterable[Sequence[float]]]


class RoundArguments(_Optional):
    """One round: who speaks, through which randomizer."""

    # Honest clients in the population.
    clients: Count


class AuditArguments(_Optional, total=False):
    """A randomizer that can run and, if a round of it is audited too, who speaks."""

    clients: Optional[Count]


class RoundsArguments(RoundArguments, total=False):
    """The same round, so many times."""

    # 1 if it is left out.
    rounds: Optional[Count]


class _Trust(TypedDict, total=False):
    # The weakest standing that may become the answer; "rigorous" if it is left out.
    standing: Optional[Standing]
    # The largest Rényi order that is tried, from 2 to 1e6.
    max_order: Optional[float]


class QuestionArguments(RoundsArguments, _Trust, total=False):
    """Also which datasets are neighbours, and which bounds may answer."""

    # "replace-one" if it is left out.
    adjacency: Optional[Adjacency]


class CalibrationArguments(_Optional, _Trust, total=False):
    """A question in which one number is looked for: that one is left out."""

    clients: Optional[Count]
    rounds: Optional[Count]
    adjacency: Optional[Adjacency]
