"""What is simulated: one rule in a stack of worlds."""

import functools
from typing import NamedTuple, Protocol

from debandit.engine.conditions import Conditions
from debandit.engine.data import Floats, Ints, Rounds, RuleData, WorldData
from debandit.engine.kernels import KernelName, ObjectKernel
from debandit.engine.streams import Words, stream_keys

SIMULATE, DEBIAS, REORDER, INFER = 1, 2, 3, 4  # purposes: under one seed their random streams are distinct


class Rule(Protocol):
    """What the engine needs to know of a policy: a small description that another process can be sent."""

    @property
    def kernel(self) -> KernelName | ObjectKernel:
        """What is compiled for it, or what plays its Python objects."""

    @property
    def by_totals(self) -> bool:
        """Whether its chances follow from totals alone."""

    @property
    def knows_arms(self) -> bool:
        """Whether it has parameters for each arm, so that it must be asked about all of them."""

    def __hash__(self) -> int: ...

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        """The rule as data."""

    def conditions(self, arm_count: int, horizon: int) -> Conditions:
        """Under which conditions it is played."""

    @property
    def core(self) -> "Rule":
        """The rule itself, without what is around it."""

    def free_chances(self, t: Rounds, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        """The chances of each arm where nothing is prescribed, if it goes by totals and has heard of t rounds."""


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
    def rule(self) -> RuleData:
        """The rule as data."""
        return _described(self.policy, self.arm_count, self.horizon)[0]

    @property
    def conditions(self) -> Conditions:
        """The conditions under which it is played."""
        return _described(self.policy, self.arm_count, self.horizon)[1]

    @property
    def keys(self) -> Words:
        """What the random streams of all runs in each world have in common."""
        return stream_keys(self.seed, self.purpose, self.world_ids)

    @property
    def truth(self) -> Floats:
        """The worlds' means (W, K)."""
        return self.world.means.reshape(-1, self.arm_count)

    @property
    def variance(self) -> Floats:
        """The variances of the worlds' rewards (W, K)."""
        return self.world.variances.reshape(-1, self.arm_count)

    @property
    def sds(self) -> Floats:
        """The standard deviations with which normal rewards are drawn (W, K)."""
        return self.world.sds.reshape(-1, self.arm_count)

    def within(self, first: int, end: int) -> "Experiment":
        """The same in the worlds first, ..., end - 1 alone."""
        world, arms = self.world, slice(first * self.arm_count, end * self.arm_count)
        pool, starts = world.pool, world.pool_start[arms.start : arms.stop + 1]
        if len(starts):
            pool, starts = pool[starts[0] : starts[-1]], starts - starts[0]
        part = WorldData(world.kind, world.means[arms], world.variances[arms], world.sds[arms], pool, starts)
        return self._replace(world=part, world_ids=self.world_ids[first:end])


@functools.lru_cache(maxsize=16)
def _described(policy: Rule, arm_count: int, horizon: int) -> tuple[RuleData, Conditions]:
    """The tables are as long as the horizon, so they are made where they are used, once."""
    return policy.rule(arm_count, horizon), policy.conditions(arm_count, horizon)
