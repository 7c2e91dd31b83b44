"""Outcomes besides the reward in a result: how far their means are off because the rule chose by the rewards."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.errors import printable, shorten
from debandit.tables import Column, decimals_for, render

Floats = NDArray[np.float64]

SHOWN = ("naive", "slope", "quoted", "quoted_bias", "quoted_bias_se", "bias", "bias_se", "corrected")
_ARM = (Column("arm", "arm", "text"), Column("naive", "naive mean", "number"))
_QUOTED = (Column("quoted", "quoted mean", "number"), Column("quoted_bias_se", "± MC s.e.", "number"))
_CORRECTED = (Column("corrected", "corrected mean", "number"), Column("bias_se", "± MC s.e.", "number"))
_HOW = (
    "The rule did not look at metrics, so the bias of one is its slope on the reward times the bias of the reward.",
    "This is exact for 0/1 rewards, and where its expected value is a straight line of the reward (docs/metrics.md).",
)


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


def metric_lines(labels: Sequence[str], pulls: Floats, metrics: Mapping[str, MetricResult]) -> list[str]:
    """A table for each metric, or why it is not corrected."""
    lines = []
    for name, metric in metrics.items():
        shown = shorten(name, 200)
        if np.isnan(metric.slope).all():
            lines += [printable(f"Metric {shown}, not corrected: {_why_not(shown, metric)}"), ""]
            columns = _ARM
        else:
            lines += [printable(f"Metric {shown}, corrected as far as it goes with the reward:"), ""]
            columns = (*_ARM, *((*_QUOTED, _CORRECTED[0]) if np.isfinite(metric.quoted).any() else _CORRECTED))
        rows = [{"arm": label, **{key: getattr(metric, key)[k] for key in SHOWN}} for k, label in enumerate(labels)]
        lines += [render(rows, columns, _decimals(pulls, metric)), ""]
    return [*lines, *_HOW, ""] if any(np.isfinite(m.slope).any() for m in metrics.values()) else lines


def _why_not(name: str, metric: MetricResult) -> str:
    if np.isnan(metric.covariances).all():
        return f"its products with the reward are not known. Give their sum in the column {name}_products."
    return "the rewards vary within no arm, so nothing says how it goes with them."


def _decimals(pulls: Floats, metric: MetricResult) -> int:
    """As many decimals as show Monte-Carlo errors, but none below 3 % of the standard error of an arm's mean."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return decimals_for(np.fmax(metric.bias_se, 0.03 * np.sqrt(metric.variances / pulls)).tolist())
