"""One integral: the expected product of normal distribution functions."""

import numpy as np

from debandit.theory.checks import Floats

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
