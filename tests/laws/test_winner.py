"""The winner's curse and differences between arms, against exact enumeration and by hand."""

import functools

import numpy as np
import pytest
from catalogue import RULES, Z

import debandit as db
from debandit.engine import spread
from debandit.engine.runs import Wish
from debandit.simulation import _experiment
from debandit.theory.dynamic import exact_two_arms

RUNS = 400_000


@functools.cache
def tallied(policy, p1=0.4, p2=0.55, horizon=40, runs=RUNS):
    experiment = _experiment(policy, db.worlds.Bernoulli([p1, p2]), horizon, 31)
    return spread.tally(experiment, np.array([runs]), Wish(controls=np.array([[1, 0]])))


def joint(total):
    """Bias and its error of both differences and of the highest mean."""
    (bias, error), best = total.differences, total.best
    return np.append(bias[0], best.bias[0]), np.append(error[0], best.se[0])


@pytest.mark.parametrize("rule", ["ucb", "etc", "epsilon", "thompson", "beta"])
def test_two_arms_exactly(rule):
    """Conjugate Thompson sampling may leave an arm unpulled. Control: the other quantity's value."""
    total, exact = tallied(RULES[rule][0]), exact_two_arms(RULES[rule][0], 0.4, 0.55, 40)
    bias, error = joint(total)
    expected = np.array([-exact.difference, exact.difference, exact.winner])
    assert (np.abs(bias - expected) < Z * error).all()
    arms = exact.bias
    assert abs(bias[2] - arms[1]) > 2 * Z * error[2]  # the arm's bias is not that of the winner
    assert abs(bias[1] - arms[1]) > 2 * Z * error[1]


@pytest.mark.usefixtures("in_steps")
def test_large_batches_and_objects_count_alike():
    """Steps of whole batches are another code; so are Python objects, in tests/unit/test_winner_table.py."""
    policy = db.Batched(db.EpsilonGreedy(0.2), size=100)
    experiment = _experiment(policy, db.worlds.Bernoulli([0.4, 0.55]), 400, 32)
    total = spread.tally(experiment, np.array([20_000]), Wish(controls=np.array([[1, 0]])))
    runs = db.simulate(policy, db.worlds.Bernoulli([0.4, 0.55]), horizon=400, runs=20_000, seed=32)
    errors = runs.means - [0.4, 0.55]
    best = np.argmax(runs.means, axis=1)
    every = np.column_stack((errors[:, 0] - errors[:, 1], errors[:, 1] - errors[:, 0], errors[np.arange(20_000), best]))
    bias, error = joint(total)
    np.testing.assert_allclose(bias, every.mean(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(error, every.std(axis=0, ddof=1) / np.sqrt(20_000), rtol=1e-6)
