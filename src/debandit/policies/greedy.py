"""Greedy, and epsilon-greedy with as much exploration throughout or less and less of it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.checks import choice, number, whole
from debandit.engine.data import TIES, Floats, Ints, RuleData, rule_data
from debandit.policies.policy import Policy


@dataclass(frozen=True)
class Greedy(Policy):
    """Each arm `initial_pulls` times in index order, then always the highest mean so far."""

    name: ClassVar[str] = "greedy"
    randomised: ClassVar[bool] = False
    initial_pulls: int = whole(1, low=1)
    ties: str = choice(*TIES)

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(ties=self.ties)


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """After `initial_pulls` of each arm with probability epsilon any arm (the greedy one too), or the highest mean."""

    name: ClassVar[str] = "epsilon_greedy"
    randomised: ClassVar[bool] = True
    epsilon: float = number(0.05, low=0, high=1)
    initial_pulls: int = whole(1, low=1)
    ties: str = choice(*TIES)

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(explore=lambda t: np.full(t.shape, float(self.epsilon)), ties=self.ties)


@dataclass(frozen=True)
class DecayingEpsilonGreedy(Policy):
    """Epsilon-greedy with epsilon_t = min(1, scale / t^power) in round t, counted from `first_t`."""

    name: ClassVar[str] = "decaying_epsilon_greedy"
    randomised: ClassVar[bool] = True
    scale: float = number(5.0, low=0)
    power: float = number(1.0, low=0, high=10)
    initial_pulls: int = whole(1, low=1)
    ties: str = choice(*TIES)
    first_t: int = whole(1)

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(explore=self._epsilon, ties=self.ties)

    def _epsilon(self, t: Ints) -> Floats:
        return np.minimum(1.0, self.scale / np.maximum(t + self.first_t, 1) ** float(self.power))
