"""Upper confidence bounds for 0/1 rewards by relative entropy."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.checks import choice, number, whole
from debandit.engine.data import TIES
from debandit.policies.own_rules import ScoreRule
from debandit.policies.policy import Lines


@dataclass(frozen=True)
class KLUCB(ScoreRule):
    """UCB for 0/1 rewards, with bounds by relative entropy."""

    name: ClassVar[str] = "kl_ucb"
    title: ClassVar[str] = "KL-UCB"
    formula: ClassVar[Lines] = (
        "argmax_k max{q: N_k kl(mean_k, q) ≤ ln t + c ln max(1, ln t)}",
        "kl(p, q) = p ln(p / q) + (1 - p) ln((1 - p) / (1 - q))",
    )
    source: ClassVar[str] = (
        "Garivier and Cappé (2011), The KL-UCB algorithm for bounded stochastic bandits and beyond, COLT 24"
    )
    randomised: ClassVar[bool] = False
    binary_rewards: ClassVar[bool] = True
    c: float = number(0.0, low=0, text="weight of the term ln ln t")
    initial_pulls: int = whole(1, low=1)
    ties: str = choice(*TIES)

    @staticmethod
    def score(mean: float, pulls: float, t: float, c: float) -> float:
        if mean >= 1.0:
            return 1.0
        level = (np.log(t) + c * np.log(max(np.log(t), 1.0))) / pulls
        # Two bounds from above: Pinsker's, and mean ln(mean / q) >= mean ln(mean). From there Newton's method comes
        # down without ever passing the root, because kl is convex in q.
        known = mean * np.log(mean) if mean > 0.0 else 0.0
        q = min(mean + np.sqrt(0.5 * level), 1.0 - (1.0 - mean) * np.exp(-(level - known) / (1.0 - mean)))
        for _ in range(12):
            entropy = (1.0 - mean) * np.log((1.0 - mean) / (1.0 - q))
            if mean > 0.0:
                entropy += mean * np.log(mean / q)
            if q > mean:
                q -= (entropy - level) * q * (1.0 - q) / (q - mean)
        return float(q)
