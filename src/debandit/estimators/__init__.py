"""Estimators of the arms' means: their table of contents.

Most have one shape: (log, policy) -> estimate and standard error for each arm. That of `rao_blackwell` is a Monte-Carlo
error; `batched_ols` gives differences to a control, and `confidence_sequence` limits. docs/estimators.md compares them.
"""

from debandit.estimators.adaptive import aw_aipw
from debandit.estimators.batchwise import BatchedDifferences, batch_weighted, batched_ols
from debandit.estimators.decorrelation import w_decorrelation
from debandit.estimators.estimate import Estimate, naive
from debandit.estimators.sequences import ConfidenceSequence, confidence_sequence
from debandit.estimators.weighting import aipw, ipw
from debandit.periods import BatchWeighted
from debandit.reordering import rao_blackwell

__all__ = [
    "BatchWeighted",
    "BatchedDifferences",
    "ConfidenceSequence",
    "Estimate",
    "aipw",
    "aw_aipw",
    "batch_weighted",
    "batched_ols",
    "confidence_sequence",
    "ipw",
    "naive",
    "rao_blackwell",
    "w_decorrelation",
]
