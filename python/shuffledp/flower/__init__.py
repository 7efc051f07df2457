"""Flower (1.41): clients that randomize their updates, and a strategy that stops at its budget.

``Task``
    what clients and server agree on: who participates, with which randomizer, and who hides them
``ShuffleMod``, ``participants``
    the client's half, a Flower mod: clips, flattens and randomizes the update; nothing else leaves
``LifetimeBudget``
    the client's own budget, on its disk, over all runs
``ShuffleStrategy``
    the server's half: charges, asks, shuffles, aggregates, steps, and stops at its budget
``ShuffleAccountant``
    the accountant behind it, with the methods of Flower's ``PrivacyAccountant``

``ServiceMod``, ``invite``
    Flower for models and scheduling, with reports that go through shuffledp's own shuffler

Flower alone does not hide who sent a report: the ServerApp sees the node of every reply. So a
:class:`Task` claims no more than each client's local guarantee, unless it says who hides the
clients. ``docs/guides/flower.md`` explains it.
"""

from __future__ import annotations

try:
    import flwr.serverapp.strategy as _flower  # noqa: F401
except ImportError as missing:
    raise ImportError("shuffledp.flower needs Flower 1.41: pip install 'flwr>=1.41,<1.42'") from missing

from ._accountant import ShuffleAccountant, ShuffleConfig
from ._budget import BudgetExhausted, LifetimeBudget
from ._mod import ShuffleMod, participants
from ._service import ServiceMod, invite
from ._strategy import ShuffleStrategy
from ._task import Task

__all__ = [
    "BudgetExhausted",
    "LifetimeBudget",
    "ServiceMod",
    "ShuffleAccountant",
    "ShuffleConfig",
    "ShuffleMod",
    "ShuffleStrategy",
    "Task",
    "invite",
    "participants",
]
