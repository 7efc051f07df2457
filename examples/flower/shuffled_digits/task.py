"""Code that clients and server share: the task, the features and the model."""

from __future__ import annotations

import functools

import numpy
from shuffledp import datasets
from shuffledp.flower import Task
from shuffledp.randomizers import PrivUnit

# 20 nodes simulate 1,000 clients each. One node for each client would take 15 s a round for 2,000.
NODES = 20
COHORT = 1000
CLASSES = 10
FEATURES = 208

TASK = Task(
    clients=NODES * COHORT,
    randomizer=PrivUnit(local_epsilon=4.0, dimension=CLASSES * FEATURES, clip=1.0),
    check_in=0.2,
    cohort=COHORT,
    anonymity="simulation",
)


@functools.cache
def digits() -> datasets.Dataset:
    """Generated digits, as scattering features: a fixed function of each picture, so public."""
    return datasets.load(
        {"kind": "digits", "train": TASK.clients, "test": 2000},
        {"scattering": {"scales": 3, "angles": 4, "order": 1}},
    )


def scores(weights: numpy.ndarray, features: numpy.ndarray) -> numpy.ndarray:
    """The probability of each class, one row for each example."""
    logits = features @ weights.T
    powers = numpy.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def descent(weights: numpy.ndarray, features: numpy.ndarray, labels: numpy.ndarray) -> numpy.ndarray:
    """The negative gradient of each example's loss: (examples, classes, features)."""
    error = scores(weights, features)
    error[numpy.arange(len(labels)), labels] -= 1
    return -error[:, :, numpy.newaxis] * features[:, numpy.newaxis, :]


def accuracy(weights: numpy.ndarray) -> float:
    """The share of the test examples that are recognized."""
    return float((scores(weights, digits().test_x).argmax(axis=1) == digits().test_y).mean())
