"""The bias of explore-then-commit with normal rewards."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from debandit.errors import InputError
from debandit.theory.checks import LARGEST, Floats, log_exploitation, per_arm
from debandit.theory.product import log_expected_product

SMALLEST = 1e-100
Indices = NDArray[np.intp]


def etc_bias(*, means: ArrayLike, sds: ArrayLike, pulls: int, horizon: int, log: bool = False) -> Floats:
    """E[mean of arm k] - mu_k under explore-then-commit with rewards N(means[k], sds[k]^2), for every arm.

    The paper's (eq:bias-etc), m = pulls, T = horizon, Xbar_k ~ N(mu_k, s_k^2), s_k = sd_k / sqrt(m):

        (T - mK) / (m + T - mK) * E[(mu_k - Xbar_k) 1{Xbar_k is the highest}]

    For two arms this is Proposition 1 (prop:two_normal_true_bias, eq:bias-2arm-normal):

        -(T - 2m) / (T - m) * sd_k^2 / sqrt(2 pi (sd_1^2 + sd_2^2) m) * exp(-m (mu_1 - mu_2)^2 / (2 (sd_1^2 + sd_2^2)))

    For more arms Stein's identity, E[(X - mu) h(X)] = s^2 E[h'(X)], makes the expectation a sum without cancellation,

        -s_k^2 sum_{j != k} n(mu_k - mu_j; s_k^2 + s_j^2) E[prod_{l != k, j} Phi((x - mu_l) / s_l)],

    n(.; v) the density of N(0, v) and x drawn from the normalised product of the densities of Xbar_k and Xbar_j: one
    integral each. An arm with sd 0 has bias 0 and is a step for the others. log=True gives ln |bias|, which has no
    smallest number; -inf stands for no bias (sd 0, or T = mK). All terms have one sign: Lemma 1 (lem:bias_negative)
    says "negative"; it is <= 0, and 0 in those two cases.

    Where it does not hold: rewards that are not normal (they are so approximately for large m only while the means are
    within a few s_k of each other; the tails follow Proposition 2, see etc_gap).
    """
    mean = per_arm(means, "means")
    sd = per_arm(sds, "sds", arms=mean.size, low=0.0)
    if np.any((sd > 0) & (sd < SMALLEST)):
        raise InputError(f"must be 0 or from {SMALLEST:g} to {LARGEST:g}", where="sds")
    pulls, log_factor = log_exploitation(pulls, horizon, mean.size)
    spread = sd / np.sqrt(pulls)
    result = np.array([log_factor + _log_covariance(k, mean, spread) for k in range(mean.size)])
    return result if log else 0.0 - np.exp(result)


def _log_covariance(k: int, mean: Floats, spread: Floats) -> float:
    """ln E[(Xbar_k - mu_k) 1{Xbar_k is the highest}], as in the docstring above."""
    if spread[k] == 0:
        return -np.inf
    others = np.arange(mean.size) != k
    random = np.flatnonzero(others & (spread > 0))
    fixed = mean[others & (spread == 0)]
    bar = float(fixed.max()) if fixed.size else -np.inf  # the highest constant competitor: h is 0 below it
    terms = [_smooth_term(k, j, random[random != j], mean, spread, bar) for j in random.tolist()]
    if fixed.size:
        terms.append(_step_term(k, random, mean, spread, bar))
    return float(2 * np.log(spread[k]) + np.logaddexp.reduce(terms))


def _smooth_term(k: int, j: int, rest: Indices, mean: Floats, spread: Floats, bar: float) -> float:
    """ln of the part of E[h'(Xbar_k)] in which the factor Phi of arm j is the one differentiated."""
    total = np.hypot(spread[k], spread[j])
    width = spread[k] * (spread[j] / total)
    centre = mean[k] + (mean[j] - mean[k]) * (spread[k] / total) ** 2
    shift, slope = (centre - mean[rest]) / spread[rest], width / spread[rest]
    low = (bar - centre) / width
    return _log_density((mean[k] - mean[j]) / total, total) + log_expected_product(shift, slope, low)


def _step_term(k: int, random: Indices, mean: Floats, spread: Floats, bar: float) -> float:
    """ln of the part of E[h'(Xbar_k)] that comes from the jump of h at the highest constant arm."""
    from scipy.special import log_ndtr

    others = float(np.sum(log_ndtr((bar - mean[random]) / spread[random])))
    return _log_density((bar - mean[k]) / spread[k], spread[k]) + others


def _log_density(z: float, sd: float) -> float:
    """ln of the normal density with this sd at z standard deviations."""
    return float(-0.5 * z * z - np.log(sd) - 0.5 * np.log(2 * np.pi))
