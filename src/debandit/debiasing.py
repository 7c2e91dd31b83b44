"""Algorithm 1: re-run the rule in the bootstrap world, see how biased the means come out, correct the real ones."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple, get_args, overload

import numpy as np

from debandit.checking import check_before_debiasing
from debandit.engine import spread
from debandit.engine.data import Floats, Ints, WorldData
from debandit.errors import InputError, Refused, listed, quoted
from debandit.intervals import Interval, interval_of, outside
from debandit.log import ExperimentLog
from debandit.policies import Policy, as_policy
from debandit.reordering import EFFECTIVE_PER_WALK, RaoBlackwell, rao_blackwell
from debandit.result import Debiased, Differences, Histogram, Path, Replays, Settings, Winner
from debandit.simulation import (
    MOST_RUNS,
    Runs,
    checked_count,
    checked_seed,
    checked_workers,
    enough_rounds,
    experiment_of,
    fits,
)
from debandit.version import __version__
from debandit.worlds import Bootstrap, Unseen, World, as_bootstrap

AUTO_FIRST, AUTO_CAP, AUTO_TARGET = 1024, 200_000, 0.1
_BINS, _PILOT_RUNS, _LOGS_AT_ONCE, _PATH_POINTS = 60, 64, 1000, 200

RunCount = int | Literal["auto"]
Method = Literal["bootstrap", "rao-blackwell"]


@overload
def debias(
    log: ExperimentLog,
    policy: Policy | str,
    *,
    world: Bootstrap | str = "auto",
    runs: RunCount = "auto",
    seed: int = 0,
    unseen: tuple[float, float] | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
    log_index: int = 0,
    force: bool = False,
    interval: str = "auto",
    level: float = 0.95,
    method: Method = "bootstrap",
    control: str | None = None,
) -> Debiased: ...
@overload
def debias(
    log: Sequence[ExperimentLog],
    policy: Policy | str,
    *,
    world: Bootstrap | str = "auto",
    runs: RunCount = "auto",
    seed: int = 0,
    unseen: tuple[float, float] | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
    log_index: int = 0,
    force: bool = False,
    interval: str = "auto",
    level: float = 0.95,
    method: Method = "bootstrap",
    control: str | None = None,
) -> list[Debiased]: ...
def debias(
    log: ExperimentLog | Sequence[ExperimentLog],
    policy: Policy | str,
    *,
    world: Bootstrap | str = "auto",
    runs: RunCount = "auto",
    seed: int = 0,
    unseen: tuple[float, float] | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
    log_index: int = 0,
    force: bool = False,
    interval: str = "auto",
    level: float = 0.95,
    method: Method = "bootstrap",
    control: str | None = None,
) -> Debiased | list[Debiased]:
    """Estimate and remove the bias of each arm's sample mean.

    `world="auto"` is jeffreys for 0/1 rewards, gaussian for a log of means and variances only, and else smoothed; the
    result says which and why. See docs/worlds.md.

    `runs="auto"` grows until the Monte-Carlo error of every arm's bias is below 10 % of the standard error of its
    sample mean, at most 200,000. `unseen=(mean, sd)` gives arms without a reward a world. Many logs in one call give
    a list; the random numbers of a log depend on the seed and on its place in that list, counted from `log_index`.
    Not a bit depends on `threads` (None: all cores), or on the `executor` that is used instead of them.

    First the rule is checked against the log (see `check`). A log that it cannot have made is refused, unless `force`d;
    one that it hardly made has a warning in the result. Of more than 20 logs only the impossible are found, and only
    for rules without randomness.

    `interval` is that of each arm's mean at the confidence `level`: see docs/intervals.md.

    `method="rao-blackwell"` is exactly unbiased for rules without randomness, and needs no world (see
    `estimators.rao_blackwell`); a run is then a replay of the rule.

    `control` names the arm that all others are compared with; without it each arm is compared with the one that looks
    best among the others of the log. See `Debiased.differences`, and `Debiased.winner` for the winner's curse.
    """
    logs = [log] if isinstance(log, ExperimentLog) else list(log)
    if not all(isinstance(one, ExperimentLog) for one in logs):
        raise InputError("debias needs an ExperimentLog or a list of them", where="log", remedy="See read_log.")
    rule, bootstrap = as_policy(policy), as_bootstrap(world)
    count: RunCount = "auto" if runs == "auto" else checked_count("runs", runs, MOST_RUNS, least=2)
    stand_in = None if unseen is None else Unseen.of(unseen)
    checked_seed(seed)
    log_index = checked_count("log_index", log_index, MOST_RUNS, least=0)
    if method not in get_args(Method):
        what = f"there is no method {quoted(method)}"
        raise InputError(what, where="method", remedy=f"There are {' and '.join(get_args(Method))}.")
    workers = checked_workers(threads, executor)
    intervals = [interval_of(one, interval, level) for one in logs]

    rules = [rule.in_log(one) for one in logs]
    choices = [
        bootstrap.chosen_for(one, each.in_large_batches(len(one.labels), one.horizon))
        for one, each in zip(logs, rules, strict=True)
    ]

    def settings_of(i: int) -> Settings:
        return Settings(
            policy=str(rules[i]),
            world=str(choices[i][0]),
            world_because=choices[i][1],
            unseen=None if stand_in is None else (stand_in.mean, stand_in.sd),
            runs_asked=count,
            seed=int(seed),
            horizon=logs[i].horizon,
            log_sha256=logs[i].sha256,
            log_index=log_index + i,
            binary=logs[i].binary,
            version=__version__,
            interval=interval,
            level=float(level),
            method=method,
            control=None if control is None else str(control),
        )

    controls = [_controls(one, control) for one in logs]
    if method == "rao-blackwell":
        if control is not None:
            what = "the method rao-blackwell does not compare arms"
            raise InputError(what, where="control", remedy="Use the bootstrap (the default method).")
        found = []
        for i, (one, each) in enumerate(zip(logs, rules, strict=True)):
            unbiased = rao_blackwell(
                one, each, runs=count, seed=seed, threads=threads, executor=executor, log_index=log_index + i
            )
            (doubt,) = check_before_debiasing(
                [one], [each], seed=int(seed), unseen=None, force=force, threads=threads, executor=executor
            )
            settings = replace(settings_of(i), world="none", world_because="")
            found.append(_reordered(one, unbiased, settings, doubt, intervals[i]))
        return found[0] if isinstance(log, ExperimentLog) else found
    worlds = [
        _world_of(one, each, chosen, stand_in) for one, each, (chosen, _) in zip(logs, rules, choices, strict=True)
    ]
    doubts = check_before_debiasing(
        logs, rules, seed=int(seed), unseen=stand_in, force=force, threads=threads, executor=executor
    )
    results: dict[int, Debiased] = {}
    for batch, experiment in _stacks(logs, worlds, rules, int(seed), log_index):
        compared, variances = np.stack([controls[i] for i in batch]), [worlds[i].variances for i in batch]
        estimates = _estimate(experiment, [logs[i] for i in batch], variances, compared, count, workers)
        for i, estimate in zip(batch, estimates, strict=True):
            results[i] = _result(logs[i], worlds[i], estimate, settings_of(i), doubts[i], intervals[i])
    ordered = [results[i] for i in range(len(logs))]
    return ordered[0] if isinstance(log, ExperimentLog) else ordered


def estimated_biases(
    experiments: Runs,
    *,
    world: Bootstrap | str = "gaussian",
    runs: int = 1000,
    seed: int = 0,
    unseen: tuple[float, float] | None = None,
    threads: int | None = None,
) -> Floats:
    """The biases that `debias` estimates for simulated experiments, of shape (experiments, arms): for studies."""
    seen = experiments.pulls > 0
    if unseen is None and not seen.all():
        run, arm = np.argwhere(~seen)[0]
        raise _no_world(f"arm {arm + 1} of experiment {run + 1}")
    worlds = as_bootstrap(world).fit(experiments, None if unseen is None else Unseen.of(unseen))
    policy, horizon, ids = experiments.policy, experiments.horizon, np.arange(len(seen))
    fits(policy, worlds)
    task = experiment_of(policy, worlds.data(), ids, horizon=horizon, seed=seed, purpose=spread.DEBIAS)
    total = spread.tally(task, np.full(len(seen), runs), workers=checked_workers(threads, None))
    return np.where(seen, total.bias, np.nan)


def _stacks(
    logs: Sequence[ExperimentLog], worlds: Sequence[World], policies: Sequence[Policy], seed: int, log_index: int
) -> Iterator[tuple[list[int], spread.Experiment]]:
    """Logs alike in rule, kind of world, arms and rounds as stacks of worlds, with their places among the logs."""
    alike = defaultdict(list)
    for i, (log, rule) in enumerate(zip(logs, policies, strict=True)):
        alike[rule, len(log.labels), log.horizon, worlds[i].name].append(i)
    for (policy, _, horizon, _), indices in alike.items():
        for start in range(0, len(indices), _LOGS_AT_ONCE):
            batch = indices[start : start + _LOGS_AT_ONCE]
            data, ids = _stack([worlds[i].data() for i in batch]), np.array(batch) + log_index
            yield batch, experiment_of(policy, data, ids, horizon=horizon, seed=seed, purpose=spread.DEBIAS)


class _Estimate(NamedTuple):
    """What the runs say about one log."""

    runs: int
    stopped_because: str
    bias: Floats
    bias_se: Floats
    never_pulled: Floats
    edges: Floats  # (K, 2)
    histogram: Ints  # (K, bins)
    controls: Ints  # (K,)
    joint_bias: Floats  # (K + 1,) of each difference, and of the highest mean
    joint_bias_se: Floats


def _world_of(log: ExperimentLog, policy: Policy, bootstrap: Bootstrap, unseen: Unseen | None) -> World:
    """The log's world, once log, rule and world are known to fit."""
    if log.unseen and unseen is None:
        raise _no_world(listed(log.unseen))
    if policy.binary_rewards and not log.binary:
        raise InputError(f"{policy.name} is a rule for 0/1 rewards, but the log has others", where="reward")
    enough_rounds(policy, len(log.labels), log.horizon)
    world = bootstrap.fit(log, unseen)
    fits(policy, world)
    return world


