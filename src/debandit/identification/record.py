"""The log as the rules saw it: the totals before every round."""

from functools import cached_property

from debandit.engine.data import Floats
from debandit.policies.history import History


class Record(History):
    """A log with everything that is needed to try rules on it."""

    def first(self, rounds: int) -> "Record":
        """The beginning of it."""
        return Record(self.arms[:rounds], self.rewards[:rounds], self.arm_count)

    @cached_property
    def mean(self) -> float:
        """The mean of all rewards."""
        return float(self.rewards.mean())

    @cached_property
    def sd(self) -> float:
        """The scale of the rewards, never 0."""
        return float(self.rewards.std()) or abs(self.mean) or 1.0

    @cached_property
    def tried(self) -> dict[tuple[float, ...], tuple[Floats, Floats]]:
        """What rules have already worked out, by their options."""
        return {}
