"""Opacus (1.6): training in PyTorch in which every example is a client that randomizes its own gradient.

>>> import torch
>>> from shuffledp.opacus import make_shuffled
>>> from shuffledp.randomizers import Gaussian
>>> data = torch.utils.data.TensorDataset(torch.randn(1000, 4), torch.randint(0, 2, (1000,)))
>>> model = torch.nn.Linear(4, 2)
>>> shuffled = make_shuffled(
...     model,
...     torch.optim.SGD(model.parameters(), lr=0.1),
...     torch.utils.data.DataLoader(data, batch_size=100),
...     randomizer=Gaussian(sigma=5.0, dimension=10, clip=1.0),
... )
>>> for x, y in shuffled.loader:
...     shuffled.optimizer.zero_grad()
...     torch.nn.functional.cross_entropy(shuffled.module(x), y).backward()
...     shuffled.optimizer.step()
>>> len(shuffled.accountant), round(shuffled.accountant.get_epsilon(1e-5), 2)
(10, 0.04)

Opacus itself adds noise once, to the sum of the gradients, and its accountants assume that. Here
every clipped gradient is randomized before the sum, by a randomizer of
:mod:`shuffledp.randomizers`, and the accountant is shuffledp's. It is a simulation: one program
holds all examples. The number that it gives is that of the protocol in which each example stays
with its client and a shuffler stands between clients and server.

What cannot work: ghost clipping (``grad_sample_mode="ghost"``) never has the gradient of one
example, which is what a client randomizes; and ``PrivacyEngine`` brings its own optimizers.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Literal, NamedTuple, Optional

try:
    import torch
    from opacus import GradSampleModule
    from opacus.accountants import IAccountant
    from opacus.accountants.registry import register_accountant
    from opacus.data_loader import DPDataLoader
    from opacus.grad_sample import AbstractGradSampleModule
    from opacus.optimizers import DPOptimizer
    from opacus.optimizers.optimizer import _check_processed_flag, _mark_as_processed
except ImportError as missing:
    raise ImportError("shuffledp.opacus needs PyTorch and Opacus 1.6: pip install torch 'opacus>=1.6,<1.7'") from missing

import numpy

from ._native import Accountant, ParameterError, StateError
from .randomizers import VectorRandomizer, shuffle

__all__ = ["ShuffleAccountant", "ShuffledOptimizer", "Shuffled", "make_shuffled"]

# Opacus compares 24 random bits with the rate.
_COIN_STEPS = 2.0**24


class ShuffledOptimizer(DPOptimizer):  # type: ignore[misc]
    """An optimizer that steps along the mean of the examples' randomized gradients.

    Each example's gradient, all parameters as one vector, is one report: the randomizer clips it to
    its ``clip`` and randomizes it. The reports are shuffled and added up, and the estimate of their
    mean becomes ``p.grad``. Batches that Opacus' ``BatchMemoryManager`` splits are one round.

    A gradient that is not finite is randomized as zero.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, *, randomizer: VectorRandomizer) -> None:
        super().__init__(
            optimizer,
            noise_multiplier=0.0,
            max_grad_norm=randomizer.clip,
            expected_batch_size=None,
            loss_reduction="sum",
        )
        size = sum(p.numel() for p in self.params)
        if size != randomizer.dimension:
            raise ParameterError(
                f"the model has {size} trainable weights, but the randomizer's dimension is {randomizer.dimension}"
            )
        self.randomizer = randomizer
        # Nobody may read a noise multiplier of 0 as that of the sum.
        self.noise_multiplier = None
        self._aggregator = randomizer.aggregator()

    def clip_and_accumulate(self) -> None:
        """Randomizes each example's gradient, and adds the reports up."""
        for p in self.params:
            _check_processed_flag(p.grad_sample)
        rows = [g.reshape(len(g), -1).to("cpu", torch.float32) for g in self.grad_samples]
        if len(rows[0]):
            gradients = torch.cat(rows, dim=1).numpy()
            gradients[~numpy.isfinite(gradients).all(axis=1)] = 0
            self._aggregator.add_batch(shuffle(self.randomizer.randomize_batch(gradients)))
        for p in self.params:
            _mark_as_processed(p.grad_sample)

    def add_noise(self) -> None:
        """Puts the estimated mean of the gradients into ``p.grad``: the noise is in the reports."""
        if self.step_hook is None:
            raise ParameterError("nothing accounts for this optimizer: make it with make_shuffled, or attach a step hook")
        if self._aggregator.count:
            mean = self._aggregator.mean()
        else:
            mean = numpy.zeros(self.randomizer.dimension)
        start = 0
        for p in self.params:
            part = torch.from_numpy(mean[start : start + p.numel()])
            p.grad = part.to(p.device, p.dtype).view_as(p)
            start += p.numel()
        self._aggregator = self.randomizer.aggregator()

    def scale_grad(self) -> None:
        """Nothing: ``p.grad`` is a mean."""


