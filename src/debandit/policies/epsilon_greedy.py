"""Epsilon-greedy."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.engine.data import RuleData, rule_data
from debandit.policies.policy import Policy


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """Each arm once, then with probability epsilon any arm (the greedy one too), else the highest mean."""

    name: ClassVar[str] = "epsilon_greedy"
    randomised: ClassVar[bool] = True
    epsilon: float = 0.05

    def __post_init__(self) -> None:
        self._check_number("epsilon", low=0, high=1)

    @property
    def opening(self) -> int:
        return 1

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(opening=self.opening, explore=np.full(horizon, float(self.epsilon)))
