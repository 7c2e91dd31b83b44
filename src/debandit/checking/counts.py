"""How often each arm was pulled, against the rule in the log's own world. Needs no order of the rounds."""

from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np

from debandit.engine.data import Floats
from debandit.log import ExperimentLog
from debandit.policies import Policy
from debandit.simulation import simulate
from debandit.worlds import Efron, Gaussian, Unseen

RUNS = 999
MOST_DRAWS = 2e8  # rounds times arms of all runs: a draw takes 10 to 100 nanoseconds
LEFT_OUT = "pull counts are not compared: {runs} runs of {rounds:,} rounds and {arms:,} arms would take long"


class Counts(NamedTuple):
    """The arm whose pulls are the least usual, with the range of 95 % of the runs.

    The p-value is for all arms together, and approximate: the world was estimated from the same log.
    """

    p_value: float
    arm: str
    pulls: int
    low: float
    high: float


def left_out(log: ExperimentLog, policy: Policy) -> str:
    """Why pull counts are not compared where the choices were, if they would take long; mostly nothing."""
    rounds, arm_count = policy.planned(log.horizon), len(log.labels)
    takes_long = RUNS * rounds * arm_count > MOST_DRAWS and not policy.in_large_batches(arm_count, rounds)
    return LEFT_OUT.format(runs=RUNS, rounds=rounds, arms=arm_count) if takes_long else ""


def compare_counts(
    log: ExperimentLog,
    policy: Policy,
    seed: int,
    unseen: Unseen | None,
    threads: int | None,
    executor: Executor | None = None,
) -> Counts:
    """Simulate the rule in the log's world; both too many and too few pulls count as unusual."""
    world = (Efron() if policy.binary_rewards else Gaussian()).fit(log, unseen)
    horizon = policy.planned(log.horizon)
    runs = simulate(policy, world, horizon=horizon, runs=RUNS, seed=seed, threads=threads, executor=executor)
    pulls = np.concatenate([log.pulls[None], runs.pulls]).T.astype(np.float64)
    p_value, which = smallest_share(np.concatenate([pulls, -pulls]))
    arm = which % len(log.labels)
    low, high = np.quantile(runs.pulls[:, arm], (0.025, 0.975))
    return Counts(p_value, log.labels[arm], int(log.pulls[arm]), float(low), float(high))


def smallest_share(statistics: Floats) -> tuple[float, int]:
    """The p-value of column 0 of statistics (F, N) by its most extreme one, and which one that is.

    If column 0 was drawn like all others the p-value is at most u with probability at most u: looking at several
    statistics costs nothing, because every other column looks at its own most extreme one, too.
    """
    count = statistics.shape[1]
    shares = np.array([(count - np.searchsorted(np.sort(one), one, side="left")) / count for one in statistics])
    smallest = shares.min(axis=0)
    return float((smallest <= smallest[0]).mean()), int(shares[:, 0].argmin())