class ShuffleAccountant(IAccountant):  # type: ignore[misc]
    """Accounts for the rounds of a :class:`ShuffledOptimizer`, and refuses every other optimizer.

    Opacus knows it as ``"shuffle"``.
    """

    def __init__(self) -> None:
        self._accountant = Accountant()
        self._rounds = 0

    @property
    def history(self) -> Any:
        """The ledger: shuffled rounds are no (noise multiplier, sample rate) pairs."""
        return self._accountant.to_json()

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Refused: this is how Opacus reports noise that was added once to a sum."""
        raise ParameterError(
            "this accountant does not account for noise on a sum; use make_shuffled, or one of Opacus' own accountants"
        )

    def compose(self, *, clients: int, check_in: float, randomizer: VectorRandomizer, count: int = 1) -> None:
        """Composes ``count`` rounds in which each of ``clients`` examples participates with probability ``check_in``."""
        self._accountant.compose(clients=clients, check_in=check_in, randomizer=randomizer, count=count)
        self._rounds += count

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """Refused: the number of examples is missing; :func:`make_shuffled` attaches its own."""
        raise ParameterError("Opacus' optimizers add noise to the sum: use make_shuffled, which attaches this accountant")

    def hook(self, *, clients: int, check_in: float) -> Callable[[Any], None]:
        """A step hook that charges one round to each step of a :class:`ShuffledOptimizer`."""

        def charge(optimizer: Any) -> None:
            if not isinstance(optimizer, ShuffledOptimizer):
                raise ParameterError(
                    f"{type(optimizer).__name__} adds noise to the sum of the gradients, not to each: "
                    "only ShuffledOptimizer can be accounted for as shuffled"
                )
            if optimizer.accumulated_iterations != 1:
                raise ParameterError(
                    f"{optimizer.accumulated_iterations} batches were accumulated into one step, so an example can have "
                    "sent several reports: call zero_grad after every step, and split batches with BatchMemoryManager"
                )
            self.compose(clients=clients, check_in=check_in, randomizer=optimizer.randomizer)

        return charge

    def get_epsilon(self, delta: float, **_: Any) -> float:
        """An upper bound on ε at this δ, for replacing one example."""
        return self._accountant.epsilon(delta)

    def rounds_left(self, *, epsilon: float, delta: float, round: Dict[str, Any]) -> int:
        """The number of further such rounds within the budget."""
        return self._accountant.rounds_left(epsilon=epsilon, delta=delta, **round)

    def local_epsilon(self) -> float:
        """The sum of the local ε of all rounds: what holds without a shuffler."""
        return self._accountant.local_epsilon()

    def __len__(self) -> int:
        return self._rounds

    @classmethod
    def mechanism(cls) -> str:
        """The name under which Opacus knows it."""
        return "shuffle"

    def state_dict(self, destination: Any = None) -> Any:
        """The state: ledger, rounds and mechanism."""
        state: Dict[str, Any] = {} if destination is None else destination
        state.update(history=self.history, rounds=self._rounds, mechanism=self.mechanism())
        return state

    def load_state_dict(self, state_dict: Any) -> None:
        """Restores what :meth:`state_dict` returned."""
        if not state_dict or state_dict.get("mechanism") != self.mechanism():
            raise StateError("this is no state of a shuffle accountant")
        rounds = state_dict.get("rounds")
        if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 0:
            raise StateError(f"rounds of the state must be a whole number, but is {rounds!r}")
        self._accountant = Accountant.from_json(state_dict["history"])
        self._rounds = rounds


register_accountant("shuffle", ShuffleAccountant, force=True)


class Shuffled(NamedTuple):
    """The result of :func:`make_shuffled`."""

    module: Any
    optimizer: ShuffledOptimizer
    loader: Any
    accountant: ShuffleAccountant
    # One step, in the words of Accountant.compose.
    round: Dict[str, Any]

    def rounds_left(self, *, epsilon: float, delta: float) -> int:
        """The number of further steps within the budget."""
        return self.accountant.rounds_left(epsilon=epsilon, delta=delta, round=self.round)


def make_shuffled(
    module: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    loader: Any,
    *,
    randomizer: VectorRandomizer,
    accountant: Optional[ShuffleAccountant] = None,
    loss_reduction: Literal["mean", "sum"] = "mean",
) -> Shuffled:
    """Module, optimizer and loader for a shuffled training, and the accountant of its rounds.

    Every example of the loader's dataset is a client, which decides by its own coin to participate
    in a step. The coin's rate is one over the number of the loader's batches.

    ``loss_reduction`` is that of the loss, so that Opacus finds the gradient of one example. ε does
    not depend on it.
    """
    module = _checked(module, loss_reduction)
    if len(loader.dataset) < 1:
        raise ParameterError("the loader's dataset is empty")
    if getattr(loader, "distributed", False):
        raise ParameterError("a distributed loader is not supported: each process would draw its own clients")
    sampled = loader if isinstance(loader, DPDataLoader) else DPDataLoader.from_data_loader(loader)
    shuffled = ShuffledOptimizer(optimizer, randomizer=randomizer)
    accountant = ShuffleAccountant() if accountant is None else accountant
    # Up to the next value that the sampler can tell apart: an upper bound needs the larger rate.
    check_in = min(1.0, math.ceil(sampled.sample_rate * _COIN_STEPS) / _COIN_STEPS)
    clients = len(loader.dataset)
    shuffled.attach_step_hook(accountant.hook(clients=clients, check_in=check_in))
    round = {"clients": clients, "check_in": check_in, "randomizer": randomizer}
    return Shuffled(module, shuffled, sampled, accountant, round)


def _checked(module: torch.nn.Module, loss_reduction: str) -> Any:
    """The module with per-example gradients, if it can have them."""
    # Not isinstance: the module of ghost clipping inherits from it.
    if type(module) is GradSampleModule:
        return module
    if isinstance(module, AbstractGradSampleModule):
        raise ParameterError(
            f"{type(module).__name__} does not keep the gradient of each example, which is what a client randomizes; "
            "ghost clipping cannot be shuffled. Pass the plain module"
        )
    return GradSampleModule(module, loss_reduction=loss_reduction)
