"""Exponential weights for exploration and exploitation."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from debandit.checks import number
from debandit.engine.data import Floats
from debandit.engine.draws import uniform
from debandit.policies.history import NO_SCORES, History, Replay
from debandit.policies.own_rules import SelectRule
from debandit.policies.policy import Lines


@dataclass(frozen=True)
class Exp3(SelectRule):
    """Exponential weights: each reward, divided by the probability of its arm, raises the arm's weight."""

    name: ClassVar[str] = "exp3"
    title: ClassVar[str] = "Exp3, exponential weights"
    formula: ClassVar[Lines] = (
        "p_k = (1 - gamma) w_k / Σ_j w_j + gamma / K",
        "w_k ← w_k exp(gamma / (K p_k) · (x - low) / (high - low)) after a reward x of arm k",
    )
    source: ClassVar[str] = (
        "Auer, Cesa-Bianchi, Freund and Schapire (2002), The nonstochastic multiarmed bandit problem, SIAM "
        "Journal on Computing 32"
    )
    randomised: ClassVar[bool] = True
    gamma: float = number(0.1, low=1e-9, high=1, text="exploration, and the rate of learning")
    low: float = number(0.0, text="the lowest possible reward")
    high: float = number(1.0, text="the highest possible reward")
    initial_pulls = 0  # arms without pulls have weights as well

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(self.low < self.high, "low must be less than high")

    def states(self, arm_count: int) -> int:
        return 2 * arm_count  # the logarithms of the weights, and the probabilities of the last choice

    @staticmethod
    def select(pulls: Floats, state: Floats, random: Any, gamma: float) -> int:
        arm_count = len(pulls)
        total, choice, highest = 0.0, arm_count - 1, state[0]
        for arm in range(1, arm_count):
            highest = max(highest, state[arm])
        for arm in range(arm_count):
            total += np.exp(state[arm] - highest)
        left = uniform(random)
        for arm in range(arm_count):
            chance = (1.0 - gamma) * np.exp(state[arm] - highest) / total + gamma / arm_count
            state[arm_count + arm] = chance
            if left >= 0.0:
                left -= chance
                if left < 0.0:
                    choice = arm
        return choice

    @staticmethod
    def learn(arm: int, reward: float, state: Floats, gamma: float, low: float, high: float) -> None:
        arm_count = len(state) // 2
        state[arm] += gamma * (reward - low) / (high - low) / (arm_count * state[arm_count + arm])

    def answer(self, history: History) -> Replay:
        """A reward changes its weight when the rule hears of it, by the arm's probability in the last choice before."""
        return Replay(self._chosen_and_state(history)[..., 1 + history.arm_count :], NO_SCORES)
