"""The exactly unbiased estimate of rules that draw nothing: its rewards in every order that they could have had.

Given the numbers of pulls and each arm's rewards, all orders under which the rule makes these numbers of pulls are
equally likely, whatever the law of the rewards. The pulls that the rule makes of an arm in any case are unbiased, so
their mean over such orders is, too. Walks over the orders start from that of the log, which is one of them with the
right probability: thus a walk of any length is unbiased, and a longer one only scatters less.
"""

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from itertools import repeat
from typing import Literal, NamedTuple

import numpy as np

from debandit.checks import MOST_RUNS, checked_seed, checked_whole, checked_workers
from debandit.engine.chains import Tapes, tapes_of
from debandit.engine.data import Floats
from debandit.engine.experiment import REORDER, enough_rounds
from debandit.engine.kernels import ObjectKernel
from debandit.engine.spread import Workers, progress_bar
from debandit.errors import InputError, Refused, work_elsewhere
from debandit.log import ExperimentLog
from debandit.policies import Policy, as_policy

WALKS, _GROUPS = 512, 4  # a group has random numbers of its own, and is the work of one thread
TARGET, _FIRST_STEPS, _MOST_STEPS, _MOST_ROUNDS = 0.1, 128, 2**12, 5 * 10**8
EFFECTIVE_PER_WALK = 5  # orders as good as independent, before it is believed that a walk has forgotten its start
_ROUNDS_AT_ONCE, _LONGEST = 20_000_000, 100_000


class RaoBlackwell(NamedTuple):
    """The unbiased estimate of each arm, and how well the walks know it.

    Attributes
    ----------
    value, se : array of float
        The estimate, and how far the walks are from all orders: a Monte-Carlo error, not one from the truth.
    effective : array of float
        This many independent orders would be as good; NaN if the arm has one value in all of them.
    acceptance : float
        The share of the steps that the rule did not notice.
    walks, steps : int
        Walks, and steps of each; the second half counts.
    reached : bool
        Whether se and effective are as good as ``runs="auto"`` wants them.
    """

    value: Floats
    se: Floats
    effective: Floats
    acceptance: float
    walks: int
    steps: int
    reached: bool


