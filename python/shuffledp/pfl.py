"""Apple's pfl (0.6): users that randomize their statistics, in simulations of federated learning.

``ShuffledMechanism``
    a ``LocalPrivacyMechanism``: each user's statistics, as one vector, become one report
``SampledUsers``
    the user sampler that ε assumes: in each round a fresh set without repetition
``PrivacyBudget``
    a callback that charges every central iteration before it begins, and stops at its budget

pfl's own accountants describe noise on a sum, and it needs another version of dp_accounting than
:mod:`shuffledp.dp_accounting`. This module needs neither.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from typing import Any, Dict, List, Optional, Set, Tuple

try:
    from pfl.callback.base import TrainingProcessCallback
    from pfl.internal.ops.selector import get_default_framework_module
    from pfl.metrics import Metrics, StringMetricName, Weighted
    from pfl.privacy.privacy_mechanism import LocalPrivacyMechanism
    from pfl.stats import ElementWeightedMappedVectorStatistics, MappedVectorStatistics
except ImportError as missing:
    raise ImportError("shuffledp.pfl needs pfl 0.6: pip install 'pfl>=0.6,<0.7'") from missing

import numpy

from ._native import Accountant, ParameterError
from .randomizers import VectorRandomizer, flatten, unflatten

__all__ = ["PrivacyBudget", "SampledUsers", "ShuffledMechanism"]


class ShuffledMechanism(LocalPrivacyMechanism):  # type: ignore[misc]
    """Clips and randomizes each user's statistics, all arrays as one vector.

    The server gets the estimate that one report gives, so pfl's sum over its weights is the mean of
    the users. Every user has the weight 1: another weight would say how much data the user has.
    Statistics that are not finite are randomized as zeros.

    Coins come from the operating system; pfl's seeds are not used. In one central iteration every
    user may send one report: a second one is refused.
    """

    def __init__(self, randomizer: VectorRandomizer) -> None:
        super().__init__()
        self.randomizer = randomizer
        self._seen: Set[Hashable] = set()

    def postprocess_one_user(self, *, stats: Any, user_context: Any) -> Tuple[Any, Any]:
        """Randomizes the statistics of one user."""
        user = user_context.user_id
        if user is not None:
            if user in self._seen:
                raise ParameterError(
                    f"user {user} participates twice in one central iteration, which ε does not cover: "
                    "sample users with shuffledp.pfl.SampledUsers"
                )
            self._seen.add(user)
        return super().postprocess_one_user(stats=stats, user_context=user_context)  # type: ignore[no-any-return]

    def postprocess_server(self, *, stats: Any, central_context: Any, aggregate_metrics: Any) -> Tuple[Any, Any]:
        """Ends the central iteration: the sum of the reports stays as it is."""
        self._seen.clear()
        return stats, Metrics()

    def privatize(
        self, statistics: Any, name_formatting_fn: Any = StringMetricName, seed: Optional[int] = None
    ) -> Tuple[Any, Any]:
        """The statistics as the server sees them after one report, with the weight 1."""
        if isinstance(statistics, ElementWeightedMappedVectorStatistics) or not isinstance(
            statistics, MappedVectorStatistics
        ):
            raise ParameterError(
                f"{type(statistics).__name__} is not supported: its weights would leave the user; use MappedVectorStatistics"
            )
        tools = get_default_framework_module()
        arrays = [numpy.asarray(tools.to_numpy(value)) for value in statistics.values()]
        size = sum(array.size for array in arrays)
        if size != self.randomizer.dimension:
            raise ParameterError(
                f"the statistics have {size} numbers, but the randomizer's dimension is {self.randomizer.dimension}"
            )
        report = self.randomizer.randomize(_average(arrays, statistics.weight))
        estimates = unflatten(self.randomizer.decode(report).astype(numpy.float32), [a.shape for a in arrays])
        values = [tools.to_tensor(estimate) for estimate in estimates]
        return statistics.from_weights(tools.to_tensor([1.0]), values), Metrics()


def _average(arrays: List[Any], weight: float) -> Any:
    """The sum of the user's statistics over its weight; zeros if that is not finite."""
    with numpy.errstate(all="ignore"):
        vector = flatten(arrays) / numpy.float32(weight)
    return vector if weight > 0 and numpy.isfinite(vector).all() else numpy.zeros_like(vector)


class SampledUsers:
    """A user sampler for pfl: each ``sampled`` users in a row are a fresh set without repetition.

    pfl's own ``random`` sampler can draw a user twice, and ``minimize_reuse`` takes users in turns;
    ε of a sampled round covers neither. The cohort size of the algorithm must be ``sampled``.
    """

    def __init__(self, user_ids: Sequence[Hashable], sampled: int) -> None:
        if not 1 <= sampled <= len(user_ids):
            raise ParameterError(f"sampled must be from 1 to the number of users, {len(user_ids)}, but is {sampled}")
        self._users = list(user_ids)
        self._sampled = sampled
        self._waiting: List[Hashable] = []
        self._coins = random.SystemRandom()

    def __call__(self) -> Hashable:
        """The next user."""
        if not self._waiting:
            self._waiting = self._coins.sample(self._users, self._sampled)
        return self._waiting.pop()


class PrivacyBudget(TrainingProcessCallback):  # type: ignore[misc]
    """Charges every central iteration before it begins, and ends the training at the budget.

    ``round`` describes one central iteration in the words of :meth:`shuffledp.Accountant.compose`:
    ``clients``, and ``sampled`` as for :class:`SampledUsers`.

    >>> from shuffledp.pfl import PrivacyBudget
    >>> from shuffledp.randomizers import PrivUnit
    >>> unit = PrivUnit(local_epsilon=2.0, dimension=500, clip=1.0)
    >>> budget = PrivacyBudget(1.0, 1e-6, clients=100_000, sampled=1000, randomizer=unit)
    >>> budget.rounds_left() > 1000
    True
    """

    def __init__(self, epsilon: float, delta: float, **round: Any) -> None:
        self.accountant = Accountant()
        self.target_epsilon = epsilon
        self.delta = delta
        self._round: Dict[str, Any] = round
        if self.rounds_left() < 1:
            raise ParameterError(
                f"epsilon = {epsilon} at delta = {delta} does not allow one central iteration: raise it, or add noise"
            )

    def rounds_left(self) -> int:
        """The number of further central iterations within the budget."""
        return self.accountant.rounds_left(epsilon=self.target_epsilon, delta=self.delta, **self._round)

    def epsilon(self) -> float:
        """An upper bound on the ε spent so far, the iteration that runs now included."""
        return self.accountant.epsilon(self.delta)

    def on_train_begin(self, *, model: Any) -> Any:
        """Charges the first central iteration."""
        self.accountant.compose(**self._round)
        return Metrics()

    def after_central_iteration(
        self, aggregate_metrics: Any, model: Any, *, central_iteration: int
    ) -> Tuple[bool, Any]:
        """Charges the next central iteration, or ends the training."""
        spent = Metrics([(StringMetricName("shuffled epsilon"), Weighted.from_unweighted(self.epsilon()))])
        if self.accountant.would_exceed(epsilon=self.target_epsilon, delta=self.delta, **self._round):
            return True, spent
        self.accountant.compose(**self._round)
        return False, spent
