"""Thompson sampling for 0/1 rewards."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.checks import number, whole
from debandit.engine.conditions import Conditions
from debandit.engine.data import Floats, Ints, Rounds, RuleData, rule_data
from debandit.policies.beta_draws import LEAST, highest_beta, leads_within, second_higher
from debandit.policies.policy import Lines, Policy

LONGEST_TABLE = 1000  # rounds
CELLS_PER_STATE = 2000  # a cell of a table costs this much less than the quadrature of one state


@dataclass(frozen=True)
class BetaThompson(Policy):
    """Draw each arm's success rate from its posterior, for 0/1 rewards, and pull the arm with the highest draw."""

    name: ClassVar[str] = "beta_thompson"
    title: ClassVar[str] = "Thompson sampling, 0/1 rewards"
    formula: ClassVar[Lines] = ("argmax_k θ_k,  θ_k ~ Beta(alpha + S_k, beta + N_k - S_k)",)
    source: ClassVar[str] = (
        "Thompson (1933), On the likelihood that one unknown probability exceeds another in view of the evidence "
        "of two samples, Biometrika 25; Chapelle and Li (2011), An empirical evaluation of Thompson sampling, "
        "NeurIPS 24"
    )
    randomised: ClassVar[bool] = True
    draws_means: ClassVar[bool] = True
    binary_rewards: ClassVar[bool] = True
    alpha: float = number(1.0, low=LEAST)
    beta: float = number(1.0, low=LEAST)
    initial_pulls: int = whole(0)
    draws: int = whole(0)

    @property
    def kernel(self) -> str:
        return "debandit.engine.compiled.beta"

    def conditions(self, arm_count: int, horizon: int) -> Conditions:
        return Conditions(self.opening, draws=self.draws)

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(parameters=(self.alpha, self.beta))

    def free_chances(self, t: Rounds, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        arm_count = pulls.shape[-1]
        rows, wins = (part.reshape(-1, arm_count).astype(np.int64) for part in (pulls, sums))
        if arm_count == 2 and horizon <= LONGEST_TABLE:
            return self._by_tables(rows, wins, horizon).reshape(pulls.shape)
        states, back = np.unique(np.concatenate([rows, wins], axis=-1), axis=0, return_inverse=True)
        return self._by_quadrature(*np.split(states, 2, axis=-1))[back.reshape(-1)].reshape(pulls.shape)

    def leads_within(self, share: float, arms: Ints, pulls: Ints, sums: Floats, above: float = 0.0) -> Floats:
        return leads_within(share, arms, self.alpha + sums, self.beta + pulls - sums, above)

    def _by_quadrature(self, pulls: Ints, wins: Ints) -> Floats:
        return highest_beta(np.add(self.alpha, wins, dtype=np.float64), self.beta + (pulls - wins).astype(np.float64))

    def _by_tables(self, pulls: Ints, wins: Ints, horizon: int) -> Floats:
        """Two arms: one table for all states with the same pulls, but quadrature where these are few."""
        base = horizon + 1
        states = ((pulls[:, 0] * base + pulls[:, 1]) * base + wins[:, 0]) * base + wins[:, 1]
        codes, back = np.unique(states, return_inverse=True)
        second = np.empty(len(codes))
        starts = np.flatnonzero(np.diff(codes // base**2, prepend=-1))
        for start, stop in zip(starts, [*starts[1:], len(codes)], strict=True):
            n1, n2 = divmod(int(codes[start]) // base**2, base)
            cells, count = (n1 + 1) * (n2 + 1), stop - start
            if cells > CELLS_PER_STATE * count:
                s1, s2 = np.divmod(codes[start:stop] % base**2, base)
                second[start:stop] = self._by_quadrature(np.array([[n1, n2]]), np.stack([s1, s2], axis=-1))[:, 1]
                continue
            table = second_higher(self.alpha, self.beta, n1, n2, horizon)
            if cells > count:
                s1, s2 = np.divmod(codes[start:stop] % base**2, base)
                table = table[s1, s2]
            second[start:stop] = table.ravel()
        second = np.minimum(second, 1.0)[back]
        return np.stack([1 - second, second], axis=-1)
