"""Binomial and multinomial numbers of many runs at once, each from its own run's stream.

numpy's generators draw run by run, which takes microseconds for each number; here all runs go side by side.
"""

import numpy as np

from debandit.engine.data import Floats, Ints
from debandit.engine.experiment import Words, later, uniforms

_FEW = 10.0  # expected: fewer are counted up from 0
_NUMBERS_OF_A_DRAW = 2**8  # of a run's stream; a try takes two of them, and about one in five fails


def multinomials(words: Words, first: int, n: Ints, chances: Floats) -> Ints:
    """How n (runs,) pulls are shared by chances (runs, K), of which only the ratios matter."""
    counts = np.zeros(chances.shape, np.int64)
    rest = np.maximum(chances[:, ::-1].cumsum(axis=1)[:, ::-1], 1e-300)
    left = n
    for arm in range(chances.shape[1] - 1):
        share = np.minimum(chances[:, arm] / rest[:, arm], 1.0)
        counts[:, arm] = binomials(words, first + arm * _NUMBERS_OF_A_DRAW, left[:, None], share[:, None])[:, 0]
        left = left - counts[:, arm]
    counts[:, -1] = left
    return counts


def binomials(words: Words, first: int, n: Ints, p: Floats) -> Ints:
    """Successes in n trials (runs, slots) with these chances; `first` is where the numbers of the streams begin."""
    slots = n.shape[1]
    own = later(words[:, None], first + np.arange(slots) * _NUMBERS_OF_A_DRAW).ravel()
    n, p = n.ravel(), p.ravel()
    rarer = np.minimum(p, 1 - p)
    found, few = np.zeros(len(n), np.int64), n * rarer < _FEW
    for rows, draw in ((np.flatnonzero(few & (n > 0) & (rarer > 0)), _counted), (np.flatnonzero(~few), _rejected)):
        if len(rows):
            found[rows] = draw(own[rows], n[rows], rarer[rows])
    return np.where(p > 0.5, n - found, found).reshape(-1, slots)


def _counted(words: Words, n: Ints, p: Floats) -> Ints:
    """By inversion: one number, from which the chances of 0, 1, ... are taken away until nothing is left of it."""
    u, odds = uniforms(words, 0, 1)[0], p / (1 - p)
    chance, found, going = np.exp(n * np.log1p(-p)), np.zeros(len(n), np.int64), np.arange(len(n))
    while len(going):
        u = u - chance
        more = (u > 0) & (found[going] < n)
        going, u, chance, n, odds = going[more], u[more], chance[more], n[more], odds[more]
        found[going] += 1
        chance = chance * odds * (n - found[going] + 1) / found[going]
    return found


def _rejected(words: Words, n: Ints, p: Floats) -> Ints:
    """By Hörmann's transformed rejection with squeeze (1993, algorithm BTRS), for 10 expected successes and more."""
    from debandit.special import gammaln

    found, going, tried = np.empty(len(n), np.int64), np.arange(len(n)), 0
    while len(going):
        sd = np.sqrt(n * p * (1 - p))
        b = 1.15 + 2.53 * sd
        a, middle, sure = -0.0873 + 0.0248 * b + 0.01 * p, n * p + 0.5, 0.92 - 4.2 / b
        u, v = uniforms(words, tried, 2)
        u -= 0.5
        room = 0.5 - np.abs(u)
        k = np.floor((2 * a / room + b) * u + middle)
        taken = (room >= 0.07) & (v <= sure)
        doubted = np.flatnonzero(~taken & (k >= 0) & (k <= n))
        if len(doubted):
            at, trials, rate = k[doubted], n[doubted], p[doubted]
            mode = np.floor((trials + 1) * rate)
            height = v[doubted] * sd[doubted] * (2.83 + 5.1 / b[doubted])
            height /= a[doubted] / room[doubted] ** 2 + b[doubted]
            density = gammaln(mode + 1) + gammaln(trials - mode + 1) - gammaln(at + 1) - gammaln(trials - at + 1)
            taken[doubted] = np.log(height) <= density + (at - mode) * np.log(rate / (1 - rate))
        found[going[taken]] = k[taken]
        rest, tried = np.flatnonzero(~taken), tried + 2
        going, words, n, p = going[rest], words[rest], n[rest], p[rest]
    return found
