"""What is simulated: one rule in a stack of worlds, and which random numbers belong to which run.

These follow from (seed, purpose, world, run) alone, so no answer depends on how the work was cut up, nor on how many
runs or worlds there are besides. The compiled loop goes on from `stream_keys` by itself; what is simulated in numpy
takes a `uniforms` table or a generator for each run.
"""

import functools
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from debandit.checks import checked_seed, checked_whole
from debandit.engine.conditions import Conditions
from debandit.engine.data import BERNOULLI, EMPIRICAL, FIRST, NORMAL, Cycle, Floats, Ints, Rounds, RuleData, WorldData
from debandit.engine.kernels import INDEX, KernelName, ObjectKernel
from debandit.errors import InputError

SIMULATE, DEBIAS, REORDER, INFER = 1, 2, 3, 4  # purposes: under one seed their random streams are distinct
# Rounds of a batch on average. A step takes about 8 to 30 microseconds a run, a compiled round 4 to 30 nanoseconds;
# but one of a rule that draws from Beta laws takes up to 1 microsecond.
WORTH_A_STEP, WORTH_A_STEP_OF_OTHERS = 1000, 100

Words = NDArray[np.uint64]
_START, _STEP = np.uint64(0x6465_6261_6E64_6974), np.uint64(0x9E3779B97F4A7C15)


