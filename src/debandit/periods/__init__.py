"""Periods of an experiment that move the means of all arms: days of the week, campaigns, a trend.

`cells` says what each period says of each arm, `drift` whether the means moved, `weighted` has means in which each
period counts by its users, with what `additive` says where an arm has no pull; `adjusted` is their place in a result.
"""

from debandit.periods.adjusted import Adjusted
from debandit.periods.cells import Cells, cells_of, cells_of_paths, slices_of
from debandit.periods.drift import COMMON, OWN, Drift, drift_of
from debandit.periods.weighted import BatchWeighted, Weighted

__all__ = [
    "COMMON",
    "OWN",
    "Adjusted",
    "BatchWeighted",
    "Cells",
    "Drift",
    "Weighted",
    "cells_of",
    "cells_of_paths",
    "drift_of",
    "slices_of",
]
