"""Local randomizers over NumPy arrays: what clients send, and what a server makes of a shuffled batch.

>>> import numpy, shuffledp
>>> from shuffledp.randomizers import Krr, shuffle
>>> krr = Krr(local_epsilon=2.0, categories=4)
>>> reports = shuffle(krr.randomize_batch(numpy.arange(10_000) % 4))
>>> aggregator = krr.aggregator()
>>> aggregator.add_batch(reports)
0
>>> bool(abs(aggregator.mean() - 0.25).max() < 0.1)
True

A randomizer can be handed to every function that takes one by name:

>>> round(shuffledp.epsilon(clients=10_000, randomizer=krr, delta=1e-6), 3)
0.102

Coins come from the operating system. For experiments that can be repeated there is :class:`SimulationRng`; reports made with it protect nobody.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Type, Union, overload

import numpy

from ._native import (
    Aggregator,
    CategoryRandomizer,
    Intervals,
    ParameterError,
    SimulationRng,
    VectorRandomizer,
    _check_in,
    _permutation,
)

if TYPE_CHECKING:
    from typing import TypeVar

    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    _Number = TypeVar("_Number", bound=numpy.generic)

__all__ = [
    "Aggregator",
    "CategoryRandomizer",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Duchi",
    "Gaussian",
    "Intervals",
    "Krr",
    "Laplace",
    "LdpSgd",
    "PrivUnit",
    "R1",
    "RInf",
    "RoundedGaussian",
    "Rr",
    "SimulationRng",
    "TopSet",
    "VectorRandomizer",
    "check_in",
    "flatten",
    "from_dict",
    "shuffle",
    "unflatten",
]


def shuffle(reports: NDArray[_Number], *, rng: Optional[SimulationRng] = None) -> NDArray[_Number]:
    """The rows of ``reports`` in an order of which every one is equally likely, as a new array.

    >>> import numpy
    >>> from shuffledp.randomizers import SimulationRng, shuffle
    >>> shuffle(numpy.arange(6), rng=SimulationRng(1)).tolist()
    [1, 4, 0, 5, 2, 3]
    """
    shuffled: NDArray[_Number] = reports[_permutation(len(reports), rng=rng)]
    return shuffled


@overload
def check_in(rate: float, count: None = None, *, rng: Optional[SimulationRng] = None) -> bool: ...
@overload
def check_in(rate: float, count: int, *, rng: Optional[SimulationRng] = None) -> NDArray[numpy.bool_]: ...
def check_in(
    rate: float, count: Optional[int] = None, *, rng: Optional[SimulationRng] = None
) -> Union[bool, NDArray[numpy.bool_]]:
    """Whether a client participates in a round: the coin that it flips on its own; with ``count``, the coins of so many simulated clients.

    The probability is the largest multiple of 2^-64 that is at most ``rate``, exactly, so accounting with ``check_in=rate`` is right. A client flips it in every round, and nobody else may see
    how it fell.

    >>> from shuffledp.randomizers import SimulationRng, check_in
    >>> check_in(0.5) in (True, False)
    True
    >>> int(check_in(0.1, 10_000, rng=SimulationRng(1)).sum())
    963
    """
    if count is None:
        return bool(_check_in(rate, 1, rng=rng)[0])
    return _check_in(rate, count, rng=rng)


def flatten(arrays: Sequence[ArrayLike]) -> NDArray[numpy.float32]:
    """The numbers of all arrays, one after another in C order, as one vector of float32: a model's weights as what a randomizer takes.

    >>> import numpy
    >>> from shuffledp.randomizers import flatten
    >>> flatten([numpy.eye(2), numpy.arange(3)]).tolist()
    [1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 2.0]
    """
    parts = [numpy.asarray(array) for array in arrays]
    for place, part in enumerate(parts):
        if part.dtype.kind not in "fiub":
            raise TypeError(f"arrays must hold real numbers, but number {place} is of {part.dtype}")
    whole = numpy.empty(sum(part.size for part in parts), numpy.float32)
    start = 0
    for part in parts:
        whole[start : start + part.size] = part.ravel()
        start += part.size
    return whole


def unflatten(
    vector: NDArray[Any], like: Sequence[Union[NDArray[Any], Sequence[int]]]
) -> List[NDArray[Any]]:
    """Cuts a vector into arrays with the shapes of ``like`` (arrays, whose types are taken over too, or shapes): the inverse of :func:`flatten`.

    >>> import numpy
    >>> from shuffledp.randomizers import flatten, unflatten
    >>> weights = [numpy.eye(2), numpy.zeros(3)]
    >>> [part.shape for part in unflatten(flatten(weights), weights)]
    [(2, 2), (3,)]
    """
    flat = numpy.asarray(vector)
    shapes = [part.shape if isinstance(part, numpy.ndarray) else tuple(part) for part in like]
    sizes = [int(numpy.prod(shape, dtype=numpy.int64)) for shape in shapes]
    if flat.ndim != 1 or flat.size != sum(sizes):
        raise ValueError(f"vector must have one dimension and {sum(sizes)} numbers, but has the shape {flat.shape}")
    ends = numpy.cumsum(sizes)
    parts = [flat[end - size : end].reshape(shape) for end, size, shape in zip(ends, sizes, shapes)]
    return [
        part.astype(of.dtype) if isinstance(of, numpy.ndarray) else part.copy() for part, of in zip(parts, like)
    ]


def from_dict(written: Mapping[str, Any]) -> Union[VectorRandomizer, CategoryRandomizer]:
    """The randomizer that ``to_dict`` wrote.

    >>> from shuffledp.randomizers import Krr, from_dict
    >>> from_dict(Krr(local_epsilon=2.0, categories=10).to_dict())
    Krr(local_epsilon=2.0, categories=10)
    """
    parameters: Dict[str, Any] = dict(written)
    name = parameters.pop("randomizer", None)
    if name not in _BY_NAME:
        raise ParameterError(f"randomizer must be one of {', '.join(_BY_NAME)}, but is {name!r}")
    kind = _BY_NAME[name]
    taken = inspect.signature(kind.__new__).parameters
    unknown = sorted(set(parameters) - set(taken))
    if unknown:
        raise ParameterError(f"{unknown[0]} does not belong to randomizer {name}; leave it out")
    if isinstance(parameters.get("public_seed"), str):
        parameters["public_seed"] = bytes.fromhex(parameters["public_seed"])
    try:
        read: Union[VectorRandomizer, CategoryRandomizer] = kind(**parameters)
    except TypeError as wrong:
        raise ParameterError(f"randomizer {name}: {wrong}") from wrong
    return read


class Rr(CategoryRandomizer):
    """Binary randomized response (Warner 1965): the values 0 and 1.

    >>> from shuffledp.randomizers import Rr
    >>> Rr(local_epsilon=1.0).randomize(1) in (0, 1)
    True
    """

    __slots__ = ()

    def __new__(cls, *, local_epsilon: float) -> Self:
        return super().__new__(cls, "rr", local_epsilon=local_epsilon)


class Krr(CategoryRandomizer):
    """Randomized response over the categories 0 to ``categories`` − 1.

    >>> import numpy
    >>> from shuffledp.randomizers import Krr
    >>> krr = Krr(local_epsilon=1.0, categories=1000)
    >>> krr.randomize_batch(numpy.array([3, 14, 159])).dtype, krr.encode(numpy.array([3, 14, 159])).shape
    (dtype('int64'), (3, 2))
    >>> krr.randomize(1000)
    Traceback (most recent call last):
        ...
    shuffledp.InputError: input refused: the category is not below 1000
    """

    __slots__ = ()

    def __new__(cls, *, local_epsilon: float, categories: int) -> Self:
        return super().__new__(cls, "krr", local_epsilon=local_epsilon, categories=categories)


class RInf(VectorRandomizer):
    """One signed coordinate of a vector whose coordinates are each clamped to [−``clip``, ``clip``] (Girgis et al. 2021).

    >>> import numpy
    >>> from shuffledp.randomizers import RInf
    >>> mechanism = RInf(local_epsilon=2.0, dimension=13_706, clip=0.01)
    >>> len(mechanism.randomize(numpy.zeros(13_706, numpy.float32)))
    2
    >>> mechanism.randomize_batch(numpy.zeros((100, 13_706), numpy.float32)).shape
    (100, 2)
    """

    __slots__ = ()

    def __new__(cls, *, local_epsilon: float, dimension: int, clip: float) -> Self:
        return super().__new__(cls, "r-inf", local_epsilon=local_epsilon, dimension=dimension, clip=clip)


class R1(VectorRandomizer):
    """One signed Hadamard coefficient of a vector scaled to ℓ1 norm ``clip`` at most (Girgis et al. 2021).

    >>> from shuffledp.randomizers import R1
    >>> R1(local_epsilon=2.0, dimension=1000, clip=1.0).frame_len
    2
    """

    __slots__ = ()

    def __new__(cls, *, local_epsilon: float, dimension: int, clip: float) -> Self:
        return super().__new__(cls, "r-1", local_epsilon=local_epsilon, dimension=dimension, clip=clip)


class Duchi(VectorRandomizer):
    """The seed of a random direction and a sign, of a vector scaled to ℓ2 norm ``clip`` at most (Duchi et al. 2018; R_2).

    >>> from shuffledp.randomizers import Duchi
    >>> Duchi(local_epsilon=2.0, dimension=13_706, clip=1.0).frame_len
    8
    """

    __slots__ = ()

    def __new__(cls, *, local_epsilon: float, dimension: int, clip: float) -> Self:
        return super().__new__(cls, "r-2", local_epsilon=local_epsilon, dimension=dimension, clip=clip)


class LdpSgd(VectorRandomizer):
    """The same mechanism as :class:`Duchi`, by the name under which federated learning knows it.

    >>> from shuffledp.randomizers import LdpSgd
    >>> LdpSgd(local_epsilon=2.0, dimension=13_706, clip=1.0).name
    'ldp-sgd'
    """

    __slots__ = ()

    def __new__(cls, *, local_epsilon: float, dimension: int, clip: float) -> Self:
        return super().__new__(cls, "ldp-sgd", local_epsilon=local_epsilon, dimension=dimension, clip=clip)


class PrivUnit(VectorRandomizer):
    """A point of the sphere, rather near the vector than far from it; vectors are scaled to ℓ2 norm ``clip`` at most (Bhowmick et al. 2018).

    >>> from shuffledp.randomizers import PrivUnit
    >>> PrivUnit(local_epsilon=8.0, dimension=50, clip=1.0).frame_len
    100
    """

    __slots__ = ()

    def __new__(cls, *, local_epsilon: float, dimension: int, clip: float) -> Self:
        return super().__new__(cls, "priv-unit", local_epsilon=local_epsilon, dimension=dimension, clip=clip)


class TopSet(VectorRandomizer):
    """One signed coordinate of a publicly rotated vector, more often one of the largest; vectors are scaled to ℓ2 norm ``clip`` at most.

    ``share``, at most 1/2, is the share of all signed coordinates that a client's own set holds; 0.19 is good at
    ε0 = 1, 0.11 at 2, 0.03 at 4. ``public_seed``, 32 bytes, chooses the rotation: clients and server use the same,
    and a new one each round. Privacy does not depend on it.

    The estimate is biased in every single round. Average over rounds with different seeds; see
    ``docs/randomizers.md``. There are no intervals.

    >>> from shuffledp.randomizers import TopSet
    >>> TopSet(local_epsilon=2.0, dimension=9760, share=0.125, clip=1.0).frame_len
    2
    >>> rounds = [TopSet(local_epsilon=2.0, dimension=9760, share=0.125, clip=1.0, public_seed=bytes([i]) * 32) for i in range(2)]
    >>> rounds[0] == rounds[1]
    False
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        local_epsilon: float,
        dimension: int,
        share: float,
        clip: float,
        public_seed: Optional[bytes] = None,
    ) -> Self:
        return super().__new__(
            cls,
            "top-set",
            local_epsilon=local_epsilon,
            dimension=dimension,
            share=share,
            clip=clip,
            public_seed=public_seed,
        )


