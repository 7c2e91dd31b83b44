"""Upper confidence bounds that know how much an arm varies."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.checks import choice, whole
from debandit.engine.data import TIES
from debandit.policies.own_rules import ScoreRule


@dataclass(frozen=True)
class UCBTuned(ScoreRule):
    """The highest mean_k + sqrt(ln t / N_k min(1/4, V_k)), V_k = variance_k + sqrt(2 ln t / N_k) (Auer et al. 2002).

    Made for rewards between 0 and 1, whose variance is at most 1/4.
    """

    name: ClassVar[str] = "ucb_tuned"
    randomised: ClassVar[bool] = False
    initial_pulls: int = whole(1, low=1)
    ties: str = choice(*TIES)

    @staticmethod
    def score(mean: float, pulls: float, t: float, variance: float) -> float:
        share = np.log(t) / pulls
        return float(mean + np.sqrt(share * min(0.25, variance + np.sqrt(2.0 * share))))
