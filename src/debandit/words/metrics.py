"""What a result says about outcomes besides the reward."""

from typing import TYPE_CHECKING

import numpy as np

from debandit.errors import shorten
from debandit.metrics import SHOWN, MetricResult
from debandit.tables import Column, Part, Table, decimals_for

if TYPE_CHECKING:
    from debandit.result import Debiased

_ARM = (Column("arm", "arm", "text"), Column("naive", "raw mean", "number"))
_QUOTED, _QUOTED_SE = Column("quoted", "quoted", "number"), Column("quoted_bias_se", "± MC s.e.", "number")
_CORRECTED, _CORRECTED_SE = Column("corrected", "corrected", "number"), Column("bias_se", "± MC s.e.", "number")
_HOW = (
    "The rule did not look at metrics, so the bias of a metric is its slope on the reward times the bias of the "
    "reward. This is exact for 0/1 rewards, and whenever the metric follows the reward in a straight line "
    "(docs/metrics.md)."
)


def metric_parts(result: "Debiased") -> list[Part]:
    """A table for each metric, or why it is not corrected."""
    parts = []
    for name, metric in result.metrics.items():
        shown, found = shorten(name), _has_slope(metric)
        why = "corrected as far as it follows the reward:" if found else f"not corrected: {_why_not(shown, metric)}"
        quoted = (_QUOTED,) * bool(np.isfinite(metric.quoted).any())
        parts.append(Part("metrics", f"Metric {shown}, {why}"))
        parts.append(Part("metrics", _table(result, metric, (*_ARM, *quoted, *((_CORRECTED,) * found)))))
    return parts


def metric_details(result: "Debiased") -> list[Part]:
    """The Monte-Carlo errors of corrected metrics, and how these are made."""
    parts = []
    for name, metric in result.metrics.items():
        if _has_slope(metric):
            quoted = (_QUOTED, _QUOTED_SE) if np.isfinite(metric.quoted).any() else ()
            parts.append(Part("metrics", f"Metric {shorten(name)}, with Monte-Carlo errors:"))
            parts.append(Part("metrics", _table(result, metric, (_ARM[0], *quoted, _CORRECTED, _CORRECTED_SE))))
    return [*parts, Part("how", _HOW)] if parts else []


def _table(result: "Debiased", metric: MetricResult, columns: tuple[Column, ...]) -> Table:
    rows = [{"arm": label, **{key: getattr(metric, key)[k] for key in SHOWN}} for k, label in enumerate(result.labels)]
    return Table(rows, columns, _decimals(result, metric))


def _has_slope(metric: MetricResult) -> bool:
    return bool(np.isfinite(metric.slope).any())


def _why_not(name: str, metric: MetricResult) -> str:
    if np.isnan(metric.covariances).all():
        return f"its products with the reward are not known. Give their sum in the column {name}_products."
    return "the rewards do not vary within any arm, so nobody can say how it follows them."


def _decimals(result: "Debiased", metric: MetricResult) -> int:
    """As many decimals as show Monte-Carlo errors, but none below 3 % of the standard error of an arm's mean."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return decimals_for(np.fmax(metric.bias_se, 0.03 * np.sqrt(metric.variances / result.pulls)).tolist())
