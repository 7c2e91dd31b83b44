"""The printed answer: every sentence and table that people read about a result."""

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from debandit.errors import printable, shorten, with_few_sizes
from debandit.intervals.simulated import NULL_RUNS
from debandit.metrics import metric_lines
from debandit.settings import absence_notes
from debandit.tables import Column, decimals_for, limits_text, number, render

if TYPE_CHECKING:
    from debandit.periods import Adjusted
    from debandit.result import Debiased, Differences

_ARM = (
    Column("arm", "arm", "text"),
    Column("pulls", "pulls", "count"),
    Column("naive", "naive mean", "number"),
)
_QUOTED = (Column("quoted", "quoted mean", "number"), Column("quoted_bias_se", "± MC s.e.", "number"))
_CORRECTED = (Column("corrected", "corrected mean", "number"), Column("bias_se", "± MC s.e.", "number"))
_WHICH_TO_USE = (
    "The quoted mean is corrected given the arm's place in this log: it is the number to quote from one experiment.",
    "The corrected mean is corrected on average over experiments: take it to put many of them together.",
)
_NEVER_PULLED = Column("never_pulled", "never pulled", "share")
_DIFFERENCES = (
    Column("arm", "arm", "text"),
    Column("difference", "naive difference", "number"),
    Column("quoted_difference", "quoted difference", "number"),
)
_EFFECTIVE = Column("effective", "effective size", "count")

_OF_P_VALUES = (
    f"p-value: how often the rule comes as far on either side as it did here, in up to {NULL_RUNS} runs without a "
    "difference."
)
_OF_ADJUSTED = "Adjusted: by Holm, for all comparisons together."
_OF_PERIODS = (
    "They are the means over all batches as they were, and no drift biases them as long as every arm is sure of pulls",
    "in every batch. Take them if days or campaigns moved all arms; without drift they only scatter more.",
)
# docs/coverage.md, web experiments that drift: average coverage of 95 % intervals of means and of differences
_PERIODS_MEASURED = (
    "for 20,000 to 100,000 users with 2 to 5 arms in 14 to 42 batches that drift, 0/1 rewards, under Thompson sampling "
    "with a floor: 94.9 ± 0.2 % of means, 95.2 ± 0.2 % of differences"
)
_PERIODS_RULE = {"floor", "batched", "beta_thompson"}
_SEEN = 0.005  # p-value of a drift that is worth a word
_UNSTABLE = 0.5  # a coefficient of variation of pulls that is worth a word

_OF_LEADER = "The interval of the best-looking arm takes into account that it was selected."


def text_of(result: "Debiased") -> str:
    """A result in words and tables."""
    settings, interval = result.settings, result.interval
    if result.replays:
        how = f"method {settings.method}"
    else:
        how = f"world {settings.world}" + (f" (auto: {settings.world_because})" if settings.world_because else "")
    fitted = " with control variates" if settings.control_variates else ""
    rule = with_few_sizes(settings.policy)
    lines = [
        printable(f"{len(result.labels)} arms, {settings.horizon:,} rounds; rule {rule}, {how}"),
        "",
        _table(result),
        "",
        *(_WHICH_TO_USE if _has_quoted(result) else ()),
        *([_OF_LEADER] if _winner_has_limits(result) else ()),
        *([""] if _has_quoted(result) else ()),
        *_comparison_lines(result),
        *_adjusted_lines(result),
        *metric_lines(result.labels, result.pulls.astype(np.float64), result.metrics),
        printable(f"{result.runs:,} runs{fitted}, seed {settings.seed}; {result.stopped_because}."),
    ]
    if interval.name != "none":
        lines += map(printable, str(interval).split("\n"))
    notes = (*interval.notes, *_unstable(result), *absence_notes(settings.absent))
    lines += [f"note: {printable(note)}" for note in notes]
    if result.replays:
        walks, steps, acceptance, _ = result.replays
        lines.append(
            f"{walks:,} walks of {steps:,} steps over the orders of the rewards, {100 * acceptance:.0f} % of them "
            "accepted; the second half counts."
        )
    return "\n".join([*lines, *(f"warning: {printable(warning)}" for warning in result.warnings)])