class Gaussian(VectorRandomizer):
    """Gaussian noise of standard deviation ``sigma`` times ``clip``, the ℓ2 norm to which vectors are scaled.

    In floating point, whose low-order bits can give the input away: for simulations. Deploy :class:`RoundedGaussian`, which has the same bounds.

    >>> from shuffledp.randomizers import Gaussian
    >>> Gaussian(sigma=2.0, dimension=10, clip=1.0)
    Gaussian(sigma=2.0, dimension=10, clip=1.0)
    """

    __slots__ = ()

    def __new__(cls, *, sigma: float, dimension: int, clip: float) -> Self:
        return super().__new__(cls, "gaussian", sigma=sigma, dimension=dimension, clip=clip)


class DiscreteGaussian(VectorRandomizer):
    """Gaussian noise on a grid, sampled exactly: standard deviation ``sigma`` times ``clip``, the ℓ2 norm to which vectors are scaled.

    >>> import numpy
    >>> from shuffledp.randomizers import DiscreteGaussian
    >>> mechanism = DiscreteGaussian(sigma=2.0, dimension=10, clip=1.0)
    >>> mechanism.randomize(numpy.full(10, numpy.nan))
    Traceback (most recent call last):
        ...
    shuffledp.InputError: input refused: a coordinate is NaN or infinite
    """

    __slots__ = ()

    def __new__(cls, *, sigma: float, dimension: int, clip: float) -> Self:
        return super().__new__(cls, "discrete-gaussian", sigma=sigma, dimension=dimension, clip=clip)


