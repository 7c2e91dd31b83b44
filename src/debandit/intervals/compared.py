"""Limits for differences, for lift and for the best-looking arm, and p-values, in closed form or by simulation."""

from typing import NamedTuple

import numpy as np

from debandit.intervals.differences import (
    mover_difference,
    mover_lift,
    pooled_t_difference,
    two_part_difference,
    wald_lift,
    wilson_difference,
)
from debandit.intervals.interval import CLOSED_ROUNDS, FEW, MOST_ARMS, sample_of, wins_of
from debandit.intervals.limits import (
    WINNER,
    Floats,
    Limits,
    Sample,
    binary,
    pooled_t,
    two_part,
    two_part_centre,
    wilson,
)
from debandit.intervals.simulated import Ints, Observed, Targets, contrast, from_normal, tail_z
from debandit.log import ExperimentLog

ARM_AND_WINNER, OF_BINARY = (1.812, 2.170, 2.05), (1.96, 1.96, 2.05)  # where limits would be at 95 %: see `tail_z`
PAIR, PAIR_OF_BINARY = 2.06, 1.96
_NORMAL = 1.96  # the z of 95 %, to which these belong


class Distances(NamedTuple):
    """How many standard errors simulated limits are out, below and above (K, 2); NaN where nothing was asked."""

    arms: Floats
    pairs: Floats
    winner: Floats  # of the arm that leads, below only


class Compared(NamedTuple):
    """Limits for each arm (K,): of its difference to its control, of its lift over it, and of its mean if it leads."""

    difference: Limits
    lift: Limits
    winner: Limits


def simulates_comparisons(log: ExperimentLog, interval: str) -> bool:
    """Whether the closed forms for differences and for the winner are not to be trusted for such a log."""
    if interval in ("none", "wald", "two-part"):
        return False
    return interval == "simulated" or (log.horizon > CLOSED_ROUNDS and len(log.labels) <= MOST_ARMS)


def distances(log: ExperimentLog, observed: Observed, interval: str, level: float, controls: Ints) -> Distances:
    """How far out the limits of a log must be: of its arms, if their interval is simulated, of pairs and the winner.

    `controls` has the arm that each is compared with, -1 where there is none.
    """
    from debandit.special import ndtri

    k, nothing = len(log.labels), np.full((len(log.labels), 2), np.nan)
    best, arms, pairs = int(np.nanargmax(log.means)), np.arange(k), np.flatnonzero(controls >= 0)
    arms = arms[log.pulls > 0] if interval == "simulated" else arms[:0]
    targets = Targets(
        np.concatenate((arms, pairs, [best])),
        np.concatenate((np.full(len(arms), -1), controls[pairs], [-1])),
        np.arange(len(arms) + len(pairs) + 1) == len(arms) + len(pairs),
    )
    low, high, leads = OF_BINARY if log.binary else ARM_AND_WINNER
    pair = PAIR_OF_BINARY if log.binary else PAIR
    critical = np.repeat([(low, high), (pair, pair), (leads, leads)], [len(arms), len(pairs), 1], axis=0)
    z = tail_z(observed, targets, critical * ndtri((1 + level) / 2) / _NORMAL)
    found = Distances(nothing.copy(), nothing.copy(), nothing.copy())
    found.arms[arms], found.pairs[pairs] = z[: len(arms)], z[len(arms) : -1]
    found.winner[best] = z[-1]
    return found


def compared(
    log: ExperimentLog, interval: str, level: float, controls: Ints, simulated: tuple[Observed, Distances] | None
) -> Compared:
    """What goes with the interval of the arms; NaN for `none` and for `wald`, which fails."""
    nothing = np.full(len(log.labels), np.nan)
    if interval in ("none", "wald"):
        return Compared(*[Limits(nothing, nothing)] * 3)
    closed = _closed(log, "binary" if log.binary and interval == "simulated" else interval, level, np.abs(controls))
    if simulated is not None:
        closed = _simulated(log, *simulated, np.abs(controls), closed)
    there = controls >= 0
    return Compared(closed.difference.where(there), closed.lift.where(there), closed.winner)


def _closed(log: ExperimentLog, interval: str, level: float, controls: Ints) -> Compared:
    if interval == "binary":
        pulls, wins = log.pulls.astype(np.float64), wins_of(log)
        limits = binary(pulls, wins, level)
        return Compared(
            mover_difference(log.means, limits, controls),
            mover_lift(log.means, limits, controls),
            binary(pulls, wins, level, WINNER),
        )
    sample = sample_of(log)
    if interval == "two-part" and isinstance(sample, Sample):
        limits, centre = two_part(sample, level), two_part_centre(sample)
        parts = two_part_difference(sample, controls, level), mover_lift(centre, limits, controls), limits
    else:
        limits = Limits(*pooled_t(sample, level)[:2])
        parts = (
            pooled_t_difference(sample, controls, level),
            mover_lift(sample.means, limits, controls),
            Limits(*pooled_t(sample, level, WINNER)[:2]),
        )
    return Compared(*(Limits(part.low[0], part.high[0]) for part in parts))


def _simulated(log: ExperimentLog, observed: Observed, far: Distances, controls: Ints, closed: Compared) -> Compared:
    """As far out as the runs say; the winner's upper limit is that of the closed form."""
    known, pulls = observed.known, log.pulls.astype(np.float64)
    pairs = Targets(np.arange(len(pulls)), controls, np.zeros(len(pulls), np.bool_))
    gap, se, df = contrast(known, pairs)
    below, above = (from_normal(far.pairs[:, side], df) for side in (0, 1))
    if log.binary:
        difference = wilson_difference(pulls, wins_of(log), controls, *far.pairs.T).wider(closed.difference)
        low = wilson(pulls, wins_of(log), far.winner[:, 0], far.winner[:, 0]).low
        low = np.where(pulls < FEW, np.minimum(low, closed.winner.low), low)
    else:
        difference = Limits(gap - below * se, gap + above * se)
        low = known.mean[0] - known.se[0] * from_normal(far.winner[:, 0], known.df[0])
    errors = known.se[0] * (log.means / known.mean[0] if log.binary else 1.0)  # as large relative to the mean
    lift = wald_lift(log.means, errors, controls, below, above)
    return Compared(difference, lift, Limits(low, closed.winner.high))


def holm(p: Floats) -> Floats:
    """Holm's adjusted p-values; NaN where there is none."""
    order = np.argsort(p)  # NaN last
    ranks = np.arange(np.isfinite(p).sum(), 0, -1)
    adjusted = np.full(len(p), np.nan)
    adjusted[order[: len(ranks)]] = np.minimum(np.maximum.accumulate(p[order[: len(ranks)]] * ranks), 1.0)
    return adjusted
