"""A warning where a few rewards carry the correction, and none for ordinary ones."""

import numpy as np
import pytest

import debandit as db
from debandit.debiasing.outliers import carried_by_few
from debandit.study.population import CONTINUOUS, population


def log_of(rewards, pulls=(60, 20, 20)):
    return db.ExperimentLog(np.repeat(["a", "b", "c"], pulls), rewards)


ORDINARY = np.random.default_rng(1).normal(size=100)


@pytest.mark.parametrize("size", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("where", [[7], [70], [7, 8], [7, 8, 9]])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e9])
def test_planted_rewards_are_found(size, where, unit):
    rewards = ORDINARY.copy()
    rewards[where] = size
    (warning,) = carried_by_few(log_of(unit * rewards))
    assert ("one reward, " if len(where) == 1 else f"{len(where)} rewards, the farthest ") in warning
    assert f"{unit * size:.6g} of {'a' if where[0] == 7 else 'b'}" in warning
    assert carried_by_few(log_of(unit * ORDINARY)) == []


def test_one_outlier_in_each_of_two_arms_is_enough():
    rewards = ORDINARY.copy()
    rewards[[7, 70]] = 1e6
    assert carried_by_few(log_of(rewards))


def test_few_pulls_are_no_outliers():
    rewards = ORDINARY.copy()
    rewards[98] = 1e6  # one of an arm's two rewards, and then its only one, which lends its spread to nobody
    assert carried_by_few(log_of(rewards, (70, 28, 2)))
    assert carried_by_few(log_of(rewards[:99], (70, 28, 1))) == []
    assert carried_by_few(log_of(rewards[[0, 1, 2, 98]], (2, 2, 0))) == []  # one of four is no outlier
    assert carried_by_few(log_of(np.ones(100))) == []
    assert carried_by_few(db.ExperimentLog(["a", "b"] * 30, [0, 1] * 29 + [1, 1])) == []
    assert carried_by_few(db.ExperimentLog.from_summaries(["a", "b"], [9, 9], [1.0, 1.0], [1.0, 1e9])) == []
    once = db.ExperimentLog([f"arm {i}" for i in range(40)], ORDINARY[:40])
    assert carried_by_few(once) == []


def test_it_does_not_cry_wolf():
    """At most 1 % of ordinary experiments; docs/worlds.md has less."""
    found = []
    for setting in population(CONTINUOUS, 2, 8):
        runs = db.simulate(setting.policy, setting.world, horizon=setting.horizon, runs=40, seed=1, paths=True)
        found += [bool(carried_by_few(runs.log(i))) for i in range(40)]
    assert np.mean(found) < 0.01 + 4.5 * np.sqrt(0.01 * 0.99 / len(found))


def test_a_result_warns_and_what_it_advises_helps():
    rewards = 1 + ORDINARY
    rewards[7] = 1e6
    log = log_of(rewards, (60, 40, 0))
    result = db.debias(log, "ucb", force=True, runs=500)
    assert any("one reward, 1e+06 of a" in warning for warning in result.warnings)
    assert abs(result.bias[1]) > 100  # of a mean of 1
    given = db.debias(log, "ucb", force=True, runs=500, world="smoothed(sd=1)")
    assert abs(given.bias[1]) < 1
