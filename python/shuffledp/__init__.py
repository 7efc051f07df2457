"""How private is a shuffled protocol? Tightest provable ε and δ in the shuffle model of differential privacy.

A thousand of a million clients participate in each of 100,000 rounds, with any randomizer with local ε = 2, and a shuffler hides who sent what:

>>> import shuffledp
>>> round(shuffledp.epsilon(clients=1_000_000, sampled=1000, local_epsilon=2, rounds=100_000, delta=1e-8), 5)
0.13755

Questions are asked in the words of the command line, with ``_`` for ``-``. Adjacency is replace-one unless told: neighbouring datasets differ in the record of
one client. Upper bounds are rounded up; where numbers fail the answer is an error or infinite, never a smaller ε.

``epsilon``, ``delta``
    one number
``explain``, ``bounds``
    every bound we know, with its kind, its standing and its source
``calibrate``
    which ε0, noise, number of rounds or clients, or sampling rate meets a target
``Accountant``
    rounds as they happen
``rdp_curve``, ``loss_distribution``
    Rényi divergences and privacy losses as arrays
``shuffledp.randomizers``
    what clients send, over NumPy arrays, and what a server makes of it
``audit``
    runs a randomizer and the shuffle, and bounds ε from below
``train``
    a training run, as the command line does it, with its results as arrays
``shuffledp.service``
    a client of a real deployment
``shuffledp.plotting``
    pictures, with matplotlib
``shuffledp.dp_accounting``
    events and an accountant for Google's dp_accounting
``shuffledp.flower``, ``shuffledp.opacus``, ``shuffledp.pfl``
    clients and accountants for these frameworks; each needs its framework
``shuffledp.datasets``
    labelled examples and public features, as ``shuffledp train`` prepares them
"""

from . import randomizers
from ._bounds import Bounds, bounds
from ._curves import LossDistribution, RenyiCurve, loss_distribution, rdp_curve
from ._native import (
    Accountant,
    Answer,
    AuditFinding,
    AuditReport,
    Bound,
    Calibration,
    InputError,
    NoAnswerError,
    NumericalError,
    ParameterError,
    PrivacyWarning,
    ReportError,
    ShuffledpError,
    StateError,
    TrainingError,
    __version__,
    audit,
)
from ._questions import calibrate, delta, epsilon, explain
from ._training import TrainingResult, presets, train

__all__ = [
    "Accountant",
    "Answer",
    "AuditFinding",
    "AuditReport",
    "Bound",
    "Bounds",
    "Calibration",
    "InputError",
    "LossDistribution",
    "NoAnswerError",
    "NumericalError",
    "ParameterError",
    "PrivacyWarning",
    "RenyiCurve",
    "ReportError",
    "ShuffledpError",
    "StateError",
    "TrainingError",
    "TrainingResult",
    "__version__",
    "audit",
    "bounds",
    "calibrate",
    "delta",
    "epsilon",
    "explain",
    "loss_distribution",
    "presets",
    "randomizers",
    "rdp_curve",
    "train",
]
