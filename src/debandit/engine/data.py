"""What a rule and a world are to the compiled loop: plain records of numbers.

Since both enter as data, a new parameter, world or number of arms needs no compiling.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rounds = int | Ints

NORMAL, BERNOULLI, EMPIRICAL, GAUSSIAN_WEIGHTS, SIGN_WEIGHTS, SMOOTHED = range(6)
TAPE = 100  # no law: the n-th pull of an arm yields the n-th value of its pool, the last one again if there are no more
TIES = ("first", "last", "random")  # who wins among equal scores; a rule's data has the index
FIRST, LAST, RANDOM = range(3)


class WorldData(NamedTuple):
    """How rewards are drawn. Rows are (world, arm) pairs in that order; the pools of all rows lie end to end."""

    kind: int
    means: Floats  # (W * K,) the truth; for Bernoulli arms also the probability
    variances: Floats  # (W * K,) of rewards
    sds: Floats  # (W * K,) of the normal part (normal and smoothed)
    pool: Floats  # values to draw from (empirical and smoothed) or to weigh (multiplier)
    pool_start: Ints  # (W * K + 1,)


class RuleData(NamedTuple):
    """An index rule as tables: pull the arm with the highest (S + s0) / (N + n0) + level[t] * width[N] * noise.

    With probability explore[t] the arm is uniform instead. A rule that compiles code of its own keeps its numbers in
    `parameters` and leaves the rest empty.
    """

    prior_pulls: float  # n0
    prior_sum: float  # s0
    width: Floats  # (horizon + 1,), or empty: no bonus
    level: Floats  # (horizon,), or empty: 1
    noisy: bool  # noise is a standard normal for each arm and round, else 1
    explore: Floats  # (horizon,), or empty: never
    parameters: Floats
    state_size: int  # numbers that a selecting rule remembers
    ties: int


class LoopWorld(NamedTuple):
    """A stack of worlds as the compiled loop reads it."""

    kind: int
    law: Floats  # (W, K, 3) mean, variance, and standard deviation of the normal part
    pool: Floats
    pool_start: Ints  # (W * K + 1,)


class LoopRule(NamedTuple):
    """A rule and the conditions around it as the compiled loop reads them; see `compiled.layout` for the numbers."""

    numbers: Floats
    parameters: Floats
    tables: Floats  # (3, horizon + 1), or (3, 1) for rules that have none
    fixed: Ints  # (settled,) what is prescribed in the first rounds
    ends: Ints  # of batches


class Space(NamedTuple):
    """Workspaces: see `compiled.layout`."""

    w: Floats
    s: Floats
    ints: Ints
    rng: NDArray[np.uint64]
    late_arms: Ints  # (B, LANES) rounds of a batch of which the rule has not heard yet
    late_noise: Floats  # (B, LANES)


def no_rounds(runs: int) -> tuple[NDArray[np.int32], Floats]:
    """The paths of runs of which no rounds are kept."""
    return np.empty((runs, 0), np.int32), np.empty((runs, 0))


class Played(NamedTuple):
    """What comes out of a simulation: see `runs` for the table. Without paths their arrays have no rounds."""

    table: Floats  # (S, K, runs)
    path_arms: NDArray[np.int32]  # (runs, horizon)
    path_rewards: Floats


def rule_data(
    *,
    prior_pulls: float = 0.0,
    prior_sum: float = 0.0,
    width: Floats | None = None,
    level: Floats | None = None,
    noisy: bool = False,
    explore: Floats | None = None,
    parameters: tuple[float, ...] = (),
    state_size: int = 0,
    ties: str = "first",
) -> RuleData:
    """A `RuleData` in which everything left out is off."""
    empty = np.empty(0)
    return RuleData(
        float(prior_pulls),
        float(prior_sum),
        empty if width is None else width,
        empty if level is None else level,
        noisy,
        empty if explore is None else explore,
        np.array(parameters, dtype=np.float64),
        state_size,
        TIES.index(ties),
    )


def inverse_root(horizon: int, prior_pulls: float = 0.0) -> Floats:
    """1 / sqrt(n + prior_pulls) for n = 0, ..., horizon; 0 where that is infinite."""
    pulls = np.arange(horizon + 1) + prior_pulls
    width: Floats = np.divide(1.0, np.sqrt(pulls), out=np.zeros(horizon + 1), where=pulls > 0)
    return width
