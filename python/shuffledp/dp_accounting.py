"""Shuffled events, and an accountant for them, in the words of Google's dp_accounting (0.6).

A million clients, each round a fresh thousand of them, any randomizer with local ε = 2, 100,000 rounds; then one Gaussian release:

>>> import dp_accounting
>>> from shuffledp.dp_accounting import LocalDpEvent, ShuffleAccountant, SubsampledShuffledDpEvent
>>> round_of_training = SubsampledShuffledDpEvent(1_000_000, 1000, LocalDpEvent(2.0))
>>> accountant = ShuffleAccountant()
>>> round(accountant.compose(round_of_training, 100_000).get_epsilon(1e-8), 5)
0.13755
>>> round(accountant.compose(dp_accounting.GaussianDpEvent(50.0)).get_epsilon(1e-8), 3)
0.237

What is shuffled is an event too: what one client does to its record. That may be :class:`LocalDpEvent`, :class:`LocalProfileDpEvent`, or dp_accounting's own
``RandomizedResponseDpEvent``, ``GaussianDpEvent`` and ``LaplaceDpEvent``, read as done by each client to its own record, clipped to norm C.
"""

from __future__ import annotations

import copy
import enum
import math
import sys
from typing import Any, Dict, List, Optional, Tuple

try:
    import attr
    import dp_accounting as _dp
except ImportError as missing:
    raise ImportError("shuffledp.dp_accounting needs dp-accounting 0.6: pip install 'dp-accounting>=0.6,<0.7'") from missing

from ._native import Accountant, ShuffledpError

__all__ = [
    "LocalDpEvent",
    "LocalProfileDpEvent",
    "LocalRandomizer",
    "ShuffleAccountant",
    "ShuffledCheckInDpEvent",
    "ShuffledDpEvent",
    "SubsampledShuffledDpEvent",
]

_ErrorDetails = _dp.PrivacyAccountant.CompositionErrorDetails


# Not a string: dp_accounting's to_named_tuple takes those apart into their letters.
class LocalRandomizer(enum.Enum):
    """A client's randomizer by name, where more is known of it than its ε0."""

    ANY = "any"
    R_INF = "r-inf"
    R_1 = "r-1"
    R_2 = "r-2"
    LDP_SGD = "ldp-sgd"
    PRIV_UNIT = "priv-unit"
    TOP_SET = "top-set"
    DISCRETE_LAPLACE = "discrete-laplace"
    # Any, and each may be chosen by the reports before it in the same round.
    SEQUENTIAL = "sequential"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class LocalDpEvent(_dp.DpEvent):  # type: ignore[misc]
    """Represents an ε0-LDP (or (ε0, δ0)-LDP) randomizer that a client applies to its own record.

    Attributes:
      local_epsilon: ε0, for any two records.
      local_delta: δ0; 0 for a pure randomizer. Only with LocalRandomizer.ANY.
      randomizer: Which one it is, where that is known: some are more private, shuffled, than their ε0 says.
      dimension: Of the vectors; only with LocalRandomizer.PRIV_UNIT and LocalRandomizer.TOP_SET.
      share: Of all signed coordinates in a client's own set; only with LocalRandomizer.TOP_SET.
    """

    local_epsilon: float
    local_delta: float = 0.0
    randomizer: LocalRandomizer = LocalRandomizer.ANY
    dimension: Optional[int] = None
    share: Optional[float] = None


def _pairs(points: Any) -> Tuple[Tuple[float, float], ...]:
    """Pairs of floats, which can be compared and hashed, of whatever holds pairs."""
    try:
        return tuple((float(epsilon), float(delta)) for epsilon, delta in points)
    except (TypeError, ValueError) as error:
        raise TypeError("points must be a list of pairs (epsilon, delta)") from error