def _no_world(arms: str) -> Refused:
    return Refused(
        f"no reward was logged for {arms}: without rewards an arm has no bootstrap world",
        where="arms",
        remedy="Give such arms a world with --unseen MEAN,SD (in Python unseen=(mean, sd)).",
    )


def _stack(worlds: list[WorldData]) -> WorldData:
    """Worlds of one kind, one upon the other."""
    starts = np.cumsum([0] + [len(world.pool) for world in worlds])
    return WorldData(
        worlds[0].kind,
        np.concatenate([world.means for world in worlds]),
        np.concatenate([world.sds for world in worlds]),
        np.concatenate([world.pool for world in worlds]),
        np.concatenate([*(w.pool_start[:-1] + s for w, s in zip(worlds, starts[:-1], strict=True)), starts[-1:]]),
    )


def _estimate(
    experiment: spread.Experiment,
    logs: list[ExperimentLog],
    variances: list[Floats],
    controls: Ints,
    runs: RunCount,
    workers: spread.Workers,
) -> list[_Estimate]:
    """Run every log's world, each for as long as it needs."""
    edges = _histogram_edges(experiment, workers)
    with np.errstate(invalid="ignore", divide="ignore"):
        target = AUTO_TARGET * np.sqrt(np.array([each / log.pulls for each, log in zip(variances, logs, strict=True)]))
    target[~(target > 0)] = np.inf  # arms without variance or pulls do not count
    more = np.full(len(logs), AUTO_FIRST if runs == "auto" else runs)
    total = None
    while total is None or more.any():
        total = spread.tally(
            experiment, more, before=total, edges=edges, bins=_BINS, controls=controls, workers=workers
        )
        # one pull has no standard error yet; what no run has pulled more runs will hardly pull
        short = np.where(total.pulled == 1, np.isfinite(target), np.nan_to_num(total.bias_se) >= target)
        reached = short.sum(axis=1) == 0
        more = np.where(reached | (runs != "auto"), 0, np.minimum(total.runs, AUTO_CAP - total.runs))
    bias, bias_se, never = total.bias, total.bias_se, 1.0 - total.pulled / total.runs[:, None]
    counts = target.min(axis=1) < np.inf
    joint_bias, joint_bias_se = total.joint_bias, total.joint_bias_se
    return [
        _Estimate(
            int(total.runs[i]),
            _why_stopped(runs, bool(reached[i]), bool(counts[i])),
            bias[i],
            bias_se[i],
            never[i],
            edges[i],
            total.histogram[i],
            controls[i],
            joint_bias[i],
            joint_bias_se[i],
        )
        for i in range(len(logs))
    ]


