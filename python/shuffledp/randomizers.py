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

from typing import TYPE_CHECKING, Optional

from ._native import (
    Aggregator,
    CategoryRandomizer,
    Intervals,
    SimulationRng,
    VectorRandomizer,
    _permutation,
)

if TYPE_CHECKING:
    from typing import TypeVar

    import numpy
    from numpy.typing import NDArray
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
    "shuffle",
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
