"""Augmented inverse propensity weighting."""

import numpy as np

from debandit.engine.data import Floats
from debandit.estimators.estimate import Estimate, Logs, Paths, as_paths, averaged
from debandit.policies import Policy
from debandit.policies.history import History


def aipw(log: Logs, policy: Policy | str | None = None) -> Estimate:
    """The mean over t of m_{t-1,k} + 1{a_t = k} (r_t - m_{t-1,k}) / e_t(k), m the running mean of the arm's rewards.

    m is 0 before the first pull and learns from forced rounds too; otherwise as `ipw`. Unbiased because m_{t-1,k} is
    known before round t.
    """
    return averaged(as_paths(log, policy), _terms)


def _terms(paths: Paths) -> Floats:
    seen = History(paths.arms, paths.rewards, paths.arm_count)
    running = seen.sums / np.maximum(seen.pulls, 1)
    taken = paths.arms[..., None] == np.arange(paths.arm_count)
    surprise = (paths.rewards[..., None] - running) / paths.propensities[..., None]
    return running + np.where(taken, surprise, 0.0)
