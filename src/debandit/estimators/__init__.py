"""Estimators of the arms' means: their table of contents.

All have one shape: (log, policy) -> estimate and standard error for each arm. That of `rao_blackwell` is a Monte-Carlo
error.
"""

from debandit.estimators.aipw import aipw
from debandit.estimators.estimate import Estimate
from debandit.estimators.ipw import ipw
from debandit.estimators.naive import naive
from debandit.reordering import rao_blackwell

__all__ = ["Estimate", "aipw", "ipw", "naive", "rao_blackwell"]
