"""The randomised play-the-winner urn."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from debandit.engine.data import Floats
from debandit.engine.draws import uniform
from debandit.policies.own import SelectRule


@dataclass(frozen=True)
class PlayTheWinner(SelectRule):
    """Draw an arm from an urn of `balls` for each arm (Wei and Durham 1978).

    A success adds `added` balls to the arm, a failure adds them to the others, in equal parts. For 0/1 rewards.
    """

    name: ClassVar[str] = "play_the_winner"
    randomised: ClassVar[bool] = True
    binary_rewards: ClassVar[bool] = True
    balls: float = 1.0
    added: float = 1.0
    initial_pulls = 0  # the urn draws from the first round on

    def __post_init__(self) -> None:
        self._check_number("balls", low=1e-9)
        self._check_number("added", low=0)

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

    def probabilities(self, t: ArrayLike, pulls: ArrayLike, sums: ArrayLike, horizon: int) -> Floats:
        n, s = np.asarray(pulls, dtype=np.float64), np.asarray(sums, dtype=np.float64)
        losses = n - s
        from_others = (losses.sum(axis=-1, keepdims=True) - losses) / (n.shape[-1] - 1)
        urn = self.balls + self.added * (s + from_others)
        return np.asarray(urn / urn.sum(axis=-1, keepdims=True))
