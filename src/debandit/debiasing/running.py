"""The runs of a stack of logs, each for as long as it needs."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from debandit.checks import checked_workers
from debandit.debiasing.cases import Case, no_world
from debandit.engine import spread
from debandit.engine.data import Floats, Ints, WorldData
from debandit.engine.experiment import DEBIAS, Experiment
from debandit.engine.places import LEADS, Places
from debandit.engine.runs import TOTALS, Wish
from debandit.engine.spread import is_costly
from debandit.log import ExperimentLog
from debandit.simulation import Runs, experiment_of, fits
from debandit.worlds import Bootstrap, Unseen, World, as_bootstrap

AUTO_FIRST, AUTO_FIRST_OF_COSTLY, AUTO_CAP, AUTO_TARGET = 1024, 256, 200_000, 0.1
AUTO_QUOTED = 8  # times the runs that the biases over all experiments need, at most, for those given a place
_BINS, _PILOT_RUNS = 60, 64
_LOGS_AT_ONCE = 1000

RunCount = int | Literal["auto"]


class BiasEstimate(NamedTuple):
    """What the runs say about one log."""

    runs: int
    stopped_because: str
    bias: Floats
    bias_se: Floats
    never_pulled: Floats
    pulls_cv: Floats
    edges: Floats  # (K, 2)
    histogram: Ints  # (K, bins)
    controls: Ints  # (K,)
    difference_bias: Floats  # (K,)
    difference_se: Floats
    winner_bias: float
    winner_se: float
    quoted_bias: Floats
    quoted_se: Floats
    off: np.ndarray  # (K,) arms whose errors are not 0 on average in the runs


def estimate(
    experiment: Experiment,
    logs: list[ExperimentLog],
    variances: list[Floats],
    controls: Ints,
    runs: RunCount,
    control_variates: bool,
    workers: spread.Workers,
) -> list[BiasEstimate]:
    """Run every log's world, each for as long as it needs."""
    edges = _histogram_edges(experiment, workers)
    places = Places.of(np.stack([log.pulls for log in logs]), np.stack([log.means for log in logs]))
    wish = Wish(edges, _BINS, controls, control_variates, places)
    with np.errstate(invalid="ignore", divide="ignore"):
        target = AUTO_TARGET * np.sqrt(np.array([each / log.pulls for each, log in zip(variances, logs, strict=True)]))
    target[~(target > 0)] = np.inf  # arms without variance or pulls do not count
    quoted_target = np.where(places.place == LEADS, target, 2 * target)
    first = AUTO_FIRST_OF_COSTLY if is_costly(experiment) else AUTO_FIRST
    more, most = np.full(len(logs), first if runs == "auto" else runs), np.full(len(logs), AUTO_CAP)
    total = None
    while total is None or more.any():
        total = spread.tally(experiment, more, wish, before=total, workers=workers)
        arms, winner = total.arms, total.best
        quoted = total.quoted(arms, winner)
        # one pull has no standard error yet; what no run has pulled more runs will hardly pull
        short = np.where(total.pulled == 1, np.isfinite(target), np.nan_to_num(arms.se) >= target)
        reached = short.sum(axis=1) == 0
        most = np.where(reached, np.minimum(most, AUTO_QUOTED * total.runs), most)
        behind = np.nan_to_num(quoted.se) >= quoted_target
        quotable = ~behind.any(axis=1)
        wanted = total.runs
        if is_costly(experiment):  # hardly more than needed: errors fall like the root of the runs
            lacking = np.where(short & (total.pulled > 1), arms.se / target, 0.0)
            shortfall = np.fmax(lacking, np.where(behind, quoted.se / quoted_target, 0.0)).max(axis=1) ** 2
            wanted = np.where(shortfall > 0, total.runs * np.clip(1.1 * shortfall - 1, 0.1, 1), total.runs).astype(int)
        done = reached & (quotable | (total.runs >= most))
        more = np.where(done | (runs != "auto"), 0, np.minimum(wanted, most - total.runs))
    never, spread_of_pulls = 1.0 - total.pulled / total.runs[:, None], total.pulls_cv
    counts = target.min(axis=1) < np.inf
    differences, differences_se = total.differences
    return [
        BiasEstimate(
            int(total.runs[i]),
            _why_stopped(runs, bool(reached[i]), bool(quotable[i]), bool(counts[i])),
            arms.bias[i],
            arms.se[i],
            never[i],
            spread_of_pulls[i],
            edges[i],
            total.histogram[i],
            controls[i],
            differences[i],
            differences_se[i],
            float(winner.bias[i]),
            float(winner.se[i]),
            quoted.bias[i],
            quoted.se[i],
            arms.caught[i].any(axis=-1),
        )
        for i in range(len(logs))
    ]


