"""The gate of a mod: it stops everything that is not allowed by name."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Sequence
from logging import ERROR
from typing import Any

from flwr.app import Error, Message
from flwr.common.constant import ErrorCode
from flwr.supercore import log

from .._native import ParameterError, ShuffledpError

App = Callable[[Any, Any], Any]


class Refused(Exception):
    """The server asked for something that this client does not do."""


class Gate:
    """Lets nothing but the answers of ``_train`` leave a client, and what is allowed by name."""

    def __init__(self, allow: Iterable[str], allowable: Sequence[str]) -> None:
        names = (allow,) if isinstance(allow, str) else tuple(allow)
        for name in names:
            if name not in allowable:
                raise ParameterError(f"allow knows {', '.join(allowable)}, but not {name!r}")
        self.allow = frozenset(names)

    def __call__(self, message: Any, context: Any, call_next: App) -> Any:
        """Answers the server's message."""
        category = message.metadata.message_type.split(".")[0]
        try:
            if category == "train":
                return self._train(message, context, call_next)
            if category not in self.allow:
                raise Refused(
                    f"{category} replies are not private; the client allows them with allow=({category!r},)"
                )
            return self._through(message, context, call_next)
        # Its text is ours, and does not depend on the client's data.
        except (Refused, ShuffledpError) as refusal:
            return error(message, ErrorCode.MOD_FAILED_PRECONDITION, str(refusal))

    def _train(self, message: Any, context: Any, call_next: App) -> Any:
        raise NotImplementedError

    def _through(self, message: Any, context: Any, call_next: App) -> Any:
        """The app's own reply, without the text of an error unless errors are allowed."""
        if "errors" in self.allow:
            return call_next(message, context)
        try:
            reply = call_next(message, context)
            if not reply.has_error():
                return reply
            log(ERROR, "the app replied with an error: %s", reply.error.reason)
        except Exception:
            log(ERROR, "the app failed:\n%s", traceback.format_exc())
        return error(
            message,
            ErrorCode.CLIENT_APP_RAISED_EXCEPTION,
            "the app failed; the client's log says why",
        )


def error(message: Any, code: int, reason: str) -> Any:
    """A reply that is an error."""
    return Message(Error(code, reason), reply_to=message)
