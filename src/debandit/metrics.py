"""Outcomes besides the reward in a result: how far their means are off because the rule chose by the rewards."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SHOWN = ("naive", "slope", "quoted", "quoted_bias", "quoted_bias_se", "bias", "bias_se", "corrected")


class MetricResult(NamedTuple):
    """A metric's mean in each arm, corrected as far as it goes with the reward; NaN where there is nothing to say."""

    means: Floats  # as in the log, like the next two
    variances: Floats  # divisor n
    covariances: Floats  # with the reward
    slope: Floats  # on the reward within the arm, drawn a little towards that of all arms
    quoted: Floats  # given the arm's place in this log, by the reward
    quoted_bias: Floats
    quoted_bias_se: Floats  # Monte-Carlo standard error of it
    bias: Floats  # on average over experiments
    bias_se: Floats
    corrected: Floats  # by that

    @property
    def naive(self) -> Floats:
        """The means as they are."""
        return self.means

    @classmethod
    def of_document(cls, found: Mapping[str, Any], arm_count: int) -> "MetricResult":
        """What result.json says; old ones lack what is not in the log."""
        nothing = [None] * arm_count
        parts = cls(*(np.array(found.get(key, nothing), dtype=np.float64) for key in cls._fields))
        if any(part.shape != (arm_count,) for part in parts):
            raise ValueError("metrics")
        return parts

    def columns(self, name: str) -> dict[str, Floats]:
        """What a data frame has of it."""
        return {f"{name}.{key}": getattr(self, key) for key in SHOWN}