def _why_stopped(runs: RunCount, reached: bool, quotable: bool, any_counts: bool) -> str:
    if runs != "auto":
        return "as many as asked for"
    if not any_counts:
        return "stopped at once because no arm's rewards vary"
    share = f"{100 * AUTO_TARGET:.0f} % of the standard error of its mean"
    if reached and not quotable:
        enough = f"{AUTO_QUOTED} times the runs that the corrected means need"
        return f"stopped at {enough}, although some Monte-Carlo error of a value to quote is larger than wanted"
    if reached:
        return f"stopped when the Monte-Carlo error of every arm's bias was below {share}"
    return f"stopped at the limit of {AUTO_CAP:,}; some arm's Monte-Carlo error is still above {share}"


def _histogram_edges(experiment: Experiment, workers: spread.Workers) -> Floats:
    """The range of each arm's simulated means in the first few runs, widened by a quarter on both sides."""
    table = spread.store(experiment, _PILOT_RUNS, kept=TOTALS, paths=False, workers=workers).table
    pulls, sums = table.reshape(TOTALS, experiment.arm_count, -1, _PILOT_RUNS).swapaxes(1, 2)  # (W, K, runs)
    truth = experiment.truth
    means = np.where(pulls > 0, sums / np.maximum(pulls, 1), truth[..., None])
    low, high = np.minimum(means.min(axis=-1), truth), np.maximum(means.max(axis=-1), truth)
    unit = np.abs(truth).max(axis=-1, keepdims=True)  # for an arm whose mean does not vary
    margin = np.where(high > low, (high - low) / 4, np.where(unit > 0, unit, 1.0) / 2)
    return np.stack((low - margin, high + margin), axis=-1)


def stacks(cases: Sequence[Case]) -> Iterator[tuple[list[Case], list[World], Experiment]]:
    """Cases alike in policy, arms, rounds and kind of world, a thousand at most, with their worlds in one stack."""
    alike: dict[Any, list[Case]] = defaultdict(list)
    for case in cases:
        alike[case.policy, len(case.log.labels), case.planned, case.world and case.world.name].append(case)
    for (policy, _, horizon, _), group in alike.items():
        for start in range(0, len(group), _LOGS_AT_ONCE):
            some = group[start : start + _LOGS_AT_ONCE]
            worlds = [case.world for case in some if case.world]
            data, ids = _stacked([world.data() for world in worlds]), [case.settings.log_index for case in some]
            seed = some[0].settings.seed
            yield some, worlds, experiment_of(policy, data, np.array(ids), horizon=horizon, seed=seed, purpose=DEBIAS)


def _stacked(worlds: list[WorldData]) -> WorldData:
    """Worlds of one kind, one upon the other."""
    if len(worlds) == 1:
        return worlds[0]
    starts = np.cumsum([0] + [len(world.pool) for world in worlds])
    return WorldData(
        worlds[0].kind,
        np.concatenate([world.means for world in worlds]),
        np.concatenate([world.variances for world in worlds]),
        np.concatenate([world.sds for world in worlds]),
        np.concatenate([world.pool for world in worlds]),
        np.concatenate([*(w.pool_start[:-1] + s for w, s in zip(worlds, starts[:-1], strict=True)), starts[-1:]]),
    )


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
        raise no_world(f"arm {arm + 1} of experiment {run + 1}")
    worlds = as_bootstrap(world).fit(experiments, None if unseen is None else Unseen.of(unseen))
    policy, horizon, ids = experiments.policy, experiments.horizon, np.arange(len(seen))
    fits(policy, worlds)
    task = experiment_of(policy, worlds.data(), ids, horizon=horizon, seed=seed, purpose=DEBIAS)
    total = spread.tally(task, np.full(len(seen), runs), workers=checked_workers(threads, None))
    return np.where(seen, total.bias, np.nan)
