"""Arms whose rewards vary very differently, for which intervals that borrow spread were measured to be too short."""

import numpy as np
from numpy.typing import NDArray

from debandit.intervals.limits import Floats
from debandit.log import ExperimentLog

ENOUGH, FACTOR = 10, 3.0  # pulls that show an arm's standard deviation, and how many times as large is too different
# docs/intervals.md: coverage by pooled-t of arms whose standard deviation is so many times that of the others
BORROWED = "if its own standard deviation is 3 times theirs, such intervals covered 89 %, if it is 5 times theirs 69 %"
_MEASURED = (
    "with a factor of 3 the intervals of the more variable arms covered 95 % (worst arm 87 %; if pulled once 89 %), "
    "with a factor of 5 92 % (81 %; 69 %), with 10 87 % (70 %; 51 %)"
)


def spread_warnings(log: ExperimentLog, interval: str) -> list[str]:
    """What is known of the interval if standard deviations differ more than threefold."""
    ratio = float(spread_ratio(log.pulls.astype(np.float64), np.nan_to_num(log.variances)))
    if interval != "pooled-t" or not ratio > FACTOR:
        return []
    return [f"the standard deviations of the arms differ by a factor of {ratio:.1f}: in simulations {_MEASURED}"]


def spread_ratio(pulls: Floats, variances: Floats) -> Floats:
    """The largest standard deviation of an arm divided by the smallest (..., arms), among arms with enough pulls.

    1 where fewer than two arms have enough pulls and rewards that vary. Variances have the divisor n.
    """
    judged: NDArray[np.bool_] = (pulls >= ENOUGH) & (variances > 0)
    unbiased = np.where(judged, variances, 1.0) * pulls / np.maximum(pulls - 1, 1)
    largest = np.where(judged, unbiased, 0.0).max(axis=-1)
    smallest = np.where(judged, unbiased, np.inf).min(axis=-1)
    ratio: Floats = np.where(largest > 0, np.sqrt(largest / smallest), 1.0)
    return ratio
