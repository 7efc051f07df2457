"""The client's own budget: on its disk, over all runs, charged before a report exists."""

from __future__ import annotations

import contextlib
import json
import math
import os
import pathlib
import sys
from collections.abc import Iterator
from typing import Any, Dict, Union

from .._files import replace
from .._native import Accountant, ParameterError, ShuffledpError, StateError
from ._task import Task

_VERSION = 1


class BudgetExhausted(ShuffledpError):
    """The client's lifetime budget does not allow another round."""


class LifetimeBudget:
    """A budget (ε, δ) that all rounds ever offered to this client share, kept in one file.

    A round is charged when it is offered, whether or not the client then participates, and the
    charge is on the disk before the coin is flipped. A missing file is a new client. A damaged file
    is refused. Do not restore the file from a backup: it would forget rounds.

    ``path`` may contain ``{node}``. It becomes the number of the simulated node, so that every node
    of a simulation has its own file; all clients of a cohort are offered the same rounds and share
    it.

    The total over several tasks holds if later tasks were not chosen because of the outputs of
    earlier ones.
    """

    def __init__(self, path: Union[str, os.PathLike[str]], *, epsilon: float, delta: float) -> None:
        if not (math.isfinite(epsilon) and epsilon > 0):
            raise ParameterError(f"epsilon must be positive and finite, but is {epsilon}")
        if not 0 < delta < 1:
            raise ParameterError(f"delta must be between 0 and 1, but is {delta}")
        self.path = os.fspath(path)
        self.epsilon = float(epsilon)
        self.delta = float(delta)

    def file(self, node: object) -> pathlib.Path:
        """The file of this node."""
        return pathlib.Path(self.path.replace("{node}", str(node)))

    def charge(self, task: Task, *, run: int, round: int, node: object = "") -> None:
        """Charges one round, and returns when the charge is on the disk.

        Every round of a run is charged once; the same round again, or an earlier one, is refused:
        a second report in one round is not what ε covers.
        """
        path = self.file(node)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path):
            state = _read(path)
            last = state["rounds"].get(str(run), 0)
            if round <= last:
                raise StateError(f"round {round} of this run was already charged; the last one was {last}")
            ledger = Accountant.from_json(json.dumps(state["ledger"]))
            if ledger.would_exceed(epsilon=self.epsilon, delta=self.delta, **task.question()):
                raise BudgetExhausted(
                    f"the lifetime budget ε = {self.epsilon}, δ = {self.delta} does not allow another round "
                    f"after {len(ledger)}"
                )
            ledger.compose(**task.question())
            state["ledger"] = json.loads(ledger.to_json())
            state["rounds"][str(run)] = round
            replace(path, json.dumps(state))

    def spent(self, node: object = "") -> float:
        """An upper bound on the ε spent so far, at the budget's δ."""
        return self._ledger(node).epsilon(self.delta)

    def local_epsilon(self, node: object = "") -> float:
        """The sum of the local ε of all rounds: what remains if shuffler and server collude."""
        return self._ledger(node).local_epsilon()

    def _ledger(self, node: object) -> Accountant:
        return Accountant.from_json(json.dumps(_read(self.file(node))["ledger"]))


def _read(path: pathlib.Path) -> Dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {"version": _VERSION, "ledger": json.loads(Accountant().to_json()), "rounds": {}}
    try:
        state = json.loads(text)
        complete = state["version"] == _VERSION and isinstance(state["rounds"], dict) and "ledger" in state
    except (ValueError, KeyError, TypeError) as error:
        raise StateError(f"{path} is damaged, and a client without its budget must not go on: {error}") from error
    if not complete:
        raise StateError(f"{path} is not a budget of this version; a client without its budget must not go on")
    return dict(state)


@contextlib.contextmanager
def _locked(path: pathlib.Path) -> Iterator[None]:
    """Holds a lock file beside ``path``, so that two processes do not charge at once."""
    with open(path.with_name(path.name + ".lock"), "w", encoding="utf-8") as lock:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
