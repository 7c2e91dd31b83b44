"""Inverse-gap weighting."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from debandit.checks import number, whole
from debandit.engine.data import Floats, Ints, Rounds
from debandit.engine.draws import uniform
from debandit.policies.own_rules import SelectRule
from debandit.policies.policy import certain


@dataclass(frozen=True)
class InverseGap(SelectRule):
    """Every arm but the leader with probability max(floor / K, 1 / (K + gamma gap_k)), and the leader with the rest.

    The gap is the highest mean minus the arm's; among equals the first is the leader, which has at least 1 / K, because
    `floor` is at most 1. Abe and Long (1999); Foster and Rakhlin (2020). Gamma is in units of 1 / reward: with 100 and
    four arms one that is 0.1 below the leader has 1/14.
    """

    name: ClassVar[str] = "inverse_gap"
    randomised: ClassVar[bool] = True
    gamma: float = number(100.0, low=0)
    floor: float = number(0.0, low=0, high=1)
    initial_pulls: int = whole(1, low=1)

    @staticmethod
    def select(pulls: Floats, sums: Floats, random: Any, gamma: float, floor: float) -> int:
        arm_count, leader = len(pulls), 0
        for arm in range(1, arm_count):
            if sums[arm] / pulls[arm] > sums[leader] / pulls[leader]:
                leader = arm
        left, best = uniform(random), sums[leader] / pulls[leader]
        for arm in range(arm_count):
            if arm != leader:
                gap = best - sums[arm] / pulls[arm]
                left -= max(floor / arm_count, 1.0 / (arm_count + gamma * gap))
                if left < 0.0:
                    return arm
        return leader

    def free_chances(self, t: Rounds, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        arm_count, means = pulls.shape[-1], sums / np.maximum(pulls, 1)  # logs of other rules may lack pulls
        leader = certain(np.argmax(means, axis=-1), arm_count)
        gaps = means.max(axis=-1, keepdims=True) - means
        others = (1 - leader) * np.maximum(self.floor / arm_count, 1 / (arm_count + self.gamma * gaps))
        return np.asarray(others + leader * (1 - others.sum(axis=-1, keepdims=True)))
