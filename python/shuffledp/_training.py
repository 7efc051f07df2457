"""Training runs: the command line's, with their results as arrays."""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, TextIO, Union

import numpy

from ._native import Accountant, PrivacyWarning, _configuration, _presets, _Training

if TYPE_CHECKING:
    from os import PathLike

    import pandas
    from numpy.typing import NDArray

    Config = Union[str, PathLike[str], Mapping[str, Any]]


def presets() -> List[str]:
    """The names of the configurations that are included.

    >>> import shuffledp
    >>> shuffledp.presets()[0]
    'quick'
    """
    return _presets()


@dataclass(frozen=True)
class TrainingResult:
    """A finished run. Arrays have one element for each evaluation."""

    config: Dict[str, Any]
    data: str
    clients: int
    # Of the model, in the order of its layers: the last ones, or their mean where they are averaged.
    weights: NDArray[numpy.float32] = field(repr=False)
    round: NDArray[numpy.int64] = field(repr=False)
    test_accuracy: NDArray[numpy.float64] = field(repr=False)
    train_loss: NDArray[numpy.float64] = field(repr=False)
    # At least ε of the rounds so far, and at most what any analysis could give.
    epsilon: NDArray[numpy.float64] = field(repr=False)
    epsilon_lower: NDArray[numpy.float64] = field(repr=False)
    participants: NDArray[numpy.int64] = field(repr=False)
    seconds: NDArray[numpy.float64] = field(repr=False)
    delta: float
    # The lines of the command line's --json; what such a line leaves out is None.
    metrics: List[Dict[str, Any]] = field(repr=False)
    accountant: Accountant = field(repr=False)
    # Another round would have exceeded target_epsilon.
    stopped_by_budget: bool
    # What whoever reads the result must know.
    warnings: List[str]

    def to_frame(self) -> pandas.DataFrame:
        """One row for each evaluation, the round as the index. Needs pandas."""
        try:
            import pandas
        except ImportError as missing:
            raise ImportError("a frame needs pandas: pip install pandas") from missing
        return pandas.DataFrame(self.metrics).set_index("round")

    def __repr__(self) -> str:
        name, rounds = self.config["name"], int(self.round[-1])
        accuracy, epsilon = self.test_accuracy[-1], self.epsilon[-1]
        return f"TrainingResult({name!r}, {rounds} rounds, test accuracy {accuracy:.2%}, ε ≤ {epsilon:.5g} at δ = {self.delta:g})"


class _Bar:
    """A line on the terminal that says how far a run is."""

    def __init__(self, rounds: int, stream: TextIO) -> None:
        self._rounds, self._stream, self._started, self._last = rounds, stream, time.monotonic(), 0.0
        self._evaluated = ""

    def reached(self, done: int, metrics: Optional[Dict[str, Any]]) -> None:
        if metrics is not None:
            self._evaluated = f"  accuracy {metrics['test_accuracy']:.1%}  ε ≤ {metrics['epsilon']:.4g}"
        now = time.monotonic()
        if metrics is None and now - self._last < 0.1:
            return
        self._last = now
        left = (now - self._started) / max(done, 1) * (self._rounds - done)
        filled = 30 * done // self._rounds
        bar = "█" * filled + "·" * (30 - filled)
        self._stream.write(f"\r{bar} {done}/{self._rounds} rounds, {left:.0f} s left{self._evaluated}\x1b[K")
        self._stream.flush()

    def close(self) -> None:
        self._stream.write("\n")
        self._stream.flush()


def _text(config: Config, **changes: Any) -> str:
    """The configuration as text: a preset by name, a file, or a dictionary."""
    if isinstance(config, Mapping):
        return _configuration(json=json.dumps(config), **changes)
    if isinstance(config, str) and config in _presets():
        return _configuration(preset=config, **changes)
    if isinstance(config, str) and not os.path.exists(config) and os.sep not in config and not config.endswith(".toml"):
        # Names the presets.
        return _configuration(preset=config, **changes)
    return _configuration(path=config, **changes)


def train(
    config: Config,
    *,
    seed: Optional[int] = None,
    rounds: Optional[int] = None,
    target_epsilon: Optional[float] = None,
    hold_out: Optional[int] = None,
    data: Optional[Union[str, PathLike[str]]] = None,
    output: Optional[Union[str, PathLike[str]]] = None,
    sketch: bool = False,
    progress: Optional[bool] = None,
    on_round: Optional[Callable[[int], Any]] = None,
    on_evaluation: Optional[Callable[[Dict[str, Any]], Any]] = None,
) -> TrainingResult:
    """Trains a model by simulated clients and a simulated shuffler: the same run as ``shuffledp train``, to the last bit.

    Args:
        config: A preset's name (see :func:`presets`), the path of a configuration file, or a configuration as a dictionary.
        seed, rounds, target_epsilon, hold_out: In place of the configuration's.
        data: The data directory, where ``shuffledp data`` puts datasets.
        output: A new folder for metrics, checkpoints, ledger and weights.
        sketch: Draw the noise of every batch from its Gaussian limit, to tune a schedule in seconds. Not a result.
        progress: Whether to show a bar on stderr; if it is left out, only where that is a terminal.
        on_round: Called after every round, with the number of rounds done.
        on_evaluation: Called with each evaluation, a line of ``--json`` as a dictionary.

    What a callback returns is ignored; what it raises ends the run.

    >>> import shuffledp
    >>> config = dict(
    ...     name="tiny", seed=1, rounds=2, delta=1e-5, evaluate_every=1,
    ...     data=dict(kind="digits", train=200, test=50),
    ...     model=dict(kind="linear"),
    ...     algorithm=dict(kind="cldp-sgd", sampled=50, clip=0.01, randomizer=dict(name="r-inf", local_epsilon=2.0)),
    ...     step=dict(schedule=dict(kind="constant", rate=0.1)),
    ... )
    >>> result = shuffledp.train(config)
    >>> result.round.tolist(), bool(result.epsilon[0] < result.epsilon[1])
    ([1, 2], True)
    """
    text = _text(config, seed=seed, rounds=rounds, target_epsilon=target_epsilon, hold_out=hold_out)
    run = _Training(text, data_directory=data, output=output, sketch=sketch)
    for warning in run.warnings:
        warnings.warn(warning, PrivacyWarning, stacklevel=2)
    shows = sys.stderr.isatty() if progress is None else progress
    bar = _Bar(run.rounds, sys.stderr) if shows else None
    metrics: List[Dict[str, Any]] = []
    done, is_over = 0, False
    try:
        while not is_over:
            before = done
            done, evaluated, is_over = run.advance(singly=on_round is not None)
            if bar is not None:
                bar.reached(done, evaluated)
            if on_round is not None and done > before:
                on_round(done)
            if evaluated is not None:
                metrics.append(evaluated)
                if on_evaluation is not None:
                    on_evaluation(dict(evaluated))
    finally:
        if bar is not None:
            bar.close()

    def column(name: str, kind: Any = numpy.float64) -> NDArray[Any]:
        return numpy.array([line[name] for line in metrics], kind)

    return TrainingResult(
        config=run.config,
        data=run.data,
        clients=run.clients,
        weights=run.weights,
        round=column("round", numpy.int64),
        test_accuracy=column("test_accuracy"),
        train_loss=column("train_loss"),
        epsilon=column("epsilon"),
        epsilon_lower=column("epsilon_lower"),
        participants=column("participants", numpy.int64),
        seconds=column("seconds"),
        delta=metrics[-1]["delta"],
        metrics=metrics,
        accountant=run.accountant,
        stopped_by_budget=done < run.rounds,
        warnings=run.warnings,
    )
