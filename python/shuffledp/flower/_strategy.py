"""The server's half: a strategy that charges before it asks, and stops at its budget."""

from __future__ import annotations

import json
import os
import pathlib
import time
from collections.abc import Callable, Iterable
from logging import INFO, WARNING
from typing import TYPE_CHECKING, Any, List, Literal, Optional, Tuple, Union

import numpy
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord, RecordDict
from flwr.serverapp.exception import PrivacyBudgetExhausted
from flwr.serverapp.strategy import Result, Strategy
from flwr.supercore import log

from .._files import replace
from .._native import ParameterError
from ..randomizers import shuffle, unflatten
from ._accountant import ShuffleAccountant, ShuffleConfig
from ._task import Task
from ._words import CONFIG, FRAMES, MODEL, REPORTS, ROUND, TASK

if TYPE_CHECKING:
    from numpy.typing import NDArray

_POLL_SECONDS = 0.5


class ShuffleStrategy(Strategy):  # type: ignore[misc]
    """Trains with shuffled reports until the rounds or the privacy budget are spent.

    In every round it charges the accountant, then asks every node (it draws no sample: each client
    flips its own coin), collects the frames, shuffles them, adds them up, and moves the model by
    ``step_size`` times their mean. Nothing else is read from a reply, and client-side evaluation is
    off; use ``evaluate_fn`` with public data.

    ``task``
        what was agreed on with the clients
    ``epsilon``, ``delta``
        the budget, for the ε that ``task`` claims
    ``step_size``
        a number, or a function from the round, counted from 1, to one
    ``ledger``
        a file that keeps what was spent; if it exists, it is gone on from
    ``node_seconds``
        how long to wait for the nodes before a round
    ``at_budget``
        ``"return"``: ``start`` returns its result when the budget does not allow another round.
        ``"raise"``: it raises Flower's ``PrivacyBudgetExhausted``. Either way the attribute
        ``result`` has everything up to there, also after any other exception

    The round in which fewer clients could be reached than the task counts is discarded: its reports
    would be hidden among fewer. It stays charged.
    """

    def __init__(
        self,
        task: Task,
        *,
        epsilon: float,
        delta: float,
        step_size: Union[float, Callable[[int], float]] = 1.0,
        ledger: Union[str, os.PathLike[str], None] = None,
        node_seconds: float = 60.0,
        at_budget: Literal["return", "raise"] = "return",
    ) -> None:
        if at_budget not in ("return", "raise"):
            raise ParameterError(f'at_budget must be "return" or "raise", but is {at_budget!r}')
        self.task = task
        self.accountant = ShuffleAccountant(ShuffleConfig(delta, task.clients, epsilon))
        # Also refuses a budget that makes no sense, before any node is asked.
        self.rounds_left = self.accountant.rounds_left(task)
        self.step_size = step_size
        self.node_seconds = node_seconds
        self.at_budget = at_budget
        self.ledger = None if ledger is None else pathlib.Path(ledger)
        self.result = Result()
        self._keys: List[str] = []
        self._model: List[NDArray[Any]] = []
        if self.ledger is not None and self.ledger.exists():
            self.accountant.load_state_dict(json.loads(self.ledger.read_text(encoding="utf-8")))
            self.rounds_left = self.accountant.rounds_left(task)

    def summary(self) -> None:
        """Logs the task and the budget."""
        config = self.accountant.config
        log(INFO, "\t├──> Task: %s", self.task.to_json())
        log(INFO, "\t├──> Budget: epsilon=%g at delta=%g", config.max_epsilon, config.target_delta)
        log(INFO, "\t└──> Rounds that the budget allows: %d", self.rounds_left)
        if not self.task.hides:
            log(
                WARNING,
                "This server sees who sent which report: epsilon is each client's local guarantee, without shuffling.",
            )

    def start(
        self,
        grid: Any,
        initial_arrays: Any,
        num_rounds: int = 3,
        timeout: float = 3600,
        train_config: Any = None,
        evaluate_config: Any = None,
        evaluate_fn: Optional[Callable[[int, Any], Any]] = None,
    ) -> Any:
        """Runs the rounds. Returns Flower's ``Result``, also if the budget ends them early."""
        self.result = Result()
        self.result.arrays = initial_arrays
        try:
            super().start(
                grid,
                initial_arrays,
                num_rounds,
                timeout,
                train_config,
                evaluate_config,
                None if evaluate_fn is None else self._kept(evaluate_fn),
            )
        except PrivacyBudgetExhausted as exhausted:
            if self.at_budget == "raise":
                raise
            log(INFO, "%s", exhausted)
        return self.result

    def _kept(self, evaluate_fn: Callable[[int, Any], Any]) -> Callable[[int, Any], Any]:
        def evaluate(server_round: int, arrays: Any) -> Any:
            metrics = evaluate_fn(server_round, arrays)
            if metrics is not None:
                self.result.evaluate_metrics_serverapp[server_round] = metrics
            return metrics

        return evaluate

    def configure_train(self, server_round: int, arrays: Any, config: Any, grid: Any) -> Iterable[Any]:
        """Charges the round, and only then makes the messages."""
        self._remember(arrays)
        nodes = self._wait_for_nodes(grid)
        if self.accountant.would_exceed(self.task):
            spent = self.accountant.get_privacy_spent()
            raise PrivacyBudgetExhausted(
                f"The next round would exceed epsilon={self.accountant.config.max_epsilon} at delta={spent.delta}: "
                f"{spent.num_releases} rounds have spent {spent.epsilon}."
            )
        self.accountant.compose(self.task)
        if self.ledger is not None:
            replace(self.ledger, json.dumps(self.accountant.state_dict()))
        told = ConfigRecord({**config, ROUND: server_round, TASK: self.task.to_json()})
        content = RecordDict({MODEL: arrays, CONFIG: told})
        return [Message(content, message_type=MessageType.TRAIN, dst_node_id=node) for node in nodes]

    def _remember(self, arrays: Any) -> None:
        self._keys = list(arrays.keys())
        self._model = arrays.to_numpy_ndarrays()
        for name, array in zip(self._keys, self._model):
            if array.dtype.kind != "f":
                raise ParameterError(
                    f"array {name} is of {array.dtype}: send only what is trained, as floating-point numbers"
                )
        size, dimension = sum(array.size for array in self._model), self.task.randomizer.dimension
        if size != dimension:
            raise ParameterError(f"the model has {size} numbers, but the randomizer's dimension is {dimension}")

    def _wait_for_nodes(self, grid: Any) -> List[int]:
        """All nodes that are there, as soon as they host as many clients as the task counts."""
        needed = self.task.nodes if self.task.hides else 1
        end = time.monotonic() + self.node_seconds
        while len(nodes := list(grid.get_node_ids())) < needed:
            if time.monotonic() > end:
                raise ParameterError(
                    f"{needed} nodes are needed for {self.task.clients:,} clients, {self.task.cohort:,} on each, but "
                    f"{len(nodes)} came in {self.node_seconds:g} s: start more, raise node_seconds, or count fewer clients"
                )
            time.sleep(_POLL_SECONDS)
        return nodes

    def aggregate_train(self, server_round: int, replies: Iterable[Any]) -> Tuple[Any, Any]:
        """Shuffles and adds up the reports, and moves the model by their mean."""
        batches = self._batches(replies)
        if self.task.hides and len(batches) < self.task.nodes:
            log(
                WARNING,
                "Round %d is discarded: %d nodes answered, and %d are needed to hide each client among %d.",
                server_round,
                len(batches),
                self.task.nodes,
                self.task.clients,
            )
            return None, None
        frames = numpy.concatenate([numpy.empty((0, self.task.randomizer.frame_len), numpy.uint8), *batches])
        aggregator = self.task.randomizer.aggregator()
        # The step that a simulation owes its name to. The sum is the same in every order.
        rejected = aggregator.add_batch(shuffle(frames), skip_rejected=True)
        metrics = self._metrics(aggregator.count, rejected)
        self.result.train_metrics_clientapp[server_round] = metrics
        if aggregator.count == 0:
            log(WARNING, "Round %d brought no reports; the model stays as it is.", server_round)
            return None, metrics
        moved = self.step(server_round, self._model, unflatten(aggregator.mean(), [a.shape for a in self._model]))
        arrays = ArrayRecord({name: Array(array) for name, array in zip(self._keys, moved)})
        self.result.arrays = arrays
        return arrays, metrics

    def step(
        self, server_round: int, model: List[NDArray[Any]], mean: List[NDArray[Any]]
    ) -> List[NDArray[Any]]:
        """The model after this round, from the mean of the updates. Override it for another rule."""
        size = self.step_size(server_round) if callable(self.step_size) else self.step_size
        return [(old + size * update).astype(old.dtype) for old, update in zip(model, mean)]

    def _batches(self, replies: Iterable[Any]) -> List[NDArray[numpy.uint8]]:
        """The frames of each reply that has the right form."""
        batches = []
        for reply in replies:
            if reply.has_error():
                log(INFO, "\t> node %d: %s", reply.metadata.src_node_id, reply.error.reason)
                continue
            frames = self._frames(reply)
            if frames is None:
                log(WARNING, "\t> node %d sent no reports of this task", reply.metadata.src_node_id)
            else:
                batches.append(frames)
        return batches

    def _frames(self, reply: Any) -> Optional[NDArray[numpy.uint8]]:
        array = reply.content.array_records.get(REPORTS, {}).get(FRAMES)
        if array is None:
            return None
        try:
            frames: NDArray[numpy.uint8] = array.numpy()
        except (ValueError, TypeError, EOFError):
            return None
        right = frames.ndim == 2 and frames.shape[1] == self.task.randomizer.frame_len
        # A node cannot participate for more clients than it hosts.
        right = right and frames.dtype == numpy.uint8 and len(frames) <= self.task.cohort
        return frames if right else None

    def _metrics(self, reports: int, rejected: int) -> Any:
        config = self.accountant.config
        return MetricRecord(
            {
                "reports": reports,
                "rejected": rejected,
                "epsilon": self.accountant.get_epsilon(config.target_delta),
                "delta": config.target_delta,
            }
        )

    def configure_evaluate(self, server_round: int, arrays: Any, config: Any, grid: Any) -> Iterable[Any]:
        """Nobody is asked: what clients evaluate depends on their data."""
        return []

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Any]) -> Any:
        """Nobody was asked."""
        return None
