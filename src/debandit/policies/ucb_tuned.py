"""Upper confidence bounds that know how much an arm varies."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.checks import choice, whole
from debandit.engine.data import TIES
from debandit.policies.own_rules import ScoreRule
from debandit.policies.policy import Lines


@dataclass(frozen=True)
class UCBTuned(ScoreRule):
    """UCB with a bonus that depends on how much the arm's rewards vary.

    Made for rewards between 0 and 1, whose variance is at most 1/4. variance_k has the divisor N_k.
    """

    name: ClassVar[str] = "ucb_tuned"
    title: ClassVar[str] = "UCB-tuned"
    formula: ClassVar[Lines] = (
        "argmax_k mean_k + √(ln t / N_k min(1/4, V_k))",
        "V_k = variance_k + √(2 ln t / N_k)",
    )
    source: ClassVar[str] = (
        "Auer, Cesa-Bianchi and Fischer (2002), Finite-time analysis of the multiarmed bandit problem, Machine "
        "Learning 47"
    )
    randomised: ClassVar[bool] = False
    initial_pulls: int = whole(1, low=1)
    ties: str = choice(*TIES)

    @staticmethod
    def score(mean: float, pulls: float, t: float, variance: float) -> float:
        share = np.log(t) / pulls
        return float(mean + np.sqrt(share * min(0.25, variance + np.sqrt(2.0 * share))))
