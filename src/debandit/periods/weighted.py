"""Means in which each period counts by its users, whatever the rule did in it."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from debandit.log_parts import Floats, Ints
from debandit.periods.additive import AdditiveFit, additive_fit
from debandit.periods.cells import Cells


class BatchWeighted(NamedTuple):
    """Period-weighted means; NaN where there is none.

    Attributes
    ----------
    value, se, low, high : array of float
        One value for each arm.
    """

    value: Floats
    se: Floats
    low: Floats
    high: Floats


class Weighted:
    """Each arm's period-weighted mean sum_p w_p mean_kp, where w_p is the share of all users that period p has.

    An arm without a pull in a period gets there what an additive fit of arms and periods says; NaN if that does not
    say, or if it has no pulls at all.
    """

    def __init__(self, cells: Cells, binary: bool) -> None:
        self.cells, self.binary = cells, binary
        self._empty = cells.pulls == 0
        shares = self._own * np.nan_to_num(cells.means)
        if self._empty.any():
            shares = shares + np.where(self._empty, cells.weights * self._fit.means, 0.0)
        self.means: Floats = shares.sum(axis=0)

    @property
    def filled(self) -> Ints:
        """In how many periods what the arm would have had was fitted (K,)."""
        return np.asarray(self._empty.sum(axis=0))

    def estimate(self, tail: float) -> BatchWeighted:
        """The means with limits that leave `tail` beyond each."""
        return self._limits(self.means, [self._influence(arm) for arm in range(len(self.means))], tail)

    def differences(self, to: Ints, tail: float) -> BatchWeighted:
        """The difference of each arm's mean to that of another (K,); NaN to itself."""
        others = {arm: self._influence(arm) for arm in set(to.tolist())}
        influences = [self._influence(arm) - others[other] for arm, other in enumerate(to.tolist())]
        itself = np.where(to == np.arange(len(to)), np.nan, 0.0)
        return self._limits(self.means - self.means[to] + itself, influences, tail)

    @property
    def _own(self) -> Floats:
        return np.where(self._empty, 0.0, self.cells.weights)

    @cached_property
    def _fit(self) -> AdditiveFit:
        return additive_fit(self.cells, self.binary)

    def _influence(self, arm: int) -> Floats:
        """How its mean depends on those of all cells (periods, K)."""
        its = np.arange(self.cells.pulls.shape[1]) == arm
        influence = np.where(its, self._own, 0.0)
        missing = np.where(its & self._empty, self.cells.weights, 0.0)
        return influence + self._fit.influence(missing) if missing.any() else influence

    def _limits(self, values: Floats, influences: list[Floats], tail: float) -> BatchWeighted:
        """By Student's t with Satterthwaite's degrees of freedom: each is a sum of independent cells' means."""
        from debandit.special import stdtrit

        spread, alone = self._variances / np.maximum(self.cells.pulls, 1), self.cells.pulls == 1
        freedom = np.maximum(self.cells.pulls - 1, 0)
        variances, doubts = np.zeros((2, len(values)))
        for place, influence in enumerate(influences):
            parts = np.where(influence == 0, 0.0, influence**2 * spread)
            lent = np.where(alone, parts, 0.0).sum(axis=0)
            with np.errstate(invalid="ignore", divide="ignore"):
                doubt = np.where(lent > 0, lent**2 / freedom.sum(axis=0), 0.0).sum()
            doubts[place] = doubt + (np.where(alone, 0.0, parts) ** 2 / np.maximum(freedom, 1)).sum()
            variances[place] = parts.sum()
        with np.errstate(invalid="ignore", divide="ignore"):
            half = stdtrit(variances**2 / doubts, 1 - tail) * np.sqrt(variances)
        known = np.where(np.isfinite(values), 1.0, np.nan)
        return BatchWeighted(values, known * np.sqrt(variances), values - half, values + half)

    @cached_property
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
