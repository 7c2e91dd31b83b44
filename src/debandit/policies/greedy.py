"""Greedy, and epsilon-greedy with as much exploration throughout or less and less of it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.checks import choice, number, whole
from debandit.engine.data import TIES, Floats, Ints, RuleData, rule_data
from debandit.policies.policy import Lines, Policy


@dataclass(frozen=True)
class Greedy(Policy):
    """Pull each arm `initial_pulls` times in index order, then always the one with the highest mean so far."""

    name: ClassVar[str] = "greedy"
    title: ClassVar[str] = "Greedy"
    formula: ClassVar[Lines] = ("argmax_k mean_k",)
    source: ClassVar[str] = "Sutton and Barto (2018), Reinforcement learning: an introduction, 2nd edition, chapter 2"
    randomised: ClassVar[bool] = False
    initial_pulls: int = whole(1, low=1)
    ties: str = choice(*TIES)

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(ties=self.ties)


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """With probability epsilon pull any arm (the greedy one too), else the one with the highest mean so far."""

    name: ClassVar[str] = "epsilon_greedy"
    title: ClassVar[str] = "Epsilon-greedy"
    formula: ClassVar[Lines] = ("p_k = epsilon / K + (1 - epsilon) · 1{k = argmax_j mean_j}",)
    source: ClassVar[str] = "Sutton and Barto (2018), Reinforcement learning: an introduction, 2nd edition, chapter 2"
    randomised: ClassVar[bool] = True
    epsilon: float = number(0.05, low=0, high=1, text="probability to explore")
    initial_pulls: int = whole(1, low=1)
    ties: str = choice(*TIES)

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(explore=lambda t: np.full(t.shape, float(self.epsilon)), ties=self.ties)


@dataclass(frozen=True)
class DecayingEpsilonGreedy(Policy):
    """Explore less and less as time goes on, else pull the arm with the highest mean so far."""

    name: ClassVar[str] = "decaying_epsilon_greedy"
    title: ClassVar[str] = "Epsilon-greedy with a decaying epsilon"
    formula: ClassVar[Lines] = (
        "epsilon_t = min(1, scale / t^power)",
        "p_k = epsilon_t / K + (1 - epsilon_t) · 1{k = argmax_j mean_j}",
    )
    source: ClassVar[str] = (
        "Auer, Cesa-Bianchi and Fischer (2002), Finite-time analysis of the multiarmed bandit problem, Machine "
        "Learning 47"
    )
    randomised: ClassVar[bool] = True
    scale: float = number(5.0, low=0, text="the larger, the longer it explores")
    power: float = number(1.0, low=0, high=10, text="how fast epsilon falls")
    initial_pulls: int = whole(1, low=1)
    ties: str = choice(*TIES)
    first_t: int = whole(1)

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(explore=self._epsilon, ties=self.ties)

    def _epsilon(self, t: Ints) -> Floats:
        return np.minimum(1.0, self.scale / np.maximum(t + self.first_t, 1) ** float(self.power))
