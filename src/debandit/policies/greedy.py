"""Greedy: no exploration beyond the initial pulls."""

from dataclasses import dataclass
from typing import ClassVar

from debandit.engine.data import RuleData, rule_data
from debandit.policies.policy import Policy


@dataclass(frozen=True)
class Greedy(Policy):
    """Each arm `initial_pulls` times in index order, then always the highest mean so far."""

    name: ClassVar[str] = "greedy"
    randomised: ClassVar[bool] = False
    initial_pulls: int = 1
    ties: str = "first"

    def __post_init__(self) -> None:
        self._check_initial_pulls(1)
        self._check_ties()

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(opening=self.opening, ties=self.ties)
