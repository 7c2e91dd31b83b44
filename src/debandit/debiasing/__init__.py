"""Algorithm 1: re-run the rule in the bootstrap world, see how biased the means come out, correct the real ones."""

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import overload

from debandit.debiasing.answering import bootstrapped, replayed
from debandit.debiasing.question import Method, Question
from debandit.debiasing.running import RunCount
from debandit.debiasing.simulated import estimated_biases
from debandit.log import ExperimentLog
from debandit.policies import Policy, as_policy
from debandit.result import Debiased
from debandit.simulation import MOST_RUNS, checked_count, checked_seed
from debandit.worlds import Bootstrap, Unseen, as_bootstrap


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
    question = Question(
        logs=[log] if isinstance(log, ExperimentLog) else list(log),
        policy=as_policy(policy),
        world=as_bootstrap(world),
        runs="auto" if runs == "auto" else checked_count("runs", runs, MOST_RUNS, least=2),
        seed=checked_seed(seed),
        unseen=None if unseen is None else Unseen.of(unseen),
        threads=threads,
        executor=executor,
        log_index=checked_count("log_index", log_index, MOST_RUNS, least=0),
        force=force,
        interval=interval,
        level=level,
        method=method,
        control=control,
        control_variates=bool(control_variates),
    )
    results = bootstrapped(question) if method == "bootstrap" else replayed(question)
    return results[0] if isinstance(log, ExperimentLog) else results


__all__ = ["debias", "estimated_biases"]
