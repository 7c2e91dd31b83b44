"""The probability that an arm has the highest of independent beta draws.

Everything happens in x = log(b / (1 - b)), where a Beta(a, c) draw has the density e^(ax) / (1 + e^x)^(a+c) / B(a, c):
smooth, of one peak, with exponential tails, however small or large a and c are.
"""

from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from debandit.engine.data import Floats, Ints
from debandit.policies.panels import WEIGHTS, by_panels, common_panels, highest, nodes_of

LEAST = 0.05  # of a and c; below it draws pile up at 0 and 1 so closely that doubles cannot tell them apart
DROPS = np.array([1.4, 3.5, 8.2]) ** 2 / 2  # of the log-density from the peak to the ends of an arm's panels
NORMAL_DROPS = np.array([1.7, 6.5]) ** 2 / 2  # where densities are nearly normal; 4e-11 lies beyond either end
NEARLY_NORMAL = 12.0  # a and c from this on; the largest error found is 2e-10
FINE_DROPS = np.linspace(0, 8.6, 6)[1:] ** 2 / 2
BENDS = np.array([2.0, 6.0, 18.0])  # further ends for arms with tails so long that 1 + e^x bends within one panel
LONG_TAILS = 1.0  # a or c below this
MANY = 5  # arms: more need shorter panels; five that are tied at Beta(1, 1.1) are off by 2e-10, eight by 9e-10
FARTHEST = 40.0  # in x: 1 but for the last bit
LOWEST = -600.0  # log-density that is told from none; where doubles underflow, exp is forty times as slow
LEAST_CHANCE = 1e-300  # where rounding leaves nothing of one: no arm is impossible
NOT_NORMAL = 0.2  # over the root of the least a or c: how far normal draws may be off; the most that was found is .16
STIRLING = 10.0  # from here on the series of `_beyond_stirling` is exact


def highest_beta(a: Floats, c: Floats, *, fine: bool = False) -> Floats:
    """P_k = int f_k(x) prod_{j != k} F_j(x) dx for every row of arms with draws Beta(a, c).

    Every arm has panels around its peak, on which its density is nearly a polynomial. So Gauss-Legendre is exact, for
    the integral and for the F_j, which are integrals of the f_j on the way. The result is right to 1e-9, and to 1e-10
    unless arms are tied at few pulls or have millions. If `fine`, which takes two to four times as long, small chances
    of two arms are right relatively, too; what lies below the highest of the arms' lower ends matters only then.
    """
    least, chances = np.minimum(a, c).min(axis=-1), np.empty(a.shape)
    long, normal = fine | (least < LONG_TAILS), (least >= NEARLY_NORMAL) & (not fine)
    drops = FINE_DROPS if fine else DROPS
    for which, ends in (
        (normal, partial(_panels, NORMAL_DROPS, BENDS[:0], False)),
        (~(long | normal), partial(_panels, drops, BENDS[:0], False)),
        (long, partial(_panels, drops, BENDS, fine)),
    ):
        rows = np.flatnonzero(which)
        chances[rows] = by_panels(ends, _highest, a[rows], c[rows])
    return np.maximum(chances, LEAST_CHANCE)


def _highest(a: Floats, c: Floats, ends: Floats) -> Floats:
    half, middle, steps = nodes_of(ends)
    # The log-density relative to the middle of the panel, from the side of x = 0 on which nothing cancels.
    right = middle > 0
    small = np.exp(-np.abs(middle))
    bend = np.log1p((small / (1 + small))[:, None] * np.expm1(np.where(right, -1.0, 1.0)[:, None] * steps))
    slope = np.where(right, -c[:, None], a[:, None])
    level = _log_density(a[:, None], c[:, None], middle) + np.log(np.maximum(half, 1e-300))
    mass = slope[:, :, None] * steps  # of shape (arms, panels, nodes, rows)
    mass -= (a + c)[:, None, None] * bend
    mass += level[:, :, None]
    np.exp(np.maximum(mass, LOWEST, out=mass), out=mass)
    return highest(mass)


