"""What a result says about period-weighted means."""

import re
from typing import TYPE_CHECKING

import numpy as np

from debandit.errors import shorten
from debandit.periods import Adjusted
from debandit.tables import Column, Part, Table
from debandit.words.values import Values, by_mean, called, verb

if TYPE_CHECKING:
    from debandit.result import Debiased

_OF_PERIODS = (
    "Period-weighted means give each batch the weight of its users. Drift does not bias them, provided that every arm "
    "is sure of pulls in every batch and that nothing ends the experiment early. Take them if days or campaigns moved "
    "all arms; without drift they only scatter more."
)
_NONE = (
    "There are no period-weighted means: too few batches have pulls of several arms, so that an arm's means in the "
    "other batches cannot be filled in. Larger batches (--batch-by week) may help."
)
_SEEN = 0.005  # p-value of a drift that is worth a word
# docs/coverage.md, web experiments that drift: average coverage of 95 % intervals of means and of differences
_MEASURED = (
    "for 20,000 to 100,000 users with 2 to 5 arms in 14 to 42 batches that drift, 0/1 rewards, under Thompson sampling "
    "with a floor: 94.9 ± 0.2 % of means, 95.2 ± 0.2 % of differences"
)
_RULE, _SIZE = r"beta_thompson\(alpha=1\.0, beta=1\.0\)", r"size=(\d+|\([\d, ]+\))"
_FLOOR = r"probability=0\.(0[2-9]\d*|10?)"  # of at least 2 and at most 10 %
_MEASURED_RULE = re.compile(
    rf"floor\(batched\({_RULE}, {_SIZE}\), {_FLOOR}\)|batched\(floor\({_RULE}, {_FLOOR}\), {_SIZE}\)"
)


def period_parts(result: "Debiased") -> list[Part]:
    """The period-weighted means, and why."""
    adjusted = result.adjusted
    if adjusted is None:
        return []
    if np.isnan(adjusted.means).all():
        return [Part("periods", _NONE)]
    moved = f"All arms move together from batch to batch (p = {adjusted.common:.2g}). " * (adjusted.common < _SEEN)
    return [
        Part("periods", f"{moved}{_of_best(result, adjusted)}"),
        Part("periods", _table(result, adjusted)),
    ]


def _of_best(result: "Debiased", adjusted: Adjusted) -> str:
    said, best = Values.in_sentences(result)._replace(level=result.settings.level), by_mean(result)[0]
    limits = said.limits(adjusted.low[best], adjusted.high[best])
    does, name = verb(result), called(result.labels[best])
    return f"With each batch weighted by its users, {name} {does} {said.one(adjusted.means[best])}{limits}:"


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
        f"{shorten(label)} had no pull in {count:,} of the {adjusted.batches:,} batches; its mean there was filled in, "
        f"as the effect of the arm plus the effect of the batch{how}."
        for label, count, pulls in zip(result.labels, adjusted.filled, result.pulls, strict=True)
        if count and pulls
    ]
    return [Part("periods", text) for text in (_OF_PERIODS, *filled, _known(result, adjusted))]


def _known(result: "Debiased", adjusted: Adjusted) -> str:
    """What was measured of the limits of period-weighted means in such experiments."""
    settings = result.settings
    alike = (
        settings.binary
        and _MEASURED_RULE.fullmatch(settings.policy)
        and adjusted.common < _SEEN
        and len(result.labels) <= 5
        and 20_000 <= settings.horizon <= 100_000
        and 14 <= adjusted.batches <= 42
        and not adjusted.filled.any()
        and result.pulls.min() >= 0.02 * settings.horizon
    )
    at = "" if settings.level == 0.95 else " at 95 %"
    where = "measured" if alike else "not measured in such experiments, but"
    return f"The coverage of these intervals was {where}{at} {_MEASURED}."
