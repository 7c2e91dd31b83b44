"""The bias of explore-then-commit with 0/1 rewards."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from debandit.checks import checked_choice
from debandit.errors import InputError
from debandit.theory.arguments import Floats, log_exploitation, per_arm

TIES = ("first", "random", "last")


def etc_bias_bernoulli(*, means: ArrayLike, pulls: int, horizon: int, ties: str = "first") -> Floats:
    """E[mean of arm k] - p_k under explore-then-commit with rewards Bernoulli(means[k]), for every arm; exact.

    The paper's (eq:bias-etc) with S_k ~ Bin(m, p_k), m = pulls, T = horizon:

        (T - mK) / (m + T - mK) * E[(p_k - S_k / m) w_k(S_k)],   w_k(s) = P(arm k is chosen | S_k = s).

    ties: the exploration means that are equal go to the "first" arm among them (as in the paper's tables), the "last",
    or one at "random". With F_j and f_j the distribution and mass function of S_j,

        w_k(s) = prod_{j != k} (F_j(s - 1) + z_j f_j(s)),

    z_j = 1 where a tie with arm j is won and 0 where it is lost; for random ties all z_j = z, integrated over 0..1, for
    the coefficient of z^n in the product is P(n arms tie with k and none is above) and 1 / (n + 1) = int z^n dz.
    The binomial form of Stein's identity, E[(S - mp) w(S)] = m p (1 - p) E[w(S' + 1) - w(S')], S' ~ Bin(m - 1, p), and
    the difference of products as a telescoping sum leave positive terms only, so small biases keep their digits.

    Where it does not hold: nowhere, but values below about 1e-300 come out as 0.

    Examples
    --------
    >>> import debandit as db
    >>> db.theory.etc_bias_bernoulli(means=[0.3, 0.4], pulls=10, horizon=100).round(4)
    array([-0.0351, -0.0389])
    """
    rate = per_arm(means, "means", low=0.0)
    if rate.max() > 1:
        raise InputError("a Bernoulli mean is from 0 to 1", where="means")
    checked_choice("ties", ties, TIES)
    pulls, log_factor = log_exploitation(pulls, horizon, rate.size)
    mass = np.exp([log_binomial(np.arange(pulls + 1), pulls, p) for p in rate])
    factor = np.exp(log_factor)
    return np.array([0.0 - factor * _covariance(k, rate[k], mass, ties) for k in range(rate.size)])


def _covariance(k: int, p: float, mass: Floats, ties: str) -> float:
    """E[(S_k / m - p_k) w_k(S_k)]."""
    pulls = mass.shape[1] - 1
    rival = np.arange(len(mass)) != k
    prior = np.exp(log_binomial(np.arange(pulls), pulls - 1, p))
    growth = sum(weight * _growth(mass[rival], wins[rival]) for weight, wins in _tie_rules(k, len(mass), ties))
    return float(p * (1 - p) * np.dot(prior, growth))


def _tie_rules(k: int, arms: int, ties: str) -> list[tuple[float, Floats]]:
    """Pairs of a weight and the z_j of every arm j. Gauss's rule integrates the polynomial in z exactly."""
    if ties == "random":
        nodes, weights = np.polynomial.legendre.leggauss(arms // 2 + 1)
        return [(w / 2, np.full(arms, (1 + x) / 2)) for x, w in zip(nodes, weights, strict=True)]
    later = np.arange(arms) > k
    return [(1.0, (later if ties == "first" else ~later).astype(float))]


def _growth(mass: Floats, wins: Floats) -> Floats:
    """w(s + 1) - w(s) for s = 0..m-1, w(s) = prod_j (F_j(s - 1) + z_j f_j(s)), by prod A - prod B =
    sum_j (prod_{i<j} A_i) (A_j - B_j) (prod_{i>j} B_i)."""
    z = wins[:, None]
    below = np.zeros_like(mass)
    below[:, 1:] = np.cumsum(mass, axis=1)[:, :-1]
    beaten = below + z * mass
    grown = np.cumprod(beaten[:, 1:], axis=0)
    total, behind = np.zeros(mass.shape[1] - 1), np.ones(mass.shape[1] - 1)
    for j in reversed(range(len(mass))):
        difference = (1 - z[j]) * mass[j, :-1] + z[j] * mass[j, 1:]
        total += (grown[j - 1] if j else 1.0) * difference * behind
        behind = behind * beaten[j, :-1]
    return total


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
