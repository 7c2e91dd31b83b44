"""The rewards of one experiment, or of many with the same arms and rounds, as the intervals need them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


class Sample:
    """Pulls, means and within-arm sums of squares of shape (experiments, arms); NaN means without a pull."""

    def __init__(self, arms: ArrayLike, rewards: ArrayLike, arm_count: int) -> None:
        index = np.atleast_2d(np.asarray(arms, dtype=np.int64))
        self.rewards = np.atleast_2d(np.asarray(rewards, dtype=np.float64)).ravel()
        self.shape = (len(index), arm_count)
        self.index = (index + arm_count * np.arange(len(index))[:, None]).ravel()  # which experiment and arm
        self.pulls = self.total(np.ones(len(self.rewards)))
        lowest, highest = np.full(self.pulls.size, np.inf), np.full(self.pulls.size, -np.inf)
        np.minimum.at(lowest, self.index, self.rewards)
        np.maximum.at(highest, self.index, self.rewards)
        with np.errstate(invalid="ignore"):
            means = self.total(self.rewards) / self.pulls
        constant = (lowest == highest).reshape(self.shape)  # rounding must not make a variance out of nothing
        self.means: Floats = np.where(constant, lowest.reshape(self.shape), means)
        self.deviations: Floats = self.rewards - self.each(self.means)
        self.squares = self.total(self.deviations**2)

    def total(self, values: Floats) -> Floats:
        """Values of all rounds, added up for each arm."""
        totals = np.bincount(self.index, values, self.shape[0] * self.shape[1])
        return totals.astype(np.float64, copy=False).reshape(self.shape)

    def each(self, values: Floats) -> Floats:
        """An arm's value in each of its rounds."""
        spread: Floats = values.ravel()[self.index]
        return spread
