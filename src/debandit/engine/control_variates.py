"""The bias as the intercept of a least-squares fit of an arm's errors on sums that are 0 on average.

What the sums explain of the errors is Monte-Carlo noise that the runs need not average out: with UCB and four arms a
tenth of the runs is as good. Only an arm's own sums are used. They are 0 in runs that did not pull it, so that they are
0 on average also among the runs that did, which is not true of the sums of other arms.

How errors follow the sums is learned from even runs for the odd ones, and the other way round. With slopes from the
same runs the answer would be off by a term of order 1 / runs, not small for arms that a rule seldom commits to. Slopes
from other runs may be shrunk at will, and are, as ridge regression does, so that single odd runs do not rule them.

Where the sums explain nearly everything in nearly every run, the bias comes from the few runs in which something rare
happened: the rule gave up its favourite, say. There may be one such run, or none, and then the variance of what remains
is far too small. So `rare_run` says what such a run would be like. For the slopes it counts as one more run, so that
they are not far off where nothing was seen; in the error there is room for three, since a thing that did not happen in
n runs may well happen in 3 of the next n. The bias remains an average over the runs that were seen.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.engine.data import Floats, Ints

FEATURES, PULLED, ERROR, TOTAL = 6, 0, 1, 2  # what a run says of an arm; the four sums begin with that of the errors
DIMENSIONS = np.array([0, 1, 1, 1, 2, 2])  # of features: powers of the unit in which rewards are measured
FEWEST_RUNS = 64  # that are fitted; of fewer the average is taken
SURELY_NOT_ZERO = 6.0  # standard errors
_SUMS = slice(ERROR + 1, None)
_NOISE = 1e-20  # the square of a sum's rounding, as a share of what it may be: of two rewards that are as frequent, say
_ROUNDING = 1e-13  # of what is explained; what remains of it is not noise
_RULE_OF_THREE = (3 / 1.96) ** 2  # runs of one size whose squares make 1.96 standard errors three such runs
_RIDGE = 4.0  # divided by the number of runs: the share of a sum's variance that is added to it


class Fitted(NamedTuple):
    """A bias, its Monte-Carlo standard error, and what remains of a run: its features times `residual`."""

    bias: Floats  # (...)
    se: Floats  # (...)
    residual: Floats  # (..., 2, F) of even and of odd runs
    caught: NDArray[np.bool_]  # (..., 4) sums that are not 0 on average, and therefore not used


def fit(moments: Floats, rare: Floats | float = 0.0) -> Fitted:
    """The bias from the summed products (..., 2, F, F) of the features of even and odd runs.

    Without sums in them it is the average. `rare` are the products of a `rare_run`.
    """
    whole = moments.sum(axis=-3)
    with np.errstate(invalid="ignore", divide="ignore"):
        usable, caught = _judged(whole)
        slopes = _slopes(moments + rare, usable[..., None, :])[..., ::-1, :]  # each half has those of the other
        size = 2 * np.log(np.maximum(whole[..., PULLED, PULLED], 1.0))  # the square of the largest of n normal errors
        allowed = moments + _RULE_OF_THREE * size[..., None, None, None] * rare / 2
        fitted, plain = _intercept(allowed, slopes), _intercept(allowed, np.zeros_like(slopes))
    better = ~(fitted[1] > plain[1])
    bias, se = (np.where(better, one, two) for one, two in zip(fitted[:2], plain[:2], strict=True))
    return Fitted(bias, se, np.where(better[..., None, None], fitted[2], plain[2]), caught)


def fit_best(moments: Floats, rare: Floats) -> Fitted:
    """The same for the highest mean, whose error is never above that of its average: rare runs hardly move that."""
    fitted = fit(moments, rare)
    with np.errstate(invalid="ignore", divide="ignore"):
        _, average_se, _ = _intercept(moments, np.zeros_like(fitted.residual[..., _SUMS]))
    return fitted._replace(se=np.fmin(fitted.se, average_se))


def rare_run(moments: Floats, pulls: Floats) -> Floats:
    """What an unseen run may be like: for each arm the mean products of features, of shape (W, K, 2, F, F).

    What happens to the arms that are pulled least and most may happen to any arm, in the unit of its own rewards, whose
    variance is E[(sum of errors)^2] / E[pulls] by Wald's identity. Where there are no sums there is no rare run.
    """
    count = moments[..., PULLED, PULLED]
    worlds = np.arange(len(moments))
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.nan_to_num(pulls / count.sum(axis=-1))
        variance = np.nan_to_num(moments[..., TOTAL, TOTAL].sum(axis=-1) / pulls)
        unit = np.sqrt(variance)[..., None, None] ** DIMENSIONS
        units = unit[..., :, None] * unit[..., None, :]
        typical = np.where(units > 0, moments / np.maximum(count, 1.0)[..., None, None] / units, 0.0)
        # an arm whose rewards do not vary has no errors, but shows how few pulls an arm may have
        typical[..., ERROR, ERROR] += np.where((variance == 0) & (rate > 0), 1 / rate, 0.0)[..., None]
    typical[..., PULLED, :] = typical[..., :, PULLED] = 0.0  # it is not counted
    least, most = np.argmin(np.where(rate > 0, rate, np.inf), axis=-1), np.argmax(rate, axis=-1)
    return np.asarray((typical[worlds, least] + typical[worlds, most])[:, None] * units)


def _intercept(moments: Floats, slopes: Floats) -> tuple[Floats, Floats, Floats]:
    """Bias, error and residual with given slopes (..., 2, 4)."""
    whole = moments.sum(axis=-3)
    count = whole[..., PULLED, PULLED]
    explained = (slopes * moments[..., PULLED, _SUMS]).sum(axis=(-2, -1))
    bias = (whole[..., PULLED, ERROR] - explained) / count
    minus = np.broadcast_to(-bias[..., None, None], (*slopes.shape[:-1], 1))
    residual = np.concatenate((minus, np.ones_like(minus), -slopes), axis=-1)
    left = (residual * _times(moments, residual)).sum(axis=(-2, -1))
    left = np.where(left > _ROUNDING * whole[..., ERROR, ERROR], left, 0.0)
    return bias, np.where(count > 1, np.sqrt(left / (count - 1) / count), np.nan), residual


def _judged(whole: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which sums vary, in enough runs, and are 0 on average as far as one can see; and which surely are not."""
    count = whole[..., PULLED, PULLED][..., None]
    means, squares = whole[..., PULLED, _SUMS] / count, np.diagonal(whole, axis1=-2, axis2=-1)[..., _SUMS]
    typical = count * (squares[..., :1] / count) ** DIMENSIONS[_SUMS]
    varies = (squares > _NOISE * typical) & (count >= FEWEST_RUNS)
    caught = varies & (np.abs(means) > SURELY_NOT_ZERO * np.sqrt((squares / count - means**2) / (count - 1)))
    return varies & ~caught, caught


