"""Boltzmann exploration."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from debandit.checks import SMALLEST, number, whole
from debandit.engine.data import Floats, Ints, Rounds
from debandit.engine.draws import uniform
from debandit.policies.own_rules import SelectRule
from debandit.policies.policy import Lines


@dataclass(frozen=True)
class Softmax(SelectRule):
    """The higher an arm's mean so far, the more often it is pulled."""

    name: ClassVar[str] = "softmax"
    title: ClassVar[str] = "Softmax, or Boltzmann exploration"
    formula: ClassVar[Lines] = ("p_k = exp(mean_k / temperature) / Σ_j exp(mean_j / temperature)",)
    source: ClassVar[str] = "Cesa-Bianchi, Gentile, Lugosi and Neu (2017), Boltzmann exploration done right, NeurIPS 30"
    randomised: ClassVar[bool] = True
    temperature: float = number(0.1, low=SMALLEST, text="in units of the reward; the lower, the greedier")
    initial_pulls: int = whole(1, low=1)

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

    def free_chances(self, t: Rounds, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        means = sums / np.maximum(pulls, 1)  # logs of other rules may lack pulls
        weights = np.exp((means - means.max(axis=-1, keepdims=True)) / self.temperature)
        return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
