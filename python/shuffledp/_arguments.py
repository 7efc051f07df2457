"""What describes a question, for type checkers. The names are the command line's flags with ``_`` for ``-``."""

from __future__ import annotations

from typing import Literal, Optional, TypedDict, Union

Randomizer = Literal[
    "any",
    "rr",
    "krr",
    "r-inf",
    "r-1",
    "r-2",
    "ldp-sgd",
    "priv-unit",
    "approximate",
    "gaussian",
    "discrete-gaussian",
    "laplace",
    "discrete-laplace",
]
Standing = Literal["rigorous", "conjectured", "asymptotic", "flawed"]

# A whole number; 1e6 is one too.
Count = Union[int, float]


class _Clients(TypedDict):
    # Honest clients in the population.
    clients: Count


class RoundArguments(_Clients, total=False):
    """One round: who speaks, through which randomizer."""

    # Clients drawn each round, afresh, without replacement, hidden from the server.
    sampled: Optional[Count]
    # Probability that a client decides, on its own, to speak in a round.
    check_in: Optional[float]
    # Probability that a client who checked in is not heard.
    drop_out: Optional[float]
    # Which randomizer; "any" ε0-LDP one if it is left out.
    randomizer: Optional[Randomizer]
    # ε0: what one report promises locally.
    local_epsilon: Optional[float]
    # δ0 of an (ε0, δ0)-LDP randomizer.
    local_delta: Optional[float]
    # Noise standard deviation over the clipping norm C; the sensitivity is 2C.
    sigma: Optional[float]
    # Number of values of k-ary randomized response.
    categories: Optional[Count]
    # Dimension of the vectors.
    dimension: Optional[Count]


class RoundsArguments(RoundArguments, total=False):
    """The same round, so many times."""

    # 1 if it is left out.
    rounds: Optional[Count]


class QuestionArguments(RoundsArguments, total=False):
    """Also which bounds may answer."""

    # The weakest standing that may become the answer; "rigorous" if it is left out.
    standing: Optional[Standing]
    # The largest Rényi order that is tried, from 2 to 1e6.
    max_order: Optional[float]
