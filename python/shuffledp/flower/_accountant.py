"""Flower's ``PrivacyAccountant``, for shuffled rounds."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Dict, Mapping, Optional

from flwr.serverapp import NeighboringRelation, PrivacySpent

from .._native import Accountant, ParameterError, StateError
from ._task import Task

_SCHEMA_VERSION = 1
_METHOD = "shuffledp"


@dataclasses.dataclass(frozen=True)
class ShuffleConfig:
    """The configuration of a :class:`ShuffleAccountant`, with the fields of Flower's ``PrivacyConfig``.

    Flower's own class has no sampling method for check-in or for a shuffle, so it is not used.
    """

    target_delta: float
    population_size: int
    max_epsilon: Optional[float] = None

    @property
    def neighboring_relation(self) -> Any:
        """Replace-one: neighbouring datasets differ in the record of one client."""
        return NeighboringRelation.REPLACE_ONE

    @property
    def sampling_method(self) -> str:
        """Each task says itself who participates."""
        return "task"


class ShuffleAccountant:
    """Accounts for shuffled rounds, with the methods of Flower's ``PrivacyAccountant``.

    Its events are :class:`Task` objects. Flower's ``GaussianPrivacyEvent`` is refused: it describes
    noise that a trusted server adds once to a sum.

    >>> from shuffledp.flower import ShuffleAccountant, ShuffleConfig, Task
    >>> from shuffledp.randomizers import PrivUnit
    >>> unit = PrivUnit(local_epsilon=2.0, dimension=500, clip=1.0)
    >>> task = Task(clients=100_000, randomizer=unit, check_in=0.1, anonymity="simulation")
    >>> accountant = ShuffleAccountant(ShuffleConfig(1e-6, task.clients, max_epsilon=0.09))
    >>> accountant.compose(task, 50)
    >>> accountant.would_exceed(task), accountant.would_exceed(task, count=50)
    (False, True)
    """

    def __init__(self, config: ShuffleConfig) -> None:
        self._config = config
        self._accountant = Accountant()
        self._num_releases = 0

    @property
    def config(self) -> ShuffleConfig:
        """The configuration."""
        return self._config

    @property
    def num_releases(self) -> int:
        """The number of rounds composed so far."""
        return self._num_releases

    def compose(self, event: Task, count: int = 1) -> None:
        """Composes ``count`` rounds."""
        self._check(event)
        self._accountant.compose(**event.question(), count=count)
        self._num_releases += count

    def get_epsilon(self, delta: float) -> float:
        """An upper bound on ε at this δ."""
        return self._accountant.epsilon(delta)

    def get_delta(self, epsilon: float) -> float:
        """An upper bound on δ at this ε."""
        return self._accountant.delta(epsilon)

    def get_privacy_spent(self, delta: Optional[float] = None) -> Any:
        """Returns the spent budget as Flower's ``PrivacySpent``."""
        at = self._config.target_delta if delta is None else delta
        return PrivacySpent(
            epsilon=self.get_epsilon(at),
            delta=at,
            num_releases=self._num_releases,
            accounting_method=_METHOD,
        )

    def local_epsilon(self) -> float:
        """The sum of the local ε of all rounds: what remains if shuffler and server collude."""
        return self._accountant.local_epsilon()

    def would_exceed(self, event: Task, max_epsilon: Optional[float] = None, count: int = 1) -> bool:
        """Whether ``count`` more rounds would exceed the limit; nothing is composed."""
        self._check(event)
        limit = self._config.max_epsilon if max_epsilon is None else max_epsilon
        if limit is None:
            raise ParameterError("max_epsilon is missing: give it here or in ShuffleConfig")
        return self._accountant.would_exceed(
            epsilon=limit, delta=self._config.target_delta, **event.question(), count=count
        )

    def rounds_left(self, event: Task, max_epsilon: Optional[float] = None) -> int:
        """The number of further such rounds within the limit."""
        self._check(event)
        limit = self._config.max_epsilon if max_epsilon is None else max_epsilon
        if limit is None:
            raise ParameterError("max_epsilon is missing: give it here or in ShuffleConfig")
        return self._accountant.rounds_left(epsilon=limit, delta=self._config.target_delta, **event.question())

    def state_dict(self) -> Dict[str, object]:
        """The state as values that JSON can hold."""
        return {
            "schema_version": _SCHEMA_VERSION,
            "backend": _METHOD,
            "config": dataclasses.asdict(self._config),
            "ledger": json.loads(self._accountant.to_json()),
            "num_releases": self._num_releases,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores what :meth:`state_dict` returned, for the same configuration."""
        if state.get("schema_version") != _SCHEMA_VERSION or state.get("backend") != _METHOD:
            raise StateError("the state was written by another accountant or another version")
        if state.get("config") != dataclasses.asdict(self._config):
            raise StateError(
                f"the state is of {state.get('config')}, but this accountant has {dataclasses.asdict(self._config)}"
            )
        releases = state.get("num_releases")
        if isinstance(releases, bool) or not isinstance(releases, int) or releases < 0:
            raise StateError(f"num_releases of the state must be a whole number, but is {releases!r}")
        self._accountant = Accountant.from_json(json.dumps(state.get("ledger")))
        self._num_releases = releases

    def _check(self, event: Task) -> None:
        if not isinstance(event, Task):
            raise ParameterError(
                f"a shuffled round is a shuffledp.flower.Task, but this is {type(event).__name__}: noise that the "
                "server adds to a sum is not shuffled, and belongs to Flower's own RdpAccountant"
            )
        if event.clients != self._config.population_size:
            raise ParameterError(
                f"the task has {event.clients:,} clients, but population_size is {self._config.population_size:,}"
            )
