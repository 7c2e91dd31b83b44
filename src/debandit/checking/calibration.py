"""One p-value from several statistics, by simulation."""

import numpy as np

from debandit.engine.data import Floats


def tail_shares(statistics: Floats) -> Floats:
    """Of statistics (F, N): the share of the N that are at least as large, each statistic by itself."""
    count = statistics.shape[1]
    return np.array([(count - np.searchsorted(np.sort(one), one, side="left")) / count for one in statistics])


def smallest_share(statistics: Floats) -> tuple[float, int]:
    """The p-value of column 0 by its most extreme statistic, and which one that is.

    If column 0 was drawn like all others the p-value is at most u with probability at most u: looking at several
    statistics costs nothing, because every other column looks at its own most extreme one, too.
    """
    shares = tail_shares(statistics)
    smallest = shares.min(axis=0)
    return float((smallest <= smallest[0]).mean()), int(shares[:, 0].argmin())
