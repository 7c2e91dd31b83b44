"""Means in which each period counts by its users, whatever the rule did in it."""

from typing import NamedTuple

import numpy as np

from debandit.log_parts import Floats, Ints
from debandit.periods.additive import additive_fit
from debandit.periods.cells import Cells


class BatchWeighted(NamedTuple):
    """Values, their standard errors and their limits; NaN where there is none."""

    value: Floats
    se: Floats
    low: Floats
    high: Floats


class Weighted(NamedTuple):
    """Each arm's period-weighted mean, and how it is made of the cells."""

    means: Floats  # (K,)
    influence: Floats  # (K, periods, K) of the mean of each cell
    filled: Ints  # (K,) periods without a pull, in which what the arm would have had was fitted
    cells: Cells
    binary: bool

    def estimate(self, tail: float) -> BatchWeighted:
        """The means with limits that leave `tail` beyond each."""
        return self._limits(self.means, self.influence, tail)

    def differences(self, to: Ints, tail: float) -> BatchWeighted:
        """The difference of each arm's mean to that of another (K,)."""
        found = self._limits(self.means - self.means[to], self.influence - self.influence[to], tail)
        itself = np.where(to == np.arange(len(to)), np.nan, 1.0)
        return BatchWeighted(*(itself * each for each in found))

    def _limits(self, value: Floats, influence: Floats, tail: float) -> BatchWeighted:
        """By Student's t with Satterthwaite's degrees of freedom: a sum of independent cells' means."""
        from debandit.special import stdtrit

        variance, alone = self._variances(), self.cells.pulls == 1
        freedom = np.maximum(self.cells.pulls - 1, 0)
        parts = np.where(influence == 0, 0.0, influence**2 * variance / np.maximum(self.cells.pulls, 1))
        total, lent = parts.sum(axis=(1, 2)), np.where(alone, parts, 0.0).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            doubts = (np.where(alone, 0.0, parts) ** 2 / np.maximum(freedom, 1)).sum(axis=(1, 2))
            doubts += np.where(lent > 0, lent**2 / freedom.sum(axis=0), 0.0).sum(axis=1)
            half = stdtrit(total**2 / doubts, 1 - tail) * np.sqrt(total)
        known = np.where(np.isfinite(value), 1.0, np.nan)
        return BatchWeighted(value, known * np.sqrt(total), value - half, value + half)

    def _variances(self) -> Floats:
        """Of the rewards in each cell.

        A single pull borrows the arm's variance within the other cells. Of 0/1 rewards each cell borrows one pull,
        which has the mean of the arm: without it a cell without a success would be certain.
        """
        pulls, squares = self.cells.pulls, self.cells.squares
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.binary:
                wins = pulls * np.nan_to_num(self.cells.means)
                mean = (wins + wins.sum(axis=0) / pulls.sum(axis=0)) / (pulls + 1)
                return np.asarray(mean * (1 - mean))
            lent = squares.sum(axis=0) / np.maximum(pulls - 1, 0).sum(axis=0)
            return np.where(pulls == 1, lent, squares / (pulls - 1))


def weighted(cells: Cells, binary: bool) -> Weighted:
    """sum_p w_p mean_kp, where w_p is the share of all users that period p has.

    An arm without a pull in a period gets there what an additive fit of arms and periods says; NaN if that does not
    say, or if it has no pulls at all.
    """
    (periods, arm_count), empty = cells.pulls.shape, cells.pulls == 0
    own = np.where(empty, 0.0, cells.weights)
    influence = np.zeros((arm_count, periods, arm_count))
    influence[np.arange(arm_count), :, np.arange(arm_count)] = own.T
    means = (own * np.nan_to_num(cells.means)).sum(axis=0)
    if empty.any():
        fit = additive_fit(cells, binary)
        for arm in np.flatnonzero(empty.any(axis=0)):
            missing = np.where(empty & (np.arange(arm_count) == arm), cells.weights, 0.0)
            means[arm] += (missing * fit.means)[:, arm].sum() if fit.connected else np.nan
            influence[arm] += fit.influence(missing)
    return Weighted(means, influence, empty.sum(axis=0), cells, binary)
