"""Thompson sampling that becomes uniform where the arms differ by little."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from debandit.checks import number, whole
from debandit.engine.data import Floats, Ints, Rounds, RuleData
from debandit.engine.draws import beta as beta_draw
from debandit.engine.draws import uniform
from debandit.errors import InputError
from debandit.policies.beta_draws import LEAST, closer_than, highest_beta
from debandit.policies.own_rules import SelectRule
from debandit.policies.policy import Lines


@dataclass(frozen=True)
class TSPostDiff(SelectRule):
    """Thompson sampling that is uniform where two arms differ by little."""

    name: ClassVar[str] = "ts_postdiff"
    title: ClassVar[str] = "TS-PostDiff"
    formula: ClassVar[Lines] = (
        "p_k = q / 2 + (1 - q) P(k = argmax_j θ_j),  q = P(|θ_1 - θ_2| < c)",
        "θ_k ~ Beta(alpha + S_k, beta + N_k - S_k)",
    )
    source: ClassVar[str] = "Li et al. (2022), arXiv 2112.08507"
    randomised: ClassVar[bool] = True
    binary_rewards: ClassVar[bool] = True
    two_arms: ClassVar[bool] = True
    c: float = number(0.1, low=0, high=1, text="a difference of success rates that is too small to matter")
    alpha: float = number(1.0, low=LEAST)
    beta: float = number(1.0, low=LEAST)
    initial_pulls: int = whole(0)

    @staticmethod
    def select(pulls: Floats, sums: Floats, random: Any, c: float, alpha: float, beta: float) -> int:
        first = beta_draw(random, alpha + sums[0], beta + pulls[0] - sums[0])
        second = beta_draw(random, alpha + sums[1], beta + pulls[1] - sums[1])
        if abs(first - second) < c:
            return 1 if uniform(random) < 0.5 else 0
        first = beta_draw(random, alpha + sums[0], beta + pulls[0] - sums[0])
        second = beta_draw(random, alpha + sums[1], beta + pulls[1] - sums[1])
        return 1 if second > first else 0

    def free_chances(self, t: Rounds, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        self._check_arms(pulls.shape[-1])
        known = np.concatenate([pulls, sums], axis=-1).reshape(-1, 4)
        states, back = np.unique(known, axis=0, return_inverse=True)
        a, c = self.alpha + states[:, 2:], self.beta + states[:, :2] - states[:, 2:]
        alike = closer_than(self.c, a, c)[:, None]
        return (alike / 2 + (1 - alike) * highest_beta(a, c))[back.reshape(-1)].reshape(pulls.shape)

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        self._check_arms(arm_count)
        return super().rule(arm_count, horizon)

    def _check_arms(self, arm_count: int) -> None:
        if arm_count != 2:
            raise InputError(f"{self.name} is a rule for two arms, not {arm_count}", where="policy")
