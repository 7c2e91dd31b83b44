"""No learning at all: the control groups among the rules."""

from dataclasses import MISSING, dataclass
from typing import Any, ClassVar

import numpy as np

from debandit.checks import option
from debandit.engine.data import Floats, Ints, Rounds, RuleData, rule_data
from debandit.engine.draws import uniform
from debandit.errors import InputError
from debandit.policies.own_rules import SelectRule
from debandit.policies.policy import Lines, Policy


@dataclass(frozen=True)
class Uniform(Policy):
    """Every round any arm with equal probability. Its sample means are unbiased."""

    name: ClassVar[str] = "uniform"
    title: ClassVar[str] = "Uniform, an A/B test"
    formula: ClassVar[Lines] = ("p_k = 1 / K",)
    randomised: ClassVar[bool] = True

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(explore=lambda t: np.ones(t.shape))


@dataclass(frozen=True)
class FixedWeights(SelectRule):
    """Every round an arm by fixed probabilities. Its sample means are unbiased."""

    name: ClassVar[str] = "fixed_weights"
    title: ClassVar[str] = "Fixed shares"
    formula: ClassVar[Lines] = ("p_k = weights_k / Σ_j weights_j",)
    randomised: ClassVar[bool] = True
    knows_arms: ClassVar[bool] = True
    weights: tuple[float, ...] = option(MISSING, text="a number of 0 or more for each arm: [2, 1, 1]")
    initial_pulls = 0  # pulls teach it nothing

    def __post_init__(self) -> None:
        try:
            weights = () if isinstance(self.weights, str) else tuple(float(weight) for weight in self.weights)
        except (TypeError, ValueError, OverflowError):
            weights = ()
        self._check(
            len(weights) >= 2 and all(0 <= weight <= 1e100 for weight in weights) and sum(weights) > 0,
            "weights must be numbers of 0 or more, one for each arm, and not all of them 0",
        )
        object.__setattr__(self, "weights", weights)

    @staticmethod
    def select(random: Any, parameters: Floats) -> int:
        u = uniform(random)
        arm = 0
        while u >= parameters[arm]:
            arm += 1
        return arm

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(parameters=(*np.cumsum(self._shares(arm_count))[:-1], 1.0))

    def free_chances(self, t: Rounds, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        return np.broadcast_to(self._shares(pulls.shape[-1]), pulls.shape)

    def _shares(self, arm_count: int) -> Floats:
        if len(self.weights) != arm_count:
            raise InputError(f"{len(self.weights)} weights for {arm_count} arms", where=self.name)
        weights = np.array(self.weights)
        return np.asarray(weights / weights.sum())
