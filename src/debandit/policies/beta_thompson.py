"""Thompson sampling for 0/1 rewards."""

from dataclasses import dataclass
from typing import ClassVar

from debandit.engine.data import RuleData, rule_data
from debandit.policies.policy import Policy


@dataclass(frozen=True)
class BetaThompson(Policy):
    """Draw each arm's success rate from Beta(alpha + successes, beta + failures) and pull the highest draw."""

    name: ClassVar[str] = "beta_thompson"
    kernel: ClassVar[str] = "debandit.engine.beta"
    binary_rewards: ClassVar[bool] = True
    alpha: float = 1.0
    beta: float = 1.0

    def __post_init__(self) -> None:
        # below 0.05 the draws pile up at 0 and 1 so closely that doubles cannot tell them apart
        self._check_number("alpha", low=0.05)
        self._check_number("beta", low=0.05)

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(parameters=(self.alpha, self.beta))
