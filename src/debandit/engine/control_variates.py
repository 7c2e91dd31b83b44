"""The bias as the intercept of a least-squares fit of an arm's errors on sums that are 0 on average.

What the sums explain of the errors is Monte-Carlo noise that the runs need not average out: with UCB and four arms a
tenth of the runs is as good. Only an arm's own sums are used. They are 0 in runs that did not pull it, so that they are
0 on average also among the runs that did, which is not true of the sums of other arms.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.engine.data import Floats
from debandit.engine.features import ERROR, PULLED

FEWEST_RUNS = 64  # that are fitted; of fewer the average is taken
SURELY_NOT_ZERO = 6.0  # standard errors
_SUMS = slice(ERROR + 1, None)
_ROUNDING = 1e-13  # of what is explained; what remains of it is not noise
_SINGULAR = 1e-10  # of two sums that say the same (0/1 rewards: the second and the fourth) one is enough


class Fit(NamedTuple):
    """A bias, its Monte-Carlo standard error, and what remains of a run: its features times `residual`."""

    bias: Floats  # (...)
    se: Floats  # (...)
    residual: Floats  # (..., F)
    caught: NDArray[np.bool_]  # (..., 4) sums that are not 0 on average, and therefore not used


def fit(moments: Floats) -> Fit:
    """From the summed products (..., F, F) of the features of runs; without sums in them the bias is the average."""
    count = moments[..., PULLED, PULLED]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = moments[..., PULLED, :] / count[..., None]
        centred = moments - count[..., None, None] * means[..., :, None] * means[..., None, :]
        squares = np.diagonal(centred, axis1=-2, axis2=-1)[..., _SUMS]
        noise = np.diagonal(moments, axis1=-2, axis2=-1)[..., _SUMS] * np.finfo(float).eps * count[..., None]
        known = (squares > noise) & (count[..., None] >= FEWEST_RUNS)
        z = np.where(known, means[..., _SUMS] * np.sqrt(count[..., None] * (count[..., None] - 1) / squares), 0.0)
        caught = np.abs(z) > SURELY_NOT_ZERO
        scale = np.where(known & ~caught, 1 / np.sqrt(squares), 0.0)
        correlations = np.where(scale[..., None, :] > 0, centred[..., _SUMS, _SUMS] * scale[..., None, :], 0.0)
        correlations = np.where(scale[..., :, None] > 0, correlations * scale[..., :, None], 0.0)
        inverse = np.linalg.pinv(correlations, rcond=_SINGULAR, hermitian=True)
        slopes = _times(inverse, np.nan_to_num(centred[..., _SUMS, ERROR]) * scale) * scale
        at = np.nan_to_num(means[..., _SUMS]) * scale
        bias = means[..., ERROR] - (slopes * np.nan_to_num(means[..., _SUMS])).sum(axis=-1)
        residual = np.concatenate((-bias[..., None], np.ones((*bias.shape, 1)), -slopes), axis=-1)
        left = (residual * _times(moments, residual)).sum(axis=-1)
        left = np.where(left > _ROUNDING * moments[..., ERROR, ERROR], left, 0.0)
        freedom = count - 1 - (scale > 0).sum(axis=-1)
        se = np.sqrt(left / freedom * (1 / count + (at * _times(inverse, at)).sum(axis=-1)))
    return Fit(bias, np.where(freedom > 0, se, np.nan), residual, caught)


def _times(matrices: Floats, vectors: Floats) -> Floats:
    return np.asarray((matrices * vectors[..., None, :]).sum(axis=-1))


def fit_differences(
    runs: NDArray[np.int64], arms: Fit, controls: NDArray[np.int64], cross: Floats, plain: Floats
) -> tuple[Floats, Floats]:
    """Bias and its error of the difference between each arm and its control, both (W, K).

    `cross` (W, K, F, F) are the products of both arms' features; `plain` (W, K, 3) number, sum and squares of the
    differences in runs that pulled both. If some run did not, only these can be averaged.
    """
    count, total, squares = np.moveaxis(plain, -1, 0)
    other = np.take_along_axis(arms.residual, controls[..., None], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        average = total / count
        average_se = np.sqrt(np.maximum(squares - count * average**2, 0.0) / (count - 1) / count)
        common = (arms.residual * _times(cross, other)).sum(axis=-1) / (count - 1) / count
        variance = arms.se**2 + np.take_along_axis(arms.se, controls, axis=1) ** 2 - 2 * common
    bias = arms.bias - np.take_along_axis(arms.bias, controls, axis=1)
    always = count == runs[:, None]
    return np.where(always, bias, average), np.where(always, np.sqrt(np.maximum(variance, 0.0)), average_se)
