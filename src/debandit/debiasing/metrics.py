"""The bias of outcomes that the rule did not look at.

Given the rewards, the rule's choices say nothing about the rest of such an outcome. So if its expected value is a
straight line of the reward within an arm, then the bias of its mean is the slope times the bias of the reward's mean,
over all experiments and over those in which the arm has its place, which goes by the rewards.
"""

import numpy as np

from debandit.engine.data import Floats
from debandit.log import ExperimentLog
from debandit.log_parts import Metric
from debandit.metrics import MetricResult
from debandit.worlds.fitted import moderated_variances


def corrected_metrics(
    log: ExperimentLog, bias: Floats, bias_se: Floats, quoted_bias: Floats, quoted_bias_se: Floats
) -> dict[str, MetricResult]:
    """The log's metrics, from what is known of the bias of its rewards."""
    found = {}
    for name, metric in log.metrics.items():
        slope = slopes(log, metric)
        steep = np.abs(slope)
        found[name] = MetricResult(
            *metric,
            slope=slope,
            quoted=metric.means - slope * quoted_bias,
            quoted_bias=slope * quoted_bias,
            quoted_bias_se=steep * quoted_bias_se,
            bias=slope * bias,
            bias_se=steep * bias_se,
            corrected=metric.means - slope * bias,
        )
    return found


def slopes(log: ExperimentLog, metric: Metric) -> Floats:
    """The slope of a metric on the reward within each arm: covariance divided by variance, moderated alike.

    An arm pulled once has that of all arms. NaN if no covariance is known, or if rewards vary within no arm.
    """
    if not (log.pulls > 1).any():
        return np.full(len(log.labels), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        slope: Floats = moderated_variances(log.pulls, metric.covariances) / moderated_variances(
            log.pulls, log.variances
        )
    return np.where(log.pulls > 0, slope, np.nan)