def _unstable(result: "Debiased") -> list[str]:
    """What pulls that vary much from run to run mean for textbook intervals."""
    largest = np.nanmax(result.pulls_cv, initial=0.0)
    if result.interval.name == "none" or not largest > _UNSTABLE:
        return []
    arm = shorten(result.labels[int(np.nanargmax(result.pulls_cv))])
    return [
        f"in the runs the pulls of {arm} have a standard deviation of {100 * largest:.0f} % of their mean; plain "
        "intervals and tests (wald) are proved to hold only where pulls hardly vary"
    ]


def _has_quoted(result: "Debiased") -> bool:
    return bool(np.isfinite(result.quoted).any())


def _table(result: "Debiased") -> str:
    columns = [*_ARM, *((*_QUOTED, _CORRECTED[0]) if _has_quoted(result) else _CORRECTED)]
    if result.interval.name != "none":
        columns.append(Column("limits", f"{100 * result.interval.level:g} % interval", "interval"))
    if (result.never_pulled > 0).any():
        columns.append(_NEVER_PULLED)
    if result.replays:
        columns.append(_EFFECTIVE)
    limits = list(zip(result.low, result.high, strict=True))
    if _winner_has_limits(result) and result.winner:
        limits[result.labels.index(result.winner.arm)] = (result.winner.low, result.winner.high)
    rows = [row | {"limits": pair} for row, pair in zip(result.rows(), limits, strict=True)]
    return render(rows, columns, _decimals(result))


def _winner_has_limits(result: "Debiased") -> bool:
    return result.winner is not None and not math.isnan(result.winner.low)


def _comparison_lines(result: "Debiased") -> list[str]:
    """A table of differences to the named control, or the best arm minus the second, and the winner."""
    lines = []
    if result.differences and result.settings.control is not None:
        title = printable(f"Differences to {shorten(result.settings.control, 200)}:")
        lines += [title, "", _table_of_differences(result, result.differences), ""]
        if not np.isnan(result.differences.p_value).all():
            several = np.isfinite(result.differences.p_value).sum() > 1
            lines += [_OF_P_VALUES, *([_OF_ADJUSTED] if several else []), ""]
    elif result.differences and result.winner:
        lines += _best_minus_second(result, result.differences, result.labels.index(result.winner.arm))
    if result.winner:
        arm, *values = result.winner[:5]
        naive, bias, error, corrected = (number(value, _decimals(result)) for value in values)
        said = (
            f"Best-looking arm {shorten(arm, 200)}: naive {naive}; the highest of all means is biased by {bias} "
            f"± {error}, so corrected as the winner {corrected}."
        )
        lines += [printable(said), ""]
    return lines


def _adjusted_lines(result: "Debiased") -> list[str]:
    """Period-weighted means, why, and what they rest on."""
    adjusted, control = result.adjusted, result.settings.control
    if adjusted is None:
        return []
    level = f"{100 * result.settings.level:g} %"
    columns = [
        *_ARM,
        Column("adjusted", "period-weighted", "number"),
        Column("limits", f"{level} interval", "interval"),
    ]
    rows = [
        row | {"limits": (adjusted.low[k], adjusted.high[k]), "between": (low, high)}
        for k, (row, low, high) in enumerate(
            zip(result.rows(), adjusted.difference_low, adjusted.difference_high, strict=True)
        )
    ]
    if control is not None:
        minus = f"minus {shorten(control)}"
        columns += [Column("adjusted_difference", minus, "number"), Column("between", f"{level} interval", "interval")]
    drifts = [f"All arms move together from batch to batch (p = {adjusted.common:.2g})."] * (adjusted.common < _SEEN)
    filled = [
        f"{shorten(label)} had no pull in {count:,} of the {adjusted.batches:,} batches; what it would have had there "
        "is what arm and batch add up to" + (" in log-odds." if result.settings.binary else ".")
        for label, count in zip(result.labels, adjusted.filled, strict=True)
        if count and result.pulls[result.labels.index(label)]
    ]
    title = " ".join([*drifts, "Period-weighted means, in which each batch counts by its users:"])
    said = [*_OF_PERIODS, *map(printable, filled), _known_of_periods(result, adjusted)]
    return [title, "", render(rows, columns, _decimals(result)), "", *said, ""]


