"""What a result says about period-weighted means."""

from typing import TYPE_CHECKING

from debandit.errors import shorten
from debandit.periods import Adjusted
from debandit.tables import Column, Part, Table
from debandit.words.values import Values, by_mean, called

if TYPE_CHECKING:
    from debandit.result import Debiased

_OF_PERIODS = (
    "Period-weighted means are the means over all batches as they were, and no drift biases them as long as every arm "
    "is sure of pulls in every batch. Take them if days or campaigns moved all arms; without drift they only scatter "
    "more."
)
_SEEN = 0.005  # p-value of a drift that is worth a word


def period_parts(result: "Debiased") -> list[Part]:
    """The period-weighted means, and why."""
    adjusted = result.adjusted
    if adjusted is None:
        return []
    moved = f"All arms move together from batch to batch (p = {adjusted.common:.2g}). " * (adjusted.common < _SEEN)
    return [
        Part("periods", f"{moved}{_of_best(result, adjusted)}"),
        Part("periods", _table(result, adjusted)),
    ]


def _of_best(result: "Debiased", adjusted: Adjusted) -> str:
    said, best = Values.in_sentences(result)._replace(level=result.settings.level), by_mean(result)[0]
    limits = said.limits(adjusted.low[best], adjusted.high[best])
    verb, name = "converts at" if said.percents else "averages", called(result.labels[best])
    return f"With each batch weighted by its users, {name} {verb} {said.one(adjusted.means[best])}{limits}:"


def _table(result: "Debiased", adjusted: Adjusted) -> Table:
    said, control = Values.in_tables(result)._replace(level=result.settings.level), result.settings.control
    columns = [Column("arm", "arm", "text"), said.column("adjusted", "period-weighted"), said.interval_column()]
    if control is not None:
        columns += [said.column("adjusted_difference", "minus control"), said.interval_column("between")]
    rows = [
        row
        | {
            "limits": (adjusted.low[k], adjusted.high[k]),
            "between": (adjusted.difference_low[k], adjusted.difference_high[k]),
        }
        for k, row in enumerate(result.arm_rows())
    ]
    return Table(rows, columns, said.decimals)


def period_details(result: "Debiased") -> list[Part]:
    """What the period-weighted means rest on."""
    adjusted = result.adjusted
    if adjusted is None:
        return []
    how = " in log-odds" if result.settings.binary else ""
    filled = [
        f"{shorten(label)} had no pull in {count:,} of the {adjusted.batches:,} batches; what it would have had there "
        f"is what arm and batch add up to{how}."
        for label, count, pulls in zip(result.labels, adjusted.filled, result.pulls, strict=True)
        if count and pulls
    ]
    return [Part("periods", text) for text in (_OF_PERIODS, *filled)]
