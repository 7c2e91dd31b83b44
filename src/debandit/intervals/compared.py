"""Limits for differences, for lift and for the best-looking arm, of the kind that a log's arms have."""

from typing import NamedTuple

import numpy as np

from debandit.intervals.differences import mover_difference, mover_lift, pooled_t_difference, two_part_difference
from debandit.intervals.interval import Interval
from debandit.intervals.limits import WINNER, Floats, Limits, Sample, binary, pooled_t, two_part, two_part_centre
from debandit.intervals.sampled import sample_of, wins_of
from debandit.log import ExperimentLog

MOST_ROUNDS = 300  # of a log for which the closed forms were measured; in longer ones they are known to fail
BEYOND = (
    f"No intervals for differences and for the best-looking arm: the closed forms hold for up to {MOST_ROUNDS} rounds "
    "only."
)


class Compared(NamedTuple):
    """Limits for each arm (K,): of its difference to its control, of its lift over it, and of its mean if it leads."""

    difference: Limits
    lift: Limits
    winner: Limits


def compared(log: ExperimentLog, interval: Interval, controls: np.ndarray) -> Compared:
    """What goes with the interval of the arms; NaN for logs that are too long, and for `wald`, which fails."""
    level, nothing = interval.level, np.full(len(log.labels), np.nan)
    none = Limits(nothing, nothing)
    if interval.name in ("none", "wald") or log.horizon > MOST_ROUNDS:
        return Compared(none, none, none)
    if interval.name == "binary":
        pulls, wins = log.pulls.astype(np.float64), wins_of(log)
        limits = binary(pulls, wins, level)
        return Compared(
            mover_difference(log.means, limits, controls),
            mover_lift(log.means, limits, controls),
            binary(pulls, wins, level, WINNER),
        )
    sample = sample_of(log)
    if interval.name == "two-part" and isinstance(sample, Sample):
        limits, centre = two_part(sample, level), two_part_centre(sample)
        parts = two_part_difference(sample, controls, level), mover_lift(centre, limits, controls), limits
    else:
        limits = Limits(*pooled_t(sample, level)[:2])
        parts = (
            pooled_t_difference(sample, controls, level),
            mover_lift(sample.means, limits, controls),
            Limits(*pooled_t(sample, level, WINNER)[:2]),
        )
    return Compared(*(Limits(_first(part.low), _first(part.high)) for part in parts))


def _first(values: Floats) -> Floats:
    return np.asarray(values[0])
