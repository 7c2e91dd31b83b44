"""Thompson sampling that gives the runner-up its share."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from debandit.checks import SMALLEST, number, whole
from debandit.engine.data import Floats, Ints, Rounds
from debandit.engine.draws import normal, uniform
from debandit.policies.normal_draws import highest_draw
from debandit.policies.own_rules import SelectRule
from debandit.policies.policy import Lines, certain

TRIES = 100


@dataclass(frozen=True)
class TopTwoThompson(SelectRule):
    """Thompson sampling that gives the runner-up a share.

    With probability `leader` the arm with the highest draw is pulled, else a challenger: the highest of new draws,
    taken until it is another arm. After 100 tries it is the arm with the highest posterior mean among the others.
    """

    name: ClassVar[str] = "top_two_thompson"
    title: ClassVar[str] = "Top-two Thompson sampling"
    formula: ClassVar[Lines] = (
        "argmax_k θ_k; with probability 1 - leader the argmax of new draws, as soon as that is another arm",
        "θ_k ~ N(m_k, noise_sd² / (N_k + n0))",
        "m_k = (S_k + n0 prior_mean) / (N_k + n0),  n0 = noise_sd² / prior_sd²",
    )
    source: ClassVar[str] = "Russo (2016), Simple Bayesian algorithms for best arm identification, COLT 29"
    randomised: ClassVar[bool] = True
    leader: float = number(0.5, low=0, high=1, text="probability to pull the leader")
    prior_mean: float = number(0.0)
    prior_sd: float = number(1.0, low=SMALLEST)
    noise_sd: float = number(1.0, low=SMALLEST)
    initial_pulls: int = whole(0)

    @staticmethod
    def select(
        pulls: Floats, sums: Floats, random: Any, leader: float, prior_mean: float, prior_sd: float, noise_sd: float
    ) -> int:
        n0 = (noise_sd / prior_sd) ** 2
        first, runner_up, tries = -1, -1, 0
        while True:
            best, top = 0, -np.inf
            for arm in range(len(pulls)):
                weight = pulls[arm] + n0
                draw = (sums[arm] + n0 * prior_mean) / weight + noise_sd / np.sqrt(weight) * normal(random)
                if draw > top:
                    best, top = arm, draw
            if first < 0:
                first = best
                if uniform(random) < leader:
                    return first
            elif best != first:
                return best
            tries += 1
            if tries > TRIES:
                break
        top = -np.inf
        for arm in range(len(pulls)):
            mean = (sums[arm] + n0 * prior_mean) / (pulls[arm] + n0)
            if arm != first and mean > top:
                runner_up, top = arm, mean
        return runner_up

    def free_chances(self, t: Rounds, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        """leader p_k + (1 - leader) sum_{j != k} p_j (p_k (1 - p_j^n) / (1 - p_j) + p_j^n 1{k next to j}), n tries."""
        n0 = (self.noise_sd / self.prior_sd) ** 2
        means = (sums + n0 * self.prior_mean) / (pulls + n0)
        p = highest_draw(means, self.noise_sd / np.sqrt(pulls + n0))
        arm_count = p.shape[-1]
        chances = self.leader * p
        for j in range(arm_count):
            first = p[..., [j]]
            others = np.where(np.arange(arm_count) == j, 0.0, p)
            tried = sum(first**i for i in range(TRIES))  # (1 - p^100) / (1 - p), without dividing by nothing
            runner_up = certain(np.argmax(np.where(np.arange(arm_count) == j, -np.inf, means), axis=-1), arm_count)
            chances += (1 - self.leader) * first * (others * tried + first**TRIES * runner_up)
        return np.asarray(chances)
