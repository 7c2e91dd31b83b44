"""Limits for differences, for lift and for the best-looking arm: which a log gets, and then their formulas.

In the formulas `control` is the arm that each is compared with, of shape (arms,) or (experiments, arms). An arm that is
its own control has no limits. Exchanging arm and control mirrors the limits: (-high, -low) for a difference, and for
1 + lift (1/high, 1/low).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from debandit.intervals.interval import CLOSED_ROUNDS, FEW, MOST_ARMS, sample_of, wins_of
from debandit.intervals.limits import (
    WINNER,
    Floats,
    Limits,
    Sample,
    Sums,
    binary,
    moderated,
    pooled_t,
    t_quantile,
    two_part,
    two_part_centre,
    wilson,
)
from debandit.intervals.simulated import Asking, Ints, Observed, Targets, contrast, from_normal, tail_z
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


def distances(log: ExperimentLog, observed: Observed, interval: str, level: float, controls: Ints) -> Asking[Distances]:
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
    z = yield from tail_z(observed, targets, critical * ndtri((1 + level) / 2) / _NORMAL)
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


def pooled_t_difference(sample: Sample | Sums, control: ArrayLike, level: float) -> Limits:
    """A t interval of the difference, with the variances and shifts of `pooled_t` and Satterthwaite's degrees.

    The noisier the arm is compared with the control, the more of the error is allowed below, because that mean is the
    one whose downward bias matters. If the control has no noise, then 70 % as in `pooled_t`; if the arm has none, 30 %.
    """
    se, df, shift, *_ = moderated(sample)
    other, fixed = _of(se, control), _of(shift, control)
    with np.errstate(invalid="ignore"):
        s = np.hypot(se, other)
        mine = (se / s) ** 2  # the arm's share of the variance
        lean = 2 * mine - 1
        degrees = 1 / (mine**2 / df + (1 - mine) ** 2 / _of(df, control))
        shift = shift * mine**1.5 - fixed * (1 - mine) ** 1.5
        tail, d = (1 - level) / 2, sample.means - _of(sample.means, control)
        t_low, t_high = t_quantile(degrees, tail * (1 + 0.4 * lean)), t_quantile(degrees, tail * (1 - 0.4 * lean))
        low = d - (t_low + np.clip(shift, -0.4 * t_low * np.maximum(lean, 0), 0.6 * t_low)) * s
        high = d + (t_high - np.clip(shift, -0.6 * t_high, 0.4 * t_high * np.maximum(-lean, 0))) * s
    return Limits(low, high).where(_compared(se, control))


def welch(sample: Sample | Sums, control: ArrayLike, level: float) -> Limits:
    """The textbook's limits of the difference, too short after a bandit: NaN unless both arms have two pulls."""
    with np.errstate(invalid="ignore", divide="ignore"):
        df = np.where(sample.pulls > 1, sample.pulls - 1, np.nan)
        a, other = sample.squares / df / sample.pulls, _of(df, control)
        b = _of(a, control)
        degrees = np.where(a + b > 0, (a + b) ** 2 / (a**2 / df + b**2 / other), 1.0)  # no width without variation
        d, half = sample.means - _of(sample.means, control), t_quantile(degrees, (1 - level) / 2) * np.sqrt(a + b)
    return Limits(d - half, d + half).where(_compared(a, control))


def mover_difference(centre: Floats, limits: Limits, control: ArrayLike) -> Limits:
    """Limits of the difference from those of both means (Zou and Donner's MOVER).

    Each limit is as far from the difference as the root of the sum of squares of the two distances that matter.
    """
    other = Limits(_of(limits.low, control), _of(limits.high, control))
    return _mover(centre, limits, _of(centre, control), other).where(_compared(centre + limits.low, control))


def _mover(centre: Floats, limits: Limits, other_centre: Floats, other: Limits) -> Limits:
    with np.errstate(invalid="ignore"):
        down = np.hypot(centre - limits.low, other.high - other_centre)
        up = np.hypot(limits.high - centre, other_centre - other.low)
        return Limits(centre - other_centre - down, centre - other_centre + up)


def two_part_difference(sample: Sample, control: ArrayLike, level: float) -> Limits:
    """MOVER of the limits `two_part` around their own centre; the observed difference is never outside."""
    limits = mover_difference(two_part_centre(sample), two_part(sample, level), control)
    observed = sample.means - _of(sample.means, control)
    return limits.wider(Limits(observed, observed))


def wilson_difference(
    pulls: Floats, wins: Floats, control: ArrayLike, z_low: Floats | float, z_high: Floats | float
) -> Limits:
    """MOVER of Wilson's limits: as many standard errors out as is said for each side of each difference."""
    others = _of(pulls, control), _of(wins, control)
    means, other_means = (np.where(n > 0, s / np.maximum(n, 1.0), np.nan) for n, s in ((pulls, wins), others))
    mine, other = wilson(pulls, wins, z_low, z_high), wilson(*others, z_high, z_low)
    return _mover(means, mine, other_means, other).where(_compared(means, control))


def mover_lift(centre: Floats, limits: Limits, control: ArrayLike) -> Limits:
    """Limits of centre/control - 1 by MOVER for the logarithms; NaN if a mean of the experiment is negative.

    The least is -1 where the arm's mean may be 0, and there is no upper limit (inf) where the control's may be.
    """
    low, high = np.maximum(limits.low, 0.0), limits.high
    positive = ~(centre < 0).any(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        below, above = np.log(centre / low), np.log(high / centre)  # distances; inf or NaN where a mean is 0
        ratio = centre / _of(centre, control)
        least = ratio * np.exp(-np.hypot(below, _of(above, control)))
        most = ratio * np.exp(np.hypot(above, _of(below, control)))
        none = (centre == 0) | (_of(centre, control) == 0)  # there the logarithm of the mean does not exist
        least = np.where(low == 0, 0.0, np.where(none, low / _of(high, control), least))
        most = np.where(_of(low, control) == 0, np.inf, np.where(none, high / _of(low, control), most))
    return Limits(least - 1, most - 1).where(_compared(centre + limits.low, control) & positive)


def wald_lift(
    means: Floats, errors: Floats, control: ArrayLike, z_low: Floats | float, z_high: Floats | float
) -> Limits:
    """Limits of mean/control - 1, as many standard errors of its logarithm out as is said for each side.

    For positive means only; a mean of 0 has no logarithm, so its arm has no limits.
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        relative = np.where(means > 0, errors / means, np.nan)
        error, ratio = np.hypot(relative, _of(relative, control)), means / _of(means, control)
        limits = Limits(ratio * np.exp(-z_low * error) - 1, ratio * np.exp(z_high * error) - 1)
    return limits.where(_compared(relative, control))


def _of(values: Floats, control: ArrayLike) -> Floats:
    """The control's value for each arm."""
    return np.take_along_axis(values, np.broadcast_to(np.asarray(control), values.shape), axis=-1)


def _compared(values: Floats, control: ArrayLike) -> NDArray[np.bool_]:
    """Where both arms are known and are not the same."""
    known = ~np.isnan(values)
    compared: NDArray[np.bool_] = known & _of(known, control) & (np.asarray(control) != np.arange(values.shape[-1]))
    return compared