def _panels(drops: Floats, bends: Floats, fine: bool, a: Floats, c: Floats) -> Floats:
    """Their ends in every row. An arm's are about where its log-density is lower than at its peak by `drops`.

    Near the peak that is the drop of a normal density, or that of exp(-e^x) if one of a and c is small; farther out the
    density falls like e^(ax) on the left and e^(-cx) on the right.
    """
    ends = _ends(drops, bends, a, c)
    return common_panels(ends, ends[0].min(axis=0) if fine else ends[0].max(axis=0), MANY)


def _ends(drops: Floats, bends: Floats, a: Floats, c: Floats) -> Floats:
    """Those of each arm (m, K, rows), and of arms with long tails further ones."""
    peak, drops = np.log(a) - np.log(c), drops[:, None, None]
    spread = drops * (1 / a + 1 / c)
    near = np.log1p(spread + np.sqrt(2 * spread))
    left, right = near + drops / a, near + drops / c
    if len(bends):
        left, right = (np.concatenate([side, np.minimum(bends[:, None, None], side[-1])]) for side in (left, right))
        left, right = np.sort(left, axis=0), np.sort(right, axis=0)
    return np.concatenate([peak - left[::-1], peak + right])


def _log_density(a: Floats, c: Floats, x: Floats) -> Floats:
    """From its peak, and from the side of x = 0 on which nothing cancels."""
    mine = np.where(x > 0, c, a)
    away = np.where(x > 0, 1.0, -1.0) * (x - (np.log(a) - np.log(c)))
    peak = (
        np.log(a / (a + c) * c / (2 * np.pi)) / 2 + _beyond_stirling(a + c) - _beyond_stirling(a) - _beyond_stirling(c)
    )
    logarithm: Floats = peak - mine * away - (a + c) * np.log1p(mine / (a + c) * np.expm1(-away))
    return logarithm


def _beyond_stirling(z: Floats) -> Floats:
    """ln Gamma(z) - ((z - 1/2) ln z - z + ln(2 pi) / 2)."""
    from debandit.special import gammaln

    inverse = 1 / np.maximum(z, STIRLING)
    rest: Floats = inverse * np.polyval([-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12], inverse**2)
    few = z < STIRLING
    small = z[few]
    rest[few] = gammaln(small) - ((small - 0.5) * np.log(small) - small + np.log(2 * np.pi) / 2)
    return rest


def closer_than(distance: float, a: Floats, c: Floats) -> Floats:
    """P(|B1 - B2| < distance) for every row of two arms with draws Beta(a, c).

    The integral of f1(b) (F2(b + distance) - F2(b - distance)) over the range where arm 1 lies, by Gauss-Legendre
    between the points where the integrand bends.
    """
    from debandit.special import betainc, betaincinv, betaln, xlog1py, xlogy

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


def leads_within(share: float, arms: Ints, a: Floats, c: Floats, above: float = 0.0) -> Floats:
    """P(no draw is higher than that of the given arm by more than a share of it), for every row of draws Beta(a, c).

    That is the chance to be the highest of a leader whose draws are larger by this share. A draw with
    z = log(b / (1 - b)) then is where x = z + log(1 + share) - log(1 - share e^z), so z = x - log(1 + share (1 + e^x)).
    Where it is surely below `above`, a higher number that is below, too, is enough: it takes a hundredth of the time.
    """
    order = (np.arange(a.shape[1]) + arms[:, None]) % a.shape[1]  # the leader comes first
    a, c = (np.take_along_axis(each, order, axis=1) for each in (a, c))
    chances = _at_most_within(share, a, c)
    normal = np.minimum(a, c).min(axis=-1) >= NEARLY_NORMAL
    for which, drops, bends in ((normal, NORMAL_DROPS, BENDS[:0]), (~normal, DROPS, BENDS)):
        rows = np.flatnonzero((chances >= above) & which)
        exact = by_panels(partial(_panels_within, share, drops, bends), partial(_within, share), a[rows], c[rows])
        chances[rows] = np.clip(exact[:, 0], 0.0, 1.0)
    return chances


