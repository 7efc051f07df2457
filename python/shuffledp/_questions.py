"""Questions, with their arguments spelled out. The tables of the front desk decide the names; a test compares."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, TypeVar, Union, overload

import numpy

from . import _native
from ._native import Answer, Calibration

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import ParamSpec

    from ._arguments import Adjacency, Count, Counts, Profile, Randomizer, Reals, Solvable, Standing

    _P = ParamSpec("_P")
_T = TypeVar("_T")

# What may hold an array: numbers, and nothing that is a list of its own.
_NUMBERS = frozenset(name for name, kind, _, _ in _native._parameters() if kind in ("count", "real"))


def _documented(ask: Callable[_P, _T]) -> Callable[_P, _T]:
    """Adds what the tables say of every argument; an argument that does not exist is refused with the name that may have been meant."""
    known = set(inspect.signature(ask).parameters)
    rows = [row for row in _native._parameters() if row[0] in known]
    lines = [f"    {name}: {text}{f' (default: {default})' if default else ''}." for name, _, text, default in rows]
    text, _, examples = (inspect.getdoc(ask) or "").partition("\n\n>>> ")
    native: Any = getattr(_native, ask.__name__)

    @functools.wraps(ask)
    def asked(*arguments: _P.args, **named: _P.kwargs) -> _T:
        unknown = [name for name in named if name not in known]
        if unknown:
            required: Dict[str, Any] = {"delta": 0.5, "epsilon": 0.5, "solve": "rounds", "target_epsilon": 0.5}
            needed = {name: required[name] for name in inspect.signature(native).parameters if name in required}
            native(**needed, **{unknown[0]: named[unknown[0]]})
        return ask(*arguments, **named)

    asked.__doc__ = text + "\n\nArgs:\n" + "\n".join(lines) + (f"\n\n>>> {examples}" if examples else "")
    return asked


def _each(native: Callable[..., float], name: str, given: Mapping[str, Any]) -> Union[float, NDArray[numpy.float64]]:
    """One answer, or one for each element of the arrays among the arguments, broadcast against each other."""
    many = {key: numpy.asarray(value) for key, value in given.items() if _holds_many(key, name, value)}
    if not many:
        return native(**given)
    shape = numpy.broadcast_shapes(*(array.shape for array in many.values()))
    spread = {key: numpy.broadcast_to(array, shape) for key, array in many.items()}
    answers = numpy.empty(shape, numpy.float64)
    for index in numpy.ndindex(shape):
        one = {key: array[index].item() for key, array in spread.items()}
        answers[index] = native(**{**given, **one})
    return answers


def _holds_many(key: str, name: str, value: Any) -> bool:
    if key not in _NUMBERS and key != name:
        return False
    return isinstance(value, (list, tuple, range)) or (isinstance(value, numpy.ndarray) and value.ndim > 0)


@overload
def epsilon(
    *,
    delta: float,
    clients: Count,
    sampled: Optional[Count] = None,
    check_in: Optional[float] = None,
    drop_out: Optional[float] = None,
    randomizer: Optional[Randomizer] = None,
    local_epsilon: Optional[float] = None,
    local_delta: Optional[float] = None,
    sigma: Optional[float] = None,
    sensitivity: Optional[float] = None,
    categories: Optional[Count] = None,
    dimension: Optional[Count] = None,
    share: Optional[float] = None,
    profile: Optional[Profile] = None,
    rounds: Optional[Count] = None,
    adjacency: Optional[Adjacency] = None,
    standing: Optional[Standing] = None,
    max_order: Optional[float] = None,
) -> float: ...
@overload
def epsilon(
    *,
    delta: Reals,
    clients: Counts,
    sampled: Optional[Counts] = None,
    check_in: Optional[Reals] = None,
    drop_out: Optional[Reals] = None,
    randomizer: Optional[Randomizer] = None,
    local_epsilon: Optional[Reals] = None,
    local_delta: Optional[Reals] = None,
    sigma: Optional[Reals] = None,
    sensitivity: Optional[Reals] = None,
    categories: Optional[Counts] = None,
    dimension: Optional[Counts] = None,
    share: Optional[Reals] = None,
    profile: Optional[Profile] = None,
    rounds: Optional[Counts] = None,
    adjacency: Optional[Adjacency] = None,
    standing: Optional[Standing] = None,
    max_order: Optional[Reals] = None,
) -> Any: ...
@_documented
def epsilon(
    *,
    delta: Reals,
    clients: Counts,
    sampled: Optional[Counts] = None,
    check_in: Optional[Reals] = None,
    drop_out: Optional[Reals] = None,
    randomizer: Optional[Randomizer] = None,
    local_epsilon: Optional[Reals] = None,
    local_delta: Optional[Reals] = None,
    sigma: Optional[Reals] = None,
    sensitivity: Optional[Reals] = None,
    categories: Optional[Counts] = None,
    dimension: Optional[Counts] = None,
    share: Optional[Reals] = None,
    profile: Optional[Profile] = None,
    rounds: Optional[Counts] = None,
    adjacency: Optional[Adjacency] = None,
    standing: Optional[Standing] = None,
    max_order: Optional[Reals] = None,
) -> Any:
    """The ε that belongs to a δ: the tightest upper bound of sufficient standing.

    Numbers may be arrays or lists: they are broadcast against each other, and the answer is an array.

    A thousand of a million clients participate in each of 100,000 rounds, with any randomizer with local ε = 2:

    >>> import shuffledp
    >>> round(shuffledp.epsilon(clients=1_000_000, sampled=1000, local_epsilon=2, rounds=100_000, delta=1e-8), 5)
    0.13755
    >>> shuffledp.epsilon(clients=10_000, local_epsilon=1, rounds=[1, 10], delta=1e-6).round(4)
    array([0.0382, 0.1316])

    Of a randomizer that has no name here its local privacy profile is enough: points (ε, δ) that no two of its inputs exceed, from ε = 0 on.

    >>> profile = [(0, 0.3), (0.5, 0.1), (1, 0.02), (2, 0)]
    >>> round(shuffledp.epsilon(clients=10_000, randomizer="profile", profile=profile, delta=1e-6), 5)
    0.03303

    Where nothing bounds it, it is infinite or an error, never a smaller number:

    >>> shuffledp.epsilon(clients=10, local_epsilon=-1, delta=1e-6)
    Traceback (most recent call last):
        ...
    shuffledp.ParameterError: local_epsilon must be a finite number of at least 0, but is -1
    """
    given = dict(
        delta=delta,
        clients=clients,
        sampled=sampled,
        check_in=check_in,
        drop_out=drop_out,
        randomizer=randomizer,
        local_epsilon=local_epsilon,
        local_delta=local_delta,
        sigma=sigma,
        sensitivity=sensitivity,
        categories=categories,
        dimension=dimension,
        share=share,
        profile=profile,
        rounds=rounds,
        adjacency=adjacency,
        standing=standing,
        max_order=max_order,
    )
    return _each(_native.epsilon, "delta", given)


@overload
def delta(
    *,
    epsilon: float,
    clients: Count,
    sampled: Optional[Count] = None,
    check_in: Optional[float] = None,
    drop_out: Optional[float] = None,
    randomizer: Optional[Randomizer] = None,
    local_epsilon: Optional[float] = None,
    local_delta: Optional[float] = None,
    sigma: Optional[float] = None,
    sensitivity: Optional[float] = None,
    categories: Optional[Count] = None,
    dimension: Optional[Count] = None,
    share: Optional[float] = None,
    profile: Optional[Profile] = None,
    rounds: Optional[Count] = None,
    adjacency: Optional[Adjacency] = None,
    standing: Optional[Standing] = None,
    max_order: Optional[float] = None,
) -> float: ...
@overload
def delta(
    *,
    epsilon: Reals,
    clients: Counts,
    sampled: Optional[Counts] = None,
    check_in: Optional[Reals] = None,
    drop_out: Optional[Reals] = None,
    randomizer: Optional[Randomizer] = None,
    local_epsilon: Optional[Reals] = None,
    local_delta: Optional[Reals] = None,
    sigma: Optional[Reals] = None,
    sensitivity: Optional[Reals] = None,
    categories: Optional[Counts] = None,
    dimension: Optional[Counts] = None,
    share: Optional[Reals] = None,
    profile: Optional[Profile] = None,
    rounds: Optional[Counts] = None,
    adjacency: Optional[Adjacency] = None,
    standing: Optional[Standing] = None,
    max_order: Optional[Reals] = None,
) -> Any: ...
@_documented
def delta(
    *,
    epsilon: Reals,
    clients: Counts,
    sampled: Optional[Counts] = None,
    check_in: Optional[Reals] = None,
    drop_out: Optional[Reals] = None,
    randomizer: Optional[Randomizer] = None,
    local_epsilon: Optional[Reals] = None,
    local_delta: Optional[Reals] = None,
    sigma: Optional[Reals] = None,
    sensitivity: Optional[Reals] = None,
    categories: Optional[Counts] = None,
    dimension: Optional[Counts] = None,
    share: Optional[Reals] = None,
    profile: Optional[Profile] = None,
    rounds: Optional[Counts] = None,
    adjacency: Optional[Adjacency] = None,
    standing: Optional[Standing] = None,
    max_order: Optional[Reals] = None,
) -> Any:
    """The δ that belongs to an ε: the tightest upper bound of sufficient standing.

    Numbers may be arrays or lists: they are broadcast against each other, and the answer is an array.

    >>> import shuffledp
    >>> shuffledp.delta(clients=10_000, local_epsilon=1, rounds=10, epsilon=0.25) < 1e-6
    True
    """
    given = dict(
        epsilon=epsilon,
        clients=clients,
        sampled=sampled,
        check_in=check_in,
        drop_out=drop_out,
        randomizer=randomizer,
        local_epsilon=local_epsilon,
        local_delta=local_delta,
        sigma=sigma,
        sensitivity=sensitivity,
        categories=categories,
        dimension=dimension,
        share=share,
        profile=profile,
        rounds=rounds,
        adjacency=adjacency,
        standing=standing,
        max_order=max_order,
    )
    return _each(_native.delta, "epsilon", given)


@_documented
def explain(
    *,
    delta: Optional[float] = None,
    epsilon: Optional[float] = None,
    order: Optional[float] = None,
    clients: Count,
    sampled: Optional[Count] = None,
    check_in: Optional[float] = None,
    drop_out: Optional[float] = None,
    randomizer: Optional[Randomizer] = None,
    local_epsilon: Optional[float] = None,
    local_delta: Optional[float] = None,
    sigma: Optional[float] = None,
    sensitivity: Optional[float] = None,
    categories: Optional[Count] = None,
    dimension: Optional[Count] = None,
    share: Optional[float] = None,
    profile: Optional[Profile] = None,
    rounds: Optional[Count] = None,
    adjacency: Optional[Adjacency] = None,
    standing: Optional[Standing] = None,
    max_order: Optional[float] = None,
) -> Answer:
    """The answers of all methods to a question, and the chosen one.

    Exactly one of ``delta``, ``epsilon`` and ``order`` is given: then ε, δ or the Rényi divergence is asked for.

    >>> import shuffledp
    >>> answer = shuffledp.explain(clients=10_000, randomizer="rr", local_epsilon=1, delta=1e-6)
    >>> answer.method, answer.standing, answer.lower <= answer.value
    ('rr-envelope-pld', 'rigorous', True)
    >>> [bound.id for bound in answer.bounds if bound.standing == "asymptotic"]
    ['enhanced-corollary-2', 'enhanced-theorem-2']
    >>> answer.not_applicable["check-in-theorem-2"]
    'the bound is for shuffled check-in'
    """
    return _native.explain(
        delta=delta,
        epsilon=epsilon,
        order=order,
        clients=clients,
        sampled=sampled,
        check_in=check_in,
        drop_out=drop_out,
        randomizer=randomizer,
        local_epsilon=local_epsilon,
        local_delta=local_delta,
        sigma=sigma,
        sensitivity=sensitivity,
        categories=categories,
        dimension=dimension,
        share=share,
        profile=profile,
        rounds=rounds,
        adjacency=adjacency,
        standing=standing,
        max_order=max_order,
    )


@_documented
def calibrate(
    *,
    solve: Solvable,
    target_epsilon: float,
    delta: float,
    clients: Optional[Count] = None,
    sampled: Optional[Count] = None,
    check_in: Optional[float] = None,
    drop_out: Optional[float] = None,
    randomizer: Optional[Randomizer] = None,
    local_epsilon: Optional[float] = None,
    local_delta: Optional[float] = None,
    sigma: Optional[float] = None,
    sensitivity: Optional[float] = None,
    categories: Optional[Count] = None,
    dimension: Optional[Count] = None,
    share: Optional[float] = None,
    profile: Optional[Profile] = None,
    rounds: Optional[Count] = None,
    adjacency: Optional[Adjacency] = None,
    standing: Optional[Standing] = None,
    max_order: Optional[float] = None,
) -> Calibration:
    """The number that meets a target ε: local ε, σ, rounds, clients, sampled clients or check-in rate.

    ``solve`` names the argument that is looked for and that is then left out. The answer meets the target when it is asked for its ε, and the next value
    beyond it does not. A target that no value meets is an error, which says how near one can come.

    How many rounds fit into ε = 0.2, if a thousand of a million clients participate in each?

    >>> import shuffledp
    >>> found = shuffledp.calibrate(
    ...     solve="rounds", target_epsilon=0.2, delta=1e-8, clients=1_000_000, sampled=1000, local_epsilon=2
    ... )
    >>> found.value, found.next_value, found.epsilon <= 0.2 < found.next_epsilon
    (204629, 204630, True)

    >>> shuffledp.calibrate(solve="clients", target_epsilon=1e-9, delta=1e-8, local_epsilon=2, rounds=1000)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    shuffledp.NoAnswerError: no clients meets ε ≤ 1e-9 at δ = 1e-8: the best is ε ≤ ...
    """
    return _native.calibrate(
        solve=solve,
        target_epsilon=target_epsilon,
        delta=delta,
        clients=clients,
        sampled=sampled,
        check_in=check_in,
        drop_out=drop_out,
        randomizer=randomizer,
        local_epsilon=local_epsilon,
        local_delta=local_delta,
        sigma=sigma,
        sensitivity=sensitivity,
        categories=categories,
        dimension=dimension,
        share=share,
        profile=profile,
        rounds=rounds,
        adjacency=adjacency,
        standing=standing,
        max_order=max_order,
    )
