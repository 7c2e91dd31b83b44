"""Inverse propensity weighting."""

import numpy as np

from debandit.engine.data import Floats
from debandit.estimators.estimate import Estimate, Logs, Paths, as_paths, averaged
from debandit.policies import Policy


def ipw(log: Logs, policy: Policy | str | None = None) -> Estimate:
    """The mean over t of 1{a_t = k} r_t / e_t(k), where e_t(k) = P(a_t = k | past).

    Propensities are the log's own where it recorded them, else those of `policy` replayed along it. Forced rounds are
    left out. Unbiased, but its standard error (from the rounds as if independent) is large where propensities are
    small. An arm that no free round pulled gets 0.
    """
    return averaged(as_paths(log, policy), _terms)


def _terms(paths: Paths) -> Floats:
    taken = paths.arms[..., None] == np.arange(paths.arm_count)
    return np.where(taken, (paths.rewards / paths.propensities)[..., None], 0.0)