def _at_most_within(share: float, a: Floats, c: Floats) -> Floats:
    """What it is for the strongest rival alone, by normal draws, and how much that may be too low."""
    from debandit.special import ndtr

    mean = a / (a + c) * np.where(np.arange(a.shape[1]) == 0, 1 + share, 1.0)
    variance = mean**2 * (c / a) / (a + c + 1)
    ahead = (mean[:, :1] - mean[:, 1:]) / np.sqrt(variance[:, :1] + variance[:, 1:])
    low = NOT_NORMAL / np.sqrt(np.minimum(a, c).min(axis=1))
    bound: Floats = ndtr(ahead.min(axis=1)) + low
    return bound


def _panels_within(share: float, drops: Floats, bends: Floats, a: Floats, c: Floats) -> Floats:
    ends = _ends(drops, bends, a, c)
    z, highest_other = ends[:, 0], np.minimum(ends[-1, 1:].max(axis=0), FARTHEST)
    room = 1 - share * np.exp(np.minimum(z, FARTHEST))  # none: larger than 1
    larger = z + np.log1p(share) - np.log(np.where(room > 0, room, 1.0))
    ends[:, 0] = np.where(room > 0, np.minimum(larger, highest_other), highest_other)
    return common_panels(ends, ends[0].max(axis=0), MANY)


def _within(share: float, a: Floats, c: Floats, ends: Floats) -> Floats:
    from debandit.special import betainc

    half, middle, steps = nodes_of(ends)
    x = middle[:, None] + steps
    odds = share * np.exp(np.minimum(x, FARTHEST))
    at = np.stack([x - np.log1p(share + odds), *[x] * (len(a) - 1)])
    mass = np.exp(np.maximum(_log_density(a[:, None, None], c[:, None, None], at), LOWEST)) * half[:, None]
    mass[0] *= (1 + share) / (1 + share + odds)
    of_others = 1 - (WEIGHTS @ mass[1:]).sum(axis=1)
    chances = highest(mass, np.concatenate([of_others[:1], of_others]))  # what it is of the leader does not matter
    beyond = (share + 1 / (1 + np.exp(np.minimum(ends[-1], FARTHEST)))) / (1 + share)
    chances[0] += betainc(c[0], a[0], beyond)  # there the leader's draw is larger than those of others can be
    return chances


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
    from debandit.special import gammaln

    shifts = (alpha, beta, alpha + beta)
    tables = [gammaln(times * shift + np.arange(horizon + 1)) for times in (1, 2) for shift in shifts]
    return _LogGammas(alpha, beta, *tables)


@lru_cache(maxsize=4)
def _corners(alpha: float, beta: float, horizon: int) -> Floats:
    """P(arm 2 higher) after n1 wins in n1 pulls of arm 1 and none in n2 pulls of arm 2, in the table (n1, n2).

    By quadrature for the largest n1; from there each win less adds g / a.
    """
    from debandit.special import betaln

    n1, n2 = np.arange(horizon)[:, None], np.arange(horizon + 1)
    end = np.stack([np.full(horizon + 1, alpha + horizon), np.full(horizon + 1, alpha)], axis=-1)
    last = highest_beta(end, np.stack([np.full(horizon + 1, beta), beta + n2], axis=-1), fine=True)[:, 1]
    g = np.exp(betaln(2 * alpha + n1, 2 * beta + n2) - betaln(alpha + n1, beta) - betaln(alpha, beta + n2))
    terms = np.concatenate([g / (alpha + n1), last[None]])
    corners: Floats = terms[::-1].cumsum(axis=0)[::-1]
    return corners
