"""Estimators of the arms' means: their table of contents.

All have one shape: (log, policy) -> estimate and standard error for each arm.
"""

from debandit.estimators.aipw import aipw
from debandit.estimators.estimate import Estimate
from debandit.estimators.ipw import ipw
from debandit.estimators.naive import naive

__all__ = ["Estimate", "aipw", "ipw", "naive"]
