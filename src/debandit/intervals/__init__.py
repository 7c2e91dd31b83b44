"""Confidence intervals in closed form, measured by simulation.

`limits` has the formulas for the mean of an arm, `differences` those for two arms, and `interval` chooses one.
"""

from debandit.intervals.compared import BEYOND, Compared, compared
from debandit.intervals.differences import (
    mover_difference,
    mover_lift,
    pooled_t_difference,
    two_part_difference,
    wald_lift,
    welch,
    wilson_difference,
)
from debandit.intervals.interval import Interval, interval_of, outside
from debandit.intervals.limits import (
    ARM,
    WINNER,
    Limits,
    PooledT,
    Sample,
    Sums,
    binary,
    mid_p_lower,
    moderated_t,
    pooled_t,
    two_part,
    two_part_centre,
    wald,
    wilson,
)
from debandit.intervals.spreads import spread_warnings

__all__ = [
    "ARM",
    "BEYOND",
    "WINNER",
    "Compared",
    "Interval",
    "Limits",
    "PooledT",
    "Sample",
    "Sums",
    "binary",
    "compared",
    "interval_of",
    "mid_p_lower",
    "moderated_t",
    "mover_difference",
    "mover_lift",
    "outside",
    "pooled_t",
    "pooled_t_difference",
    "spread_warnings",
    "two_part",
    "two_part_centre",
    "two_part_difference",
    "wald",
    "wald_lift",
    "welch",
    "wilson",
    "wilson_difference",
]
