"""Epsilon-greedy with less and less exploration."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.engine.data import RuleData, rule_data
from debandit.policies.policy import Policy


@dataclass(frozen=True)
class DecayingEpsilonGreedy(Policy):
    """Epsilon-greedy with epsilon_t = min(1, scale / t^power) in round t = 1, 2, ..."""

    name: ClassVar[str] = "decaying_epsilon_greedy"
    randomised: ClassVar[bool] = True
    scale: float = 5.0
    power: float = 1.0
    initial_pulls: int = 1
    ties: str = "first"

    def __post_init__(self) -> None:
        self._check_number("scale", low=0)
        self._check_number("power", low=0, high=10)
        self._check_initial_pulls(1)
        self._check_ties()

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        explore = np.minimum(1.0, self.scale / np.arange(1, horizon + 1) ** float(self.power))
        return rule_data(opening=self.opening, explore=explore, ties=self.ties)
