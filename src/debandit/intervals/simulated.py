"""Limits and p-values by simulation: the policy is run again in worlds in which a hypothesis holds.

A limit lies z standard errors from the estimate. How large must z be? For each side a number of hypotheses about the
truth is drawn from where that limit may lie. In a world in which one holds, the policy is run once: is the run's own
estimate as far from the truth as that of the log is? How often it is, as a function of the distance, shows where the
limit belongs (`tail_z`). A p-value is the share of the runs in worlds without a difference that are as extreme as the
log (`p_values`).

Distances are in standard normal units, by Wallace's approximation of t. Nothing here knows how runs are made: what
needs some is a generator, which yields worlds and is sent what one run in each of them came to. So the runs of many
logs can be made side by side.
"""

from collections.abc import Generator
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from debandit.intervals.limits import Floats, Sample, Sums, moderated, own_weight

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Worlds = tuple[Floats, Floats]  # means and standard deviations (worlds, arms)
Answer = TypeVar("Answer")
Asking = Generator[Worlds, Sums, Answer]  # what needs runs, each in a world of its own

RUNS_PER_SIDE = 150
NULL_RUNS, ENOUGH_EXTREME = 999, 20
_NULL_BLOCKS = (127, 256, 616)  # the runs are made in blocks; where they stop does not depend on these
_NEAREST, _FARTHEST = 0.4, 3.0  # hypotheses lie so far from the estimate, at least up to the second
_FARTHEST_ARM = 2.5  # the other arms' means are drawn within this
_LEAST_SPREAD = 0.05  # of a variance that is drawn, as a share
_ROOM = 1e-4  # no 0/1 arm is surer than this to lose or to win
_PRIOR_SHIFT, _PRIOR_SLOPE = 4.0, 10.0  # precisions of the fit's priors, N(0, 1/4) and N(1, 1/10)
_STEPS_OF_FIT = 25


class Known(NamedTuple):
    """Estimates (experiments, arms) with their standard errors, degrees of freedom, and the variances of rewards."""

    mean: Floats
    se: Floats
    df: Floats
    variance: Floats


class Targets(NamedTuple):
    """What is asked about: means of arms, or differences (targets,)."""

    arm: Ints
    control: Ints  # -1: the mean of the arm itself
    leads: Bools  # whether runs count only if the arm has their highest mean

    def at(self, places: Ints) -> "Targets":
        """Those at these places."""
        return Targets(self.arm[places], self.control[places], self.leads[places])


class Observed(NamedTuple):
    """A log as the simulation sees it."""

    sums: Sums  # one experiment
    known: Known
    weight: Floats | None  # of an arm's own variance; None: rewards are 0/1
    stand_in: tuple[Floats, Floats]  # mean and standard deviation of arms without a pull
    random: np.random.Generator

    @classmethod
    def of(
        cls, sample: Sample | Sums, binary: bool, stand_in: tuple[Floats, Floats], seed: tuple[int, ...]
    ) -> "Observed":
        """One experiment; the seed is that of the worlds, not of the runs in them."""
        sums = Sums(sample.pulls, sample.means, sample.squares)
        weight = None if binary else own_weight(sample)
        random = np.random.default_rng(np.random.SeedSequence(seed[0], spawn_key=seed[1:]))
        return cls(sums, _known(sums, weight), weight, stand_in, random)


def _known(sums: Sums, weight: Floats | None) -> Known:
    """What is known of each mean; NaN without a pull."""
    n = np.where(sums.pulls > 0, sums.pulls, np.nan)
    if weight is None:
        mean = (np.rint(sums.means * n) + 0.5) / (n + 1)
        se = np.sqrt(mean * (1 - mean) / (n + 1))
        return Known(mean, se, np.where(n > 0, np.inf, np.nan), mean * (1 - mean))
    parts = moderated(sums, weight)
    return Known(sums.means, parts.se, parts.df, parts.se**2 * n)


