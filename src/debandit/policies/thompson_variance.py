"""Thompson sampling that estimates how much each arm varies."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.checks import number, whole
from debandit.policies.history import NO_SCORES, History, Replay
from debandit.policies.normal_draws import highest_draw
from debandit.policies.own_rules import ScoreRule


@dataclass(frozen=True)
class ThompsonVariance(ScoreRule):
    """Draw each arm's mean from N(mean_k, variance_k / N_k) and pull the highest draw; variances with divisor N_k - 1.

    No prior, so an arm needs at least two initial pulls; a standard deviation below `least_sd` counts as `least_sd`.
    """

    name: ClassVar[str] = "thompson_variance"
    randomised: ClassVar[bool] = True
    least_sd: float = number(1e-6, low=1e-100)
    initial_pulls: int = whole(2, low=2)

    @staticmethod
    def score(mean: float, pulls: float, z: float, variance: float, least_sd: float) -> float:
        return float(mean + z * max(np.sqrt(variance / (pulls - 1.0)), least_sd / np.sqrt(pulls)))

    def answer(self, history: History) -> Replay:
        free, chances = history.free, np.zeros(history.pulls.shape)
        pulls, sums, squares = history.pulls[free], history.sums[free], history.squares[free]
        pulls = np.maximum(pulls, 1)  # logs of other rules may lack pulls
        widths = np.sqrt(squares / pulls / np.maximum(pulls - 1, 1))
        widths = np.maximum(widths, self.least_sd / np.sqrt(pulls))
        chances[free] = highest_draw(sums / pulls, widths)
        return Replay(chances, NO_SCORES)
