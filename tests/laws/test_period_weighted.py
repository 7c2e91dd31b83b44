"""Period-weighted means of batched rules are exactly unbiased, whatever the drift, if each arm has pulls in each batch.

Quotas over a floor make sure of that: of 20 rounds each arm has at least two.
"""

import numpy as np
import pytest

import debandit as db
from debandit.estimators import batch_weighted
from debandit.study.comparisons import measure_adjusted
from debandit.study.methods import measure_interval

Z = 4.5
RULES = ("thompson", "ucb", "epsilon_greedy(epsilon=0.2)", "softmax(temperature=0.2)", "beta_thompson")
STEADY = {"normal": "normal(means=[0, 0.1, 0.2], sds=[1, 1, 1])", "bernoulli": "bernoulli([0.3, 0.4, 0.5])"}
EFFECTS = "effects=[0.8, -0.4, 0, -0.8, 0.4], size=20"


@pytest.mark.parametrize("drifts", [False, True], ids=["steady", "drift"])
@pytest.mark.parametrize("rule", RULES)
def test_exactly_unbiased(rule, drifts):
    """The control: plain means are biased in the same runs."""
    kind = "bernoulli" if rule == "beta_thompson" else "normal"
    world = f"drifting({STEADY[kind]}, {EFFECTS})" if drifts else STEADY[kind]
    policy = f"quota(floor(batched({rule}, size=20), probability=0.1))"
    runs = db.simulate(policy, world, horizon=100, runs=2000, seed=16, paths=True)
    found, truth = batch_weighted(runs).value, runs.world.means

    def z(values):
        return np.abs(values.mean(axis=0) - truth) / (values.std(axis=0) / np.sqrt(len(values)))

    assert np.isfinite(found).all()
    assert (z(found) < Z).all()
    assert z(runs.means).max() > 1.5 * Z


def test_limits_cover_in_spite_of_weekends():
    """Means and differences, of web-like 0/1 rewards. The control: limits of plain means do not."""
    world = "drifting(bernoulli([0.05, 0.06]), effects=[0, 0, 0, 0, 0, 0.8, 0.8], size=1000)"
    policy = "floor(batched(beta_thompson, size=1000), probability=0.1)"
    runs = db.simulate(policy, world, horizon=7000, runs=400, seed=16, paths=True)
    least = 0.95 - Z * np.sqrt(0.05 * 0.95 / 400)
    arms, differences = (
        measure_adjusted(f"{kind}: period-weighted", runs)["coverage"] for kind in ("arm", "difference")
    )
    assert (arms.mean(axis=0) > least).all()
    assert differences[:, 1].mean() > least
    assert measure_interval("binary", runs)["coverage"].mean(axis=0).min() < least