def tail_z(log: Observed, targets: Targets, critical: Floats) -> Asking[Floats]:
    """How many standard errors below and above its estimate each limit must lie (targets, 2); NaN: unknown.

    `critical` (targets, 2) is what it would be if estimates were normal, and the policy did not look at them.
    """
    below = np.tile(np.repeat([True, False], RUNS_PER_SIDE), len(targets.arm))
    asked = targets.at(np.repeat(np.arange(len(targets.arm)), 2 * RUNS_PER_SIDE))
    most = np.maximum(_FARTHEST, critical + 1).repeat(RUNS_PER_SIDE)
    estimate, se, df = contrast(log.known, asked)
    sign = np.where(below, 1.0, -1.0)
    truth = estimate - sign * se * from_normal(log.random.uniform(_NEAREST, most), df)
    means, spreads, truth = _worlds(log, asked, truth)
    distance = -sign * _to_normal((estimate - truth) / se, df)
    found, counts = _seen(log, asked, (yield means, spreads))
    extreme = -sign * _distance(found, asked, truth) <= distance
    shape = (len(targets.arm), 2, RUNS_PER_SIDE)
    shift, slope = _probit(distance.reshape(shape), extreme.reshape(shape), counts.reshape(shape))
    z: Floats = np.clip((critical + shift) / slope, 0.0, critical + 3)
    return np.where(np.isnan(estimate[:: 2 * RUNS_PER_SIDE, None]), np.nan, z)


def p_values(log: Observed, arms: Ints, controls: Ints) -> Asking[Floats]:
    """Two-sided p-values of no difference to the control.

    Each is twice the smaller one of the two sides. A side needs no more runs when 20 were as extreme as the log: then
    its p-value is their share so far (Besag and Clifford); else it is (1 + extreme) / (1 + runs). Runs that did not
    pull both arms do not count.
    """
    pairs = Targets(arms, controls, np.zeros(len(arms), np.bool_))
    observed = _distance(log.known, pairs, np.zeros(len(arms)))
    as_extreme: list[list[Bools]] = [[] for _ in arms]  # of each pair: blocks (runs, 2), above and below
    p = np.full(len(arms), np.nan)
    undecided = np.flatnonzero(~np.isnan(observed))
    for size in _NULL_BLOCKS:
        if not len(undecided):
            break
        asked = pairs.at(undecided.repeat(size))
        means, spreads, truth = _worlds(log, asked, np.zeros(len(asked.arm)))
        found, counts = _seen(log, asked, (yield means, spreads))
        there, own = _distance(found, asked, truth), observed[undecided].repeat(size)
        extreme = np.stack((there >= own, there <= own), axis=-1).reshape(len(undecided), size, 2)
        done = np.zeros(len(undecided), np.bool_)
        for place, (pair, count) in enumerate(zip(undecided, counts.reshape(len(undecided), size), strict=True)):
            as_extreme[pair].append(extreme[place][count])
            p[pair], done[place] = _sequential(np.concatenate(as_extreme[pair]))
        undecided = undecided[~done]
    return p


def _sequential(extreme: Bools) -> tuple[float, bool]:
    """The p-value of runs (runs, 2), and whether more of them change nothing."""
    counts, total = extreme.cumsum(axis=0), extreme.sum(axis=0)
    done, needed = total >= ENOUGH_EXTREME, 1 + (counts < ENOUGH_EXTREME).sum(axis=0)
    sides = np.where(done, ENOUGH_EXTREME / needed, (1 + total) / (1 + len(extreme)))
    return min(1.0, 2 * float(sides.min())), bool(done.all())


def contrast(known: Known, asked: Targets) -> tuple[Floats, Floats, Floats]:
    """The estimate asked about, its standard error and its degrees of freedom (Satterthwaite's for a difference)."""
    rows = np.arange(len(asked.arm)) if len(known.mean) > 1 else np.zeros(len(asked.arm), np.int64)
    single = asked.control < 0
    own, other = (rows, asked.arm), (rows, asked.control)
    se, other_se = known.se[own], np.where(single, 0.0, known.se[other])
    with np.errstate(invalid="ignore", divide="ignore"):
        both = np.hypot(se, other_se)
        share = (se / both) ** 2
        df = 1 / (share**2 / known.df[own] + (1 - share) ** 2 / np.where(single, np.inf, known.df[other]))
    return known.mean[own] - np.where(single, 0.0, known.mean[other]), both, df


