"""What is simulated, and what is to be kept of it."""

import functools
from typing import NamedTuple, Protocol

import numpy as np

from debandit.engine.batches import ByTotals, can_step
from debandit.engine.conditions import Conditions
from debandit.engine.data import FEATURES, Floats, Ints, RuleData, Wanted, WorldData
from debandit.engine.kernels import KernelName
from debandit.engine.objects import ObjectKernel
from debandit.engine.old_rule import OldRule, old_rule

SIMULATE, DEBIAS, REORDER = 1, 2, 3  # purposes: under one seed their random streams are distinct


class Rule(ByTotals, Protocol):
    """What the engine needs to know of a policy: a small description that another process can be sent."""

    @property
    def kernel(self) -> KernelName | ObjectKernel:
        """What is compiled for it, or what plays its Python objects."""

    def __hash__(self) -> int: ...

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        """The rule as data."""

    def conditions(self, arm_count: int, horizon: int) -> Conditions:
        """The conditions under which it is played."""


class Experiment(NamedTuple):
    """What is simulated: one rule in W worlds of K arms."""

    policy: Rule
    world: WorldData
    world_ids: Ints
    arm_count: int
    horizon: int
    seed: int
    purpose: int

    @property
    def costly(self) -> bool:
        """Whether a run takes far longer than in the compiled loop."""
        return isinstance(self.policy.kernel, ObjectKernel) or self.steps(paths=False)

    def steps(self, paths: bool) -> bool:
        """Whether whole batches are drawn at once."""
        return self.policy.by_totals and can_step(self.rule, self.world, paths)

    @property
    def rule(self) -> OldRule:
        """The rule as data."""
        return _rule_data(self.policy, self.arm_count, self.horizon)

    def within(self, first: int, end: int) -> "Experiment":
        """The same in the worlds first, ..., end - 1 alone."""
        world, arms = self.world, slice(first * self.arm_count, end * self.arm_count)
        starts = world.pool_start[arms.start : arms.stop + 1]
        pool = world.pool[starts[0] : starts[-1]]
        part = world._replace(
            means=world.means[arms],
            variances=world.variances[arms],
            sds=world.sds[arms],
            pool=pool,
            pool_start=starts - starts[0],
        )
        return self._replace(world=part, world_ids=self.world_ids[first:end])


class Need(NamedTuple):
    """What is to be kept of the runs."""

    paths: bool = False
    runs: bool = False
    edges: Floats | None = None  # (W, K, 2), with tallies
    bins: int = 0
    tallies: bool = False
    martingales: bool = False  # with tallies
    controls: Ints | None = None  # (W, K), with tallies

    def room(self, experiment: Experiment, units: Ints) -> Wanted:
        """Arrays for the results of these units."""
        arms, runs, rows = experiment.arm_count, int(units[:, 2].sum()), len(units)
        length = experiment.horizon if self.paths else 0
        kept = (runs, arms) if self.runs else (0, 0)
        sums = (rows, arms) if self.tallies else (0, 0)
        joint = (rows, 0 if self.controls is None else arms)
        square = (2, FEATURES, FEATURES)
        return Wanted(
            paths=self.paths,
            path_arms=np.empty((runs if self.paths else 0, length), np.int32),
            path_rewards=np.empty((runs if self.paths else 0, length)),
            runs=self.runs,
            pulls=np.empty(kept, np.int64),
            sums=np.empty(kept),
            tallies=self.tallies,
            pull_totals=np.zeros(sums),
            martingales=self.martingales,
            moments=np.zeros((*sums, *square)),
            edges=np.zeros((len(experiment.world_ids), arms, 2)) if self.edges is None else self.edges,
            histogram=np.zeros((*sums, self.bins), np.int64),
            controls=np.zeros((len(experiment.world_ids), 0), np.int64) if self.controls is None else self.controls,
            difference_sums=np.zeros((*joint, 3)),
            cross=np.zeros((*joint, *square)),
            winner=np.zeros((sums[0], *square)),
        )


@functools.lru_cache(maxsize=16)
def _rule_data(policy: Rule, arm_count: int, horizon: int) -> OldRule:
    """The tables are as long as the horizon, so they are made where they are used, once."""
    return old_rule(policy.rule(arm_count, horizon), policy.conditions(arm_count, horizon), arm_count)
