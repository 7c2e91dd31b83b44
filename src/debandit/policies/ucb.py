"""Upper confidence bounds."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.checks import choice, number, whole
from debandit.engine.data import TIES, RuleData, inverse_root, rule_data
from debandit.policies.policy import Lines, Policy


@dataclass(frozen=True)
class UCB(Policy):
    """Pull the arm with the highest mean plus a bonus, which is large for arms with few pulls."""

    name: ClassVar[str] = "ucb"
    title: ClassVar[str] = "Upper confidence bounds (UCB)"
    formula: ClassVar[Lines] = ("argmax_k mean_k + c √(ln t / N_k)",)
    source: ClassVar[str] = (
        "Auer, Cesa-Bianchi and Fischer (2002), Finite-time analysis of the multiarmed bandit problem, Machine "
        "Learning 47"
    )
    randomised: ClassVar[bool] = False
    c: float = number(1.0, low=0, text="size of the bonus, in units of the reward")
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
