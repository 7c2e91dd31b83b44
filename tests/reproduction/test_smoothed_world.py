"""What the smoothed world leaves of the bias on the paper's normal settings, T = 100.

The figures were measured elsewhere, with another implementation: the mean over arms of |residual bias| over 12,000 logs
with 60 runs each. Thompson sampling is the conjugate one with one initial pull of each arm.
"""

import numpy as np
import pytest
from catalogue import Z

import debandit as db
from debandit.debiasing import estimated_biases
from debandit.simulation import tally

TWO = db.worlds.Normal([1.0, 1.5], [1.0, 1.0])
FOUR = db.worlds.Normal([2.0, 2.5, 3.0, 3.5], [2.0, 1.0, 2.0, 1.0])
UCB, EG, TS = db.UCB(), db.EpsilonGreedy(0.05), db.ThompsonSampling(initial_pulls=1)
FIGURES = [
    (TWO, UCB, 0.0192, 0.0008),
    (TWO, TS, 0.0137, 0.0008),
    (TWO, EG, 0.0177, 0.0008),
    (FOUR, UCB, 0.151, 0.0014),
    (FOUR, TS, 0.179, 0.0014),
    (FOUR, EG, 0.082, 0.0014),
]


def left_over(true, experiments, world):
    """The mean over arms of |true bias - mean estimated bias|, and its standard error."""
    estimated = estimated_biases(experiments, world=world, runs=60, seed=6)
    residual = true.bias[0] - estimated.mean(axis=0)
    signed = (np.sign(residual) * estimated).mean(axis=1)
    error = np.hypot(signed.std(ddof=1) / np.sqrt(len(signed)), np.sqrt((true.bias_se**2).sum()) / len(residual))
    return np.abs(residual).mean(), error


@pytest.mark.parametrize(("place", "policy", "value", "error"), FIGURES)
def test_residual_bias(place, policy, value, error):
    true = tally(policy, place, horizon=100, runs=400_000, seed=7)
    experiments = db.simulate(policy, place, horizon=100, runs=4_000, seed=5, paths=True)
    ours, our_error = left_over(true, experiments, "smoothed")
    assert our_error < 2 * error
    assert abs(ours - value) < Z * np.hypot(our_error, error)
    papers, papers_error = left_over(true, experiments, "gaussian")  # control: the paper's world leaves more
    assert papers - value > 2 * Z * np.hypot(papers_error, error)
