"""Explore, then commit."""

from dataclasses import dataclass
from typing import ClassVar

from debandit.engine.data import RuleData, rule_data
from debandit.policies.policy import Policy


@dataclass(frozen=True)
class ExploreThenCommit(Policy):
    """Pull each arm `pulls` times in index order, then only the one with the highest mean so far."""

    name: ClassVar[str] = "etc"
    randomised: ClassVar[bool] = False
    pulls: int = 10

    def __post_init__(self) -> None:
        self._check_number("pulls", low=1, high=10**8, whole=True)

    @property
    def opening(self) -> int:
        return self.pulls

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(opening=self.opening, hold=True)
