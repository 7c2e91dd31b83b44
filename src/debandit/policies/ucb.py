"""Upper confidence bounds."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.checks import choice, number, whole
from debandit.engine.data import TIES, RuleData, inverse_root, rule_data
from debandit.policies.policy import Policy


@dataclass(frozen=True)
class UCB(Policy):
    """Each arm `initial_pulls` times, then in round t the highest mean_k + c sqrt(ln t / N_k).

    Rounds are counted from `first_t`: with 0, t is the number of rounds before.
    """

    name: ClassVar[str] = "ucb"
    randomised: ClassVar[bool] = False
    c: float = number(1.0, low=0)
    initial_pulls: int = whole(1, low=1)
    ties: str = choice(*TIES)
    first_t: int = whole(1)

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(
            width=inverse_root,
            level=lambda t: self.c * np.sqrt(np.log(np.maximum(t + self.first_t, 1))),
            ties=self.ties,
        )


def ucb1(initial_pulls: int = 1, ties: str = "first") -> UCB:
    """UCB1 of Auer, Cesa-Bianchi and Fischer (2002), the highest mean_k + sqrt(2 ln t / N_k): c is the root of 2."""
    return UCB(math.sqrt(2), initial_pulls, ties)
