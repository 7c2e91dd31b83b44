"""The bias of explore-then-commit in the world of the multiplier bootstrap, and Theorem 1."""

import numpy as np
from numpy.typing import ArrayLike

from debandit.errors import InputError
from debandit.theory.arguments import Floats, log_exploitation, reals
from debandit.theory.etc_normal import etc_bias


def mb_bias(*, means: ArrayLike, sds: ArrayLike, pulls: int, horizon: int, log: bool = False) -> Floats:
    """The bias that the multiplier bootstrap estimates when B -> inf, for every arm (eq:MB-bias).

    means are the sample means of one experiment, all pulls of an arm taken together, and sds the sample standard
    deviations with 1/n (not 1/(n-1)). In the bootstrap world the rewards are N(mean, sd^2), so this is Proposition 1
    with estimates in place of the truth, and like etc_bias it serves more than two arms. An arm pulled once has sd 0
    and is estimated to have no bias. It does not hold for Efron's bootstrap, whose world is discrete.

    Examples
    --------
    >>> import debandit as db
    >>> db.theory.mb_bias(means=[1.1, 1.4], sds=[1.1, 0.9], pulls=10, horizon=100).round(4)
    array([-0.0764, -0.0511])
    """
    return etc_bias(means=means, sds=sds, pulls=pulls, horizon=horizon, log=log)


def log_bias(*, means: ArrayLike, variances: ArrayLike, pulls: int, horizon: int) -> Floats:
    """The logarithm of the absolute bias of Proposition 1 for two normal arms (eq:g-1).

    g_k(mu1, mu2, sigma1^2, sigma2^2), k = 1, 2, is

        ln[(T - 2m) / (T - m) sigma_k^2 / sqrt(2 pi v m)] - m (mu1 - mu2)^2 / (2 v),   v = sigma1^2 + sigma2^2

    The last axis of means and variances, and of the answer, is the arm; further axes are experiments. -inf for an arm
    of variance 0 and for T = 2m.

    Examples
    --------
    >>> import debandit as db
    >>> db.theory.log_bias(means=[1, 1.5], variances=[1, 1], pulls=10, horizon=100).round(4)
    array([-3.1596, -3.1596])
    """
    mean, variance = _two_arms(means, variances, low=0.0)
    pulls, log_factor = log_exploitation(pulls, horizon, 2)
    total = variance.sum(axis=-1, keepdims=True)
    gap = mean[..., :1] - mean[..., 1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        decay = pulls * gap**2 / (2 * total)
        result = log_factor + np.log(variance) - 0.5 * np.log(2 * np.pi * total * pulls) - decay
    return np.where(variance > 0, result, -np.inf)


def log_bias_gradient(*, means: ArrayLike, variances: ArrayLike, pulls: int) -> Floats:
    """The gradient of g_k in (mu1, mu2, sigma1^2, sigma2^2), one row for each arm k (appendix, proof of Theorem 1).

    With v = sigma1^2 + sigma2^2 and D = mu1 - mu2: dg/dmu1 = -m D / v, dg/dmu2 = m D / v, and
    dg_k/dsigma_j^2 = 1{j = k} / sigma_k^2 - 1 / (2 v) + m D^2 / (2 v^2). It does not depend on T > 2m. Both variances
    must be positive.

    Examples
    --------
    >>> import debandit as db
    >>> db.theory.log_bias_gradient(means=[1, 1.5], variances=[1, 1], pulls=10).round(2)
    array([[ 2.5 , -2.5 ,  1.06,  0.06],
           [ 2.5 , -2.5 ,  0.06,  1.06]])
    """
    mean, variance = _two_arms(means, variances, low=1e-100)
    pulls, _ = log_exploitation(pulls, 2 * pulls + 1, 2)
    total = variance.sum(axis=-1, keepdims=True)
    gap = mean[..., :1] - mean[..., 1:]
    slope = pulls * gap / total
    common = -1 / (2 * total) + pulls * (gap / total) ** 2 / 2
    shared = np.concatenate((-slope, slope, common, common), axis=-1)
    own = np.concatenate((np.zeros((*variance.shape, 2)), np.eye(2) / variance[..., None, :]), axis=-1)
    return np.asarray(shared[..., None, :] + own)


def theorem1_ratio(
    *,
    means: ArrayLike,
    variances: ArrayLike,
    sample_means: ArrayLike,
    sample_variances: ArrayLike,
    pulls: int,
    horizon: int,
) -> Floats:
    """g_k(sample) / g_k(truth), which tends to 1 in probability as m -> inf for T > 2m (thm:decayrate_normal).

    sample_variances are with 1/n. The biases themselves do not have that limit, only their logarithms. The proof needs
    mu1 != mu2 (it divides by terms of order m); g_k(truth) = 0, a bias of exactly 1, has no ratio, nor have T = 2m and
    an arm of variance 0.

    Examples
    --------
    >>> import debandit as db
    >>> db.theory.theorem1_ratio(
    ...     means=[1, 1.5],
    ...     variances=[1, 1],
    ...     sample_means=[1.1, 1.4],
    ...     sample_variances=[1.2, 0.9],
    ...     pulls=10,
    ...     horizon=100,
    ... ).round(3)
    array([0.82 , 0.911])
    """
    truth = log_bias(means=means, variances=variances, pulls=pulls, horizon=horizon)
    sample = log_bias(means=sample_means, variances=sample_variances, pulls=pulls, horizon=horizon)
    if not np.all(np.isfinite(truth)) or np.any(truth == 0):
        raise InputError("there is no ratio where the true log bias is 0 or -inf", where="theorem1_ratio")
    return np.asarray(sample / truth)


def _two_arms(means: ArrayLike, variances: ArrayLike, low: float) -> tuple[Floats, Floats]:
    mean, variance = reals(means, "means"), reals(variances, "variances", low=low)
    for array, name in ((mean, "means"), (variance, "variances")):
        if array.shape[-1:] != (2,):
            raise InputError("the last axis must be the two arms", where=name)
    return mean, variance
