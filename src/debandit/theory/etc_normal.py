"""The bias of explore-then-commit with normal rewards."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from debandit.checks import LARGEST
from debandit.errors import InputError
from debandit.theory.arguments import Floats, log_exploitation, per_arm

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
    integral each. An arm with sd 0 has bias 0 and is a step for the others. log=True gives ``ln |bias|``, which has no
    smallest number; -inf stands for no bias (sd 0, or T = mK). All terms have one sign: Lemma 1 (lem:bias_negative)
    says "negative"; it is <= 0, and 0 in those two cases.

    Where it does not hold: rewards that are not normal (they are so approximately for large m only while the means are
    within a few s_k of each other; the tails follow Proposition 2, see etc_gap).

    Examples
    --------
    >>> import debandit as db
    >>> db.theory.etc_bias(means=[1, 1.5], sds=[1, 1], pulls=10, horizon=100).round(4)
    array([-0.0424, -0.0424])
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


REACH = 11.0  # beyond this many standard deviations from its mode the integrand is below e^-60 of its peak
NODES = 32


def log_expected_product(shift: Floats, slope: Floats, low: float = -np.inf) -> float:
    """ln E[1{Z > low} prod_l Phi(shift_l + slope_l Z)], Z ~ N(0, 1), slopes > 0, to about 1e-13.

    The integrand is log-concave and falls at least like exp(-u^2 / 2) at the distance u from its mode, so panels that
    grow geometrically away from the mode, and away from any factor that is nearly a step, resolve it.
    """
    from scipy.special import log_ndtr

    if low == np.inf:
        return -np.inf
    if shift.size == 0:
        return float(log_ndtr(-low))
    peak = max(low, _mode(shift, slope))
    height = log_ndtr(shift + slope * peak)
    if not np.all(np.isfinite(height)):
        return -np.inf
    points, weights = _nodes(shift, slope, peak, max(low - peak, -REACH))
    factors = log_ndtr((shift + slope * peak)[:, None] + slope[:, None] * points) - height[:, None]
    relative = np.minimum(factors.sum(axis=0) - peak * points - 0.5 * points**2, 0.0)  # rounding aside, it is <= 0
    total = np.dot(weights, np.exp(relative))
    return float(height.sum() - 0.5 * peak**2 - 0.5 * np.log(2 * np.pi) + np.log(total))


def _score(z: float, shift: Floats, slope: Floats) -> float:
    """The derivative of the log integrand: -z + sum slope phi / Phi. It falls with z."""
    from scipy.special import erfcx

    hazard = np.sqrt(2 / np.pi) / erfcx(-(shift + slope * z) / np.sqrt(2))
    return float(np.dot(slope, hazard) - z)


def _mode(shift: Floats, slope: Floats) -> float:
    """Where the integrand peaks: the score is positive at 0, and beyond every step phi / Phi <= sqrt(2 / pi)."""
    from scipy.optimize import brentq

    high = max(0.0, float(np.max(-shift / slope))) + float(slope.sum())
    if not np.isfinite(high):
        return 0.0
    return float(brentq(_score, 0.0, high, args=(shift, slope), xtol=1e-12, maxiter=500))


def _width(z: float, shift: Floats, slope: Floats) -> float:
    """A length on which the integrand changes near z, from its slope and its curvature."""
    from scipy.special import erfcx

    at = shift + slope * z
    hazard = np.sqrt(2 / np.pi) / erfcx(-at / np.sqrt(2))
    curvature = 1.0 + float(np.dot(slope**2, np.clip(hazard * (at + hazard), 0.0, 1.0)))
    return 1.0 / max(float(np.sqrt(curvature)), abs(_score(z, shift, slope)))


def _nodes(shift: Floats, slope: Floats, peak: float, low: float) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes and weights on panels of [low, REACH], measured from the peak."""
    width = _width(peak, shift, slope)
    breaks = [np.array([low, REACH]), _ladder(0.0, width)]
    steps = np.flatnonzero((slope > 2.0) & (np.abs(-shift / slope - peak) < 2 * REACH))
    breaks += [_ladder(float(-shift[step] / slope[step] - peak), float(1 / slope[step])) for step in steps]
    edges = np.concatenate(breaks)
    edges = np.unique(edges[(edges >= low) & (edges <= REACH)])
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    return (middle[:, None] + half[:, None] * nodes).ravel(), (half[:, None] * weights).ravel()


def _ladder(centre: float, width: float) -> Floats:
    """The centre and points around it at width, 2 width, 4 width ... up to 2 REACH."""
    count = max(1, int(np.ceil(np.log2(2 * REACH / max(width, 1e-30)))))
    rungs = width * 2.0 ** np.arange(count)
    return np.concatenate((centre - rungs, [centre], centre + rungs))
