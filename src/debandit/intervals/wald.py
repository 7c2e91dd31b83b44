"""The textbook interval, which a bandit's means do not keep."""

import numpy as np
from scipy.special import ndtri

from debandit.intervals.sample import Floats


def wald(pulls: Floats, means: Floats, squares: Floats, level: float) -> tuple[Floats, Floats]:
    """Mean -+ z s.e. around the naive mean; NaN for an arm whose rewards do not vary, or that was pulled once."""
    known = (pulls > 1) & (squares > 0)
    variance = np.where(known, squares, np.nan) / np.maximum(pulls - 1, 1)
    half = ndtri((1 + level) / 2) * np.sqrt(variance / np.maximum(pulls, 1))
    return means - half, means + half
