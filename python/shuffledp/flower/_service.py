"""The client's half of a real deployment: reports go through the shuffler, and nothing to Flower."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterable
from logging import ERROR, INFO
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Tuple, Union

import numpy
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MessageType, RecordDict
from flwr.common.constant import ErrorCode
from flwr.supercore import log

from .._native import ParameterError
from ..randomizers import flatten, unflatten
from ..service import participate
from ._gate import App, Gate, Refused, error
from ._words import CONFIG, MODEL, ROUND

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ServiceMod(Gate):
    """Takes part in a task of shuffledp's services, with the updates that a Flower app computes.

    One train message is one whole task: the client follows the server's signed rounds by itself,
    until the task is over or its lifetime budget is spent. It verifies every message, charges its
    own budget, flips its own coin, and seals its reports to a server that sees only what the
    shuffler releases (``docs/client.md``). The ServerApp learns that the client has ended, and never
    in which rounds it participated: the empty reply comes when the task is over for everybody.

    ``config``
        the client's configuration file, as of ``shuffledp client``. It may contain ``{node}``,
        which becomes the number of the simulated node: every client has its own file and state
    ``returns``
        what the app's train function returns, as for :class:`ShuffleMod`: ``"model"`` or
        ``"update"``. The app is called in the rounds in which the coin says yes, with the round's
        weights in the arrays of the message
    ``allow``
        what else may leave the client: ``"evaluate"`` replies, ``"query"`` replies, and
        ``"errors"`` of these, with their text

    If the app fails, zeros are randomized and sent: even the fact of a failure depends on the data.
    """

    def __init__(
        self,
        config: Union[str, os.PathLike[str]],
        *,
        returns: Literal["model", "update"] = "model",
        allow: Iterable[str] = (),
    ) -> None:
        if returns not in ("model", "update"):
            raise ParameterError(f'returns must be "model" or "update", but is {returns!r}')
        super().__init__(allow, ("evaluate", "query", "errors"))
        self.config = os.fspath(config)
        self.returns = returns

    def _train(self, message: Any, context: Any, call_next: App) -> Any:
        if len(message.content.array_records) != 1:
            raise Refused(f"the message has {len(message.content.array_records)} ArrayRecords, and needs the model's")
        ((name, record),) = message.content.array_records.items()
        model = record.to_numpy_ndarrays()
        rest = {key: value for key, value in message.content.items() if key not in (name, CONFIG)}

        def vector(weights: NDArray[numpy.float32], round: int) -> NDArray[numpy.float32]:
            """Returns the update as the gradient that the server expects: its model moves against it."""
            arrays = unflatten(weights, [array.shape for array in model])
            told = ConfigRecord({**message.content.config_records.get(CONFIG, {}), ROUND: round})
            named = ArrayRecord({key: Array(array) for key, array in zip(record.keys(), arrays)})
            message.content = RecordDict({**rest, name: named, CONFIG: told})
            return self._gradient(message, context, call_next, arrays)

        path = self.config.replace("{node}", str(context.node_config.get("partition-id", context.node_id)))
        try:
            log(INFO, "the task of %s is over for this client: %s", path, participate(path, vector))
        except OSError as failure:
            # A path of this machine is nobody else's business.
            log(ERROR, "%s: %s", path, failure)
            return error(message, ErrorCode.MOD_FAILED_PRECONDITION, "the client could not start; its log says why")
        return Message(RecordDict(), reply_to=message)

    def _gradient(
        self, message: Any, context: Any, call_next: App, old: List[NDArray[Any]]
    ) -> NDArray[numpy.float32]:
        try:
            new = self._returned(call_next(message, context), old)
        except Exception:
            log(ERROR, "the app failed; randomized zeros are sent:\n%s", traceback.format_exc())
            return numpy.zeros(sum(array.size for array in old), numpy.float32)
        # Overflow of a difference is an infinity, for which the client sends zeros.
        with numpy.errstate(over="ignore", invalid="ignore"):
            moved = flatten(new)
            return flatten(old) - moved if self.returns == "model" else -moved

    @staticmethod
    def _returned(reply: Any, model: List[NDArray[Any]]) -> List[NDArray[Any]]:
        if reply.has_error():
            raise RuntimeError(reply.error.reason)
        (record,) = reply.content.array_records.values()
        arrays: List[NDArray[Any]] = record.to_numpy_ndarrays()
        if [array.shape for array in arrays] != [array.shape for array in model]:
            raise ValueError("the arrays that the app returned do not have the shapes of the model's")
        return arrays


def invite(grid: Any, arrays: Any, *, timeout: float) -> Tuple[int, Dict[int, str]]:
    """Asks every node to take part in its task with :class:`ServiceMod`, and waits until they ended.

    ``arrays`` say by their shapes how the app wants the weights; their values are not used. Returns
    the number of nodes that took part, and for every other its reason. The server and the shuffler
    run on their own, and the model is at the server.
    """
    content = RecordDict({MODEL: arrays, CONFIG: ConfigRecord()})
    nodes = list(grid.get_node_ids())
    messages = [Message(content, message_type=MessageType.TRAIN, dst_node_id=node) for node in nodes]
    replies = list(grid.send_and_receive(messages, timeout=timeout))
    refused = {r.metadata.src_node_id: str(r.error.reason) for r in replies if r.has_error()}
    return len(replies) - len(refused), refused
