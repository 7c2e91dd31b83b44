"""Outcomes besides the reward in a result: how far their means are off because the rule chose by the rewards."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SHOWN = ("naive", "slope", "quoted", "quoted_bias", "quoted_bias_se", "bias", "bias_se", "corrected")


class MetricResult(NamedTuple):
    """A metric's mean in each arm, corrected as far as it goes with the reward; NaN where there is nothing to say.

    Attributes
    ----------
    means, variances, covariances : array of float
        As in the log: variances have the divisor n, covariances are with the reward.
    slope : array of float
        On the reward within the arm, drawn a little towards that of all arms.
    quoted, quoted_bias, quoted_bias_se : array of float
        The mean given the arm's place in this log, by the reward; its bias with the Monte-Carlo standard error.
    bias, bias_se : array of float
        The bias on average over experiments, with its Monte-Carlo standard error.
    corrected : array of float
        The mean minus that bias.
    """

    means: Floats
    variances: Floats
    covariances: Floats
    slope: Floats
    quoted: Floats
    quoted_bias: Floats
    quoted_bias_se: Floats
    bias: Floats
    bias_se: Floats
    corrected: Floats

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
