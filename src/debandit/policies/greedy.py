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

    def __post_init__(self) -> None:
        self._check_number("initial_pulls", low=1, high=10**8, whole=True)

    @property
    def opening(self) -> int:
        return self.initial_pulls

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(opening=self.opening)