@attr.s(frozen=True, slots=True, auto_attribs=True)
class LocalProfileDpEvent(_dp.DpEvent):  # type: ignore[misc]
    """Represents a randomizer of which its local privacy profile is known: a client applies it to its own record.

    Attributes:
      points: Pairs (ε, δ), such that the randomizer is (ε, δ)-LDP for each of them, from ε = 0 on, convex in e^ε. Between them lie chords; beyond the last one δ stays.
        `get_delta_for_epsilon` of one of dp_accounting's loss distributions of what a client does gives such points.
    """

    points: Tuple[Tuple[float, float], ...] = attr.ib(converter=_pairs)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class ShuffledDpEvent(_dp.DpEvent):  # type: ignore[misc]
    """Represents a shuffled round in which every client speaks.

    Each of `clients` honest clients applies `event` to its own record, independently, and a shuffler that does not collude with the server releases
    the reports in random order. Privacy is for replacing the record of one client.
    """

    clients: int
    event: _dp.DpEvent


@attr.s(frozen=True, slots=True, auto_attribs=True)
class SubsampledShuffledDpEvent(_dp.DpEvent):  # type: ignore[misc]
    """Represents a shuffled round in which a random set of clients speaks.

    As `ShuffledDpEvent`, but only `sampled` of `clients` clients speak: a uniformly random set of that size, drawn afresh, without replacement, and hidden from
    the server.
    """

    clients: int
    sampled: int
    event: _dp.DpEvent


@attr.s(frozen=True, slots=True, auto_attribs=True)
class ShuffledCheckInDpEvent(_dp.DpEvent):  # type: ignore[misc]
    """Represents a shuffled round in which clients check in.

    As `ShuffledDpEvent`, but each of `clients` clients decides on its own, with probability `check_in`, to speak, and who has decided so is not heard with
    probability `drop_out`, independently of the data. The server sees only how many came.
    """

    clients: int
    check_in: float
    event: _dp.DpEvent
    drop_out: float = 0.0


class _Refused(Exception):
    """An event that cannot be accounted for, and why."""

    def __init__(self, event: Optional[_dp.DpEvent], reason: str) -> None:
        super().__init__(reason)
        self.details = _ErrorDetails(invalid_event=event, error_message=reason)


# Below it a release's noise is so small that ε is in the hundred thousands: no different from none.
_LEAST_NOISE_MULTIPLIER = 0.002


class ShuffleAccountant(_dp.PrivacyAccountant):  # type: ignore[misc]
    """Accounts for shuffled events, and for Gaussian, Laplace and randomized response events beside them, by composing loss distributions.

    Upper bounds, rounded up. Composing an event ten times is the same as composing it once with a count of ten. An event that cannot be accounted for is refused with
    the reason, and nothing of it is composed.

    >>> import dp_accounting
    >>> from shuffledp.dp_accounting import LocalDpEvent, ShuffleAccountant, ShuffledDpEvent
    >>> epsilon0 = dp_accounting.calibrate_dp_mechanism(
    ...     ShuffleAccountant,
    ...     lambda epsilon0: ShuffledDpEvent(100_000, LocalDpEvent(epsilon0)),
    ...     target_epsilon=0.1,
    ...     target_delta=1e-6,
    ...     bracket_interval=dp_accounting.ExplicitBracketInterval(0.1, 5.0),
    ... )
    >>> round(epsilon0, 3)
    3.727
    """

    def __init__(self, neighboring_relation: Any = _dp.NeighboringRelation.REPLACE_ONE) -> None:
        if neighboring_relation is not _dp.NeighboringRelation.REPLACE_ONE:
            raise ValueError(f"the shuffle model is accounted with REPLACE_ONE only, not with {neighboring_relation}")
        super().__init__(neighboring_relation)
        self._accountant = Accountant()
        self._non_private = False

    def _maybe_compose(self, event: _dp.DpEvent, count: int, do_compose: bool) -> Any:
        # Everything happens to a copy, which takes the place of the accountant only if all of it went well.
        changed = copy.copy(self._accountant)
        # `supports` asks with a count of 0.
        times = 1 if count == 0 and not do_compose else count
        try:
            private = _compose(changed, event, times)
        except _Refused as refused:
            return refused.details
        if do_compose:
            self._accountant = changed
            self._non_private = self._non_private or not private
        return None

    def get_epsilon(self, target_delta: float) -> float:
        """At least the ε of everything so far; at a δ of 0 the sum of all local ε."""
        if not 0 <= target_delta <= 1:
            raise ValueError(f"target_delta must be between 0 and 1, but is {target_delta}")
        if self._non_private:
            return math.inf
        if target_delta == 1:
            return 0.0
        if target_delta == 0:
            return self._accountant.local_epsilon()
        return self._accountant.epsilon(target_delta)

    def get_delta(self, target_epsilon: float) -> float:
        """At least the δ of everything so far."""
        if not target_epsilon >= 0:
            raise ValueError(f"target_epsilon must be at least 0, but is {target_epsilon}")
        if self._non_private:
            return 1.0
        if target_epsilon >= self._accountant.local_epsilon():
            return 0.0
        return self._accountant.delta(min(target_epsilon, sys.float_info.max))


