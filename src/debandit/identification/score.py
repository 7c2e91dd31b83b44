"""How well a rule explains a log, charged for its options.

A charge is minus the logarithm of a probability beforehand: of numbers those of the grid (`search`), 1/2 for a word
that is not the default, 1 / (2 + 2 distance) for initial pulls so far from theirs.
"""

import math
from dataclasses import dataclass

import numpy as np

from debandit.identification.chances import logged_chances
from debandit.identification.record import Record
from debandit.policies import Policy

NO_CHANCE = 1e-12  # a chance below this is none
LAPSES = 0.01  # the share of rounds with any arm instead of the rule's, where some must be: mistakes are rare
BROKEN = math.log(100)  # the charge for such a log


@dataclass(frozen=True)
class Scored:
    """One rule on one log."""

    policy: Policy
    log_likelihood: float
    impossible: int  # rounds whose arm the rule never chooses; these are put down to lapses
    charge: float
    note: str = ""

    @property
    def score(self) -> float:
        """The logarithm of likelihood times what is probable beforehand: higher is better."""
        return self.log_likelihood - self.charge


def fitted(policy: Policy, record: Record, charge: float = 0.0, note: str = "") -> Scored:
    """Score one rule: `charge` is for its numbers. If some rounds are impossible for it, they are lapses."""
    chances = np.nan_to_num(logged_chances(policy, record))
    impossible = int((chances < NO_CHANCE).sum())
    charge += _charge(policy)
    if impossible:
        chances = (1 - LAPSES) * chances + LAPSES / record.arm_count
        charge += BROKEN
    return Scored(policy, float(np.log(np.minimum(chances, 1.0)).sum()), impossible, charge, note)


def plain_log_likelihood(policy: Policy, record: Record) -> float:
    """To search by: without lapses, which would make a second peak where a rule is wrong often enough."""
    chances = np.nan_to_num(logged_chances(policy, record))
    return float(np.log(np.clip(chances, NO_CHANCE, 1.0)).sum())


def per_number(horizon: int) -> float:
    """What a number that is estimated has to earn by the Bayesian information criterion."""
    return math.log(horizon) / 2


def _charge(policy: Policy) -> float:
    """The charge for initial pulls and for words; numbers are charged where they are found."""
    options, usual = policy.options(), policy.defaults()
    moved = [
        (usual[name], value)
        for name, value in options.items()
        if (name == "initial_pulls" or isinstance(value, str)) and value != usual[name]
    ]
    return sum(
        math.log(2) if isinstance(default, str) else math.log(2 + 2 * abs(value - default)) for default, value in moved
    )
