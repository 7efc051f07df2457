"""The task: the terms that clients and server agree on before the first round."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Dict, Literal, Optional

from .._native import Accountant, ParameterError
from ..randomizers import VectorRandomizer

Anonymity = Literal["none", "simulation"]

# Floating-point noise: its low-order bits can give the input away.
_SIMULATION_ONLY = ("gaussian", "laplace")


@dataclasses.dataclass(frozen=True)
class Task:
    """The participation in every round, the randomizer, and the parties that hide the clients.

    ``clients``
        honest clients that are offered every round, at least
    ``randomizer``
        what each client does to its update, a vector
    ``check_in``
        the probability with which a client participates, by its own coin; without it all do
    ``cohort``
        clients on one node: 1 for real devices, thousands for a simulation
    ``anonymity``
        who hides the clients from the server. ``"none"``: nobody, as in a plain Flower deployment,
        so only each client's local guarantee is claimed. ``"simulation"``: all nodes are simulated
        on machines of one party, and ε is that of the protocol with a shuffler

    >>> from shuffledp.flower import Task
    >>> from shuffledp.randomizers import PrivUnit
    >>> unit = PrivUnit(local_epsilon=2.0, dimension=500, clip=1.0)
    >>> task = Task(clients=100_000, randomizer=unit, check_in=0.1, anonymity="simulation")
    >>> round(task.epsilon(rounds=50, delta=1e-6), 2)
    0.07
    >>> Task(clients=100_000, randomizer=unit, check_in=0.1).epsilon(rounds=50, delta=1e-6) > 50
    True
    """

    clients: int
    randomizer: VectorRandomizer
    check_in: Optional[float] = None
    cohort: int = 1
    anonymity: Anonymity = "none"

    def __post_init__(self) -> None:
        if not isinstance(self.randomizer, VectorRandomizer):
            raise ParameterError(
                f"randomizer must be one of vectors, such as PrivUnit or RoundedGaussian, but is {self.randomizer!r}"
            )
        if self.anonymity not in ("none", "simulation"):
            raise ParameterError(f'anonymity must be "none" or "simulation", but is {self.anonymity!r}')
        if self.anonymity != "simulation":
            self._check_deployed()
        if self.randomizer.name == "top-set":
            raise ParameterError(
                "randomizer top-set needs another public seed each round, which a task does not carry: "
                "use r-inf, ldp-sgd, priv-unit or rounded-gaussian"
            )
        if isinstance(self.cohort, bool) or not isinstance(self.cohort, int) or self.cohort < 1:
            raise ParameterError(f"cohort must be a whole number of clients, 1 or more, but is {self.cohort!r}")
        if isinstance(self.clients, bool) or int(self.clients) != self.clients:
            raise ParameterError(f"clients must be a whole number, but is {self.clients!r}")
        # The ranges of clients and check_in are those of every other question.
        Accountant().compose(**self._participation(), randomizer=self.randomizer)

    def _check_deployed(self) -> None:
        if self.randomizer.name in _SIMULATION_ONLY:
            raise ParameterError(
                f"randomizer {self.randomizer.name} is for simulations, because its floating point can give "
                f"updates away: use RoundedGaussian or DiscreteLaplace, or anonymity=\"simulation\""
            )
        if self.cohort != 1:
            raise ParameterError(
                f"cohort={self.cohort} clients on one node are a simulation: set anonymity=\"simulation\", or cohort=1"
            )

    def _participation(self) -> Dict[str, Any]:
        participation: Dict[str, Any] = {"clients": self.clients}
        if self.check_in is not None:
            participation["check_in"] = self.check_in
        return participation

    @property
    def hides(self) -> bool:
        """Whether the clients are hidden from the server, so that shuffling amplifies."""
        return self.anonymity != "none"

    @property
    def nodes(self) -> int:
        """The number of nodes that host ``clients`` clients."""
        return -(-self.clients // self.cohort)

    def question(self) -> Dict[str, Any]:
        """One round, as keyword arguments of :meth:`shuffledp.Accountant.compose`.

        Where nobody hides the clients, the server sees who sent which report, and whether it sent
        one. Then a round is one client alone that always participates.
        """
        participation = self._participation() if self.hides else {"clients": 1}
        return {**participation, "randomizer": self.randomizer}

    def epsilon(self, *, rounds: int, delta: float) -> float:
        """An upper bound on ε after so many rounds."""
        return Accountant().compose(**self.question(), count=rounds).epsilon(delta)

    def to_json(self) -> str:
        """The task as text. Client and server compare it: equal text is the same task."""
        fields: Dict[str, Any] = {
            "clients": int(self.clients),
            "check_in": self.check_in,
            "cohort": self.cohort,
            "anonymity": self.anonymity,
            "randomizer": self.randomizer.to_dict(),
        }
        return json.dumps(fields, sort_keys=True)