def _compose(accountant: Accountant, event: _dp.DpEvent, count: int) -> bool:
    """Composes `event`, `count` times. False if nothing private is left. Raises `_Refused`."""
    if isinstance(event, _dp.NoOpDpEvent):
        return True
    if isinstance(event, _dp.NonPrivateDpEvent):
        return False
    if isinstance(event, _dp.SelfComposedDpEvent):
        if not isinstance(event.count, int) or event.count < 0:
            raise _Refused(event, f"count must be a whole number of at least 0, but is {event.count}")
        return _compose(accountant, event.event, count * event.count)
    if isinstance(event, _dp.ComposedDpEvent):
        # All of them, even after one that is not private: one that cannot be accounted for is refused in any case.
        parts: List[bool] = [_compose(accountant, part, count) for part in event.events]
        return all(parts)
    return _compose_one(accountant, event, count)


def _compose_one(accountant: Accountant, event: _dp.DpEvent, count: int) -> bool:
    parameters: Optional[Tuple[str, Dict[str, Any]]]
    try:
        if isinstance(event, (ShuffledDpEvent, SubsampledShuffledDpEvent, ShuffledCheckInDpEvent)):
            parameters = _shuffled(event)
        elif isinstance(event, (_dp.GaussianDpEvent, _dp.LaplaceDpEvent)):
            parameters = _noisy(event)
        elif isinstance(event, _dp.PoissonSampledDpEvent):
            parameters = _sampled(event)
        elif isinstance(event, _dp.RandomizedResponseDpEvent):
            parameters = _response(event)
        else:
            supported = "shuffled, Gaussian (also Poisson-sampled), Laplace and randomized response events"
            raise _Refused(event, f"Unsupported event: {type(event).__name__} is not among the {supported}.")
        if parameters is None:
            return False
        method, arguments = parameters
        # A mechanism that was composed zero times has not happened; that its parameters are in order is checked all the same.
        scratch = accountant if count > 0 else Accountant()
        if method != "nothing":
            getattr(scratch, method)(count=max(count, 1), **arguments)
    except (ShuffledpError, TypeError) as error:
        raise _Refused(event, str(error)) from error
    return True


# What follows gives a method of the accountant with its arguments, or None for what is not private at all.


def _noisy(event: _dp.DpEvent) -> Optional[Tuple[str, Dict[str, Any]]]:
    """A sum with noise."""
    noise = event.noise_multiplier
    if 0 <= noise < _LEAST_NOISE_MULTIPLIER:
        return None
    method = "compose_gaussian" if isinstance(event, _dp.GaussianDpEvent) else "compose_laplace"
    return method, {"noise_multiplier": noise}


def _sampled(event: _dp.PoissonSampledDpEvent) -> Optional[Tuple[str, Dict[str, Any]]]:
    """A sum with Gaussian noise over a Poisson sample: a step of DP-SGD."""
    if not isinstance(event.event, _dp.GaussianDpEvent):
        raise _Refused(event, "Unsupported event: of a Poisson sample only a GaussianDpEvent is accounted for.")
    if not 0 <= event.sampling_probability <= 1:
        raise _Refused(event, f"sampling_probability must be between 0 and 1, but is {event.sampling_probability}")
    noisy = _noisy(event.event)
    if event.sampling_probability == 0:
        return "nothing", {}
    if noisy is None:
        return None
    method, arguments = noisy
    return method, {**arguments, "sampling_probability": event.sampling_probability}


