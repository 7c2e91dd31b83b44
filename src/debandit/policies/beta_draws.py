"""The probability that an arm has the highest of independent beta draws.

Everything happens in x = log(b / (1 - b)), where a Beta(a, c) draw has the density e^(ax) / (1 + e^x)^(a+c) / B(a, c):
smooth, of one peak, with exponential tails, however small or large a and c are.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from debandit.engine.data import Floats, Ints

FINENESS, LONGEST_STEP = 0.6, 0.4  # of the steps; halving them changes nothing by 1e-13
NODES_AT_ONCE = 2**17  # numbers per array, so that they stay in the cache


def highest_beta(a: Floats, c: Floats) -> Floats:
    """P_k = int f_k(x) prod_{j != k} F_j(x) dx for every row of arms with draws Beta(a, c)."""
    peaks = np.log(a) - np.log(c)
    middle = np.clip(0.0, peaks.min(axis=-1), peaks.max(axis=-1))  # where all arms together curve most
    curvature = (a + c).sum(axis=-1) / (2 * np.cosh(middle / 2)) ** 2
    step = np.minimum(LONGEST_STEP, FINENESS / np.sqrt(curvature))
    return np.stack([_highest(arm, a, c, peaks, step) for arm in range(a.shape[-1])], axis=-1)


def _highest(arm: int, a: Floats, c: Floats, peaks: Floats, step: Floats) -> Floats:
    """The trapezoidal rule, whose error for such functions falls exponentially in 1 / step; also for the constant that
    makes f_k a density. Rows that need about as many nodes go together.
    """
    width = 8.5 * np.sqrt(1 / a + 1 / c)
    low, high = (peaks - width - 40 / a)[:, arm], (peaks + width + 40 / c)[:, arm]
    counts = np.ceil((high - low) / step).astype(np.int64) + 1
    order = np.argsort(counts, kind="stable")
    chances = np.empty(len(counts))
    start = 0
    while start < len(order):
        most = int(1.25 * counts[order[start]])
        alike = int(np.searchsorted(counts[order], most, side="right"))
        rows = order[start : min(alike, start + max(1, NODES_AT_ONCE // most))]
        x = np.linspace(low[rows], high[rows], counts[rows[-1]], axis=-1)
        density = _density(a[rows, arm, None], c[rows, arm, None], x)
        product = density.copy()
        for other in set(range(a.shape[-1])) - {arm}:
            product *= _cumulative(a[rows, other, None], c[rows, other, None], x)
        chances[rows] = product.sum(axis=-1) / density.sum(axis=-1)
        start += len(rows)
    return chances


def _density(a: Floats, c: Floats, x: Floats) -> Floats:
    """Relative to that at the peak."""
    peak = np.log(a) - np.log(c)

    def log_density(x: Floats) -> Floats:
        logarithm: Floats = np.where(x > 0, -c, a) * x - (a + c) * np.log1p(np.exp(-np.abs(x)))
        return logarithm

    return np.exp(log_density(x) - log_density(peak))


def _cumulative(a: Floats, c: Floats, x: Floats) -> Floats:
    """From whichever end is nearer, because b itself rounds to 1 where x > 37."""
    from scipy.special import betainc, betaincc, expit

    right = x > 0
    values = np.empty(x.shape)
    a, c = np.broadcast_to(a, x.shape), np.broadcast_to(c, x.shape)
    values[~right] = betainc(a[~right], c[~right], expit(x[~right]))
    values[right] = betaincc(c[right], a[right], expit(-x[right]))
    return values


def closer_than(distance: float, a: Floats, c: Floats) -> Floats:
    """P(|B1 - B2| < distance) for every row of two arms with draws Beta(a, c).

    The integral of f1(b) (F2(b + distance) - F2(b - distance)) over the range where arm 1 lies, by Gauss-Legendre
    between the points where the integrand bends.
    """
    from scipy.special import betainc, betaincinv, betaln, xlog1py, xlogy

    nodes, weights = np.polynomial.legendre.leggauss(40)
    (a1, a2), (c1, c2) = a.T[:, :, None], c.T[:, :, None]
    ends = betaincinv(a1, c1, [1e-17, 0.5, 1.0])
    bends = np.concatenate([ends, np.clip([[distance, 1 - distance]], ends[:, :1], ends[:, 2:])], axis=1)
    bends = np.sort(bends, axis=1)
    half = np.diff(bends)[..., None] / 2
    b = ((bends[:, :-1, None] + half) + half * nodes).reshape(len(a), -1)
    density = np.exp(xlogy(a1 - 1, b) + xlog1py(c1 - 1, -b) - betaln(a1, c1))
    near = betainc(a2, c2, np.minimum(b + distance, 1)) - betainc(a2, c2, np.maximum(b - distance, 0))
    chances: Floats = ((half * weights).reshape(len(a), -1) * density * near).sum(axis=1)
    return np.clip(chances, 0.0, 1.0)


def second_higher(alpha: float, beta: float, n1: int, n2: int, horizon: int) -> Floats:
    """P(draw of arm 2 > draw of arm 1) in the table of all wins (s1, s2) that n1 and n2 pulls can have.

    Swapping a loss for a win raises or lowers it by closed terms, so the table is made of running sums. They begin at
    its smallest entry, where arm 1 won always and arm 2 never, and all terms are positive: nothing cancels.
    """
    logs = _log_gammas(alpha, beta, horizon)
    table = np.empty((n1 + 1, n2 + 1))
    table[:, 0] = _corners(alpha, beta, horizon)[n1, n2]
    table[:-1, 0] += _swaps(n1, n2, np.zeros(1, np.int64), logs)[::-1, 0].cumsum()[::-1]
    table[:, 1:] = table[:, :1] + _swaps(n2, n1, np.arange(n1 + 1), logs).cumsum(axis=0).T
    return table


def _swaps(n: int, m: int, others: Ints, logs: "_LogGammas") -> Floats:
    """What one more win and one loss less of an arm with n pulls add to P(its draw > the other's), by its wins before.

    The columns are wins of the other arm in m pulls. P(B > B') rises by g / a when a becomes a + 1 and falls by g / c
    when c becomes c + 1, where g = B(a + a', c + c') / (B(a, c) B(a', c')); integrate by parts.
    """
    wins = np.arange(n)
    both = logs.a2[: n + m] + logs.c2[: n + m][::-1] - logs.total2[n + m - 1]
    mine = logs.a[:n] + logs.c[:n][::-1] - logs.total[n - 1]  # without the pull that changes
    theirs = logs.a[others] + logs.c[m - others] - logs.total[m]
    g = np.exp(both[wins[:, None] + others] - mine[:, None] - theirs)
    gain: Floats = g * (1 / (logs.alpha + wins) + 1 / (logs.beta + n - 1 - wins))[:, None]
    return gain


class _LogGammas(NamedTuple):
    """ln Gamma(x), ln Gamma(x + 1), ... for alpha, beta, their sum, and twice these."""

    alpha: float
    beta: float
    a: Floats
    c: Floats
    total: Floats
    a2: Floats
    c2: Floats
    total2: Floats


@lru_cache(maxsize=4)
def _log_gammas(alpha: float, beta: float, horizon: int) -> _LogGammas:
    from scipy.special import gammaln

    shifts = (alpha, beta, alpha + beta)
    tables = [gammaln(times * shift + np.arange(horizon + 1)) for times in (1, 2) for shift in shifts]
    return _LogGammas(alpha, beta, *tables)


@lru_cache(maxsize=4)
def _corners(alpha: float, beta: float, horizon: int) -> Floats:
    """P(arm 2 higher) after n1 wins in n1 pulls of arm 1 and none in n2 pulls of arm 2, in the table (n1, n2).

    By quadrature for the largest n1; from there each win less adds g / a.
    """
    from scipy.special import betaln

    n1, n2 = np.arange(horizon)[:, None], np.arange(horizon + 1)
    end = np.stack([np.full(horizon + 1, alpha + horizon), np.full(horizon + 1, alpha)], axis=-1)
    last = highest_beta(end, np.stack([np.full(horizon + 1, beta), beta + n2], axis=-1))[:, 1]
    g = np.exp(betaln(2 * alpha + n1, 2 * beta + n2) - betaln(alpha + n1, beta) - betaln(alpha, beta + n2))
    terms = np.concatenate([g / (alpha + n1), last[None]])
    corners: Floats = terms[::-1].cumsum(axis=0)[::-1]
    return corners
