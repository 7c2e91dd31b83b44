"""What a rule and a world are to the compiled loop: plain records of numbers.

Since both enter as data, a new parameter, world or number of arms needs no compiling.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.log_parts import in_pieces

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rounds = int | Ints
Of = Callable[[Ints], Floats]

NORMAL, BERNOULLI, EMPIRICAL, GAUSSIAN_WEIGHTS, SIGN_WEIGHTS, SMOOTHED, RESIDUALS, UNIFORM = range(8)
NORMAL_PART = 0.15  # of residuals: the standard deviation of the normal noise that is added to each
TAPE = 100  # no law: the n-th pull of an arm yields the n-th value of its pool, the last one again if there are no more
TIES = ("first", "last", "random")  # who wins among equal scores; a rule's data has the index
FIRST, LAST, RANDOM = range(3)
NO_ARM = -1  # in the rounds after the end of an experiment that stops itself


class Cycle(NamedTuple):
    """Periods of rounds in which all arms are moved alike, in a cycle. The compiled loop knows nothing of it."""

    size: int  # rounds of a period
    means: Floats  # (P, W * K) the arms' means in each period of the cycle

    @property
    def rounds(self) -> int:
        """The rounds of a whole cycle."""
        return self.size * len(self.means)

    def period(self, rounds: Rounds) -> Any:
        """The period of the cycle in which these rounds are."""
        return rounds // self.size % len(self.means)


class WorldData(NamedTuple):
    """How rewards are drawn. Rows are (world, arm) pairs in that order; the pools of all rows lie end to end."""

    kind: int
    means: Floats  # (W * K,) the truth; for Bernoulli arms also the probability
    variances: Floats  # (W * K,) of rewards
    sds: Floats  # (W * K,) of the normal part (normal and smoothed), or of all (residuals and uniform)
    pool: Floats  # values to draw from (empirical and smoothed) or to weigh (multiplier)
    pool_start: Ints  # (W * K + 1,), or of residuals (0,): all arms of all worlds draw from the same
    drift: Cycle | None = None  # the means above are then those over a whole cycle, and so are the variances


class RuleData(NamedTuple):
    """An index rule: pull the arm with the highest (S + s0) / (N + n0) + level(t) * width(N) * noise.

    With probability explore(t) the arm is uniform instead; t counts from 0. The functions take and give arrays. A rule
    that compiles code of its own keeps its numbers in `parameters` and has no functions.
    """

    prior_pulls: float  # n0
    prior_sum: float  # s0
    width: Of | None  # None: no bonus
    level: Of | None  # None: 1 for noisy rules, which have nothing else
    noisy: bool  # noise is a standard normal for each arm and round, else 1
    explore: Of | None  # None: never
    parameters: Floats
    state_size: int  # numbers that a selecting rule remembers
    ties: int

    def tables(self, horizon: int) -> Floats:
        """Width, level and explore (3, horizon + 1) for 0, 1, ...; zeros where there is none, and no rounds."""
        tables = np.zeros((3, horizon + 1))
        functions, counts = (self.width, self.level, self.explore), (horizon + 1, horizon, horizon)
        for row, function, count in zip(tables, functions, counts, strict=True):
            if function is not None:
                for piece in in_pieces(count):
                    row[piece] = function(np.arange(piece.start, piece.stop))
        return tables


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
    ends: Ints  # of batches; or none: it hears of every round at once
    heard: Ints  # of how many rounds it has heard after each batch; of all of them after the last
    shares: Floats  # (K,) of the arms in what a floor gives them, added up; or none: they are equal


class Space(NamedTuple):
    """Workspaces: see `compiled.layout`."""

    w: Floats
    s: Floats
    ints: Ints
    rng: NDArray[np.uint64]
    late_arms: Ints  # (B, LANES) the last rounds, of which the rule may not have heard yet, in turn
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
    width: Of | None = None,
    level: Of | None = None,
    noisy: bool = False,
    explore: Of | None = None,
    parameters: tuple[float, ...] = (),
    state_size: int = 0,
    ties: str = "first",
) -> RuleData:
    """A `RuleData` in which everything left out is off."""
    return RuleData(
        float(prior_pulls),
        float(prior_sum),
        width,
        level,
        noisy,
        explore,
        np.array(parameters, dtype=np.float64),
        state_size,
        TIES.index(ties),
    )


def about_means(pulls: Ints | Floats, sums: Floats, squares: Floats) -> Floats:
    """Sums of squared deviations from the arms' own means, from sums and sums of squares about any centre."""
    return np.maximum(squares - sums**2 / np.maximum(pulls, 1), 0.0)


def inverse_root(pulls: Ints, prior_pulls: float = 0.0) -> Floats:
    """1 / sqrt(n + prior_pulls); 0 where that is infinite."""
    weight = pulls + prior_pulls
    width: Floats = np.divide(1.0, np.sqrt(weight), out=np.zeros(weight.shape), where=weight > 0)
    return width