def _response(event: _dp.RandomizedResponseDpEvent) -> Optional[Tuple[str, Dict[str, Any]]]:
    """Randomized response, not shuffled."""
    if event.num_buckets == 1 or event.noise_parameter == 1:
        return "nothing", {}
    if event.noise_parameter == 0:
        return None
    arguments = {"noise_parameter": event.noise_parameter, "num_buckets": event.num_buckets}
    return "compose_randomized_response", arguments


def _shuffled(event: Any) -> Optional[Tuple[str, Dict[str, Any]]]:
    """A shuffled round."""
    local = _local(event.event)
    if local is None:
        return None
    arguments: Dict[str, Any] = {"clients": event.clients, **local}
    if isinstance(event, SubsampledShuffledDpEvent):
        arguments["sampled"] = event.sampled
    if isinstance(event, ShuffledCheckInDpEvent):
        arguments["check_in"] = event.check_in
        arguments["drop_out"] = event.drop_out
    return "compose", arguments


def _local(event: _dp.DpEvent) -> Optional[Dict[str, Any]]:
    """Returns a client's mechanism in the accountant's terms; None if it is not private at all."""
    if isinstance(event, LocalDpEvent):
        return _local_randomizer(event)
    if isinstance(event, LocalProfileDpEvent):
        return {"randomizer": "profile", "profile": event.points}
    if isinstance(event, _dp.GaussianDpEvent):
        # Records of norm C, noise of s = σC: the same σ.
        return {"randomizer": "gaussian", "sigma": event.noise_multiplier} if event.noise_multiplier != 0 else None
    if isinstance(event, _dp.LaplaceDpEvent):
        if event.noise_multiplier == 0:
            return None
        # Two records are up to 2C apart in ℓ1, the scale is s.
        epsilon = math.nextafter(2 / event.noise_multiplier, math.inf)
        return {"randomizer": "laplace", "local_epsilon": epsilon}
    if isinstance(event, _dp.RandomizedResponseDpEvent):
        return _local_response(event)
    if isinstance(event, _dp.NonPrivateDpEvent):
        return None
    if isinstance(event, _dp.NoOpDpEvent):
        return {"local_epsilon": 0.0}
    supported = "LocalDpEvent, LocalProfileDpEvent, RandomizedResponseDpEvent, GaussianDpEvent, LaplaceDpEvent"
    raise _Refused(event, f"Unsupported event: a client's own event must be one of {supported}.")


def _local_randomizer(event: LocalDpEvent) -> Dict[str, Any]:
    arguments: Dict[str, Any] = {"randomizer": event.randomizer.value, "local_epsilon": event.local_epsilon}
    if event.dimension is not None:
        arguments["dimension"] = event.dimension
    if event.share is not None:
        arguments["share"] = event.share
    if event.local_delta != 0:
        if event.randomizer is not LocalRandomizer.ANY:
            raise _Refused(event, f"local_delta does not belong to {event.randomizer}")
        arguments.update(randomizer="approximate", local_delta=event.local_delta)
    return arguments


def _local_response(event: _dp.RandomizedResponseDpEvent) -> Optional[Dict[str, Any]]:
    noise, buckets = event.noise_parameter, event.num_buckets
    if buckets == 1 or noise == 1:
        return {"local_epsilon": 0.0}
    if noise == 0:
        return None
    if not 0 < noise < 1:
        raise _Refused(event, f"noise_parameter must be between 0 and 1, but is {noise}")
    # e^ε0 = (1 − p + p/k)/(p/k); a few roundings, upward. Less noise can be made more by post-processing, so a larger ε0 is safe.
    epsilon = math.log1p(buckets * (1 - noise) / noise) * (1 + 1e-14)
    return {"randomizer": "krr", "categories": buckets, "local_epsilon": epsilon}
