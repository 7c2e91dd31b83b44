"""Limits of a probability: for 0/1 rewards."""

import numpy as np
from scipy.special import betainc, betaincinv

from debandit.intervals.sample import Floats

_STEPS = 60  # halvings: more than a float has bits


def binary(pulls: Floats, wins: Floats, level: float) -> tuple[Floats, Floats]:
    """Below the mid-p limit, above Clopper and Pearson's, which is wider: the means are biased downward."""
    tail = (1 - level) / 2
    seen = pulls > 0
    n, s = np.where(seen, pulls, 1.0), np.where(seen, wins, 0.0)
    high = np.where(s < n, betaincinv(s + 1, np.maximum(n - s, 1), 1 - tail), 1.0)
    return np.where(seen, mid_p_lower(n, s, tail), np.nan), np.where(seen, high, np.nan)


def mid_p_lower(pulls: Floats, wins: Floats, tail: float) -> Floats:
    """The p with P(X > wins) + P(X = wins) / 2 = tail; 0 without a win. The upper limit is 1 - that of the losses."""
    pairs, place = np.unique(pulls + 1j * wins, return_inverse=True)  # few of very many differ
    n, s = pairs.real, pairs.imag
    won, lost = np.maximum(s, 1.0), np.maximum(n - s, 1.0)
    low, high = betaincinv(won, n - won + 1, tail), np.where(s < n, betaincinv(s + 1, lost, tail), 1.0)
    for _ in range(_STEPS):
        p = (low + high) / 2
        more = np.where(s < n, betainc(s + 1, lost, p), 0.0)  # P(X > s)
        above = more + betainc(won, n - won + 1, p) > 2 * tail  # P(X > s) + P(X >= s)
        low, high = np.where(above, low, p), np.where(above, p, high)
    limits: Floats = np.where(s > 0, high, 0.0)[place].reshape(pulls.shape)
    return limits
