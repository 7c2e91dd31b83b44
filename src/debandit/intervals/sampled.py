"""What the formulas need of a log."""

import numpy as np

from debandit.intervals.limits import Floats, Sample, Sums
from debandit.log import ExperimentLog


def sample_of(log: ExperimentLog) -> Sample | Sums:
    """The rewards of all arms, or their sums where nothing else is known, as one experiment."""
    pulls = log.pulls.astype(np.float64)
    if log.has_rewards:
        return Sample(np.repeat(np.arange(len(pulls)), log.pulls), log.pool(), len(pulls))
    return Sums(pulls[None], log.means[None], np.nan_to_num(log.variances * log.pulls)[None])


def wins_of(log: ExperimentLog) -> Floats:
    """The successes of each arm, of 0/1 rewards."""
    return np.rint(np.nan_to_num(log.means * log.pulls))
