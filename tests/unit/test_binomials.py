"""Binomial and multinomial numbers of many runs at once: their laws are exact, and each run has its own."""

import numpy as np
import pytest
from scipy import stats

from debandit.engine.binomials import binomials, multinomials
from debandit.engine.experiment import stream_keys

WORDS = stream_keys(5, 4, np.arange(50_000))
LEAST = 6.8e-6  # the p-value of 4.5 standard errors


def fit(found, n, p):
    """The p-value of Pearson's test against the binomial law, with about sixty groups at most."""
    low, high = stats.binom.ppf([1e-6, 1 - 1e-6], n, p)
    ends = np.arange(low - 1, high + 1, max(1, int((high - low) / 60)))
    expected = np.diff(stats.binom.cdf(ends, n, p), prepend=0, append=1) * len(found)
    seen = np.bincount(np.searchsorted(ends, found), minlength=len(expected))
    many = expected > 5
    return stats.chi2.sf((((seen - expected) ** 2)[many] / expected[many]).sum(), many.sum() - 1)


# counted up from 0, rejected, and both sides of where one begins; few and many trials, and chances above 1/2
@pytest.mark.parametrize(
    ("n", "p"),
    [
        (1, 0.3),
        (5, 0.9),
        (40, 0.24),
        (41, 0.25),
        (30, 0.62),
        (2_000, 0.004),
        (2_000, 0.05),
        (100_000, 0.3),
        (10**8, 0.5),
    ],
)
def test_the_law(n, p):
    found = binomials(WORDS, 7 * 2**22, np.full((len(WORDS), 1), n), np.full((len(WORDS), 1), p))[:, 0]
    assert found.min() >= 0
    assert found.max() <= n
    assert fit(found, n, p) > LEAST
    further = p + 0.1 * np.sqrt(p * (1 - p) / n)  # control: a tenth of a standard deviation away
    assert fit(found, n, further) < LEAST


def test_certain_and_impossible():
    n, p = np.array([[0, 10, 10], [10**6, 10**6, 0]]), np.array([[0.5, 0.0, 1.0], [0.0, 1.0, 1.0]])
    np.testing.assert_array_equal(binomials(WORDS[:2], 0, n, p), [[0, 0, 10], [0, 10**6, 0]])


def test_a_run_does_not_depend_on_others():
    n, p = np.tile([[3, 50, 4_000]], (40, 1)), np.tile([[0.3, 0.9, 0.02]], (40, 1))
    together = binomials(WORDS[:40], 9, n, p)
    alone = np.concatenate([binomials(WORDS[i : i + 1], 9, n[:1], p[:1]) for i in range(40)])
    np.testing.assert_array_equal(together, alone)
    assert (binomials(WORDS[:40], 10**6, n, p) != together).any()
    assert abs(
        np.corrcoef(binomials(WORDS, 9, np.full((len(WORDS), 2), 50), np.full((len(WORDS), 2), 0.4)).T)[0, 1]
    ) < (4.5 / np.sqrt(len(WORDS)))


def test_multinomial_numbers():
    """Each arm's are binomial, they add up, and two arms are as correlated as they should be; only ratios matter."""
    chances = np.array([0.1, 0.0, 0.6, 0.3])
    n = np.full(len(WORDS), 200)
    found = multinomials(WORDS, 0, n, np.tile(2 * chances, (len(WORDS), 1)))
    np.testing.assert_array_equal(found.sum(axis=1), 200)
    for arm in (0, 2, 3):
        assert fit(found[:, arm], 200, chances[arm]) > LEAST
    assert not found[:, 1].any()
    expected = -np.sqrt(0.1 * 0.3 / (0.9 * 0.7))
    assert abs(np.corrcoef(found[:, 0], found[:, 3])[0, 1] - expected) < 4.5 / np.sqrt(len(WORDS))
    assert abs(np.corrcoef(found[:, 0], found[:, 2])[0, 1] - expected) > 4.5 / np.sqrt(len(WORDS))  # control
