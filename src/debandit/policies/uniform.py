"""No learning at all: the control group among the rules."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.engine.data import RuleData, rule_data
from debandit.policies.policy import Policy


@dataclass(frozen=True)
class Uniform(Policy):
    """Every round any arm with equal probability. Its sample means are unbiased."""

    name: ClassVar[str] = "uniform"
    randomised: ClassVar[bool] = True

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(explore=np.ones(horizon))
