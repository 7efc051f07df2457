"""The HTML that notebooks show. Upper bounds are rounded up and lower bounds down: a printed number is a claim."""

from __future__ import annotations

import decimal
import html
import math
from typing import TYPE_CHECKING, Iterable, Iterator, List, Optional

if TYPE_CHECKING:
    from ._native import Answer, Bound

_DIGITS = 5
_SYMBOL = {"epsilon": "ε", "delta": "δ", "rdp": "D"}
_AT = {"epsilon": "at δ = {}", "delta": "at ε = {}", "rdp": "at order λ = {}"}
_CARD = "border:1px solid #8886;border-radius:6px;padding:0.6em 1em;max-width:60em"
_COLOUR = {"rigorous": "#1a7f37", "lower": "#1a7f37", "conjectured": "#9a6700", "asymptotic": "#9a6700", "flawed": "#cf222e"}


def rounded(value: Optional[float], kind: str) -> str:
    """Five significant digits, on the safe side.

    >>> from shuffledp._html import rounded
    >>> rounded(0.123456789, "upper"), rounded(0.123456789, "lower"), rounded(float("inf"), "upper")
    ('0.12346', '0.12345', '∞')
    """
    if value is None:
        return ""
    if not math.isfinite(value):
        return "∞" if value > 0 else str(value)
    if value == 0:
        return "0"
    direction = decimal.ROUND_CEILING if kind == "upper" else decimal.ROUND_FLOOR
    short = decimal.Context(prec=_DIGITS, rounding=direction).create_decimal(value)
    if not 1e-4 <= abs(value) < 1e6:
        return f"{short:.{_DIGITS - 1}e}"
    plain = f"{short:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _escaped(text: str) -> str:
    return html.escape(text).replace("\n", "<br>")


def _listed(title: str, sentences: List[str]) -> str:
    if not sentences:
        return ""
    items = "".join(f"<li>{_escaped(sentence)}</li>" for sentence in sentences)
    return f"<details open><summary>{title}</summary><ul style='margin:0.2em 0'>{items}</ul></details>"


def _standing(word: str) -> str:
    return f"<span style='color:{_COLOUR.get(word, 'inherit')}'>{_escaped(word)}</span>"


def answer(found: Answer) -> str:
    """A card: both sides, how certain they are, and what they take for granted."""
    symbol = _SYMBOL[found.quantity]
    at = _AT[found.quantity].format(f"{found.given:g}")
    names = {bound.id: bound.name for bound in found.bounds}
    lines = [
        f"<div><b style='font-size:1.3em'>{symbol} ≤ {rounded(found.value, 'upper')}</b> {at}, {_escaped(found.adjacency)}"
        f" adjacency — {_standing(found.standing)}, {_escaped(names.get(found.method, found.method))}</div>"
    ]
    if found.lower is not None:
        lower = names.get(found.lower_method or "", found.lower_method or "")
        lines.append(f"<div>{symbol} ≥ {rounded(found.lower, 'lower')}: no analysis can go below it ({_escaped(lower)})</div>")
    lines.append(_listed("<b style='color:#cf222e'>Warnings</b>", found.warnings))
    lines.append(_listed("Assumes", found.assumptions))
    return f"<div style='{_CARD}'>{''.join(lines)}</div>"


def _in_order(found: Iterable[Bound]) -> Iterator[Bound]:
    """Upper bounds that are proven first, the tightest at the top; then the others; lower bounds last, the tightest at the top."""
    ranks = {"rigorous": 0, "conjectured": 1, "asymptotic": 2, "flawed": 3}
    key = lambda bound: (bound.kind != "upper", ranks.get(bound.standing, 0), bound.value if bound.kind == "upper" else -bound.value)  # noqa: E731
    return iter(sorted(found, key=key))


def bounds(found: Iterable[Bound]) -> str:
    """A table of bounds, the best ones at the top."""
    rows = []
    for bound in _in_order(found):
        sign = "≤" if bound.kind == "upper" else "≥"
        order = "" if bound.order is None else f"{bound.order:g}"
        cells = [
            f"<td style='text-align:left' title='{html.escape(bound.citation, quote=True)}'>{_escaped(bound.name)}</td>",
            f"<td style='text-align:left'><code>{_escaped(bound.id)}</code></td>",
            f"<td>{sign} {rounded(bound.value, bound.kind)}</td>",
            f"<td style='text-align:left'>{_standing(bound.standing)}</td>",
            f"<td>{order}</td>",
            f"<td style='text-align:left'>{_escaped(bound.note)}</td>",
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    head = "".join(f"<th style='text-align:left'>{name}</th>" for name in ("bound", "id", "value", "standing", "order", "note"))
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"
