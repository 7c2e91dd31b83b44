"""Estimators of the arms' means: their table of contents.

All have one shape: (log, policy) -> estimate and standard error for each arm. That of `rao_blackwell` is a Monte-Carlo
error.
"""

from debandit.estimators.estimate import Estimate, naive
from debandit.estimators.weighting import aipw, ipw
from debandit.reordering import rao_blackwell

__all__ = ["Estimate", "aipw", "ipw", "naive", "rao_blackwell"]
