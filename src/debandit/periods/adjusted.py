"""Period-weighted means in a result."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from debandit.log_parts import Floats, Ints
from debandit.periods.cells import Cells
from debandit.periods.drift import Drift
from debandit.periods.weighted import Weighted


class Adjusted(NamedTuple):
    """Period-weighted means, in which each batch counts by its users, and differences of them; NaN where there is none.

    Attributes
    ----------
    means, se, low, high : array of float
        Each arm's mean, its standard error and its limits.
    difference, difference_se, difference_low, difference_high : array of float
        The same for the difference to the arm that it is compared with.
    filled : array of int
        Batches without a pull of the arm, in which its mean was fitted.
    batches : int
        All batches.
    common, own : float
        The p-value of no drift that all arms share, and that of no drift besides.
    """

    means: Floats
    se: Floats
    low: Floats
    high: Floats
    difference: Floats
    difference_se: Floats
    difference_low: Floats
    difference_high: Floats
    filled: Ints
    batches: int
    common: float
    own: float

    @classmethod
    def of(cls, cells: Cells, binary: bool, compared_with: Ints, level: float, drift: Drift | None) -> "Adjusted":
        """What the cells of a log say."""
        found, tail = Weighted(cells, binary), (1 - level) / 2
        p_values = (np.nan, np.nan) if drift is None else (drift.common, drift.own)
        values = *found.estimate(tail), *found.differences(compared_with, tail)
        return cls(*values, found.filled, len(cells.names), *p_values)

    @classmethod
    def of_document(cls, found: Mapping[str, Any], arm_count: int) -> "Adjusted":
        """What result.json says."""
        values = {key: np.array(found[key], dtype=np.float64) for key in cls._fields}  # null becomes NaN
        if any(values[key].shape != (arm_count,) for key in cls._fields[:9]):
            raise ValueError("adjusted")
        filled, *rest = values.pop("filled").astype(np.int64), *(values.pop(key).item() for key in cls._fields[9:])
        return cls(**values, filled=filled, batches=int(rest[0]), common=rest[1], own=rest[2])
