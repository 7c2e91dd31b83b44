"""The answer in short: a sentence for each arm, what the differences are, one narrow table, doubts, what to do next."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from debandit.errors import with_few_sizes
from debandit.settings import absence_notes
from debandit.tables import Column, Part, Table
from debandit.words.differences import difference_sentence
from debandit.words.metrics import metric_parts
from debandit.words.periods import period_parts
from debandit.words.values import Values, by_mean, called, has_quoted, verb

if TYPE_CHECKING:
    from debandit.result import Debiased

MOST_SENTENCES, FIRST = 10, 4  # arms that all have their sentence, and how many have one if there are more
_OFTEN = 0.05  # share of the runs without a pull of an arm that is worth a column
_GIVEN = ("given that it leads this experiment", "given that it comes second", "given that it trails")
_WHICH = {
    "quoted": "quoted: corrected given the arm's place here.",
    "corrected": "corrected: on average, for pooling many experiments.",
}
_DETAILS = "; --details shows how this was made"


def answer(result: "Debiased", behind: Sequence[Part] = ()) -> list[Part]:
    """What to tell people about a result, with what is shown `behind` it."""
    settings, table = result.settings, _table(result)
    which = [text for key, text in _WHICH.items() if key in {column.key for column in table.columns}]
    rule = f"{len(result.labels):,} arms, {settings.horizon:,} rounds; rule {with_few_sizes(settings.policy)}:"
    return [
        *_sentences(result),
        Part("caption", rule),
        Part("table", table),
        *([Part("which", " ".join(which))] if has_quoted(result) else []),
        *period_parts(result),
        *metric_parts(result),
        *(Part("note", f"note: {note}") for note in (*result.interval.notes, *absence_notes(settings.absent))),
        *(Part("warning", f"warning: {with_few_sizes(warning)}") for warning in result.warnings),
        *behind,
        Part("next", f"Next: {_next(result)}{'' if behind else _DETAILS}."),
    ]


def _sentences(result: "Debiased") -> list[Part]:
    """A sentence for each arm, of very many for the leader, the next few and the control; and on differences."""
    order, control, said = by_mean(result), result.settings.control, Values.in_sentences(result)
    named = order if len(order) <= MOST_SENTENCES else order[:FIRST]
    if control is not None and result.labels.index(control) not in named:
        named = [*named, result.labels.index(control)]
    parts = [Part("sentence", _of_arm(result, k, order.index(k), said), strong=k == order[0]) for k in named]
    more = len(order) - len(named)
    if more:
        parts.append(Part("sentence", f"{more:,} more arm{'s are' if more > 1 else ' is'} in the table."))
    compared = order[:1] if control is None else [k for k in named if result.labels[k] != control]
    differences = [difference_sentence(result, k, said) for k in compared]
    return [*parts, *(Part("difference", each) for each in differences if each)]


def _of_arm(result: "Debiased", arm: int, place: int, said: Values) -> str:
    """The number to quote, its interval, and what it is instead of."""
    label = result.labels[arm]
    name = called(label, first=True) + (" (control)" if label == result.settings.control else "")
    if result.pulls[arm] == 0:
        return f"{name} was never pulled, so the log says nothing about it."
    raw = f"the raw {said.mean} is {said.one(result.naive[arm])}"
    possible = (0.0, 1.0) if said.percents else (-math.inf, math.inf)  # a warning says what lies outside
    quoted, corrected = np.clip((result.quoted[arm], result.corrected[arm]), *possible)
    does, limits = verb(result), said.limits(*(float(limit[arm]) for limit in result.limits))
    if math.isfinite(quoted):
        return f"{name} {does} {said.one(quoted)}{limits}, {_GIVEN[min(place, 2)]}; {raw}."
    if math.isfinite(corrected):
        return f"{name} {does} {said.one(corrected)} after correction{limits}; {raw}."
    return f"{name} cannot be corrected{limits}; {raw}."


def _table(result: "Debiased") -> Table:
    said = Values.in_tables(result)
    columns = [
        Column("arm", "arm", "text"),
        Column("role", "", "text"),
        Column("pulls", "pulls", "count"),
        said.column("naive", f"raw {said.mean}"),
        *([said.column("quoted", "quoted")] if has_quoted(result) else [said.column("corrected", "corrected")]),
        *([said.interval_column()] if result.interval.name != "none" else []),
        *([said.column("corrected", "corrected")] if has_quoted(result) else []),
        *([Column("never_pulled", "never pulled", "share")] if (result.never_pulled >= _OFTEN).any() else []),
    ]
    rows = [row | {"limits": pair} for row, *pair in zip(_rows(result), *result.limits, strict=True)]
    return Table(rows, columns, said.decimals).without("never_pulled", *(["corrected"] if has_quoted(result) else []))


def _rows(result: "Debiased") -> list[dict[str, Any]]:
    """The rows with each arm's role: which one looks best, and which one is the control."""
    best = result.labels[by_mean(result)[0]]
    roles = ((best, "best"), (result.settings.control, "control"))
    return [
        row | {"role": ", ".join(role for label, role in roles if label == row["arm"])} for row in result.arm_rows()
    ]


def _next(result: "Debiased") -> str:
    """The most useful next step."""
    if result.replays:
        return "debandit compare shows what other methods say"
    if result.settings.control is None:
        return "name your control (--control ARM) for lift and p-values"
    return "debandit check tells how well this rule fits the log"
