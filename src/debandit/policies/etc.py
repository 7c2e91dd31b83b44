"""Explore, then commit."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.engine.conditions import Conditions
from debandit.engine.data import Floats, Ints, RuleData, rule_data
from debandit.policies.choices import before, index_probabilities
from debandit.policies.policy import Policy


@dataclass(frozen=True)
class ExploreThenCommit(Policy):
    """Pull each arm `pulls` times in index order, then only the one with the highest mean so far."""

    name: ClassVar[str] = "etc"
    randomised: ClassVar[bool] = False
    pulls: int = 10
    ties: str = "first"

    def __post_init__(self) -> None:
        self._check_number("pulls", low=1, high=10**8, whole=True)
        self._check_ties()

    @property
    def opening(self) -> int:
        return self.pulls

    def conditions(self, arm_count: int, horizon: int) -> Conditions:
        return super().conditions(arm_count, horizon)._replace(commit=True)

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(opening=self.opening, hold=True, ties=self.ties)

    @property
    def by_totals(self) -> bool:
        """Not under a floor or after a warm-up, for what it committed to need not be what it has pulled most."""
        return False

    def known_probabilities(self, arms: Ints, rewards: Floats, arm_count: int, prescribed: Ints, known: Ints) -> Floats:
        """What it commits to in the first round of its own it stays with, whatever the numbers of pulls are by then."""
        horizon = arms.shape[-1]
        pulls, sums = before(arms, rewards, arm_count)
        free = self.rule(arm_count, horizon)._replace(hold=False)
        best = index_probabilities(free, known, pulls[..., known, :], sums[..., known, :])
        first = np.argmax(prescribed < 0, axis=-1)[..., None]
        committed = np.take_along_axis(best, first[..., None], axis=-2)
        if self.ties == "random":  # what it drew among equals is what it pulled
            drawn = np.take_along_axis(arms, first, axis=-1)[..., None] == np.arange(arm_count)
            later = np.arange(horizon)[:, None] > first[..., None]
            committed = np.where(later & (committed.max(axis=-1, keepdims=True) < 1), drawn, committed)
        return np.broadcast_to(committed, best.shape)

    def known_scores(self, arms: Ints, rewards: Floats, arm_count: int, prescribed: Ints, known: Ints) -> Floats:
        return np.full((*arms.shape, arm_count), np.nan)
