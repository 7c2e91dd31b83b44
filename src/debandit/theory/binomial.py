"""Binomial probabilities in logarithms."""

from typing import Any

import numpy as np

from debandit.theory.checks import Floats


def log_binomial(successes: Any, trials: int, rate: float) -> Floats:
    """ln P(Bin(trials, rate) = successes), -inf outside 0..trials, by Loader's deviance form.

    ln C(n, s) from three ln-gammas would lose digits like n ln n; deviances lose them only as the value itself grows.
    """
    from scipy.special import kl_div

    count = np.asarray(successes, dtype=np.float64)
    inside = (count >= 0) & (count <= trials)
    s = np.where(inside, count, 0.0)
    f = trials - s
    mixed = s * f > 0  # at both ends the deviance is all there is
    density = 0.5 * np.log(max(trials, 1) / (2 * np.pi * np.where(mixed, s * f, 1.0)))
    series = _stirling(np.float64(trials)) - _stirling(s) - _stirling(f)
    deviance = kl_div(s, trials * rate) + kl_div(f, trials * (1 - rate))
    return np.where(inside, np.where(mixed, density + series, 0.0) - deviance, -np.inf)


def _stirling(n: Any) -> Floats:
    """ln n! - [(n + 1/2) ln n - n + ln(2 pi) / 2]."""
    from scipy.special import gammaln

    n = np.asarray(n, dtype=np.float64)
    small, large = np.clip(n, 1.0, 16.0), np.maximum(n, 16.0)
    direct = gammaln(small + 1) - (small + 0.5) * np.log(small) + small - 0.5 * np.log(2 * np.pi)
    square = large**-2
    series = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / large
    return np.asarray(np.where(n < 16, direct, series))