class RoundedGaussian(VectorRandomizer):
    """Gaussian noise, drawn exactly, and the sum rounded to a grid of half a standard deviation.

    The noise has standard deviation ``sigma`` times ``clip``, the ℓ2 norm to which vectors are scaled.
    Rounding is post-processing, so the bounds are those of :class:`Gaussian`. It adds 1/48 of the
    variance. A report takes 5 bits a coordinate from ``sigma`` = 4/3 on.

    >>> from shuffledp.randomizers import RoundedGaussian
    >>> RoundedGaussian(sigma=5.0, dimension=34_720, clip=1.0).frame_len
    21700
    """

    __slots__ = ()

    def __new__(cls, *, sigma: float, dimension: int, clip: float) -> Self:
        return super().__new__(cls, "rounded-gaussian", sigma=sigma, dimension=dimension, clip=clip)


class Laplace(VectorRandomizer):
    """Laplace noise of scale 2·``clip``/ε0; vectors are scaled to ℓ1 norm ``clip`` at most.

    In floating point, whose low-order bits can give the input away: for simulations. Deploy :class:`DiscreteLaplace`, which is accounted for alike.

    >>> from shuffledp.randomizers import Laplace
    >>> Laplace(local_epsilon=1.0, dimension=10, clip=1.0).frame_len
    40
    """

    __slots__ = ()

    def __new__(cls, *, local_epsilon: float, dimension: int, clip: float) -> Self:
        return super().__new__(cls, "laplace", local_epsilon=local_epsilon, dimension=dimension, clip=clip)


class DiscreteLaplace(VectorRandomizer):
    """Laplace noise on a grid, sampled exactly: scale 2·``clip``/ε0; vectors are scaled to ℓ1 norm ``clip`` at most.

    >>> from shuffledp.randomizers import DiscreteLaplace
    >>> DiscreteLaplace(local_epsilon=1.0, dimension=10, clip=1.0).name
    'discrete-laplace'
    """

    __slots__ = ()

    def __new__(cls, *, local_epsilon: float, dimension: int, clip: float) -> Self:
        return super().__new__(cls, "discrete-laplace", local_epsilon=local_epsilon, dimension=dimension, clip=clip)


_BY_NAME: Dict[str, Type[Any]] = {
    "rr": Rr,
    "krr": Krr,
    "r-inf": RInf,
    "r-1": R1,
    "r-2": Duchi,
    "ldp-sgd": LdpSgd,
    "priv-unit": PrivUnit,
    "top-set": TopSet,
    "gaussian": Gaussian,
    "discrete-gaussian": DiscreteGaussian,
    "rounded-gaussian": RoundedGaussian,
    "laplace": Laplace,
    "discrete-laplace": DiscreteLaplace,
}
