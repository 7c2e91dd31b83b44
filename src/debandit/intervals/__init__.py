"""Confidence intervals, in closed form or simulated, measured by simulation.

`limits` has the formulas for the mean of an arm and `interval` chooses one; `compared` has both for two arms and for
the best-looking one; `simulated` finds how far out limits must be, and p-values.
"""

from debandit.intervals.compared import (
    Compared,
    compared,
    distances,
    holm,
    mover_difference,
    mover_lift,
    pooled_t_difference,
    simulates_comparisons,
    two_part_difference,
    wald_lift,
    welch,
    wilson_difference,
)
from debandit.intervals.interval import CLOSED_ROUNDS, Interval, chosen_interval, interval_of, outside, sample_of
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
    residuals,
    two_part,
    two_part_centre,
    wald,
    wilson,
)
from debandit.intervals.simulated import Observed, p_values
from debandit.intervals.spreads import spread_warnings

__all__ = [
    "ARM",
    "CLOSED_ROUNDS",
    "WINNER",
    "Compared",
    "Interval",
    "Limits",
    "Observed",
    "PooledT",
    "Sample",
    "Sums",
    "binary",
    "chosen_interval",
    "compared",
    "distances",
    "holm",
    "interval_of",
    "mid_p_lower",
    "moderated_t",
    "mover_difference",
    "mover_lift",
    "outside",
    "p_values",
    "pooled_t",
    "pooled_t_difference",
    "residuals",
    "sample_of",
    "simulates_comparisons",
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
