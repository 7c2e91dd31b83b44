"""What may be varied in each family of rules: the table that a new rule adds a line to."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from debandit.identification.read_off import ReadOff, etc_pulls, linear_option, nothing, range_of_rewards, shares
from debandit.identification.record import Record
from debandit.policies import RULES, Policy


class Range(NamedTuple):
    """A number to search for: `points` values from low to high on a scale that `value` translates.

    Beforehand the number is its default with probability 1/2, and otherwise any of the points alike.
    """

    low: float
    high: float
    points: int
    value: Callable[[float, Record], float]


def positive(low: float, high: float, points: int) -> Range:
    """A positive number without a unit, on a logarithmic scale."""
    return Range(math.log(low), math.log(high), points, lambda x, _: math.exp(x))


def in_sds(low: float, high: float, points: int) -> Range:
    """A positive number in the unit of the rewards, from low to high times their standard deviation."""
    return Range(math.log(low), math.log(high), points, lambda x, record: math.exp(x) * record.sd)


def per_sd(low: float, high: float, points: int) -> Range:
    """A positive number in one over the unit of the rewards."""
    return Range(math.log(low), math.log(high), points, lambda x, record: math.exp(x) / record.sd)


def level(low: float, high: float, points: int) -> Range:
    """A level of rewards, this many standard deviations from their mean."""
    return Range(low, high, points, lambda x, record: record.mean + x * record.sd)


def share(low: float, high: float, points: int) -> Range:
    """A number between 0 and 1, on the scale of log(x / (1 - x))."""
    return Range(low, high, points, lambda x, _: 1 / (1 + math.exp(-x)))


@dataclass(frozen=True)
class Family:
    """Rules of one name: the numbers that are searched for, and the options that are read off the log or fixed.

    Initial pulls are read off for every rule that has the option. Several lines may be of one rule.
    """

    name: str
    free: Mapping[str, Range] = field(default_factory=dict)
    read_off: ReadOff = nothing
    fixed: Mapping[str, Any] = field(default_factory=dict)
    odds: float = 1.0  # how likely beforehand, relative to the rules of textbooks
    arm_count: int | None = None  # if the rule is for this many arms only
    binary: bool = False  # competes for 0/1 rewards only, although it runs with others
    pairwise: bool = False  # the work grows with the square of the arms

    @property
    def rule(self) -> type[Policy]:
        """The class of these rules."""
        return RULES[self.name]

    def competes(self, record: Record, binary: bool) -> bool:
        """Whether the rule is one for such logs."""
        return (binary or not (self.binary or self.rule.binary_rewards)) and self.arm_count in (None, record.arm_count)

    def takes_long(self, record: Record) -> bool:
        """Whether it would take more than a minute or so."""
        return self.pairwise and record.horizon * record.arm_count**2 > MOST_PAIRS


MOST_PAIRS = 2**22  # rounds times the square of the arms
RARE = 1 / 20
_NOISE = {"noise_sd": in_sds(0.1, 10, 13)}

FAMILIES = (
    Family("etc", read_off=etc_pulls),
    Family("etc", read_off=etc_pulls, fixed={"order": "turns"}, odds=1 / 4),
    Family("ucb", read_off=linear_option("c")),
    Family("uniform"),
    Family("epsilon_greedy", {"epsilon": share(-5, 5, 15)}),
    Family("thompson", _NOISE),
    Family("thompson", {**_NOISE, "prior_sd": in_sds(0.3, 1000, 5)}, odds=1 / 2),
    Family("thompson", _NOISE, fixed={"center": "sample"}, odds=1 / 2),
    Family("thompson", {**_NOISE, "prior_mean": level(-2, 2, 3)}, odds=1 / 4),
    Family("beta_thompson", {"alpha": positive(0.1, 10, 4), "beta": positive(0.1, 10, 4)}),
    Family("greedy", odds=RARE),
    Family("decaying_epsilon_greedy", {"scale": positive(0.3, 100, 10), "power": positive(0.4, 1, 2)}, odds=RARE),
    Family("softmax", {"temperature": in_sds(0.02, 5, 12)}, odds=RARE),
    Family("inverse_gap", {"gamma": per_sd(0.3, 300, 7)}, odds=RARE),
    Family("leader_challenger", {"share": share(-1, 3, 4)}, odds=RARE),
    Family("ucb_tuned", odds=RARE, binary=True),
    Family("kl_ucb", {"c": positive(0.5, 4, 4)}, odds=RARE),
    Family("successive_elimination", {"sd": in_sds(0.03, 3, 40)}, odds=RARE),
    Family("gaussian_thompson", odds=RARE),
    Family("top_two_thompson", {**_NOISE, "leader": share(-1, 3, 4)}, odds=RARE, pairwise=True),
    Family("ts_postdiff", {"c": positive(0.02, 0.5, 5)}, odds=RARE, arm_count=2),
    Family("play_the_winner", {"added": positive(0.03, 30, 6)}, odds=RARE),
    Family("exp3", {"gamma": share(-4, 1, 6)}, odds=RARE / 2),
    Family("exp3", {"gamma": share(-4, 1, 6)}, read_off=range_of_rewards, odds=RARE / 2),
    Family("fixed_weights", read_off=shares, odds=RARE),
)
