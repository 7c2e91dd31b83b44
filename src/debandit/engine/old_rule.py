"""A rule and its conditions in one record, as the loop reads it."""

from typing import NamedTuple

from debandit.engine.conditions import Conditions
from debandit.engine.data import Floats, Ints, RuleData


class Plan(NamedTuple):
    """The part that wrappers ask for."""

    active: bool
    turns: int
    uniform: int
    settled: int
    floor: float
    ends: Ints


class OldRule(NamedTuple):
    """See `RuleData` and `Conditions`."""

    opening: int
    prior_pulls: float
    prior_sum: float
    width: Floats
    level: Floats
    noisy: bool
    explore: Floats
    hold: bool
    parameters: Floats
    state_size: int
    ties: int
    plan: Plan


def old_rule(rule: RuleData, conditions: Conditions, arm_count: int) -> OldRule:
    """Both together."""
    opening, turns, uniform, ends, floor, commit = conditions
    plan = Plan(conditions.wrapped, turns, uniform, conditions.settled(arm_count), floor, ends)
    return OldRule(opening=opening, hold=commit, plan=plan, **rule._asdict())
