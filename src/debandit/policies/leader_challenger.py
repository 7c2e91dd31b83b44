"""The leader, the most promising of the other arms, and a share for all."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from debandit.checks import number, whole
from debandit.engine.data import Floats, Ints, Rounds
from debandit.engine.draws import uniform
from debandit.policies.own_rules import SelectRule
from debandit.policies.policy import Lines, certain


@dataclass(frozen=True)
class LeaderChallenger(SelectRule):
    """Most pulls go by halves to the leader and to its most promising challenger, the rest to all arms.

    The leader has the highest success rate; the challenger has the highest upper bound of the others; among equals it
    is the first. An arm that always or never succeeded has no standard error, so its bound is its rate. With two arms
    both have the same probability.
    """

    name: ClassVar[str] = "leader_challenger"
    title: ClassVar[str] = "Leader and challenger"
    formula: ClassVar[Lines] = (
        "leader = argmax_k mean_k",
        "challenger = argmax_{k ≠ leader} mean_k + z √(mean_k (1 - mean_k) / N_k)",
        "p_k = (1 - share) / K + share / 2 · 1{k is the leader or the challenger}",
    )
    randomised: ClassVar[bool] = True
    binary_rewards: ClassVar[bool] = True
    share: float = number(
        0.8, low=0, high=1, text="what leader and challenger get together, besides their part of the rest"
    )
    z: float = number(1.96, low=0, text="standard errors from the rate to its upper bound")
    initial_pulls: int = whole(1, low=1)

    @staticmethod
    def select(pulls: Floats, sums: Floats, random: Any, share: float, z: float) -> int:
        u = uniform(random)
        if u >= share:
            return min(int((u - share) / (1.0 - share) * len(pulls)), len(pulls) - 1)
        leader, challenger, top = 0, -1, -np.inf
        for arm in range(1, len(pulls)):
            if sums[arm] / pulls[arm] > sums[leader] / pulls[leader]:
                leader = arm
        for arm in range(len(pulls)):
            p = sums[arm] / pulls[arm]
            bound = p + z * np.sqrt(p * (1.0 - p) / pulls[arm])
            if arm != leader and bound > top:
                challenger, top = arm, bound
        return leader if u < share / 2.0 else challenger

    def free_chances(self, t: Rounds, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        arm_count, n = pulls.shape[-1], np.maximum(pulls, 1)  # logs of other rules may lack pulls
        p = sums / n
        leader = certain(np.argmax(p, axis=-1), arm_count)
        bounds = np.where(leader > 0, -np.inf, p + self.z * np.sqrt(p * (1 - p) / n))
        challenger = certain(np.argmax(bounds, axis=-1), arm_count)
        return np.asarray(self.share / 2 * (leader + challenger) + (1 - self.share) / arm_count)
