"""What a result says about differences of arms."""

import math
from typing import TYPE_CHECKING

import numpy as np

from debandit.errors import shorten
from debandit.intervals.simulated import NULL_RUNS
from debandit.tables import Column, Part, Table, decimals_for, limits_text, percent
from debandit.words.values import Values, called, known

if TYPE_CHECKING:
    from debandit.result import Debiased
    from debandit.result_parts import Differences

_OF_P_VALUES = (
    f"p-value: how often a difference as large as this one, on either side, came out in up to {NULL_RUNS} runs in "
    "which the two arms have the same mean."
)
_OF_ADJUSTED = "Adjusted: by Holm's method, for all comparisons together."


def difference_sentence(result: "Debiased", arm: int, said: Values) -> str:
    """How far an arm is from the one it is compared with; nothing if that is not known."""
    found = result.differences
    if found is None or math.isnan(found.quoted[arm]):
        return ""
    value = found.quoted[arm]
    said = said.finer(value, found.low[arm], found.high[arm])  # a limit just below 0 must not look like 0
    name, other = called(result.labels[arm], first=True), called(found.to[arm])
    sentence = f"{name} is {said.difference(value)} {'above' if value >= 0 else 'below'} {other}"
    lift = _lift(found, arm) if result.settings.control is not None else ""
    return f"{sentence}{said.difference_limits(found.low[arm], found.high[arm])}{lift}{_p(found, arm)}."


def _lift(found: "Differences", arm: int) -> str:
    lift, low, high = (values[arm] for values in (found.lift, found.lift_low, found.lift_high))
    if math.isnan(lift):
        return ""
    decimals = decimals_for([(high - low) / 4 if math.isfinite(high - low) else 0.03])
    limits = "" if math.isnan(low) else f" ({limits_text(low, high, decimals, percents=True)})"
    return f", a lift of {percent(lift, decimals)}{limits}"


def _p(found: "Differences", arm: int) -> str:
    p = (found.p_adjusted if _several(found) else found.p_value)[arm]
    if math.isnan(p):
        return ""
    text = p_text(p)
    adjusted = f" after adjusting for {np.isfinite(found.p_value).sum()} comparisons" if _several(found) else ""
    return f"; p {text if text.startswith('<') else f'= {text}'}{adjusted}"


def _several(found: "Differences") -> bool:
    return bool(np.isfinite(found.p_value).sum() > 1)


def p_text(p: float) -> str:
    """The p-value as it is printed; more runs could make the least one smaller."""
    least = 2 / (1 + NULL_RUNS)
    return "–" if math.isnan(p) else f"< {least:.3f}" if p <= least else f"{p:.3f}"


def difference_parts(result: "Debiased") -> list[Part]:
    """A table of differences to the named control, and what its p-values are."""
    found = result.differences
    if found is None or result.settings.control is None:
        return []
    parts = [
        Part("differences", f"Differences to {shorten(result.settings.control)}:"),
        Part("differences", _table(result, found)),
    ]
    if known(found.p_value):
        parts.append(Part("p-values", _OF_P_VALUES))
        parts += [Part("p-values", _OF_ADJUSTED)] * _several(found)
    return parts


def _table(result: "Debiased", found: "Differences") -> Table:
    said = Values.in_tables(result)
    pairs = {"limits": (found.low, found.high), "lift_limits": (found.lift_low, found.lift_high)}
    rows = [
        row
        | {key: (low[k], high[k]) for key, (low, high) in pairs.items()}
        | {"p": p_text(found.p_value[k]), "adjusted": p_text(found.p_adjusted[k])}
        for k, row in enumerate(result.arm_rows())
        if row["arm"] != row["compared_with"]
    ]
    shown = [
        (True, Column("arm", "arm", "text")),
        (True, said.column("difference", "raw")),
        (True, said.column("quoted_difference", "quoted")),
        (known(found.low), said.interval_column()),
        (known(found.p_value), Column("p", "p-value", "text")),
        (_several(found), Column("adjusted", "adjusted", "text")),
        (known(found.lift), Column("lift", "lift", "percent")),
        (known(found.lift_low), Column("lift_limits", said.title, "percents")),
    ]
    return Table(rows, [column for there, column in shown if there], said.decimals)
