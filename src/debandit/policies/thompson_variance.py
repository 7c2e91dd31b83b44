"""Thompson sampling that estimates how much each arm varies."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.engine.data import Floats, Ints
from debandit.policies.choices import after_opening, before, highest_draw, variances_before
from debandit.policies.own import ScoreRule


@dataclass(frozen=True)
class ThompsonVariance(ScoreRule):
    """Draw each arm's mean from N(mean_k, variance_k / N_k) and pull the highest draw; variances with divisor N_k - 1.

    No prior, so an arm needs at least two initial pulls; a standard deviation below `least_sd` counts as `least_sd`.
    """

    name: ClassVar[str] = "thompson_variance"
    randomised: ClassVar[bool] = True
    least_sd: float = 1e-6
    initial_pulls: int = 2

    def __post_init__(self) -> None:
        self._check_number("least_sd", low=1e-100)
        self._check_initial_pulls(2)

    @staticmethod
    def score(mean: float, pulls: float, z: float, variance: float, least_sd: float) -> float:
        return float(mean + z * max(np.sqrt(variance / (pulls - 1.0)), least_sd / np.sqrt(pulls)))

    def path_probabilities(self, arms: Ints, rewards: Floats, arm_count: int) -> Floats:
        pulls, sums = before(arms, rewards, arm_count)
        widths = np.sqrt(variances_before(arms, rewards, arm_count) / np.maximum(pulls - 1, 1))
        widths = np.maximum(widths, self.least_sd / np.sqrt(np.maximum(pulls, 1)))
        # `after_opening` hands on totals; the widths go in place of the sums, and the means in place of the pulls
        means = sums / np.maximum(pulls, 1)
        return after_opening(self.opening, np.arange(arms.shape[-1]), means, widths, lambda _, m, w: highest_draw(m, w))
