"""Explore, then commit."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.checks import choice, whole
from debandit.engine.conditions import FREE, Conditions
from debandit.engine.data import TIES, Floats, Ints, Rounds, RuleData, rule_data
from debandit.policies.history import NO_SCORES, History, Replay
from debandit.policies.policy import Lines, Policy, certain


@dataclass(frozen=True)
class ExploreThenCommit(Policy):
    """Pull each arm `pulls` times in index order, then only the one with the highest mean so far.

    order="blocks" is first all pulls of the first arm, then all of the second, and so on; with order="turns" the arms
    take turns.
    """

    name: ClassVar[str] = "etc"
    title: ClassVar[str] = "Explore, then commit"
    formula: ClassVar[Lines] = (
        "t ≤ K · pulls:  each arm in its turn",
        "t > K · pulls:  argmax_k mean_k, as it was after K · pulls rounds",
    )
    source: ClassVar[str] = "Garivier, Lattimore and Kaufmann (2016), On explore-then-commit strategies, NeurIPS 29"
    randomised: ClassVar[bool] = False
    pulls: int = whole(10, low=1, text="pulls of each arm before it commits")
    ties: str = choice(*TIES)
    order: str = choice("blocks", "turns", text="blocks: one arm after the other; turns: the arms take turns")

    @property
    def opening(self) -> int:
        return self.pulls

    def conditions(self, arm_count: int, horizon: int) -> Conditions:
        return Conditions(self.opening, commit=True, in_turns=self.order == "turns")

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(ties=self.ties)

    @property
    def by_totals(self) -> bool:
        """Not under a floor or after a warm-up, for what it committed to need not be what it has pulled most."""
        return False

    @property
    def says_chances(self) -> bool:
        """Not if it draws among equals, for where chances are changed its pulls do not show what it committed to."""
        return self.ties != "random"

    def free_chances(self, t: Rounds, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        committed = pulls > self.pulls
        first = certain(np.argmax(committed, axis=-1), pulls.shape[-1])
        return np.where(committed.any(axis=-1, keepdims=True), first, super().free_chances(t, pulls, sums, horizon))

    def free_scores(self, t: Rounds, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        committed = pulls > self.pulls
        others = committed.any(axis=-1, keepdims=True) & ~committed
        return np.where(others, -np.inf, super().free_scores(t, pulls, sums, horizon))

    def answer(self, history: History) -> Replay | None:
        """Without wrappers its pulls show what it committed to; else its first free choice is worked out and kept."""
        if not history.conditions.wrapped:
            return self._by_totals(history)
        if self.ties == "random" and history.conditions.changes:
            return None  # the log does not show which of equals it drew
        known, (pulls, sums) = history.known, history.totals(np.arange(history.length))
        best = super().free_chances(known, pulls[..., known, :], sums[..., known, :], history.horizon)
        first = np.argmax(history.prescribed == FREE, axis=-1)[..., None]
        kept = np.take_along_axis(best, first[..., None], axis=-2)
        if self.ties == "random":  # what it drew among equals is what it pulled
            drawn = np.take_along_axis(history.arms, first, axis=-1)[..., None] == np.arange(history.arm_count)
            later = history.rounds[:, None] > first[..., None]
            kept = np.where(later & (kept.max(axis=-1, keepdims=True) < 1), drawn, kept)
        shape = (*history.arms.shape[:-1], len(history.rounds), history.arm_count)
        return Replay(np.broadcast_to(kept, shape), NO_SCORES)
