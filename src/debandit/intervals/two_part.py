"""Zeros and amounts apart: for rewards that are often exactly 0 and never below."""

import numpy as np
from scipy.special import ndtri

from debandit.intervals.binary import mid_p_lower
from debandit.intervals.pooled_t import pooled_t
from debandit.intervals.sample import Floats, Sample


def two_part(sample: Sample, level: float) -> tuple[Floats, Floats]:
    """Limits of P(not 0) times limits of the mean amount, whose relative spread is that of all arms.

    An arm without a non-zero reward has no upper limit (inf). NaN if rewards vary within no arm.
    """
    n, positive = sample.pulls, sample.rewards > 0
    plus, sums = sample.total(positive.astype(np.float64)), sample.total(sample.rewards)
    tail, z = (1 - level) / 2, ndtri((1 + level) / 2)
    seen = np.maximum(n, 1.0)
    p, p_low, p_high = plus / seen, mid_p_lower(seen, plus, tail), 1 - mid_p_lower(seen, seen - plus, tail)
    everywhere = np.maximum(plus.sum(axis=1, keepdims=True), 1.0)
    amount = (sums.sum(axis=1, keepdims=True) / everywhere + sums) / (1 + plus)
    ratio = np.exp(z * np.sqrt((_relative_variance(sample, positive, plus, sums) + 0.49) / (plus + 1)))
    up = np.hypot(amount * (p_high - p), (p + p_high) / 2 * amount * (ratio - 1))
    down = np.hypot(amount * (p - p_low), (p + p_low) / 2 * amount * (1 - 1 / ratio))
    low = np.maximum(np.fmin(p * amount - down, pooled_t(sample, level).low), 0.0)
    high = np.where(plus > 0, p * amount + up, np.inf)
    known = (n > 0) & (sample.squares > 0).any(axis=1, keepdims=True)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _relative_variance(sample: Sample, positive: np.ndarray, plus: Floats, sums: Floats) -> Floats:
    """Squared coefficient of variation of the amounts within arms; at least .05, and 1 if no arm has two."""
    mean = sums / np.maximum(plus, 1)
    squares = sample.total(np.where(positive, sample.rewards - sample.each(mean), 0.0) ** 2)
    several = plus >= 2
    above = np.where(several, squares, 0).sum(axis=1, keepdims=True)
    below = np.where(several, (plus - 1) * mean**2, 0).sum(axis=1, keepdims=True)
    cv2: Floats = np.where(below > 0, np.maximum(above / np.where(below > 0, below, 1.0), 0.05), 1.0)
    return cv2
