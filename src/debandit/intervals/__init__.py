"""Confidence intervals in closed form, measured by simulation. `limits` has the formulas, `interval` chooses one."""

from debandit.intervals.interval import Interval, interval_of, outside
from debandit.intervals.limits import PooledT, Sample, Sums, binary, mid_p_lower, moderated_t, pooled_t, two_part, wald

__all__ = [
    "Interval",
    "PooledT",
    "Sample",
    "Sums",
    "binary",
    "interval_of",
    "mid_p_lower",
    "moderated_t",
    "outside",
    "pooled_t",
    "two_part",
    "wald",
]
