"""Confidence intervals in closed form, measured by simulation. This is their table of contents."""

from debandit.intervals.binary import binary, mid_p_lower
from debandit.intervals.interval import NAMES, Interval, check_interval, interval_of, outside
from debandit.intervals.pooled_t import PooledT, moderated_t, pooled_t
from debandit.intervals.sample import Sample
from debandit.intervals.two_part import two_part
from debandit.intervals.wald import wald

__all__ = [
    "NAMES",
    "Interval",
    "PooledT",
    "Sample",
    "binary",
    "check_interval",
    "interval_of",
    "mid_p_lower",
    "moderated_t",
    "outside",
    "pooled_t",
    "two_part",
    "wald",
]
