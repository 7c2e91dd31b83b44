"""What may be varied in each family of rules: the table that a new rule adds a line to."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from debandit.identification.read_off import ReadOff, etc_pulls, linear_option, nothing
from debandit.identification.record import Record
from debandit.policies import RULES, Policy


class Range(NamedTuple):
    """A number to search for: `points` first guesses from low to high on a scale that `value` translates."""

    low: float
    high: float
    points: int
    value: Callable[[float, Record], float]


def positive(low: float, high: float, points: int = 8) -> Range:
    """A positive number without a unit, on a logarithmic scale."""
    return Range(math.log(low), math.log(high), points, lambda x, _: math.exp(x))


def in_sds(low: float, high: float, points: int = 8) -> Range:
    """A positive number in the unit of the rewards, from low to high times their standard deviation."""
    return Range(math.log(low), math.log(high), points, lambda x, record: math.exp(x) * record.sd)


def level(low: float = -4, high: float = 4, points: int = 3) -> Range:
    """A level of rewards, so many standard deviations from their mean."""
    return Range(low, high, points, lambda x, record: record.mean + x * record.sd)


def share() -> Range:
    """A number from 0 to 1, its ends included."""
    return Range(-7, 7, 9, lambda x, _: 0.0 if x <= -7 else 1.0 if x >= 7 else 1 / (1 + math.exp(-x)))


@dataclass(frozen=True)
class Family:
    """Rules of one name: the numbers that are searched for, and the options that are read off the log or fixed.

    Numbers in `extra` keep their defaults unless, set free one after the other, they earn their charge. Initial pulls
    are read off for every rule that has the option.
    """

    name: str
    free: Mapping[str, Range] = field(default_factory=dict)
    extra: Mapping[str, Range] = field(default_factory=dict)
    read_off: ReadOff = nothing
    fixed: Mapping[str, Any] = field(default_factory=dict)
    rare: bool = False  # twenty times less likely beforehand than the rules of textbooks

    @property
    def rule(self) -> type[Policy]:
        """The class of these rules."""
        return RULES[self.name]


_NOISE, _PRIOR = {"noise_sd": in_sds(0.03, 30)}, {"prior_sd": in_sds(0.1, 1000, 4)}

FAMILIES = (
    Family("etc", read_off=etc_pulls),
    Family("greedy", rare=True),
    Family("ucb", read_off=linear_option("c")),
    Family("uniform"),
    Family("epsilon_greedy", {"epsilon": share()}),
    Family("decaying_epsilon_greedy", {"scale": positive(0.3, 300)}, rare=True),
    Family("softmax", {"temperature": in_sds(0.01, 30)}, rare=True),
    Family("thompson", _NOISE, {**_PRIOR, "prior_mean": level()}),
    Family("thompson", _NOISE, _PRIOR, fixed={"center": "sample"}),
    Family("beta_thompson", extra={"alpha": positive(0.05, 50, 4), "beta": positive(0.05, 50, 4)}),
)
