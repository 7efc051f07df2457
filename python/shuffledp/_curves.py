"""Rényi divergences and privacy losses, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional, overload

import numpy

from ._native import _loss_distribution, _rdp

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Unpack

    from ._arguments import QuestionArguments, RoundsArguments
    from ._native import Accountant

# dp_accounting's own: dense where ε is large, sparse where it is small.
_ORDERS = numpy.concatenate([numpy.arange(1.1, 10.95, 0.1), numpy.arange(11, 64), [128.0, 256.0, 512.0, 1024.0]])


class RenyiCurve(NamedTuple):
    """Upper bounds on the Rényi divergence, order by order."""

    orders: NDArray[numpy.float64]
    divergences: NDArray[numpy.float64]


def rdp_curve(orders: Optional[ArrayLike] = None, **question: Unpack[QuestionArguments]) -> RenyiCurve:
    """Upper bounds on the Rényi divergence of all rounds together: the smallest of sufficient standing at each order, infinite where none applies.

    Arguments other than ``orders`` describe the question, as for :func:`shuffledp.epsilon`. Divergences of independent rounds add up, so curves of several
    questions may be added, order by order.

    >>> import shuffledp
    >>> curve = shuffledp.rdp_curve([2, 4, 8], clients=100_000, local_epsilon=1, rounds=100)
    >>> curve.divergences.round(5)
    array([0.00232, 0.00464, 0.00929])
    """
    chosen = numpy.array(_ORDERS if orders is None else orders, dtype=numpy.float64)
    if chosen.ndim != 1:
        raise ValueError(f"orders must be a list of numbers, but has {chosen.ndim} dimensions")
    return RenyiCurve(chosen, _rdp(chosen, **question))


class LossDistribution(NamedTuple):
    """A privacy loss, rounded up: equally spaced losses, their probabilities, and the probability that counts as an infinite loss.

    ``δ(ε) ≤ infinity + Σ max(0, 1 − exp(ε − loss))·probability``. The Fourier transform errs by a share of the largest probability, and that share is added to
    every one: a δ far below 1e-12 is not to be had from here. ``Accountant.delta`` has no such limit.
    """

    losses: NDArray[numpy.float64]
    probabilities: NDArray[numpy.float64]
    infinity: float

    def delta(self, epsilon: float) -> float:
        """The δ that the arrays say belongs to an ε."""
        above = self.losses > epsilon
        excess = -numpy.expm1(epsilon - self.losses[above]) * self.probabilities[above]
        return min(1.0, float(excess.sum()) + self.infinity)


@overload
def loss_distribution(accountant: Accountant) -> LossDistribution: ...
@overload
def loss_distribution(**rounds: Unpack[RoundsArguments]) -> LossDistribution: ...
def loss_distribution(accountant: Optional[Accountant] = None, **rounds: Any) -> LossDistribution:
    """The privacy loss of an accountant's ledger, or of the rounds that the arguments describe (as for :func:`shuffledp.epsilon`), as arrays.

    What a round charges to δ alone, such as the δ0 of its randomizer, is in ``infinity``.

    >>> import shuffledp
    >>> loss = shuffledp.loss_distribution(clients=10_000, local_epsilon=1, rounds=10)
    >>> asked = shuffledp.delta(clients=10_000, local_epsilon=1, rounds=10, epsilon=0.1)
    >>> abs(loss.delta(0.1) / asked - 1) < 1e-3
    True
    """
    if accountant is None:
        return LossDistribution(*_loss_distribution(**rounds))
    if rounds:
        raise TypeError("give either an accountant or the arguments of a question")
    return LossDistribution(*accountant._loss_distribution())
