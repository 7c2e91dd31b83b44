"""From cases to results: run each case, by either method, and put together what the runs say."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from debandit.debiasing.cases import Case
from debandit.debiasing.inferring import Inference, inferred, kind_of_rule
from debandit.debiasing.metrics import corrected_metrics
from debandit.debiasing.outliers import carried_by_few
from debandit.debiasing.running import AUTO_TARGET, BiasEstimate, estimate, stacks
from debandit.engine.data import Floats, Ints
from debandit.engine.places import LEADS, Places
from debandit.errors import listed
from debandit.intervals import Interval, Limits, interval_of, outside, spread_warnings
from debandit.log import ExperimentLog
from debandit.log_parts import in_pieces
from debandit.reordering import EFFECTIVE_PER_WALK, rao_blackwell
from debandit.result import Debiased
from debandit.result_parts import Differences, Histogram, Path, Replays, Winner
from debandit.settings import Work
from debandit.worlds import World

_PATH_POINTS = 200
SMALL = 300  # rounds of a log for which it was measured where quoted means are weak: see docs/quoted.md


def bootstrapped(cases: Sequence[Case], work: Work) -> list[Debiased]:
    """The results of Algorithm 1."""
    results: dict[int, Debiased] = {}
    for alike, worlds, experiment in stacks(cases):
        estimates = estimate(
            experiment,
            [case.log for case in alike],
            [world.variances for world in worlds],
            np.stack([case.controls for case in alike]),
            alike[0].settings.runs,
            alike[0].settings.control_variates,
            work.workers,
        )
        inferences = inferred(alike, worlds, work.workers)
        for case, world, found, sure in zip(alike, worlds, estimates, inferences, strict=True):
            results[case.settings.log_index] = _from_runs(case, found, sure, world)
    return [results[case.settings.log_index] for case in cases]


def reordered(cases: Sequence[Case], work: Work) -> list[Debiased]:
    """The results of the method rao-blackwell."""
    return [_from_walks(case, work) for case in cases]


def _from_runs(case: Case, found: BiasEstimate, sure: Inference, world: World) -> Debiased:
    log = case.log
    bias, corrected = np.where(log.pulls > 0, found.bias, np.nan), log.means - found.bias
    winner, quoted = _winner(log, found, sure.compared.winner), log.means - found.quoted_bias
    doubtful = carried_by_few(log) or spread_warnings(log, sure.interval.name)  # which an outlier makes differ
    return Debiased(
        **_of_log(case, sure.interval, corrected, quoted),
        bias=bias,
        bias_se=np.where(log.pulls > 0, found.bias_se, np.nan),
        quoted=quoted,
        quoted_bias=found.quoted_bias,
        quoted_bias_se=found.quoted_se,
        never_pulled=found.never_pulled,
        pulls_cv=found.pulls_cv,
        runs=found.runs,
        stopped_because=found.stopped_because,
        warnings=(*case.doubts, *_warnings(log, world, found, winner), *doubtful, *sure.notes),
        histograms=tuple(
            Histogram(float(low), float(high), counts)
            for (low, high), counts in zip(found.edges, found.histogram, strict=True)
        ),
        winner=winner,
        differences=_differences(log, found, quoted, sure),
        metrics=corrected_metrics(log, bias, found.bias_se, found.quoted_bias, found.quoted_se) if log.metrics else {},
    )


def _from_walks(case: Case, work: Work) -> Debiased:
    log, settings = case.log, case.settings
    found = rao_blackwell(
        log,
        case.policy,
        runs=settings.runs,
        seed=settings.seed,
        threads=work.threads,
        executor=work.executor,
        log_index=settings.log_index,
    )
    nothing = np.full(len(log.labels), np.nan)
    slow = _named(log, found.effective < EFFECTIVE_PER_WALK * found.walks)
    unsure = [f"{slow}: the walks over the orders of the rewards barely move; more runs may help (--runs)"]
    return Debiased(
        **_of_log(case, interval_of(log, settings.interval, settings.level, rule=kind_of_rule(case)), found.value),
        bias=log.means - found.value,
        bias_se=found.se,
        quoted=nothing,
        quoted_bias=nothing,
        quoted_bias_se=nothing,
        never_pulled=np.zeros(len(log.labels)),
        pulls_cv=nothing,
        runs=found.walks * found.steps,
        stopped_because=_why_stopped(settings.runs, found.reached),
        warnings=(*case.doubts, *(unsure if slow else []), *spread_warnings(log, case.interval)),
        histograms=tuple(Histogram(float(mean), float(mean), np.zeros(0, np.int64)) for mean in log.means),
        replays=Replays(found.walks, found.steps, found.acceptance, found.effective),
        metrics=corrected_metrics(log, log.means - found.value, found.se, nothing, nothing),
    )


def _of_log(case: Case, interval: Interval, corrected: Floats, quoted: Floats | None = None) -> dict[str, Any]:
    """What a result says of its log by either method."""
    log = case.log
    beyond = outside(log, interval, *((corrected, "corrected") if quoted is None else (quoted, "quoted")))
    return {
        "labels": log.labels,
        "pulls": log.pulls,
        "naive": log.means,
        "sd": np.sqrt(log.variances),
        "corrected": corrected,
        "settings": case.settings,
        "path": _thinned_path(log),
        "adjusted": case.adjusted,
        "interval": replace(interval, notes=(*interval.notes, *beyond)),
    }


def _why_stopped(runs: int | str, reached: bool) -> str:
    share = f"{100 * AUTO_TARGET:.0f} % of the standard error of its mean"
    if runs != "auto":
        return "as many as asked for"
    if reached:
        return f"stopped when the Monte-Carlo error of every arm was below {share}"
    return f"stopped at the limit; some arm's Monte-Carlo error is still above {share}, or not reliable yet"


def _winner(log: ExperimentLog, found: BiasEstimate, limits: Limits) -> Winner:
    best = int(np.nanargmax(log.means))
    naive, low, high = (float(values[best]) for values in (log.means, *limits))
    return Winner(log.labels[best], naive, found.winner_bias, found.winner_se, naive - found.winner_bias, low, high)


def _differences(log: ExperimentLog, found: BiasEstimate, quoted: Floats, sure: Inference) -> Differences:
    controls, limits = found.controls, sure.compared
    naive = log.means - log.means[controls]
    shown = np.isfinite(naive) & (controls != np.arange(len(controls)))
    with np.errstate(invalid="ignore", divide="ignore"):
        positive = (log.means > 0).all() & (quoted > 0) & (quoted[controls] > 0)
        lift = np.where(positive, quoted / quoted[controls] - 1, np.nan)
    values = {
        "naive": naive,
        "quoted": quoted - quoted[controls],
        "bias": found.difference_bias,
        "bias_se": found.difference_se,
        "corrected": naive - found.difference_bias,
        "low": limits.difference.low,
        "high": limits.difference.high,
        "p_value": sure.p_value,
        "p_adjusted": sure.p_adjusted,
        "lift": lift,
        "lift_low": np.where(positive, limits.lift.low, np.nan),
        "lift_high": np.where(positive, limits.lift.high, np.nan),
    }
    return Differences(
        tuple(log.labels[k] for k in controls),
        **{name: np.where(shown, each, np.nan) for name, each in values.items()},
    )


def _warnings(log: ExperimentLog, world: World, found: BiasEstimate, winner: Winner) -> list[str]:
    once, constant = log.pulls == 1, (log.pulls > 1) & (log.variances == 0)
    still, lent = world.variances == 0, np.full(log.pulls.shape, not world.binary)
    pulled, corrected, quoted = log.pulls > 0, log.means - found.bias, log.means - found.quoted_bias
    with np.errstate(invalid="ignore"):
        outside = log.binary & ((corrected < 0) | (corrected > 1) | (quoted < 0) | (quoted > 1))
        unsure = pulled & (np.abs(found.bias) < 2 * found.bias_se) & (found.bias_se > 0)
        above = quoted > quoted[log.labels.index(winner.arm)]
    seldom = pulled & ~(found.bias_se >= 0)
    few, follows = log.pulls <= 2, pulled & (Places.of(log.pulls, log.means).place != LEADS)
    small = follows & (few | (log.pulls > 10)) & (log.horizon <= SMALL) & (not log.binary)
    texts = [
        (log.pulls == 0, "no reward was logged; the value given with --unseen is only used in the simulation"),
        (
            once & still,
            "pulled once, so its bootstrap world has no variance; do not trust its bias, and report its pulls only",
        ),
        (
            constant & still,
            "all its rewards are the same, so its bootstrap world has no variance and shows no bias; --world smoothed "
            "gives it the spread of the other arms",
        ),
        (
            once & ~still & lent,
            "pulled once, so its spread is borrowed from the other arms; rely on its interval, not on its mean",
        ),
        (
            once & ~still & ~lent,
            "pulled once, so its bootstrap world is half a guess; rely on its interval, not on its mean",
        ),
        (
            constant & ~still & lent,
            "all its rewards are the same, so its spread is borrowed from the other arms; rely on its interval, not on "
            "its mean",
        ),
        (outside, "a quoted or corrected mean lies outside [0, 1], although the rewards are 0/1; quote 0 or 1 instead"),
        (unsure, "the bias is smaller than twice its Monte-Carlo error; more runs may help (--runs)"),
        (
            found.off,
            "the simulated rewards miss the mean or variance of their world; do not trust the bias, and try another "
            "--world",
        ),
        (
            few & small,
            "pulled once or twice; quote it with care, because in simulations the quoted means of such arms were still "
            "too low on average",
        ),
        (
            ~few & small,
            "not in the lead, but pulled more than 10 times; look at the raw mean, too, because in simulations the "
            "quoted means of such arms were too high on average and the raw means nearly right",
        ),
        (
            above,
            f"quoted higher than {listed([winner.arm])}, which leads; compare their intervals before you call it "
            "better",
        ),
        (
            seldom,
            "pulled in fewer than two runs, so its bias cannot be estimated; does the rule fit the log (see debandit "
            "check)?",
        ),
    ]
    warnings = [f"{_named(log, which)}: {text}" for which, text in texts if which.any()]
    if log.binary and not 0 <= winner.corrected <= 1:
        warnings.append(
            f"{winner.arm}, corrected as the winner, lies outside [0, 1], although the rewards are 0/1; quote 0 or 1"
        )
    return warnings


def _named(log: ExperimentLog, which: np.ndarray) -> str:
    return listed([log.labels[k] for k in np.flatnonzero(which)])


def _thinned_path(log: ExperimentLog) -> Path | None:
    """Up to 200 rounds or ends of batches, evenly spaced from the first to the last."""
    if log.rounds is not None:
        at = _spaced(log.horizon)
        pulls, sums = np.zeros((2, len(at) * len(log.labels)))
        for piece in in_pieces(log.horizon):  # what happened up to which point
            steps = np.searchsorted(at, np.arange(piece.start, piece.stop))
            cells = steps * len(log.labels) + log.rounds.arms[piece]
            np.add.at(pulls, cells, 1.0)
            np.add.at(sums, cells, log.rounds.rewards[piece])
        return _path(at + 1, *(part.reshape(len(at), -1).cumsum(axis=0) for part in (pulls, sums)))
    if log.batches is not None:
        known, at = log.batches, _spaced(len(log.batches.names))
        ends, sums = known.pulls.sum(axis=1).cumsum(), np.where(known.pulls > 0, known.pulls * known.means, 0.0)
        return _path(ends[at], known.pulls.cumsum(axis=0)[at], sums.cumsum(axis=0)[at])
    return None


def _spaced(count: int) -> Ints:
    return np.unique(np.linspace(0, count - 1, min(_PATH_POINTS, count)).round().astype(np.int64))


def _path(rounds: Ints, pulls: Floats | Ints, sums: Floats) -> Path:
    """The path of pulls and sums (points, arms)."""
    means = np.where(pulls > 0, sums / np.maximum(pulls, 1), np.nan)
    return Path(rounds, pulls.T.astype(np.int64), means.T)