def _slopes(moments: Floats, usable: NDArray[np.bool_]) -> Floats:
    """Of the errors on the usable sums; the others have 0."""
    count = moments[..., PULLED, PULLED][..., None]
    means = moments[..., PULLED, :] / count
    centred = moments - count[..., None] * means[..., :, None] * means[..., None, :]
    squares = np.diagonal(centred, axis1=-2, axis2=-1)[..., _SUMS]
    rounding = np.diagonal(moments, axis1=-2, axis2=-1)[..., _SUMS] * np.finfo(float).eps * count
    scale = np.where(usable & (squares > rounding), 1 / np.sqrt(squares), 0.0)
    both = scale[..., None, :] * scale[..., :, None]
    correlations = np.where(both > 0, centred[..., _SUMS, _SUMS] * both, 0.0)
    ridge = _RIDGE / np.maximum(count, 1.0)[..., None] * np.eye(correlations.shape[-1])
    with_errors = np.where(scale > 0, centred[..., _SUMS, ERROR] * scale, 0.0)
    return np.asarray(np.linalg.solve(correlations + ridge, with_errors[..., None])[..., 0] * scale)


def _times(matrices: Floats, vectors: Floats) -> Floats:
    return np.asarray((matrices * vectors[..., None, :]).sum(axis=-1))


def fit_differences(runs: Ints, arms: Fitted, controls: Ints, cross: Floats, plain: Floats) -> tuple[Floats, Floats]:
    """Bias and its error of the difference between each arm and its control, both (W, K).

    `cross` (W, K, 2, F, F) are the products of both arms' features; `plain` (W, K, 3) number, sum and squares of the
    differences in runs that pulled both. If some run did not, only these can be averaged.
    """
    count, total, squares = np.moveaxis(plain, -1, 0)
    other = np.take_along_axis(arms.residual, controls[..., None, None], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        average = total / count
        average_se = np.sqrt(np.maximum(squares - count * average**2, 0.0) / (count - 1) / count)
        common = (arms.residual * _times(cross, other)).sum(axis=(-2, -1)) / (count - 1) / count
        variance = arms.se**2 + np.take_along_axis(arms.se, controls, axis=1) ** 2 - 2 * common
    bias = arms.bias - np.take_along_axis(arms.bias, controls, axis=1)
    always = count == runs[:, None]
    return np.where(always, bias, average), np.where(always, np.sqrt(np.maximum(variance, 0.0)), average_se)