def _controls(log: ExperimentLog, control: str | None) -> Ints:
    """The arm that each is compared with: the named one, or of the others that with the highest sample mean."""
    if control is None:
        order = np.argsort(-np.nan_to_num(log.means, nan=-np.inf), kind="stable")
        best: Ints = np.where(np.arange(len(order)) == order[0], order[1], order[0])
        return best
    if str(control) not in log.labels:
        close = get_close_matches(str(control), log.labels, 1)
        what = f"there is no arm {quoted(control)} to compare with"
        remedy = f"Did you mean {quoted(close[0])}?" if close else f"The arms are {listed(list(log.labels))}."
        raise InputError(what, where="control", remedy=remedy)
    return np.full(len(log.labels), log.labels.index(str(control)))


def _why_stopped(runs: RunCount, reached: bool, any_counts: bool) -> str:
    if runs != "auto":
        return "as many as asked for"
    if not any_counts:
        return "stopped at once because no arm's rewards vary"
    share = f"{100 * AUTO_TARGET:.0f} % of the standard error of its mean"
    if reached:
        return f"stopped when the Monte-Carlo error of every arm's bias was below {share}"
    return f"stopped at the limit of {AUTO_CAP:,}; some arm's Monte-Carlo error is still above {share}"


def _histogram_edges(experiment: spread.Experiment, workers: spread.Workers) -> Floats:
    """The range of each arm's simulated means in the first few runs, widened by a quarter on both sides."""
    kept = spread.store(experiment, _PILOT_RUNS, paths=False, workers=workers)
    shape = (len(experiment.world_ids), _PILOT_RUNS, experiment.arm_count)
    pulls, truth = kept.pulls.reshape(shape), experiment.world.means.reshape(-1, 1, experiment.arm_count)
    means = np.where(pulls > 0, kept.sums.reshape(shape) / np.maximum(pulls, 1), truth)
    low, high = np.minimum(means.min(axis=1), truth[:, 0]), np.maximum(means.max(axis=1), truth[:, 0])
    margin = np.where(high > low, (high - low) / 4, np.maximum(np.abs(low), 1.0) / 2)
    return np.stack((low - margin, high + margin), axis=-1)


