"""Boltzmann exploration."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from debandit.engine.data import Floats
from debandit.engine.draws import uniform
from debandit.policies.choices import after_opening
from debandit.policies.own import SelectRule


@dataclass(frozen=True)
class Softmax(SelectRule):
    """Arm k with probability proportional to exp(mean_k / temperature)."""

    name: ClassVar[str] = "softmax"
    randomised: ClassVar[bool] = True
    temperature: float = 0.1
    initial_pulls: int = 1

    def __post_init__(self) -> None:
        self._check_number("temperature", low=1e-9)
        self._check_initial_pulls(1)

    @staticmethod
    def select(pulls: Floats, sums: Floats, random: Any, temperature: float) -> int:
        best, total, last = -np.inf, 0.0, len(pulls) - 1
        for arm in range(len(pulls)):
            best = max(best, sums[arm] / pulls[arm])
        for arm in range(len(pulls)):
            total += np.exp((sums[arm] / pulls[arm] - best) / temperature)
        left = uniform(random) * total
        for arm in range(last):
            left -= np.exp((sums[arm] / pulls[arm] - best) / temperature)
            if left < 0.0:
                return arm
        return last

    def probabilities(self, t: ArrayLike, pulls: ArrayLike, sums: ArrayLike, horizon: int) -> Floats:
        def free(_: object, n: Floats, s: Floats) -> Floats:
            means = s / np.maximum(n, 1)  # logs of other rules may lack pulls
            weights = np.exp((means - means.max(axis=-1, keepdims=True)) / self.temperature)
            return np.asarray(weights / weights.sum(axis=-1, keepdims=True))

        return after_opening(self.opening, t, pulls, sums, free)
