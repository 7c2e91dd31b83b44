"""Distribution functions of sums of 0/1 rewards, from which explore-then-commit draws instead of playing its rounds."""

import numpy as np

from debandit.engine.data import Floats

LONGEST = 10_000  # sums of more rewards are played round by round


def binomial_tables(probabilities: Floats, counts: tuple[int, int]) -> Floats:
    """P(S <= s) for S ~ Bin(n, p), indexed by (which n of counts, which p, s); 1 beyond n."""
    tables = np.ones((2, len(probabilities), max(counts) + 1))
    p = probabilities[:, None]
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(p), np.log1p(-p)
    for table, n in zip(tables, counts, strict=True):
        wins = np.arange(n)
        log_factorial = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, n + 1)))))
        log_choose = log_factorial[n] - log_factorial[:n] - log_factorial[n:0:-1]
        # n - wins > 0 here; at wins = 0 the factor p^0 is 1 even for p = 0
        log_mass = log_choose + np.where(wins > 0, np.maximum(wins, 1) * log_p, 0.0) + (n - wins) * log_q
        table[:, :n] = np.cumsum(np.exp(log_mass), axis=1)
    return tables
