"""Upper confidence bounds."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.engine.data import RuleData, inverse_root, rule_data
from debandit.policies.policy import Policy


@dataclass(frozen=True)
class UCB(Policy):
    """Each arm `initial_pulls` times, then in round t, counted from 1, the highest mean_k + c sqrt(ln t / N_k)."""

    name: ClassVar[str] = "ucb"
    randomised: ClassVar[bool] = False
    c: float = 1.0
    initial_pulls: int = 1
    ties: str = "first"

    def __post_init__(self) -> None:
        self._check_number("c", low=0)
        self._check_initial_pulls(1)
        self._check_ties()

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        level = self.c * np.sqrt(np.log(np.arange(1, horizon + 1)))
        return rule_data(opening=self.opening, width=inverse_root(horizon), level=level, ties=self.ties)
