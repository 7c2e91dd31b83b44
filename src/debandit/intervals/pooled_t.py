"""The pooled-kurtosis t: for rewards that vary continuously."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from debandit.intervals.sample import Floats, Sample


class PooledT(NamedTuple):
    """Limits per arm, and the skewness and kurtosis that all arms of an experiment share."""

    low: Floats
    high: Floats
    skewness: Floats  # (experiments,)
    kurtosis: Floats


def pooled_t(sample: Sample, level: float) -> PooledT:
    """A t interval around the sample mean that does not believe the small spread of a starved, skewed arm.

    The sampling variance of a variance is (kurtosis - 1)/n of its square, so an observation counts for 2/(kurtosis - 1)
    degrees of freedom only, and the rest is borrowed from the other arms. Skewness shifts the limits. 70 % of the error
    is allowed below and 30 % above, because the means are biased downward. NaN if rewards vary within no arm.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        g, kappa = _shape(sample)
        n, weight = sample.pulls, np.clip(2 / (1.5 * (kappa - 1)), 0.04, 1.0)[:, None]
        own = weight * (n - 1)
        v, df = (2 * pooled_variance(sample, 20) + weight * sample.squares) / (2 + own), 2 + own
        se = np.where((v > 0) & (n > 0), np.sqrt(v / n), np.nan)
        share, a = own / (2 + own), g[:, None] / np.sqrt(n)
        shift = -share * a / 2 + a * (1 - 3 * share) / 6 * (ndtri((1 + level) / 2) ** 2 - 1)
        below, above = stdtrit(df, 1 - 0.7 * (1 - level)), stdtrit(df, 1 - 0.3 * (1 - level))
        low = sample.means - (below + np.clip(shift, -0.4 * below, 0.4 * below)) * se
        high = sample.means + (above - np.clip(shift, -0.6 * above, 0.0)) * se
    return PooledT(low, high, g, kappa)


def moderated_t(sample: Sample, level: float) -> tuple[Floats, Floats]:
    """The plain moderated t with n + 1 degrees of freedom: too short for skewed rewards, a yardstick of width."""
    n = sample.pulls
    with np.errstate(invalid="ignore", divide="ignore"):
        v = (2 * pooled_variance(sample, 20) + sample.squares) / (n + 1)
        half = np.where((v > 0) & (n > 0), stdtrit(n + 1, (1 + level) / 2) * np.sqrt(v / n), np.nan)
    return sample.means - half, sample.means + half


def pooled_variance(sample: Sample, cap: int) -> Floats:
    """The average of the arms' variances, of shape (experiments, 1); no arm counts for more than `cap` pulls."""
    spare = np.maximum(sample.pulls - 1, 0.0)
    weights = np.minimum(spare, cap)
    with np.errstate(invalid="ignore"):
        total = (weights * sample.squares / np.maximum(spare, 1)).sum(axis=1, keepdims=True)
        pooled: Floats = total / weights.sum(axis=1, keepdims=True)
    return pooled


def _shape(sample: Sample) -> tuple[Floats, Floats]:
    """Skewness and kurtosis of the residuals of all arms with at least two pulls; of fewer than four: 0 and 3."""
    n, several = sample.pulls, sample.pulls >= 2
    scale = np.sqrt(n / (n - 1)) / np.sqrt((pooled_variance(sample, 5) + sample.squares) / n)
    e = sample.deviations * sample.each(np.where(several, scale, 0.0))  # they add up to 0 within each arm
    count = np.where(several, n, 0).sum(axis=1)
    second, third, fourth = (sample.total(e**power).sum(axis=1) / count for power in (2, 3, 4))
    enough = count >= 4
    return np.where(enough, third / second**1.5, 0.0), np.where(enough, fourth / second**2, 3.0)
