"""The randomised play-the-winner urn."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from debandit.checks import number
from debandit.engine.data import Floats, Ints, Rounds
from debandit.engine.draws import uniform
from debandit.policies.own_rules import SelectRule
from debandit.policies.policy import Lines


@dataclass(frozen=True)
class PlayTheWinner(SelectRule):
    """Draw an arm from an urn, to which successes add balls of the arm and failures add balls of the others."""

    name: ClassVar[str] = "play_the_winner"
    title: ClassVar[str] = "Randomised play-the-winner"
    formula: ClassVar[Lines] = ("p_k ∝ balls + added (S_k + Σ_{j ≠ k} (N_j - S_j) / (K - 1))",)
    source: ClassVar[str] = "Wei and Durham (1978), The randomized play-the-winner rule in medical trials, JASA 73"
    randomised: ClassVar[bool] = True
    binary_rewards: ClassVar[bool] = True
    balls: float = number(1.0, low=1e-9, text="balls of each arm in the beginning")
    added: float = number(1.0, low=0, text="balls that each reward adds")
    initial_pulls = 0  # the urn draws from the first round on

    @staticmethod
    def select(pulls: Floats, sums: Floats, random: Any, balls: float, added: float) -> int:
        losses, last = 0.0, len(pulls) - 1
        for arm in range(len(pulls)):
            losses += pulls[arm] - sums[arm]
        left = uniform(random) * (len(pulls) * balls + added * pulls.sum())
        for arm in range(last):
            left -= balls + added * (sums[arm] + (losses - pulls[arm] + sums[arm]) / last)
            if left < 0.0:
                return arm
        return last

    def free_chances(self, t: Rounds, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        losses = pulls - sums
        from_others = (losses.sum(axis=-1, keepdims=True) - losses) / (pulls.shape[-1] - 1)
        urn = self.balls + self.added * (sums + from_others)
        return np.asarray(urn / urn.sum(axis=-1, keepdims=True))