def rao_blackwell(
    log: ExperimentLog,
    policy: Policy | str,
    *,
    runs: int | Literal["auto"] = "auto",
    seed: int = 0,
    threads: int | None = None,
    executor: Executor | None = None,
    log_index: int = 0,
) -> RaoBlackwell:
    """Average over the orders of the rewards that the rule could not tell apart: exactly unbiased, whatever their law.

    The policy must choose without randomness; others are refused. See docs/rao-blackwell.md.

    Parameters
    ----------
    log : ExperimentLog
        What happened.
    policy : Policy or str
        The rule that chose the arms.
    runs : int or "auto"
        Replays of the rule. "auto" goes on until the Monte-Carlo error of every arm is below 10 % of the standard error
        of its sample mean.
    seed : int, default 0
        Same seed, same answer.
    threads : int, optional
        Threads to use; by default as many as there are cores.
    executor : concurrent.futures.Executor, optional
        What to use instead of threads.
    log_index : int, default 0
        The log's place among the logs of one call.

    Returns
    -------
    RaoBlackwell
        The estimate, and how well it is known.

    Examples
    --------
    >>> import debandit as db
    >>> world = "normal(means=[1, 1.5], sds=[1, 1])"
    >>> log = db.simulate("ucb", world, horizon=100, runs=1, seed=9, paths=True).log(0)
    >>> log.means.round(2), db.estimators.rao_blackwell(log, "ucb").value.round(2)
    (array([0.87, 1.58]), array([1.38, 1.83]))
    """
    rule, workers = as_policy(policy).in_log(log), checked_workers(threads, executor)
    samples, forced = _samples(log, rule), _forced(log, rule)
    count = None if runs == "auto" else max(2, -(-checked_whole("runs", runs, 2, MOST_RUNS) // WALKS))
    seeds = np.random.SeedSequence((checked_seed(seed), REORDER, log_index)).spawn(_GROUPS)
    groups = [tapes_of(rule, samples, forced, WALKS // _GROUPS, one) for one in seeds]
    if not (groups[0].replayed()[0] == log.pulls).all():
        raise Refused(
            f"replayed along its own log, {rule} makes different numbers of pulls",
            where="policy",
            remedy="This rule did not make this log, or breaks ties between rounded means in another way. "
            "See debandit check.",
        )
    if (log.pulls <= forced).all():  # nothing but forced pulls
        nothing = np.full(len(log.labels), np.nan)
        return RaoBlackwell(log.means, np.zeros(len(log.labels)), nothing, 1.0, WALKS, 0, True)
    return _walked(log, groups, count, workers)


def _samples(log: ExperimentLog, policy: Policy) -> list[Floats]:
    if policy.randomised or isinstance(policy.kernel, ObjectKernel):
        draws = "draws its choices" if policy.randomised else "is a Python object, too slow to be replayed so often"
        raise Refused(
            f"rao-blackwell is for rules without randomness, such as ucb and etc, and {policy} {draws}",
            where="policy",
            remedy="With random choices the possible orders are not equally likely; weighted by their chances, the "
            "estimate scatters 1.7 times as much as the sample mean, and walks over them move very little. "
            "Use the bootstrap (the default method).",
        )
    if log.rounds is None:
        raise InputError(
            "this log has counts only, but rao-blackwell needs every reward in the order of time",
            where="log",
            remedy="Give a table with one row per round, or use the bootstrap (the default method).",
        )
    policy.check_rewards(log)
    if log.horizon > _LONGEST:
        what = f"{log.horizon:,} rounds are too many to be replayed thousands of times"
        raise InputError(what, where="log", remedy=f"rao-blackwell is for {_LONGEST:,} rounds or fewer.")
    return log.samples()


def _forced(log: ExperimentLog, policy: Policy) -> int:
    """How many pulls of each arm the rule makes whatever comes."""
    arm_count = len(log.labels)
    enough_rounds(policy, arm_count, log.horizon)
    conditions = policy.conditions(arm_count, log.horizon)
    if conditions.decides:
        what = f"{policy} may commit or stop early, and nobody has shown that rao-blackwell is unbiased then"
        raise Refused(what, where="policy", remedy="Use the bootstrap (the default method).")
    forced = min(max(conditions.opening, conditions.turns // arm_count), int(log.pulls.min()))
    if not forced:
        raise Refused(
            f"{policy} has no initial pulls, from which rao-blackwell could start",
            where="policy",
            remedy="rao-blackwell is for rules with initial pulls that the log has. Use the bootstrap.",
        )
    return forced


def _walked(log: ExperimentLog, groups: list[Tapes], steps: int | None, workers: Workers) -> RaoBlackwell:
    """Walk this many steps, or twice as many again and again until it is enough; what counts is the second half."""
    with np.errstate(invalid="ignore", divide="ignore"):
        target = TARGET * np.sqrt(log.variances / log.pulls)
    most = max(_FIRST_STEPS, min(_MOST_STEPS, _MOST_ROUNDS // (WALKS * log.horizon)))
    half = _FIRST_STEPS // 2 if steps is None else steps // 2
    groups, done = _advanced(groups, half, workers), half
    while True:
        kept = half if steps is None else steps - half
        groups, done = _advanced(groups, kept, workers), done + kept
        found = _summary(log, groups, kept, done, target)
        if steps is not None or found.reached or 2 * done > most:
            return found
        half = done


def _summary(log: ExperimentLog, groups: list[Tapes], kept: int, done: int, target: Floats) -> RaoBlackwell:
    means = np.concatenate([group.sums for group in groups]) / kept
    squares = np.concatenate([group.squares for group in groups]).sum(axis=0)
    mean, se = means.mean(axis=0), means.std(axis=0, ddof=1) / np.sqrt(WALKS)
    spread_of = squares / (WALKS * kept) - mean**2
    moved = spread_of > 1e-9 * log.variances  # more than rounding
    se = np.where(moved, se, 0.0)
    effective = np.divide(spread_of, se**2, out=np.full(len(se), np.nan), where=se > 0)
    enough = ~moved | ((se < target) & (effective >= EFFECTIVE_PER_WALK * WALKS))
    acceptance = sum(group.accepted for group in groups) / (WALKS * kept)
    return RaoBlackwell(groups[0].centre + mean, se, effective, acceptance, WALKS, done, bool(enough.all()))


def _advanced(groups: Sequence[Tapes], steps: int, workers: Workers) -> list[Tapes]:
    """All groups this many steps further, with the sums over these steps; not a bit depends on the workers."""
    size = max(1, _ROUNDS_AT_ONCE // groups[0].values.size)
    parts = [size] * (steps // size) + ([steps % size] if steps % size else [])
    pool = workers if isinstance(workers, Executor) else ThreadPoolExecutor(workers or _GROUPS)
    now = [group.uncounted() for group in groups]
    try:
        with progress_bar(steps * WALKS) as bar:
            for part in parts:
                with work_elsewhere():
                    now = list(pool.map(Tapes.walked, now, repeat(part)))
                bar.update(part * WALKS)
    finally:
        if pool is not workers:
            pool.shutdown(cancel_futures=True)
    return now