def _worlds(log: Observed, asked: Targets, truth: Floats) -> tuple[Floats, Floats, Floats]:
    """Worlds in which the quantity asked about has this value: means, standard deviations, and the value.

    The other means are drawn from what the log leaves open, and so is what the pair has in common. 0/1 means are kept
    from 0 and 1, which may change the value a little.
    """
    (mean, se, df, variance), shape = log.known, (len(asked.arm), log.sums.means.shape[1])
    noise = np.clip(log.random.standard_normal(shape), -_FARTHEST_ARM, _FARTHEST_ARM)
    means = mean + se * from_normal(noise, df)
    freedom = np.where(np.isfinite(df), df, 1.0)
    spreads = np.sqrt(variance / np.maximum(log.random.chisquare(freedom, shape) / freedom, _LEAST_SPREAD))
    rows, single = np.arange(len(asked.arm)), asked.control < 0
    estimate, both, degrees = contrast(log.known, asked)
    share = (se[0, asked.arm] / both) ** 2
    common = both * np.sqrt(share * (1 - share)) * from_normal(noise[rows, asked.arm], degrees)
    first = mean[0, asked.arm] - (estimate - truth) * share + common
    second = np.where(single, 0.0, mean[0, asked.control] + (estimate - truth) * (1 - share) + common)
    if log.weight is None:
        second = np.where(single, 0.0, np.clip(second, _ROOM + np.maximum(-truth, 0), 1 - _ROOM - np.maximum(truth, 0)))
        first = np.clip(second + truth, _ROOM, 1 - _ROOM)
        means, truth = np.clip(means, _ROOM, 1 - _ROOM), first - second
    means[rows, asked.arm] = first
    means[rows[~single], asked.control[~single]] = second[~single]
    usual_mean, usual_spread = log.stand_in
    return np.where(np.isnan(means), usual_mean, means), np.where(np.isnan(spreads), usual_spread, spreads), truth


def _seen(log: Observed, asked: Targets, sums: Sums) -> tuple[Known, Bools]:
    """What is known after each run, and which of the runs count."""
    nothing = np.isnan(contrast(log.known, asked)[0])
    rows = np.arange(len(asked.arm))
    pulled = sums.pulls[rows, asked.arm] > 0
    pulled &= (asked.control < 0) | (sums.pulls[rows, asked.control] > 0)
    best = np.where(sums.pulls > 0, sums.means, -np.inf).argmax(axis=1)
    found = _known(sums, log.weight)
    return found, pulled & (~asked.leads | (best == asked.arm)) & ~nothing


def _distance(known: Known, asked: Targets, truth: Floats) -> Floats:
    estimate, se, df = contrast(known, asked)
    with np.errstate(invalid="ignore", divide="ignore"):
        return _to_normal((estimate - truth) / se, df)


def _to_normal(t: Floats, df: Floats) -> Floats:
    """The standard normal value as unlikely as t with these degrees of freedom, nearly (Wallace)."""
    with np.errstate(invalid="ignore"):
        z = np.sign(t) * (8 * df + 1) / (8 * df + 3) * np.sqrt(df * np.log1p(t * t / df))
        return np.where(np.isinf(df), t, z)


def from_normal(z: Floats, df: Floats) -> Floats:
    """The inverse of `_to_normal`."""
    with np.errstate(invalid="ignore", over="ignore"):
        t = np.sign(z) * np.sqrt(df * np.expm1((z * (8 * df + 3) / (8 * df + 1)) ** 2 / df))
        return np.where(np.isinf(df), z, t)


def _probit(x: Floats, y: Bools, counts: Bools) -> tuple[Floats, Floats]:
    """Shift and slope of P(y) = Phi(shift + slope x) over the last axis, with priors around 0 and 1."""
    from debandit.special import ndtr

    x, weight = np.where(counts, x, 0.0), counts.astype(np.float64)
    shift, slope = np.zeros(x.shape[:-1]), np.ones(x.shape[:-1])
    for _ in range(_STEPS_OF_FIT):  # Fisher's scoring
        line = np.clip(shift[..., None] + slope[..., None] * x, -8.0, 8.0)
        chance, density = ndtr(line), np.exp(-line * line / 2) / np.sqrt(2 * np.pi)
        scale = weight * density / (chance * (1 - chance))
        rest, curve = scale * (y - chance), scale * density
        down, across = rest.sum(-1) - _PRIOR_SHIFT * shift, (rest * x).sum(-1) - _PRIOR_SLOPE * (slope - 1)
        a, b, c = curve.sum(-1) + _PRIOR_SHIFT, (curve * x).sum(-1), (curve * x * x).sum(-1) + _PRIOR_SLOPE
        full = a * c - b * b
        shift, slope = shift + (c * down - b * across) / full, slope + (a * across - b * down) / full
    return shift, np.maximum(slope, 0.1)