def _result(
    log: ExperimentLog,
    world: World,
    estimate: _Estimate,
    settings: Settings,
    doubts: list[str],
    interval: Interval,
) -> Debiased:
    corrected = log.means - estimate.bias
    bias = np.where(log.pulls > 0, estimate.bias, np.nan)
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
        warnings=(*doubts, *_warnings(log, world, bias, estimate, corrected)),
        settings=settings,
        histograms=histograms,
        path=_thinned_path(log),
        interval=replace(interval, notes=(*interval.notes, *outside(log, interval, corrected))),
        winner=_winner(log, float(estimate.joint_bias[-1]), float(estimate.joint_bias_se[-1])),
        differences=_differences(log, estimate),
    )


def _winner(log: ExperimentLog, bias: float, bias_se: float) -> Winner:
    best = int(np.nanargmax(log.means))
    return Winner(log.labels[best], float(log.means[best]), bias, bias_se, float(log.means[best]) - bias)


def _differences(log: ExperimentLog, estimate: _Estimate) -> Differences:
    controls = estimate.controls
    naive = log.means - log.means[controls]
    shown = np.isfinite(naive) & (controls != np.arange(len(controls)))
    bias, error = (np.where(shown, each[:-1], np.nan) for each in (estimate.joint_bias, estimate.joint_bias_se))
    naive = np.where(shown, naive, np.nan)
    return Differences(tuple(log.labels[k] for k in controls), naive, bias, error, naive - bias)


def _reordered(
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


def _warnings(log: ExperimentLog, world: World, bias: Floats, estimate: _Estimate, corrected: Floats) -> list[str]:
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
