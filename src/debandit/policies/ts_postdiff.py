"""Thompson sampling that becomes uniform where arms hardly differ."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from debandit.engine.data import Floats, RuleData
from debandit.engine.draws import beta as beta_draw
from debandit.engine.draws import uniform
from debandit.errors import InputError
from debandit.policies.beta_draws import closer_than, highest_beta
from debandit.policies.choices import after_opening
from debandit.policies.own import SelectRule


@dataclass(frozen=True)
class TSPostDiff(SelectRule):
    """Two arms, 0/1 rewards: with the posterior probability that the success rates differ by less than c any arm with
    equal probability, else Thompson sampling with Beta(alpha, beta) priors (Li et al. 2022).
    """

    name: ClassVar[str] = "ts_postdiff"
    randomised: ClassVar[bool] = True
    binary_rewards: ClassVar[bool] = True
    c: float = 0.1
    alpha: float = 1.0
    beta: float = 1.0
    initial_pulls: int = 0

    def __post_init__(self) -> None:
        self._check_number("c", low=0, high=1)
        self._check_number("alpha", low=0.05)
        self._check_number("beta", low=0.05)
        self._check_initial_pulls(0)

    @staticmethod
    def select(pulls: Floats, sums: Floats, random: Any, c: float, alpha: float, beta: float) -> int:
        first = beta_draw(random, alpha + sums[0], beta + pulls[0] - sums[0])
        second = beta_draw(random, alpha + sums[1], beta + pulls[1] - sums[1])
        if abs(first - second) < c:
            return 1 if uniform(random) < 0.5 else 0
        first = beta_draw(random, alpha + sums[0], beta + pulls[0] - sums[0])
        second = beta_draw(random, alpha + sums[1], beta + pulls[1] - sums[1])
        return 1 if second > first else 0

    def probabilities(self, t: ArrayLike, pulls: ArrayLike, sums: ArrayLike, horizon: int) -> Floats:
        self._check_arms(np.shape(pulls)[-1])
        return after_opening(self.opening, t, pulls, sums, lambda _, n, s: self._free(n, s))

    def _free(self, pulls: Floats, sums: Floats) -> Floats:
        states, back = np.unique(np.concatenate([pulls, sums], axis=-1), axis=0, return_inverse=True)
        a, c = self.alpha + states[:, 2:], self.beta + states[:, :2] - states[:, 2:]
        alike = closer_than(self.c, a, c)[:, None]
        return (alike / 2 + (1 - alike) * highest_beta(a, c))[back.reshape(-1)]

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        self._check_arms(arm_count)
        return super().rule(arm_count, horizon)

    def _check_arms(self, arm_count: int) -> None:
        if arm_count != 2:
            raise InputError(f"{self.name} is a rule for two arms, not {arm_count}", where="policy")
