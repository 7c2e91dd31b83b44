"""Epsilon-greedy."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.engine.data import RuleData, rule_data
from debandit.policies.policy import Policy


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """After `initial_pulls` of each arm with probability epsilon any arm (the greedy one too), or the highest mean."""

    name: ClassVar[str] = "epsilon_greedy"
    randomised: ClassVar[bool] = True
    epsilon: float = 0.05
    initial_pulls: int = 1
    ties: str = "first"

    def __post_init__(self) -> None:
        self._check_number("epsilon", low=0, high=1)
        self._check_initial_pulls(1)
        self._check_ties()

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(opening=self.opening, explore=np.full(horizon, float(self.epsilon)), ties=self.ties)
