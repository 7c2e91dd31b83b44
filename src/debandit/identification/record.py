"""The log as the rules saw it: the totals before every round."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from debandit.engine.data import Floats, Ints
from debandit.policies.choices import before, variances_before


class _Record(NamedTuple):
    arms: Ints  # (T,)
    rewards: Floats
    arm_count: int
    pulls: Ints  # (T, K), before each round
    sums: Floats


class Record(_Record):
    """A log with everything that is needed to try rules on it."""

    @classmethod
    def of(cls, arms: Ints, rewards: Floats, arm_count: int) -> "Record":
        """Add up what was known before every round."""
        return cls(arms, rewards, arm_count, *before(arms, rewards, arm_count))

    def first(self, rounds: int) -> "Record":
        """The beginning of it."""
        arms, rewards, arm_count, pulls, sums = self
        return Record(arms[:rounds], rewards[:rounds], arm_count, pulls[:rounds], sums[:rounds])

    @property
    def horizon(self) -> int:
        """The number of rounds."""
        return len(self.arms)

    @cached_property
    def mean(self) -> float:
        """Of all rewards."""
        return float(self.rewards.mean())

    @cached_property
    def sd(self) -> float:
        """The scale of the rewards, never 0."""
        return float(self.rewards.std()) or abs(self.mean) or 1.0

    @cached_property
    def variances(self) -> Floats:
        """Each arm's variance (divisor n) before every round."""
        return variances_before(self.arms, self.rewards, self.arm_count)

    @cached_property
    def known(self) -> dict[tuple[float, ...], tuple[Floats, Floats]]:
        """What rules have already worked out, by their options."""
        return {}

    @cached_property
    def opening(self) -> int:
        """Pulls of each arm in index order with which the log begins: 0 if it does not begin like that."""
        pulls = int(np.argmax(self.arms != self.arms[0])) or self.horizon  # the length of the first run of one arm
        expected = np.arange(pulls * self.arm_count) // pulls
        return pulls if np.array_equal(self.arms[: len(expected)], expected) else 0
