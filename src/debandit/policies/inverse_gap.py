"""Inverse-gap weighting."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from debandit.checks import number, whole
from debandit.engine.data import Floats, Ints, Rounds
from debandit.engine.draws import uniform
from debandit.policies.own_rules import SelectRule
from debandit.policies.policy import Lines, certain


@dataclass(frozen=True)
class InverseGap(SelectRule):
    """The further an arm's mean is below the leader's, the fewer pulls it gets.

    The leader has the highest mean, the first among equals. It has at least 1 / K, because `floor` is at most 1. With
    gamma = 100 and four arms, an arm that is 0.1 below the leader has 1/14.
    """

    name: ClassVar[str] = "inverse_gap"
    title: ClassVar[str] = "Inverse-gap weighting"
    formula: ClassVar[Lines] = (
        "p_k = max(floor / K, 1 / (K + gamma (mean_leader - mean_k)))",
        "p_leader = 1 - Σ p_k of the others",
    )
    source: ClassVar[str] = (
        "Abe and Long (1999), Associative reinforcement learning using linear probabilistic concepts, ICML 16; "
        "Foster and Rakhlin (2020), Beyond UCB: optimal and efficient contextual bandits with regression oracles,"
        " ICML 37"
    )
    randomised: ClassVar[bool] = True
    gamma: float = number(100.0, low=0, text="in units of 1 / reward; the higher, the greedier")
    floor: float = number(0.0, low=0, high=1, text="K times the smallest probability of an arm")
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
