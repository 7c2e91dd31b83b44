"""Rows to aligned text, rounded to what is known of them."""

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from debandit.errors import printable, shorten

Row = Mapping[str, Any]
_LONGEST = 200  # characters of a text; nobody reads on


class Column(NamedTuple):
    """Which value of a row to show, under which title; the role decides how."""

    key: str
    title: str
    role: str  # text, mark (* if there is something), count, number, share, score, interval


def render(rows: Sequence[Row], columns: Sequence[Column], decimals: int) -> str:
    """A table with a rule under its header; numbers are aligned to the right."""
    cells = [[_cell(row[column.key], column.role, decimals) for column in columns] for row in rows]
    widths = [max(_width(column.title), *(_width(line[i]) for line in cells)) for i, column in enumerate(columns)]

    def line(texts: Sequence[str]) -> str:
        gaps = (" " * (width - _width(text)) for text, width in zip(texts, widths, strict=True))
        parts = (t + gap if c.role == "text" else gap + t for t, gap, c in zip(texts, gaps, columns, strict=True))
        return "  ".join(parts).rstrip()

    header = line([column.title for column in columns])
    return "\n".join([header, "-" * (sum(widths) + 2 * (len(widths) - 1)), *map(line, cells)])


def markdown(rows: Sequence[Row], columns: Sequence[Column], decimals: int) -> str:
    """The same as a Markdown table."""
    lines = [
        [column.title for column in columns],
        ["---" if column.role == "text" else "---:" for column in columns],
        *([_cell(row[c.key], c.role, decimals).replace("|", "\\|") for c in columns] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def decimals_for(uncertainties: Sequence[float]) -> int:
    """As many decimals as show the smallest uncertainty with one digit, or two if it begins with 1 or 2; else 4."""
    known = [u for u in uncertainties if math.isfinite(u) and u > 0]
    return max(0, -math.floor(math.log10(min(known) / 3))) if known else 4


def _width(text: str) -> int:
    """Columns on a terminal: East Asian characters take two, accents none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _cell(value: Any, role: str, decimals: int) -> str:
    if role == "text":
        return printable(shorten(str(value), _LONGEST))
    if role == "mark":
        return "*" if value else ""
    if role == "interval":
        low, high = value
        return limits_text(low, high, decimals)
    if value is None or not math.isfinite(value):
        return "–"
    if role == "count":
        return f"{value:,.0f}"
    if role == "score":
        return f"{value:.1f}"
    if role == "share":
        return f"{100 * value:.1f} %"
    return number(value, decimals)


def number(value: float, decimals: int) -> str:
    """The number with this many decimals, or in scientific notation where these are many or the number is large."""
    if decimals > 8 or abs(value) >= 1e9:
        return f"{value + 0.0:.5g}"
    return f"{round(value, decimals) + 0.0:,.{decimals}f}"  # a zero has no sign


def limits_text(low: float, high: float, decimals: int) -> str:
    """Limits in words."""
    if math.isnan(low):
        return "–"
    below, above = (_cell(limit, "number", decimals) for limit in (low, high))
    return f"{below}, no upper limit" if math.isinf(high) else f"{below} to {above}"
