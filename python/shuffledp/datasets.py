"""Labelled examples and public features, as ``shuffledp train`` loads and prepares them.

>>> from shuffledp import datasets
>>> digits = datasets.load({"kind": "digits", "train": 100, "test": 50})
>>> digits.train_x.shape, digits.train_y.dtype, digits.classes
((100, 784), dtype('uint8'), 10)
>>> features = datasets.load({"kind": "digits", "train": 100, "test": 50}, {"scattering": {"scales": 3, "angles": 4}})
>>> features.test_x.shape
(50, 976)
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from ._native import _dataset

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

__all__ = ["Dataset", "load"]


class Dataset(NamedTuple):
    """The clients' examples, one row each, and test examples that no client has."""

    name: str
    classes: int
    train_x: NDArray[numpy.float32]
    train_y: NDArray[numpy.uint8]
    test_x: NDArray[numpy.float32]
    test_y: NDArray[numpy.uint8]


def load(
    data: Mapping[str, Any],
    preparation: Optional[Mapping[str, Any]] = None,
    *,
    data_directory: Union[str, os.PathLike[str], None] = None,
) -> Dataset:
    """The examples that the tables ``[data]`` and ``[preparation]`` of a training configuration describe.

    ``data``
        for example ``{"kind": "mnist"}``, which ``shuffledp data mnist`` fetches, or
        ``{"kind": "digits", "train": 20_000, "test": 2000}``, which are generated. Paths are
        relative to the current folder
    ``preparation``
        for example ``{"scattering": {"scales": 3, "angles": 4}, "whitening": {"components": 400}}``
    ``data_directory``
        where downloaded data is, and where features are kept; as for the command line
    """
    directory = None if data_directory is None else os.fspath(data_directory)
    name, classes, train, test = _dataset(json.dumps(dict(data)), json.dumps(dict(preparation or {})), directory)
    return Dataset(name, classes, *train, *test)
