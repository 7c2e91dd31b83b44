"""Thompson sampling that estimates how much each arm varies."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.checks import SMALLEST, number, whole
from debandit.engine.conditions import Conditions
from debandit.engine.data import Floats, Ints, Rounds, RuleData, rule_data
from debandit.errors import InputError
from debandit.policies.normal_draws import highest_draw
from debandit.policies.own_rules import ScoreRule
from debandit.policies.policy import Lines


@dataclass(frozen=True)
class GaussianThompson(ScoreRule):
    """Thompson sampling that estimates how much each arm varies.

    Without a prior_sd the prior is flat: w_k is 1. s_k² is the arm's variance with the divisor N_k - 1; an s_k below
    `least_sd`, as of an arm whose rewards are all alike, counts as `least_sd`.
    """

    name: ClassVar[str] = "gaussian_thompson"
    title: ClassVar[str] = "Thompson sampling, estimated variances"
    formula: ClassVar[Lines] = (
        "argmax_k θ_k,  θ_k ~ N(w_k mean_k + (1 - w_k) prior_mean, w_k s_k² / N_k)",
        "w_k = prior_sd² / (prior_sd² + s_k² / N_k)",
    )
    source: ClassVar[str] = (
        "Thompson (1933), On the likelihood that one unknown probability exceeds another in view of the evidence "
        "of two samples, Biometrika 25"
    )
    randomised: ClassVar[bool] = True
    needs_squares: ClassVar[bool] = True
    draws_means: ClassVar[bool] = True
    prior_mean: float = number(0.0)
    prior_sd: float | None = number(None, low=SMALLEST)
    least_sd: float = number(1e-6, low=SMALLEST, text="the least standard deviation of an arm")
    initial_pulls: int = whole(2, low=2)
    draws: int = whole(0)

    @staticmethod
    def score(
        mean: float, pulls: float, z: float, variance: float, prior_mean: float, prior_sd: float, least_sd: float
    ) -> float:
        width = max(np.sqrt(variance / (pulls - 1.0)), least_sd / np.sqrt(pulls))
        weight = 1.0 / (1.0 + (width / prior_sd) ** 2)
        return float(prior_mean + weight * (mean - prior_mean) + z * width * np.sqrt(weight))

    def conditions(self, arm_count: int, horizon: int) -> Conditions:
        return Conditions(self.opening, draws=self.draws)

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(parameters=(self.prior_mean, self._prior_width, self.least_sd))

    @property
    def _prior_width(self) -> float:
        return np.inf if self.prior_sd is None else self.prior_sd

    def posterior(self, pulls: Ints, sums: Floats, squares: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of each arm's draws."""
        n = np.maximum(pulls, 1)  # logs of other rules may lack pulls
        width = np.maximum(np.sqrt(squares / np.maximum(n - 1, 1)), self.least_sd) / np.sqrt(n)
        weight = 1 / (1 + (width / self._prior_width) ** 2)
        return self.prior_mean + weight * (sums / n - self.prior_mean), width * np.sqrt(weight)

    def free_chances(self, t: Rounds, pulls: Ints, sums: Floats, horizon: int, squares: Floats | None = None) -> Floats:
        if squares is None:
            raise InputError(
                f"{self.name} goes by how much rewards vary, too, and not by pulls and sums alone",
                where="policy",
                remedy="Give the sums of squared deviations from the means (squares); of 0/1 rewards these are "
                "sums * (pulls - sums) / pulls.",
            )
        return highest_draw(*self.posterior(pulls, sums, squares))


def thompson_variance(least_sd: float = 1e-6, initial_pulls: int = 2) -> GaussianThompson:
    """What gaussian_thompson was called before it had a prior."""
    return GaussianThompson(least_sd=least_sd, initial_pulls=initial_pulls)
