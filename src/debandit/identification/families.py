"""What may be varied in each family of rules: the table that a new rule adds a line to."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from debandit.identification.read_off import ReadOff, etc_pulls, linear_option, nothing, range_of_rewards, shares
from debandit.identification.record import AnyRecord, Record
from debandit.policies import RULES, Policy


class Range(NamedTuple):
    """A number to search for: `points` values from low to high on a scale that `value` translates.

    Beforehand the number is its default with probability 1/2, and otherwise any of the points alike.
    """

    low: float
    high: float
    points: int
    value: Callable[[float, AnyRecord], float]


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
    by_totals: bool = True  # competes for batches, too
    begins: bool = True  # whether a beginning is tried: not if that is nothing else, or if it changes what comes after
    floors: bool = True  # whether a floor would be: not where every arm has one anyway
    in_batches: Mapping[str, Range] | None = None  # what is searched for in batches, where it cannot be read off

    @property
    def rule(self) -> type[Policy]:
        """The class of these rules."""
        return RULES[self.name]

    @property
    def for_binary(self) -> bool:
        """Whether it competes for 0/1 rewards only."""
        return self.binary or self.rule.binary_rewards

    def competes(self, record: AnyRecord) -> bool:
        """Whether the rule is one for such logs."""
        return self.arm_count in (None, record.arm_count) and (self.by_totals or isinstance(record, Record))

    def of(self, record: AnyRecord) -> "Family":
        """The same for such a log."""
        if isinstance(record, Record) or self.in_batches is None:
            return self
        return replace(self, free=self.in_batches, read_off=nothing)

    def takes_long(self, record: AnyRecord) -> bool:
        """Whether it would take more than a minute or so."""
        return self.pairwise and record.length * record.arm_count**2 > MOST_PAIRS


MOST_PAIRS = 2**22  # rounds or batches times the square of the arms
RARE = 1 / 20
_NOISE = {"noise_sd": in_sds(0.1, 10, 13)}

FAMILIES = (
    Family("etc", read_off=etc_pulls, by_totals=False, begins=False),
    Family("etc", read_off=etc_pulls, fixed={"order": "turns"}, odds=1 / 4, by_totals=False, begins=False),
    Family("ucb", read_off=linear_option("c"), in_batches={"c": in_sds(0.1, 10, 9)}),
    Family("uniform", begins=False, floors=False),
    Family("epsilon_greedy", {"epsilon": share(-5, 5, 15)}, floors=False),
    Family("thompson", _NOISE),
    Family("thompson", {**_NOISE, "prior_sd": in_sds(0.3, 1000, 5)}, odds=1 / 2),
    Family("thompson", _NOISE, fixed={"center": "sample"}, odds=1 / 2),
    Family("thompson", {**_NOISE, "prior_mean": level(-2, 2, 3)}, odds=1 / 4),
    Family("beta_thompson", {"alpha": positive(0.1, 10, 4), "beta": positive(0.1, 10, 4)}),
    Family("greedy", odds=RARE, floors=False),
    Family(
        "decaying_epsilon_greedy",
        {"scale": positive(0.3, 100, 10), "power": positive(0.4, 1, 2)},
        odds=RARE,
        floors=False,
    ),
    Family("softmax", {"temperature": in_sds(0.02, 5, 12)}, odds=RARE),
    Family("inverse_gap", {"gamma": per_sd(0.3, 300, 7)}, odds=RARE),
    Family("leader_challenger", {"share": share(-1, 3, 4)}, odds=RARE),
    Family("ucb_tuned", odds=RARE, binary=True, by_totals=False),
    Family("kl_ucb", {"c": positive(0.5, 4, 4)}, odds=RARE, by_totals=False),
    Family("successive_elimination", {"sd": in_sds(0.03, 3, 40)}, odds=RARE, by_totals=False, begins=False),
    Family("gaussian_thompson", odds=RARE),
    Family("top_two_thompson", {**_NOISE, "leader": share(-1, 3, 4)}, odds=RARE, pairwise=True),
    Family("ts_postdiff", {"c": positive(0.02, 0.5, 5)}, odds=RARE, arm_count=2),
    Family("play_the_winner", {"added": positive(0.03, 30, 6)}, odds=RARE),
    Family("exp3", {"gamma": share(-4, 1, 6)}, odds=RARE / 2, by_totals=False, floors=False),
    Family("exp3", {"gamma": share(-4, 1, 6)}, read_off=range_of_rewards, odds=RARE / 2, by_totals=False, floors=False),
    Family("fixed_weights", read_off=shares, odds=RARE, begins=False, floors=False),
)
