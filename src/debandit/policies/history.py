"""What a rule sees of logs or runs, and what it says of them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from debandit.engine.conditions import FREE, UNIFORM, Conditions
from debandit.engine.data import Floats, Ints, about_means
from debandit.log_parts import in_pieces

ALONE = Conditions()
NO_SCORES = np.array(np.nan)


class Replay(NamedTuple):
    """The answer of a rule: how likely each arm was, and the scores that the rule went by."""

    chances: Floats  # (..., n, K) P(arm chosen | what the rule had heard of)
    scores: Floats  # (..., n, K) whose highest is chosen; NaN where the choice does not go by scores


@dataclass(frozen=True, eq=False)
class History:
    """The rounds of logs of equal length, and those of them about which a rule is asked.

    Totals are what the rule has heard of before the asked rounds, of shape (..., n, K). Where it hears of every round
    they are added up as the engine adds them, so that ties are the same ties.
    """

    arms: Ints  # (..., T) indices
    rewards: Floats  # (..., T)
    arm_count: int
    asked: Ints | None = None  # (n,) rounds, counted from 0, in rising order; None: all
    conditions: Conditions = ALONE
    planned: int = 0  # for how many rounds the rule was made, if not for as many as there are

    def under(self, conditions: Conditions, planned: int = 0) -> Self:
        """The same rounds as a rule sees them under some conditions."""
        return replace(self, conditions=conditions, planned=planned)

    def at(self, rounds: Ints) -> Self:
        """The same where it is asked about these rounds."""
        return replace(self, asked=rounds)

    @property
    def length(self) -> int:
        """The number of rounds."""
        return int(self.arms.shape[-1])

    @property
    def horizon(self) -> int:
        """The number of rounds for which the rule was made."""
        return self.planned or self.length

    @cached_property
    def rounds(self) -> Ints:
        """The asked rounds."""
        return np.arange(self.length) if self.asked is None else self.asked

    @cached_property
    def known(self) -> Ints:
        """The number of rounds that the rule has heard of before each round, of shape (T,)."""
        return self.conditions.known(self.length)

    @cached_property
    def prescribed(self) -> Ints:
        """The arm that must be pulled in each round, or FREE, or UNIFORM, of shape (..., T)."""
        early = np.arange(min(self.length, self.conditions.settled(self.arm_count)))
        pulls, sums = self.totals(early)
        heard = pulls[..., self.known[early], :], sums[..., self.known[early], :]
        prescribed = np.full(self.arms.shape, FREE)
        prescribed[..., early] = self.conditions.prescribed(early, pulls, *heard)
        return prescribed

    @property
    def forced(self) -> Ints:
        """-1 where the rule is asked, else some arm: for functions that follow the rounds one by one."""
        return np.where(self.prescribed == UNIFORM, 0, self.prescribed)

    @property
    def free(self) -> NDArray[np.bool_]:
        """The asked rounds in which the choice is the rule's own, of shape (..., n)."""
        return np.asarray(self.prescribed[..., self.rounds] == FREE)

    @property
    def pulls(self) -> Ints:
        """Each arm's pulls."""
        return self._heard[0]

    @property
    def sums(self) -> Floats:
        """Each arm's sum of rewards."""
        return self._heard[1]

    @property
    def squares(self) -> Floats:
        """Each arm's sum of squared deviations from its mean."""
        moments, back = np.unique(self.known[self.rounds], return_inverse=True)
        return self.squares_after(moments)[..., back, :]

    @property
    def paths(self) -> tuple[Ints, Floats]:
        """Arms and rewards of shape (logs, T)."""
        return self.arms.reshape(-1, self.length), self.rewards.reshape(-1, self.length)

    @cached_property
    def _heard(self) -> tuple[Ints, Floats]:
        moments, back = np.unique(self.known[self.rounds], return_inverse=True)
        pulls, sums = self.totals(moments)
        return pulls[..., back, :], sums[..., back, :]

    def totals(self, moments: Ints) -> tuple[Ints, Floats]:
        """Each arm's pulls and sum in the first rounds, for rising numbers of rounds; of shape (..., m, K)."""
        paths, values = self.paths
        shape = (len(paths), len(moments) + 1, self.arm_count)
        parts, starts = np.zeros((2, int(np.prod(shape)))), np.arange(len(paths))[:, None] * shape[1]
        for piece in in_pieces(self.length):
            step = np.searchsorted(moments, np.arange(piece.start, piece.stop), side="right")  # who first knows of it
            cell = ((starts + step) * self.arm_count + paths[:, piece]).ravel()
            np.add.at(parts[0], cell, 1.0)
            np.add.at(parts[1], cell, values[:, piece].ravel())
        outer = (*self.arms.shape[:-1], len(moments), self.arm_count)
        pulls, sums = (part.reshape(shape).cumsum(axis=1)[:, :-1].reshape(outer) for part in parts)
        return pulls.astype(np.int64), sums

    def squares_after(self, moments: Ints) -> Floats:
        """Each arm's sum of squared deviations from its mean in the first rounds, likewise (..., m, K)."""
        pulls, sums = self.totals(np.array([self.horizon]))
        centres = (sums / np.maximum(pulls, 1))[..., 0, :]  # near which nothing is lost by rounding
        errors = self.rewards - np.take_along_axis(centres, self.arms, axis=-1)
        pulls, sums = replace(self, rewards=errors).totals(moments)
        return about_means(pulls, sums, replace(self, rewards=errors**2).totals(moments)[1])
