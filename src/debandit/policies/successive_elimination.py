"""Successive elimination."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.checks import number
from debandit.engine.data import Floats
from debandit.policies.own_rules import SelectRule
from debandit.policies.policy import Lines


@dataclass(frozen=True)
class SuccessiveElimination(SelectRule):
    """Pull the arms that are left in turn, and after each turn drop those that are surely worse than the best."""

    name: ClassVar[str] = "successive_elimination"
    title: ClassVar[str] = "Successive elimination"
    formula: ClassVar[Lines] = ("after turn n drop k if mean_k < max_j mean_j - 2 sd √(2 ln(4 K n² / delta) / n)",)
    source: ClassVar[str] = (
        "Even-Dar, Mannor and Mansour (2006), Action elimination and stopping conditions for the multi-armed "
        "bandit and reinforcement learning problems, JMLR 7"
    )
    randomised: ClassVar[bool] = False
    delta: float = number(0.1, low=1e-100, high=1, text="probability to drop the best arm")
    sd: float = number(1.0, low=0, text="standard deviation of the rewards, or a bound on it")

    def states(self, arm_count: int) -> int:
        return arm_count  # 1 for an arm that was dropped

    @staticmethod
    def select(pulls: Floats, sums: Floats, state: Floats, delta: float, sd: float) -> int:
        fewest, most, best = np.inf, 0.0, -np.inf
        for arm in range(len(pulls)):
            if state[arm] == 0.0:
                fewest, most, best = min(fewest, pulls[arm]), max(most, pulls[arm]), max(best, sums[arm] / pulls[arm])
        if fewest == most:  # the end of a turn
            margin = 2.0 * sd * np.sqrt(2.0 * np.log(4.0 * len(pulls) * most * most / delta) / most)
            for arm in range(len(pulls)):
                if sums[arm] / pulls[arm] < best - margin:
                    state[arm] = 1.0
        for arm in range(len(pulls)):
            if state[arm] == 0.0 and pulls[arm] == fewest:
                return arm
        return 0
