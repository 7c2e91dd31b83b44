"""Did the means move from period to period, and all arms alike?

An analysis of variance of the cells. A bandit chooses its pulls by what it saw before, so the tests are not exact;
docs/check.md has the measured rates.
"""

from typing import NamedTuple

import numpy as np

from debandit.log_parts import Floats
from debandit.periods.additive import additive_fit
from debandit.periods.cells import Cells

LEAST = 1.0  # information that a cell of 0/1 rewards must have, n p (1 - p), or else it is left out
COMMON, OWN = "common", "own"


class Drift(NamedTuple):
    """What the periods say: p-values of no movement at all arms alike, and of none besides that."""

    periods: int
    common: float
    own: float

    def kind(self, level: float) -> str:
        """Common to all arms, an arm's own, or "" if there is none at this level."""
        return OWN if 2 * self.own < level else COMMON if 2 * self.common < level else ""


def drift_of(cells: Cells, binary: bool) -> Drift | None:
    """The tests; None if there is too little to compare."""
    cells = _told(cells, binary)
    there = cells.pulls > 0
    periods, arms = int(there.any(axis=1).sum()), int(there.any(axis=0).sum())
    freedom, within = int(there.sum()) - arms - periods + 1, int(cells.pulls.sum() - there.sum())
    variances = None if binary else _variances(cells)
    if periods < 2 or arms == 0 or within < 1 or (variances is not None and not (variances > 0).all()):
        return None
    still = cells.pulls * np.nan_to_num(cells.means)
    means = np.broadcast_to(still.sum(axis=0) / np.maximum(cells.pulls.sum(axis=0), 1), still.shape)
    fitted = additive_fit(cells, binary, 1.0 if variances is None else variances).means
    far_from_still, far_from_fit = (_distance(cells, each, variances) for each in (means, fitted))
    own = _p_value(far_from_fit, freedom, within, binary) if freedom > 0 and arms > 1 else 1.0
    return Drift(periods, _p_value(far_from_still - far_from_fit, periods - 1, within, binary), own)


def _told(cells: Cells, binary: bool) -> Cells:
    """The cells that tell enough."""
    means = np.nan_to_num(cells.means)
    if binary:
        overall = (cells.pulls * means).sum(axis=0) / np.maximum(cells.pulls.sum(axis=0), 1)
        enough = cells.pulls * overall * (1 - overall) >= LEAST
    else:
        enough = cells.pulls > 0
    return cells._replace(pulls=np.where(enough, cells.pulls, 0), squares=np.where(enough, cells.squares, 0.0))


def _variances(cells: Cells) -> Floats:
    """Of each arm's rewards within the cells; of an arm with single pulls that of all."""
    freedom = np.maximum(cells.pulls - 1, 0).sum(axis=0)
    squares, overall = cells.squares.sum(axis=0), cells.squares.sum() / max(int(freedom.sum()), 1)
    return np.asarray(np.where((freedom > 0) & (squares > 0), squares / np.maximum(freedom, 1), overall))


def _distance(cells: Cells, fitted: Floats, variances: Floats | None) -> float:
    """Pearson's sum of squares."""
    there = cells.pulls > 0
    errors = np.where(there, np.nan_to_num(cells.means) - np.nan_to_num(fitted), 0.0)
    spread = np.nan_to_num(fitted * (1 - fitted), nan=1.0) if variances is None else variances
    return float((cells.pulls * errors**2 / np.maximum(spread, 1e-300)).sum())


def _p_value(distance: float, freedom: int, within: int, binary: bool) -> float:
    """By the law of chi-squared, or of F where the variance is estimated."""
    from debandit.special import betainc, gammainc

    if binary:
        return float(1 - gammainc(freedom / 2, max(distance, 0.0) / 2))
    share = within / (within + max(distance, 0.0))
    return float(betainc(within / 2, freedom / 2, share))
