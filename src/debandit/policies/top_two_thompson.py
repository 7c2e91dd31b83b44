"""Thompson sampling that gives the runner-up its share."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from debandit.checks import number, whole
from debandit.engine.data import Floats, Ints, Rounds
from debandit.engine.draws import normal, uniform
from debandit.policies.normal_draws import highest_draw
from debandit.policies.own_rules import SelectRule
from debandit.policies.policy import certain

TRIES = 100


@dataclass(frozen=True)
class TopTwoThompson(SelectRule):
    """Draw as Thompson sampling does; with probability `leader` pull the highest draw, else a challenger (Russo 2016).

    The challenger is the highest of new draws, taken until it is another arm than the leader. After 100 tries it is the
    arm with the highest posterior mean among the others. Priors as in ThompsonSampling.
    """

    name: ClassVar[str] = "top_two_thompson"
    randomised: ClassVar[bool] = True
    leader: float = number(0.5, low=0, high=1)
    prior_mean: float = number(0.0)
    prior_sd: float = number(1.0, low=1e-100)
    noise_sd: float = number(1.0, low=1e-100)
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
