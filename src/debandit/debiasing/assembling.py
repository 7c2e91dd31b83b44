"""What the runs say, put together as a result."""

from dataclasses import replace
from typing import Any

import numpy as np

from debandit.debiasing.running import AUTO_TARGET, Estimate
from debandit.engine.data import Floats
from debandit.errors import listed
from debandit.intervals import Interval, outside
from debandit.log import ExperimentLog
from debandit.reordering import EFFECTIVE_PER_WALK, RaoBlackwell
from debandit.result import Debiased, Differences, Histogram, Path, Replays, Settings, Winner
from debandit.worlds import World

_PATH_POINTS = 200


def result_of(
    log: ExperimentLog,
    world: World,
    estimate: Estimate,
    settings: Settings,
    doubts: list[str],
    interval: Interval,
) -> Debiased:
    """The result of the bootstrap."""
    corrected = log.means - estimate.bias
    bias = np.where(log.pulls > 0, estimate.bias, np.nan)
    winner = _winner(log, estimate.winner_bias, estimate.winner_se)
    histograms = tuple(
        Histogram(float(low), float(high), counts)
        for (low, high), counts in zip(estimate.edges, estimate.histogram, strict=True)
    )
    return Debiased(
        labels=log.labels,
        pulls=log.pulls,
        naive=log.means,
        sd=np.sqrt(log.variances),
        bias=bias,
        bias_se=np.where(log.pulls > 0, estimate.bias_se, np.nan),
        corrected=corrected,
        never_pulled=estimate.never_pulled,
        runs=estimate.runs,
        stopped_because=estimate.stopped_because,
        warnings=(*doubts, *_warnings(log, world, bias, estimate, corrected), *_impossible(log, winner)),
        settings=settings,
        histograms=histograms,
        path=_thinned_path(log),
        interval=replace(interval, notes=(*interval.notes, *outside(log, interval, corrected))),
        winner=winner,
        differences=_differences(log, estimate),
    )


def reordered(
    log: ExperimentLog, found: RaoBlackwell, settings: Settings, doubts: list[str], interval: Interval
) -> Debiased:
    """The result of the method rao-blackwell."""
    slow = listed([log.labels[k] for k in np.flatnonzero(found.effective < EFFECTIVE_PER_WALK * found.walks)])
    unsure = [f"{slow}: hardly any order of the rewards leads to another; more runs may help (--runs)"] if slow else []
    share = f"{100 * AUTO_TARGET:.0f} % of the standard error of its mean"
    if settings.runs_asked != "auto":
        why = "as many as asked for"
    elif found.reached:
        why = f"stopped when the Monte-Carlo error of every arm was below {share}"
    else:
        why = f"stopped at the limit; some arm's Monte-Carlo error is still above {share}, or not yet to be trusted"
    return Debiased(
        labels=log.labels,
        pulls=log.pulls,
        naive=log.means,
        sd=np.sqrt(log.variances),
        bias=log.means - found.value,
        bias_se=found.se,
        corrected=found.value,
        never_pulled=np.zeros(len(log.labels)),
        runs=found.walks * found.steps,
        stopped_because=why,
        warnings=(*doubts, *unsure),
        settings=settings,
        histograms=tuple(Histogram(float(mean), float(mean), np.zeros(0, np.int64)) for mean in log.means),
        path=_thinned_path(log),
        interval=replace(interval, notes=(*interval.notes, *outside(log, interval, found.value))),
        replays=Replays(found.walks, found.steps, found.acceptance, found.effective),
    )


def _winner(log: ExperimentLog, bias: float, bias_se: float) -> Winner:
    best = int(np.nanargmax(log.means))
    return Winner(log.labels[best], float(log.means[best]), bias, bias_se, float(log.means[best]) - bias)


def _impossible(log: ExperimentLog, winner: Winner) -> list[str]:
    if log.binary and not 0 <= winner.corrected <= 1:
        return [f"{winner.arm}, corrected as the winner, lies outside [0, 1], although the rewards are 0/1"]
    return []


def _differences(log: ExperimentLog, estimate: Estimate) -> Differences:
    controls = estimate.controls
    naive = log.means - log.means[controls]
    shown = np.isfinite(naive) & (controls != np.arange(len(controls)))
    bias, error = (np.where(shown, each, np.nan) for each in (estimate.difference_bias, estimate.difference_se))
    naive = np.where(shown, naive, np.nan)
    return Differences(tuple(log.labels[k] for k in controls), naive, bias, error, naive - bias)


def _warnings(log: ExperimentLog, world: World, bias: Floats, estimate: Estimate, corrected: Floats) -> list[str]:
    def named(which: Any) -> str:
        return listed([log.labels[k] for k in np.flatnonzero(which)])

    once, constant = log.pulls == 1, (log.pulls > 1) & (log.variances == 0)
    still, lent = world.variances == 0, np.full(log.pulls.shape, not world.binary)
    outside = log.binary & ((corrected < 0) | (corrected > 1))
    with np.errstate(invalid="ignore"):
        unsure = (np.abs(bias) < 2 * estimate.bias_se) & (estimate.bias_se > 0)
    seldom = (log.pulls > 0) & ~(estimate.bias_se >= 0)
    found = [
        (log.pulls == 0, "no reward was logged; the value given with --unseen only stands in for it in the simulation"),
        (once & still, "pulled once, so its bootstrap world has no variance and its bias is not to be trusted"),
        (constant & still, "all its rewards are the same, so its bootstrap world has no variance and shows no bias"),
        (once & ~still & lent, "pulled once, so the spread of its bootstrap world is borrowed"),
        (once & ~still & ~lent, "pulled once, so its bootstrap world is half a guess"),
        (constant & ~still & lent, "all its rewards are the same, so the spread of its bootstrap world is borrowed"),
        (outside, "the corrected mean lies outside [0, 1], although the rewards are 0/1"),
        (unsure, "the bias is smaller than twice its Monte-Carlo error; more runs may help (--runs)"),
        (estimate.off, "the simulated rewards miss the mean or variance of their world; do not trust the bias"),
        (seldom, "pulled in fewer than two runs, so its bias cannot be estimated; does the rule fit the log?"),
    ]
    return [f"{named(which)}: {text}" for which, text in found if np.any(which)]


def _thinned_path(log: ExperimentLog) -> Path | None:
    """Up to 200 rounds, evenly spaced from the first to the last."""
    if log.rounds is None:
        return None
    at = np.unique(np.linspace(0, log.horizon - 1, min(_PATH_POINTS, log.horizon)).round().astype(np.int64))
    shape = (len(log.labels), len(at))
    cell = log.rounds.arms * len(at) + np.searchsorted(at, np.arange(log.horizon))  # what happened up to which point
    pulls = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape).cumsum(axis=1)
    sums = np.bincount(cell, log.rounds.rewards, shape[0] * shape[1]).reshape(shape).cumsum(axis=1)
    return Path(at + 1, pulls, np.where(pulls > 0, sums / np.maximum(pulls, 1), np.nan))
