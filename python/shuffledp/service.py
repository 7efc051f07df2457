"""A client of a real deployment: verifies the server's task and rounds, keeps its own budget, and sends sealed reports through the shuffler.

It is the program ``shuffledp client`` (docs/client.md), with vectors of your own if you like: an update of a model that PyTorch or another framework computes. Signatures are
verified, every round is charged to the lifetime budget on disk before a coin decides whether to take part, and a report is randomized, sealed with HPKE to server and shuffler and sent until it is
acknowledged, over HTTPS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Union

from ._native import ClientRefusal, _client_status, _participate

if TYPE_CHECKING:
    from os import PathLike

    import numpy
    from numpy.typing import ArrayLike, NDArray

    # Of the round's weights and its number.
    Vector = Callable[[NDArray[numpy.float32], int], ArrayLike]

__all__ = ["ClientRefusal", "participate", "status"]


def participate(config: Union[str, PathLike[str]], vector: Optional[Vector] = None) -> str:
    """Takes part in the task of a client's configuration file, round after round.

    Returns ``"finished"`` when the task is over, and ``"budget-spent"`` when another round would exceed the lifetime budget. Ctrl-C stops it; what it was sending is then
    sent by the next run. What passes (no answer from a service) is tried again; what does not is an error: :class:`ClientRefusal` for a task below the client's floors, a server that
    equivocates, or a state folder that is damaged or in use.

    ``vector(weights, round)`` computes what this client randomizes: as many numbers as the model has weights, in any shape. It is clipped to the task's norm. Without it that is the gradient of
    the task's model on the configuration's own example. The function is called on another thread, and only in rounds in which the coin said yes: whatever it does that others can see (a
    request, a message) tells them so. If it raises an exception, that is printed, nothing is sent in this round, and the client goes on; numbers that are not finite are replaced
    by zeros.
    """
    return _participate(config, vector)


def status(config: Union[str, PathLike[str]]) -> Dict[str, Any]:
    """Returns the spent budget of the client of a configuration file, also while it runs: the fields of ``shuffledp client --status --json``."""
    return _client_status(config)
