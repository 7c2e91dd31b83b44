"""How sure one can be of a log's means and differences: limits in closed form or simulated, and p-values."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from debandit.debiasing.cases import Case
from debandit.engine import spread
from debandit.engine.data import BERNOULLI, NORMAL, NORMAL_PART, RESIDUALS, Floats, Ints, WorldData
from debandit.engine.experiment import INFER
from debandit.engine.runs import TOTALS, WITH_SQUARES
from debandit.intervals import (
    CLOSED_ROUNDS,
    Compared,
    Interval,
    Observed,
    Sample,
    Sums,
    compared,
    distances,
    holm,
    interval_of,
    p_values,
    residuals,
    sample_of,
    simulates_comparisons,
)
from debandit.intervals.interval import MOST_ARMS
from debandit.policies import Policy
from debandit.simulation import experiment_of
from debandit.worlds import World
from debandit.worlds.laws import Normal

_WORLDS_PER_LOG = 2**24
_LIMITS, _TESTS = 0, 1  # their random numbers differ, so that neither depends on whether the other is asked for
_ENOUGH_RESIDUALS = 4


class Inference(NamedTuple):
    """Limits for each arm's mean, and what can be said of its difference to its control."""

    interval: Interval
    compared: Compared
    p_value: Floats
    p_adjusted: Floats
    notes: tuple[str, ...]


def inferred(case: Case, world: World, workers: spread.Workers) -> Inference:
    """All that is said of a case besides its estimates."""
    log, level, named = case.log, case.settings.level, case.settings.control is not None
    k, pairs = len(log.labels), _pairs(case)
    wanted, can = simulates_comparisons(log, case.interval), not case.cannot_simulate
    simulated, z = None, None
    if wanted and can:
        seen = observed(case, world, workers, _LIMITS)
        simulated = seen, distances(log, seen, case.interval, level, pairs)
        z = simulated[1].arms if case.interval == "simulated" else None
    p = np.full(k, np.nan)
    if named and can and case.interval not in ("none", "wald") and k <= MOST_ARMS:
        asked = np.flatnonzero(pairs >= 0)
        p[asked] = p_values(observed(case, world, workers, _TESTS), asked, pairs[asked])
    return Inference(
        interval_of(log, case.settings.interval, level, z, kind_of_rule(case)),
        compared(log, case.interval, level, pairs, simulated),
        p,
        holm(p),
        (_known_to_fail(case.cannot_simulate),) if wanted and not can else (),
    )


def _pairs(case: Case) -> Ints:
    """The arm that each is compared with, -1: none. Without a named control only the best is, with the second."""
    seen, own = case.log.pulls > 0, np.arange(len(case.controls))
    pairs = np.where(seen & seen[case.controls] & (case.controls != own), case.controls, -1)
    return pairs if case.settings.control is not None else np.where(own == np.nanargmax(case.log.means), pairs, -1)


def kind_of_rule(case: Case) -> str:
    """The policy's name in what was measured: plain, or in batches; with anything else around it nothing was."""
    core, conditions = case.policy.core.name, case.policy.conditions(len(case.log.labels), case.planned)
    if not conditions.wrapped:
        return core
    return f"batched {core}" if not conditions._replace(ends=conditions.ends[:0]).wrapped else ""


def _known_to_fail(because: str) -> str:
    return (
        f"limits of differences and of the best-looking arm are in closed form, which was measured for up to "
        f"{CLOSED_ROUNDS} rounds and is known to fail in longer experiments; {because}"
    )


def observed(case: Case, world: World, workers: spread.Workers, part: int) -> Observed:
    """A case as the simulation sees it: rewards are like those of the correction's world, 0/1, normal or resampled."""
    log, settings, sample = case.log, case.settings, sample_of(case.log)
    normal = isinstance(world, Normal)
    pool = residuals(sample) if isinstance(sample, Sample) and not (normal or log.binary) else np.empty(0)
    kind = BERNOULLI if log.binary else RESIDUALS if len(pool) >= _ENOUGH_RESIDUALS else NORMAL
    runs = _OneRunEach(case.policy, case.planned, settings.seed, 2 * settings.log_index + part, kind, pool, workers)
    stand_in = world.means, np.sqrt(world.variances)
    return Observed.of(sample, log.binary, stand_in, runs.play, (settings.seed, INFER, runs.number))


@dataclass
class _OneRunEach:
    """Runs of a policy, each in a world of its own; every world of a log has a number that only it has."""

    policy: Policy
    horizon: int
    seed: int
    number: int  # of the log, and of what is asked about it
    kind: int
    residuals: Floats
    workers: spread.Workers
    used: int = 0

    def play(self, means: Floats, spreads: Floats) -> Sums:
        """What a run came to in each world (worlds, arms)."""
        binary, no_pools = self.kind == BERNOULLI, np.empty(0, np.int64)
        variances = means * (1 - means) if binary else spreads**2
        pool = self.residuals * np.sqrt(1 - NORMAL_PART**2)
        data = WorldData(self.kind, means.ravel(), variances.ravel(), spreads.ravel(), pool, no_pools)
        ids = self.number * _WORLDS_PER_LOG + self.used + np.arange(len(means))
        self.used += len(means)
        experiment = experiment_of(self.policy, data, ids, horizon=self.horizon, seed=self.seed, purpose=INFER)
        table = spread.store(experiment, 1, kept=TOTALS if binary else WITH_SQUARES, paths=False, workers=self.workers)
        pulls, sums, *squares = table.table.swapaxes(1, 2)
        found = np.divide(sums, pulls, out=np.full(sums.shape, np.nan), where=pulls > 0)
        about = np.zeros(pulls.shape) if binary else squares[0] - pulls * np.nan_to_num(found - means) ** 2
        return Sums(pulls, found, np.maximum(about, 0.0))
