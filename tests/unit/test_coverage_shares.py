"""Coverage over a population: names of methods, what counts as too seldom, and what tests find."""

import numpy as np
import pytest

import debandit as db
from debandit.errors import InputError
from debandit.intervals import Sample, pooled_t
from debandit.study.comparisons import COMPARISONS, Asked, comparisons, measure_comparison
from debandit.study.coverage import coverage_study
from debandit.study.shares import Arms, bounds


def test_names_of_methods():
    assert Asked.of("winner, plain tails: pooled-t") == ("winner, plain tails", "pooled-t", 0.95)
    assert Asked.of("difference: binary, 80 %") == ("difference", "binary", 0.8)
    assert [str(Asked.of(name)) for name in COMPARISONS] == list(COMPARISONS)
    assert comparisons("binary", 0.99) == ("arm: binary, 99 %", "difference: binary, 99 %", "winner: binary, 99 %")


def test_what_is_too_seldom():
    """The error is 1.4 times what the level allows: 7 % at 95 %, 28 % at 80 %."""
    assert bounds(0.95) == (0.93, 0.97)
    assert bounds(0.8) == (0.72, 0.88)
    values, errors = np.array([0.70, 0.715, 0.80, 0.90]), np.full(4, 0.005)
    found = Arms(values, errors, np.empty(0), 0.8).summary()
    assert (found["low"], found["surely"], found["good"]) == (0.5, 1, 0.25)
    assert Arms(values, errors, np.empty(0)).low().value == 1.0
    assert Arms(values, errors, np.empty(0)).highest() == (0.90, 0.005)


def test_limits_at_another_level():
    experiments = db.simulate("ucb", "normal(means=[0,1],sds=[1,1])", horizon=30, runs=50, seed=1, paths=True)
    low, high, *_ = pooled_t(Sample(*experiments.paths(), 2), 0.8)
    expected = (low <= [0, 1]) & (high >= [0, 1])
    np.testing.assert_array_equal(measure_comparison("arm: pooled-t, 80 %", experiments)["coverage"], expected)
    assert measure_comparison("arm: pooled-t, 99 %", experiments)["coverage"].sum() > expected.sum()


def test_what_tests_find():
    """Arm 2 equals the first one and arm 3 does not: there it is an error of the first kind, here it is power."""
    world = "normal(means=[0,0,3],sds=[1,1,1])"
    experiments = db.simulate("uniform", world, horizon=60, runs=200, seed=4, paths=True)
    found = measure_comparison("p-value: welch", experiments)
    assert np.isnan(found["type_1"][:, [0, 2]]).all()
    assert np.isnan(found["power"][:, :2]).all()
    assert found["power"][:, 2].mean() > 0.99
    assert 0 < found["type_1"][:, 1].mean() < 0.12  # 5 % without a bandit


@pytest.mark.parametrize("scale", ["long", "equal", "web"])
def test_other_populations(scale):
    study = coverage_study(settings=1, experiments=4, seed=3, scale=scale)
    cells = study.cells[:1] if scale == "web" else study.cells[:7:6]  # normal and 0/1
    found = type(study)(study.title, cells, 3, figure="coverage", scale=scale).run(progress="none")
    assert f"--population {scale}" in str(found)
    quantities = {row["quantity"] for row in found.rows}
    assert {"coverage", "type_1"} <= quantities or scale == "long"
    assert found.in_short().rows


def test_bad_options():
    for option in ({"scale": "huge"}, {"level": 0.94}):
        with pytest.raises(InputError, match="must be"):
            coverage_study(**option)
