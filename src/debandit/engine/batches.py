"""Whole batches at once. Within a batch a rule keeps its probabilities, so that numbers of pulls and sums are enough.

A million users in fifty batches are fifty steps: pulls are multinomial, and their sums normal or binomial. For rules
whose probabilities follow from totals, in worlds whose sums can be drawn.
"""

import itertools
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from debandit.engine.conditions import Conditions
from debandit.engine.data import BERNOULLI, EMPIRICAL, NORMAL, Floats, Ints, Task, Wanted, WorldData
from debandit.engine.features import terms
from debandit.engine.gather import gather
from debandit.engine.old_rule import OldRule

ROWS = 64  # runs side by side; never fewer, so that the first runs are the same whatever their number


class ByTotals(Protocol):
    """A rule that answers for batches."""

    @property
    def by_totals(self) -> bool:
        """Whether its chances follow from totals alone."""

    def free_chances(self, t: int, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        """The chances of each arm in every run, when it has heard of t rounds."""


def can_step(rule: OldRule, world: WorldData, paths: bool) -> bool:
    """Whether batches are large, nobody asks for their rounds, and the world's sums can be drawn."""
    large = Conditions(ends=rule.plan.ends).in_large_batches
    return large and not paths and not rule.hold and _drawable(world)


def _drawable(world: WorldData) -> bool:
    binary = world.kind == EMPIRICAL and bool(np.isin(world.pool, (0.0, 1.0)).all())
    return world.kind in (NORMAL, BERNOULLI) or binary


def step(policy: ByTotals, task: Task, rule: OldRule, world: WorldData, wanted: Wanted, stop: Ints) -> None:
    """Simulate the runs of the task's units, every ROWS of them with a generator of their own."""
    place = 0
    for unit, (index, first, count) in enumerate(task.units.tolist()):
        arms = slice(index * task.arm_count, (index + 1) * task.arm_count)
        totals = []
        for start in range(first, first + count, ROWS):
            if stop[0]:
                return
            key = np.random.SeedSequence((int(task.seed), task.purpose, int(task.world_ids[index]), start))
            totals.append(_Runs(policy, rule, world, arms, task.horizon, key).played())
        pulls, sums, martingales = (
            np.concatenate(parts, axis=-2)[..., :count, :] for parts in zip(*totals, strict=True)
        )
        gather(wanted, unit, first, slice(place, place + count), world, index, pulls, sums, martingales)
        place += count


class _Runs:
    """ROWS runs of one world, side by side."""

    def __init__(
        self,
        policy: ByTotals,
        rule: OldRule,
        world: WorldData,
        arms: slice,
        horizon: int,
        seed: np.random.SeedSequence,
    ) -> None:
        self.policy, self.rule, self.horizon = policy, rule, horizon
        self.normal, self.means, self.variances = world.kind == NORMAL, world.means[arms], world.variances[arms]
        self.rng = np.random.Generator(np.random.SFC64(seed))
        self.arm_count = len(self.means)
        self.pulls, self.sums = np.zeros((ROWS, self.arm_count), np.int64), np.zeros((ROWS, self.arm_count))
        self.martingales = np.zeros((3, ROWS, self.arm_count))

    def played(self) -> tuple[Ints, Floats, Floats]:
        """Totals after the last round, and martingales."""
        plan = self.rule.plan
        heard_pulls, heard_sums, known = self.pulls, self.sums, 0
        breaks = {0, self.horizon, min(plan.turns, self.horizon), min(plan.uniform, self.horizon)}
        steps = sorted(breaks | set(plan.ends.tolist()))
        ends = set(plan.ends.tolist())
        for start, end in itertools.pairwise(steps):
            self._add(self._counts(start, end, heard_pulls, heard_sums, known))
            if end in ends:
                heard_pulls, heard_sums, known = self.pulls, self.sums, end
        return self.pulls, self.sums, self.martingales

    def _counts(self, start: int, end: int, heard_pulls: Ints, heard_sums: Floats, known: int) -> Ints:
        """How often each arm is pulled from round `start` until before round `end`, in every run. See `Plan`."""
        plan, opening = self.rule.plan, self.rule.opening
        left = np.full(ROWS, end - start)
        if end <= plan.turns:
            return self._turns(left, end)
        if end <= plan.uniform:
            return np.asarray(self.rng.multinomial(left, np.full(self.arm_count, 1 / self.arm_count)))
        lacking = np.maximum(opening - self.pulls, 0)
        counts: Ints = np.diff(np.minimum(lacking.cumsum(axis=1), left[:, None]), axis=1, prepend=0)
        left = left - counts.sum(axis=1)
        waits = (heard_pulls < opening).any(axis=1)
        counts[waits] += self._turns(left[waits], end)
        free = ~waits & (left > 0)
        if free.any():
            chances = self.policy.free_chances(known, heard_pulls[free], heard_sums[free], self.horizon)
            chances = plan.floor / self.arm_count + (1 - plan.floor) * chances
            counts[free] += self.rng.multinomial(left[free], chances / chances.sum(axis=1, keepdims=True))
        return counts

    def _turns(self, left: Ints, end: int) -> Ints:
        """How often it is each arm's turn in so many rounds before `end`."""
        arms = np.arange(self.arm_count)

        def before(t: NDArray[np.int64] | int) -> Ints:
            return np.asarray((t - arms + self.arm_count - 1) // self.arm_count)

        return before(end) - before((end - left)[:, None])

    def _add(self, counts: Ints) -> None:
        if self.normal:
            noise = self.rng.standard_normal(counts.shape)
            sums = counts * self.means + np.sqrt(counts * self.variances) * noise
        else:
            sums = self.rng.binomial(counts, self.means).astype(np.float64)
        errors, earlier = sums - counts * self.means, self.sums - self.pulls * self.means
        self.pulls, self.sums = self.pulls + counts, self.sums + sums
        self.martingales += terms(counts, errors, earlier, self.pulls, self.variances)
