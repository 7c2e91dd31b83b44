"""Algorithm 1: re-run the rule in the bootstrap world, see how biased the means come out, correct the real ones."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Literal, get_args, overload

import numpy as np

from debandit.checking import check_before_debiasing
from debandit.debiasing.assembling import reordered, result_of
from debandit.debiasing.preparing import compared_with, stacks, world_of
from debandit.debiasing.running import RunCount, estimate
from debandit.debiasing.simulated import estimated_biases
from debandit.errors import InputError, quoted
from debandit.intervals import interval_of
from debandit.log import ExperimentLog
from debandit.policies import Policy, as_policy
from debandit.reordering import rao_blackwell
from debandit.result import Debiased, Settings
from debandit.simulation import MOST_RUNS, checked_count, checked_seed, checked_workers
from debandit.version import __version__
from debandit.worlds import Bootstrap, Unseen, as_bootstrap

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
    control_variates: bool = True,
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
    control_variates: bool = True,
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
    control_variates: bool = True,
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

    `control_variates` take Monte-Carlo noise out of the biases, so that fewer runs are needed; see docs/runs.md.
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
            control_variates=bool(control_variates),
        )

    controls = [compared_with(one, control) for one in logs]
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
            settings = replace(settings_of(i), world="none", world_because="", control_variates=False)
            found.append(reordered(one, unbiased, settings, doubt, intervals[i]))
        return found[0] if isinstance(log, ExperimentLog) else found
    worlds = [
        world_of(one, each, chosen, stand_in) for one, each, (chosen, _) in zip(logs, rules, choices, strict=True)
    ]
    doubts = check_before_debiasing(
        logs, rules, seed=int(seed), unseen=stand_in, force=force, threads=threads, executor=executor
    )
    results: dict[int, Debiased] = {}
    for batch, experiment in stacks(logs, worlds, rules, int(seed), log_index):
        compared, variances = np.stack([controls[i] for i in batch]), [worlds[i].variances for i in batch]
        estimates = estimate(
            experiment, [logs[i] for i in batch], variances, compared, count, bool(control_variates), workers
        )
        for i, estimated in zip(batch, estimates, strict=True):
            results[i] = result_of(logs[i], worlds[i], estimated, settings_of(i), doubts[i], intervals[i])
    ordered = [results[i] for i in range(len(logs))]
    return ordered[0] if isinstance(log, ExperimentLog) else ordered


__all__ = ["debias", "estimated_biases"]