def _known_of_periods(result: "Debiased", adjusted: "Adjusted") -> str:
    """What was measured of the limits of period-weighted means in such experiments."""
    settings = result.settings
    alike = (
        settings.binary
        and set(re.findall(r"(\w+)\(", settings.policy)) == _PERIODS_RULE
        and len(result.labels) <= 5
        and 20_000 <= settings.horizon <= 100_000
        and 14 <= adjusted.batches <= 42
        and not adjusted.filled.any()
        and result.pulls.min() >= 0.02 * settings.horizon
    )
    at = "" if settings.level == 0.95 else " at 95 %"
    where = "measured" if alike else "not measured in such experiments, but"
    return f"The coverage of these intervals was {where}{at} {_PERIODS_MEASURED}."


def _best_minus_second(result: "Debiased", differences: "Differences", best: int) -> list[str]:
    low, high = differences.low[best], differences.high[best]
    if math.isnan(low):
        return []
    quoted, limits = number(differences.quoted[best], _decimals(result)), limits_text(low, high, _decimals(result))
    arm, second = (shorten(label, 200) for label in (result.labels[best], differences.to[best]))
    said = f"{arm} minus {second}, the best-looking arm minus the second: quoted {quoted}"
    return [printable(f"{said}, {100 * result.interval.level:g} % interval {limits}."), ""]


def _table_of_differences(result: "Debiased", differences: "Differences") -> str:
    level = f"{100 * result.interval.level:g} %"
    pairs = {
        "limits": (f"{level} interval", differences.low, differences.high),
        "lift_limits": (f"{level} interval of it", differences.lift_low, differences.lift_high),
    }
    shown = {key: pair for key, pair in pairs.items() if not np.isnan(pair[1]).all()}
    rows = [
        row
        | {key: (low[k], high[k]) for key, (_, low, high) in shown.items()}
        | {"p": _p_text(differences.p_value[k]), "adjusted": _p_text(differences.p_adjusted[k])}
        for k, row in enumerate(result.rows())
        if row["arm"] != row["compared_with"]
    ]
    columns = [*_DIFFERENCES]
    if "limits" in shown:
        columns.append(Column("limits", shown["limits"][0], "interval"))
    several = np.isfinite(differences.p_value).sum() > 1
    columns += [Column("p", "p-value", "text")] * bool(np.isfinite(differences.p_value).any())
    columns += [Column("adjusted", "adjusted", "text")] * bool(several)
    if not np.isnan(differences.lift).all():
        columns.append(Column("lift", "lift", "number"))
    if "lift_limits" in shown:
        columns.append(Column("lift_limits", shown["lift_limits"][0], "interval"))
    return render(rows, columns, _decimals(result))


def _decimals(result: "Debiased") -> int:
    """As many decimals as show Monte-Carlo errors, but none below 3 % of the standard error of an arm's mean."""
    with np.errstate(divide="ignore", invalid="ignore"):
        relevant = np.fmax(result.bias_se, 0.03 * result.sd / np.sqrt(result.pulls))
    return decimals_for(relevant.tolist())


def _p_text(p: float) -> str:
    """The p-value as it is printed; more runs could make the least one smaller."""
    least = 2 / (1 + NULL_RUNS)
    return "–" if math.isnan(p) else f"< {least:.3f}" if p <= least else f"{p:.3f}"