class Rule(Protocol):
    """What the engine needs to know of a policy: a small description that another process can be sent."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def opening(self) -> int:
        """Forced initial pulls of each arm."""

    @property
    def binary_rewards(self) -> bool:
        """Whether it makes sense for 0/1 rewards only."""

    @property
    def kernel(self) -> KernelName | ObjectKernel:
        """What is compiled for it, or what plays its Python objects."""

    @property
    def by_totals(self) -> bool:
        """Whether its chances follow from totals alone."""

    @property
    def needs_squares(self) -> bool:
        """Whether these totals include the sums of squared deviations from the arms' means."""

    @property
    def says_chances(self) -> bool:
        """Whether it can say how likely each arm is, by totals or by all the rounds of which it has heard."""

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

    def chances_along(self, arms: Ints, rewards: Floats, arm_count: int, rounds: Ints) -> Floats:
        """The chances (runs, n, K) in some rounds of runs (runs, T), under all conditions."""

    def free_chances(self, t: Rounds, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        """The chances of each arm where nothing is prescribed, if it goes by totals and has heard of t rounds."""

    def leads_within(self, share: float, arms: Ints, pulls: Ints, sums: Floats, above: float = 0.0) -> Floats:
        """P(no mean is higher than that of the arms by more than a share of it), if it draws means: see `decisions`."""


class Rewarding(Protocol):
    """What must be known of a world to see whether a rule fits it."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def binary(self) -> bool:
        """Whether all rewards are 0 or 1."""


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

    @property
    def by_chances(self) -> bool:
        """Whether the rule is played by its chances, for the compiled loop can neither change them nor move arms."""
        return self.conditions.by_chances or self.world.drift is not None

    @property
    def period_ends(self) -> range:
        """The rounds after which the arms are moved anew, before the last one."""
        drift = self.world.drift
        return range(0) if drift is None else range(drift.size, self.horizon, drift.size)

    def means_at(self, t: int) -> Floats:
        """The worlds' means (W, K) in round t."""
        drift = self.world.drift
        return self.truth if drift is None else drift.means[drift.period(t)].reshape(-1, self.arm_count)

    @property
    def can_step(self) -> bool:
        """Whether batches are large enough, the rule goes by totals, and the world's sums can be drawn.

        Where arms are not always available, or the rule is played by its chances, batches may have any size. Quotas are
        dealt in whole batches, in which the arms must not be moved.
        """
        conditions, ends = self.conditions, self.conditions.ends
        enough = WORTH_A_STEP if self.policy.kernel == INDEX else WORTH_A_STEP_OF_OTHERS
        large = len(ends) > 0 and bool(ends[-1] >= enough * len(ends))
        return (
            (large or len(conditions.available) > 0 or (self.by_chances and len(ends) > 0))
            and self.policy.by_totals
            and not conditions.commit
            and not (conditions.quota and set(self.period_ends) - set(ends.tolist()))
            and _drawable(self.world)
        )

    @property
    def can_commit(self) -> bool:
        """Whether the rule explores and commits, and its sums can be drawn."""
        alone = self.conditions.commit and not self.conditions.wrapped
        return alone and self.world.kind == NORMAL and self.world.drift is None and self.rule.ties == FIRST

    def within(self, first: int, end: int) -> "Experiment":
        """The same in the worlds first, ..., end - 1 alone."""
        world, arms = self.world, slice(first * self.arm_count, end * self.arm_count)
        pool, starts = world.pool, world.pool_start[arms.start : arms.stop + 1]
        if len(starts):
            pool, starts = pool[starts[0] : starts[-1]], starts - starts[0]
        drift = world.drift and world.drift._replace(means=world.drift.means[:, arms])
        part = WorldData(world.kind, world.means[arms], world.variances[arms], world.sds[arms], pool, starts, drift)
        return self._replace(world=part, world_ids=self.world_ids[first:end])


@functools.lru_cache(maxsize=16)
def _described(policy: Rule, arm_count: int, horizon: int) -> tuple[RuleData, Conditions]:
    """The tables are as long as the horizon, so they are made where they are used, once."""
    return policy.rule(arm_count, horizon), policy.conditions(arm_count, horizon)


def experiment_of(
    policy: Rule, data: WorldData, world_ids: Ints, *, horizon: int, seed: int, purpose: int
) -> Experiment:
    """A rule in a stack of worlds, as data, once they are known to fit."""
    arm_count = len(data.means) // len(world_ids)
    horizon = checked_whole("horizon", horizon)
    enough_rounds(policy, arm_count, horizon)
    can_drift(policy, data.drift, horizon)
    return Experiment(policy, data, world_ids, arm_count, horizon, checked_seed(seed), purpose)


def fits(policy: Rule, world: Rewarding) -> None:
    """A rule for 0/1 rewards needs a world of 0/1 rewards."""
    if policy.binary_rewards and not world.binary:
        raise InputError(
            f"{policy.core.name} is a rule for 0/1 rewards, but the rewards of the world {world.name} are not 0/1",
            where="world",
            remedy="Use the world bernoulli to simulate, or jeffreys to debias a log of 0/1 rewards.",
        )


def can_drift(policy: Rule, drift: Cycle | None, horizon: int) -> None:
    """The truth is that of whole cycles, and what the compiled loop cannot move must be drawn from chances."""
    if drift is None:
        return
    if horizon % drift.rounds:
        periods = f"{len(drift.means)} periods of {drift.size:,} rounds"
        raise InputError(
            f"{horizon:,} rounds are not a whole number of cycles of the world's effects; a cycle has {periods}",
            where="horizon",
            remedy=f"Take a multiple of {drift.rounds:,}, or give an effect for each period of the experiment.",
        )
    if not policy.says_chances:
        raise InputError(
            f"a drifting world needs the probabilities of the rule, and {policy.core} does not give them",
            where="policy",
            remedy="Give your own rule a method probabilities(t, pulls, sums, horizon), or take a world that does not "
            "drift.",
        )


def enough_rounds(policy: Rule, arm_count: int, horizon: int) -> None:
    """The initial pulls must fit into the horizon, and quotas, delays in batches and beliefs need batches."""
    conditions = policy.conditions(arm_count, horizon)
    if conditions.quota and not len(conditions.ends):
        what = "quotas are for rules in batches, but this rule has no batches"
        raise InputError(what, where="policy", remedy="Write batched(RULE, size=...) inside or outside of quota.")
    if conditions.late_batches and not len(conditions.ends):
        what = "the delay is in batches, but this rule has no batches"
        remedy = "Write delayed(RULE, rounds=...), or batched(RULE, size=...) inside of it."
        raise InputError(what, where="policy", remedy=remedy)
    if conditions.quota and conditions.late:
        what = "quotas do not go with a delay in rounds, which may end in the middle of a batch"
        raise InputError(what, where="policy", remedy="Give the delay in batches: delayed(RULE, batches=1).")
    if conditions.decides_by_belief and not len(conditions.ends):
        what = "to decide by probability or value_remaining the rule must run in batches, and this one has none"
        remedy = "Write batched(RULE, size=...) inside or outside of it, or give a share."
        raise InputError(what, where="policy", remedy=remedy)
    needed = policy.opening * arm_count
    if horizon < needed:
        raise InputError(
            f"{horizon} rounds are fewer than the {needed} initial pulls of {policy} with {arm_count} arms",
            where="horizon",
            remedy="Check the rule and its options, and that the log is complete.",
        )


def _drawable(world: WorldData) -> bool:
    binary = world.kind == EMPIRICAL and bool(np.isin(world.pool, (0.0, 1.0)).all())
    return world.kind in (NORMAL, BERNOULLI) or binary


def stream_keys(seed: int, purpose: int, world_ids: Ints) -> Words:
    """What the streams of all runs in each world have in common (W,)."""
    key = np.full(len(world_ids), _START)
    for word in (np.uint64(seed), np.uint64(purpose), world_ids.astype(np.uint64)):
        key = _absorbed(key, word)
    return key


def run_words(keys: Words, who: Ints) -> Words:
    """What tells each run (world, number) from all others."""
    return _absorbed(keys[who[:, 0]], who[:, 1].astype(np.uint64))


def uniforms(words: Words, first: int, count: int) -> Floats:
    """Numbers first, ..., of each run's stream (count, runs), strictly between 0 and 1; the stream is splitmix64's."""
    steps = np.arange(first + 1, first + count + 1, dtype=np.uint64)[:, None] * _STEP
    bits = _mixed(words + steps)
    bits >>= np.uint64(12)
    numbers = bits.astype(np.float64)
    numbers += 0.5
    numbers *= 2.0**-52
    return numbers


def later(words: Words, numbers: Ints) -> Words:
    """The words of the same streams that begin this many numbers later."""
    return words + numbers.astype(np.uint64) * _STEP


def normals(words: Words, first: int, count: int) -> Floats:
    """Standard normals (count, runs) by Box and Muller, from as many uniform numbers, rounded up to an even number."""
    u = uniforms(words, first, count + count % 2)
    radius, angle = np.sqrt(-2.0 * np.log(u[::2])), 2.0 * np.pi * u[1::2]
    return np.concatenate((radius * np.cos(angle), radius * np.sin(angle)))[:count]


def generators(words: Words) -> list[np.random.Generator]:
    """A generator for each run."""
    return [np.random.Generator(np.random.SFC64(word)) for word in words.tolist()]


def _absorbed(key: Words, word: Words | np.uint64) -> Words:
    return _mixed((key ^ word) + _STEP)


def _mixed(x: Words) -> Words:
    """The finaliser of splitmix64, in place: a bijection in which each input bit moves half of the output bits."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    x ^= x >> np.uint64(31)
    return x
