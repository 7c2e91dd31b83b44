"""Arms whose standard deviations differ much, and what is said of their intervals."""

import numpy as np
import pytest

import debandit as db
from debandit.intervals.interval import spread_ratio


def test_the_ratio_by_hand():
    """Divisor n - 1, and only arms with 10 pulls or more whose rewards vary."""
    pulls, variances = np.array([[10.0, 20.0, 9.0, 50.0]]), np.array([[9.0, 1.0, 1000.0, 0.0]])
    np.testing.assert_allclose(spread_ratio(pulls, variances), np.sqrt(10 / (20 / 19)))
    np.testing.assert_array_equal(spread_ratio(np.array([9.0, 50.0]), np.array([1.0, 9.0])), 1.0)
    np.testing.assert_array_equal(spread_ratio(np.array([50.0, 50.0]), np.zeros(2)), 1.0)


def log_of(factor):
    rewards = np.random.default_rng(2).normal(size=60) * np.repeat([1.0, factor], 30)
    return db.ExperimentLog(np.repeat(["a", "b"], 30), rewards)


@pytest.mark.parametrize(("factor", "warned"), [(1, False), (2, False), (5, True), (0.2, True)])
def test_results_warn(factor, warned):
    result = db.debias(log_of(factor), "uniform", runs=100)
    assert any("the standard deviations of the arms differ by a factor of" in w for w in result.warnings) == warned


def test_the_exactly_unbiased_method_has_the_same_intervals():
    log = db.simulate("ucb(c=9)", db.worlds.Normal([0, 0], [1, 9]), horizon=60, runs=1, seed=2, paths=True).log(0)
    assert log.pulls.min() >= 10
    result = db.debias(log, "ucb(c=9)", runs=100, method="rao-blackwell")
    assert any("the standard deviations of the arms differ" in warning for warning in result.warnings)


def test_other_intervals_do_not_borrow():
    for name in ("wald", "none"):
        result = db.debias(log_of(5), "uniform", runs=100, interval=name, force=True)
        assert not any("standard deviations" in warning for warning in result.warnings)


def test_an_arm_pulled_once_is_told_apart():
    log = db.ExperimentLog(["a"] * 10 + ["b"], [*np.arange(10.0), 3.0])
    assert "if 5 times, 69 %" in str(db.debias(log, "uniform", runs=100))
