"""Every bound of a question, as a list and as a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional

from . import _html
from ._native import Answer, Bound
from ._questions import explain

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Unpack

    from ._arguments import QuestionArguments

_COLUMNS = ("id", "kind", "standing", "value", "order", "citation", "note")


class Bounds(List[Bound]):
    """Bounds in the catalogue's order: a list, and with pandas a frame.

    >>> import shuffledp
    >>> found = shuffledp.bounds(clients=10_000, local_epsilon=1, rounds=10, delta=1e-6)
    >>> found[0].id, found[0].kind, found[0].standing, round(found[0].value, 4)
    ('girgis-theorem-1', 'upper', 'rigorous', 1.2377)
    >>> min(bound.value for bound in found if bound.standing == "rigorous") < 0.25
    True
    """

    def to_frame(self) -> pandas.DataFrame:
        """One row for each bound, its name as the index. Needs pandas."""
        try:
            import pandas
        except ImportError as missing:
            raise ImportError("a frame needs pandas: pip install pandas") from missing
        rows = [[getattr(bound, column) for column in _COLUMNS] for bound in self]
        return pandas.DataFrame(rows, columns=list(_COLUMNS)).set_index("id")

    def _repr_html_(self) -> str:
        """A table, for notebooks: the best bounds at the top, numbers rounded to the safe side."""
        return _html.bounds(self)


def bounds(
    *,
    delta: Optional[float] = None,
    epsilon: Optional[float] = None,
    order: Optional[float] = None,
    **question: Unpack[QuestionArguments],
) -> Bounds:
    """Every bound we know on ε (given ``delta``), on δ (given ``epsilon``) or on the Rényi divergence (given ``order``), each with its standing.

    The other arguments describe the question, as for :func:`shuffledp.epsilon`. ``to_frame()`` makes it a pandas frame.

    >>> import shuffledp
    >>> frame = shuffledp.bounds(clients=10_000, local_epsilon=1, rounds=10, delta=1e-6).to_frame()
    >>> frame[frame.standing == "rigorous"].value.idxmin()
    'displacement-any-pld'
    """
    return Bounds(explain(delta=delta, epsilon=epsilon, order=order, **question).bounds)
