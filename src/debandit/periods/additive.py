"""Arms and periods that add up: the mean of an arm in a period is that of the arm, moved by what the period adds.

For rewards on a scale the two are added; of 0/1 rewards the log-odds are. Each cell counts by its pulls.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.log_parts import Floats
from debandit.periods.cells import Cells

_STEPS = 60
_ENOUGH = 1e-10
_FARTHEST = 30.0  # log-odds
_LENT = 1e-3  # pulls with the mean of all, so that a period without a success has odds


class AdditiveFit(NamedTuple):
    """The fitted means (periods, arms).

    NaN for arms without a pull, and for all if there are arms that no chain of shared periods compares.
    """

    means: Floats
    slopes: Floats  # of the means by what arm and period add up to
    weights: Floats  # of the cells' means: their pulls, by the variance of rewards on a scale

    def influence(self, gradient: Floats) -> Floats:
        """How a sum of the fitted means, with these factors (periods, arms), depends on the means of the cells."""
        along = gradient * self.slopes
        arm, period = _solved(self.weights * self.slopes, along.sum(axis=0), along.sum(axis=1))
        influence: Floats = self.weights * (arm + period[:, None])
        return influence


def additive_fit(cells: Cells, binary: bool, variances: Floats | float = 1.0) -> AdditiveFit:
    """The fit by least squares, with the arms' variances (K,), or of 0/1 rewards by the likelihood."""
    seen = cells.pulls.sum(axis=0) > 0
    weights = (cells.pulls / variances)[:, seen]
    fitted, slopes = (_logistic if binary else _linear)(weights, np.nan_to_num(cells.means[:, seen]))
    known = np.where(_connected(cells.pulls[:, seen] > 0), fitted, np.nan)
    wide = [np.full(cells.pulls.shape, fill) for fill in (np.nan, 0.0, 0.0)]
    for whole, part in zip(wide, (known, slopes, weights), strict=True):
        whole[:, seen] = part
    return AdditiveFit(*wide)


def _linear(weights: Floats, means: Floats) -> tuple[Floats, Floats]:
    """The fitted means and their slopes, by least squares."""
    told = weights * means
    arm, period = _solved(weights, told.sum(axis=0), told.sum(axis=1))
    return arm + period[:, None], np.ones(weights.shape)


def _logistic(pulls: Floats, means: Floats) -> tuple[Floats, Floats]:
    """The same for log-odds, by Newton's method."""
    overall = np.clip((pulls * means).sum() / pulls.sum(), 1e-9, 1 - 1e-9)
    means, pulls = (pulls * means + _LENT * overall) / (pulls + _LENT), pulls + _LENT
    odds = np.full(pulls.shape, np.log(overall / (1 - overall)))
    for _ in range(_STEPS):
        fitted = 1 / (1 + np.exp(-odds))
        errors = pulls * (means - fitted)
        arm, period = _solved(pulls * fitted * (1 - fitted), errors.sum(axis=0), errors.sum(axis=1))
        step = np.clip(arm + period[:, None], -2.0, 2.0)
        odds = np.clip(odds + step, -_FARTHEST, _FARTHEST)
        if np.abs(step).max() < _ENOUGH:
            break
    fitted = 1 / (1 + np.exp(-odds))
    return fitted, fitted * (1 - fitted)


def _solved(weights: Floats, arms: Floats, periods: Floats) -> tuple[Floats, Floats]:
    """What arms (K,) and periods (P,) add in the normal equations of weighted cells (P, K).

    The periods' part of the matrix is diagonal, so they are eliminated, or the arms if these are more. Only sums of
    both are determined.
    """
    if len(arms) > len(periods):
        period, arm = _solved(weights.T, periods, arms)
        return arm, period
    of_periods = np.maximum(weights.sum(axis=1), 1e-300)
    rest = np.diag(weights.sum(axis=0)) - (weights / of_periods[:, None]).T @ weights
    arm = np.linalg.pinv(rest, rcond=1e-12, hermitian=True) @ (arms - weights.T @ (periods / of_periods))
    return arm, (periods - weights @ arm) / of_periods


def _connected(there: NDArray[np.bool_]) -> bool:
    """Whether periods in which both are seen lead from each arm to each other one."""
    together = (there.T.astype(np.int64) @ there.astype(np.int64)) > 0
    reached = together[0]
    for _ in range(len(together)):
        reached = together[reached].any(axis=0)
    return bool(reached.all())
