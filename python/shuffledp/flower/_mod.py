"""The client's half: a Flower mod that lets randomized reports leave, and nothing else."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from logging import ERROR
from typing import TYPE_CHECKING, Any, List, Literal, Optional

import numpy
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.supercore import log

from .._native import ParameterError
from ..randomizers import check_in, flatten, shuffle
from ._budget import LifetimeBudget
from ._gate import App, Gate, Refused
from ._task import Task
from ._words import CONFIG, FRAMES, LAST_ROUND, LOCAL, PARTICIPANTS, REPORTS, ROUND, TASK

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ShuffleMod(Gate):
    """Clips, flattens and randomizes a client's update before it leaves, into one frame of bytes.

    Put it first in the list of mods, so that it sees what leaves last:
    ``ClientApp(mods=[ShuffleMod(task), ...])``.

    ``task``
        must be the server's task, word for word. Otherwise the client refuses to participate
    ``budget``
        the client's own lifetime budget
    ``returns``
        what the app's train function returns in its one ArrayRecord: ``"model"``, the trained
        arrays, of which the received ones are subtracted; or ``"update"``, what is to be added to
        the model
    ``allow``
        what else may leave the client, outside of any guarantee: ``"metrics"`` of training,
        ``"evaluate"`` replies, ``"query"`` replies, ``"errors"`` of the app with their text

    With ``task.check_in`` the mod flips the client's coin. If it says no, the app is not called.

    With a ``task.cohort`` of several clients, the app finds the participants of this round, as
    numbers from 0 to ``cohort`` − 1, in the message: ``shuffledp.flower.participants(message)``.
    It returns each array with one more axis in front, with the participants in that order.

    If the app fails, or an update is not finite, a randomized zero is sent in its place: even the
    fact of a failure depends on the data. The failure is logged on the client.
    """

    def __init__(
        self,
        task: Task,
        *,
        budget: Optional[LifetimeBudget] = None,
        returns: Literal["model", "update"] = "model",
        allow: Iterable[str] = (),
    ) -> None:
        if returns not in ("model", "update"):
            raise ParameterError(f'returns must be "model" or "update", but is {returns!r}')
        super().__init__(allow, ("metrics", "evaluate", "query", "errors"))
        self.task = task
        self.budget = budget
        self.returns = returns

    def _train(self, message: Any, context: Any, call_next: App) -> Any:
        model = self._model(message)
        self._charge(message, context)
        participants = self._participants()
        metrics: List[Any] = []
        frames = numpy.empty((0, self.task.randomizer.frame_len), numpy.uint8)
        if len(participants):
            if self.task.cohort > 1:
                message.content[LOCAL] = ConfigRecord({PARTICIPANTS: participants.tolist()})
            reply = self._app_reply(message, context, call_next)
            if reply is not None and reply.has_error():
                return reply
            updates = self._updates(reply, model, len(participants))
            # Within a cohort the order of the reports would tell whose they are.
            frames = shuffle(self.task.randomizer.randomize_batch(updates))
            if reply is not None and "metrics" in self.allow:
                metrics = list(reply.content.metric_records.items())
        content = RecordDict({REPORTS: ArrayRecord({FRAMES: Array(frames)})})
        for name, record in metrics:
            content[name] = MetricRecord(dict(record))
        return Message(content, reply_to=message)

    def _model(self, message: Any) -> List[NDArray[Any]]:
        """The arrays of the message, if it is a round of this client's task."""
        config = message.content.config_records.get(CONFIG, {})
        told = config.get(TASK)
        if told is None:
            raise Refused("the message names no task: the server needs shuffledp.flower.ShuffleStrategy")
        if told != self.task.to_json():
            raise Refused(f"the server's task is {told}, but this client's is {self.task.to_json()}")
        if len(message.content.array_records) != 1:
            raise Refused(f"a round has one ArrayRecord, but here are {len(message.content.array_records)}")
        model = next(iter(message.content.array_records.values())).to_numpy_ndarrays()
        size, dimension = sum(array.size for array in model), self.task.randomizer.dimension
        if size != dimension:
            raise Refused(f"the model has {size} numbers, but the randomizer's dimension is {dimension}")
        return list(model)

    def _charge(self, message: Any, context: Any) -> None:
        number = message.content.config_records[CONFIG].get(ROUND)
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise Refused(f"{ROUND} must be a whole number, 1 or more, but is {number!r}")
        # The node remembers its context for the run; the budget's file remembers beyond a crash.
        memory = context.state.config_records.get(LOCAL, {})
        if number <= memory.get(LAST_ROUND, 0):
            raise Refused(f"this client has already answered round {number}; a second report is refused")
        context.state[LOCAL] = ConfigRecord({LAST_ROUND: number})
        if self.budget is not None:
            node = context.node_config.get("partition-id", context.node_id)
            self.budget.charge(self.task, run=message.metadata.run_id, round=number, node=node)

    def _participants(self) -> NDArray[numpy.int64]:
        if self.task.check_in is None:
            return numpy.arange(self.task.cohort)
        return numpy.flatnonzero(check_in(self.task.check_in, self.task.cohort))

    def _app_reply(self, message: Any, context: Any, call_next: App) -> Any:
        """The app's reply, or nothing if it failed."""
        if "errors" in self.allow:
            return call_next(message, context)
        try:
            reply = call_next(message, context)
        except Exception:
            log(ERROR, "the app failed; randomized zeros are sent:\n%s", traceback.format_exc())
            return None
        if reply.has_error():
            log(ERROR, "the app replied with an error; randomized zeros are sent: %s", reply.error.reason)
            return None
        return reply

    def _updates(self, reply: Any, model: List[NDArray[Any]], count: int) -> NDArray[numpy.float32]:
        """One row for each participant."""
        updates = numpy.zeros((count, self.task.randomizer.dimension), numpy.float32)
        if reply is None:
            return updates
        try:
            arrays = self._returned(reply, model, count)
        except Refused as wrong:
            if self.task.anonymity == "simulation":
                raise
            # On a device even the form of what the app returns may depend on its data.
            log(ERROR, "%s; randomized zeros are sent", wrong)
            return updates
        # Overflow of a difference is an infinity, and becomes a zero below.
        with numpy.errstate(over="ignore", invalid="ignore"):
            for row in range(count):
                parts = [array[row] for array in arrays]
                if self.returns == "model":
                    parts = [numpy.subtract(new, old, dtype=numpy.float64) for new, old in zip(parts, model)]
                updates[row] = flatten(parts)
        broken = ~numpy.isfinite(updates).all(axis=1)
        if broken.any():
            log(ERROR, "%d updates are not finite; randomized zeros are sent", int(broken.sum()))
            updates[broken] = 0
        return updates

    def _returned(self, reply: Any, model: List[NDArray[Any]], count: int) -> List[NDArray[Any]]:
        """The app's arrays, each with one row for each participant."""
        records = reply.content.array_records
        if len(records) != 1:
            raise Refused(f"the app must return one ArrayRecord, but returned {len(records)}")
        arrays = next(iter(records.values())).to_numpy_ndarrays()
        if self.task.cohort == 1:
            arrays = [array[numpy.newaxis] for array in arrays]
        wanted = [(count, *array.shape) for array in model]
        if [array.shape for array in arrays] != wanted:
            raise Refused("the arrays that the app returned do not have the shapes of the model's")
        if any(array.dtype.kind not in "fiub" for array in arrays):
            raise Refused("the arrays that the app returned do not hold real numbers")
        return list(arrays)


def participants(message: Any) -> NDArray[numpy.int64]:
    """Which clients of the cohort participate in the round of this message, in the order of their rows.

    For the app's train function, behind a :class:`ShuffleMod` with a cohort.
    """
    record = message.content.config_records.get(LOCAL)
    if record is None:
        raise ParameterError("the message names no participants: put ShuffleMod into the app's mods, with a cohort")
    return numpy.asarray(record[PARTICIPANTS], dtype=numpy.int64)
