"""Exponential weights for exploration and exploitation."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from debandit.checks import number
from debandit.engine.data import Floats
from debandit.engine.draws import uniform
from debandit.policies.history import NO_SCORES, History, Replay
from debandit.policies.own_rules import SelectRule


@dataclass(frozen=True)
class Exp3(SelectRule):
    """Arm k with probability p_k = (1 - gamma) w_k / sum w + gamma / K (Auer et al. 2002).

    After a reward x of arm k, scaled from [low, high] to [0, 1], w_k is multiplied by exp(gamma x / (K p_k)).
    """

    name: ClassVar[str] = "exp3"
    randomised: ClassVar[bool] = True
    gamma: float = number(0.1, low=1e-9, high=1)
    low: float = number(0.0)
    high: float = number(1.0)
    initial_pulls = 0  # arms without pulls have weights as well

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(self.low < self.high, "low must be below high")

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
        (paths, rewards), arm_count = history.paths, history.arm_count
        scaled, rows = (rewards - self.low) / (self.high - self.low), np.arange(len(paths))
        logs, chances = np.zeros((len(paths), arm_count)), np.empty((*paths.shape, arm_count))
        heard = 0
        for t, known in enumerate(history.known[: history.end].tolist()):
            for late in range(heard, known):
                at = rows, paths[:, late]
                logs[at] += self.gamma * scaled[:, late] / (arm_count * chances[:, t - 1][at])
            heard = known
            weights = np.exp(logs - logs.max(axis=1, keepdims=True))
            chances[:, t] = (1 - self.gamma) * weights / weights.sum(axis=1, keepdims=True) + self.gamma / arm_count
        return Replay(chances.reshape(*history.arms.shape, arm_count)[..., history.rounds, :], NO_SCORES)
