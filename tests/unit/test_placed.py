"""Quoted means in studies: that they are those of `debias`, and how errors are put together by place."""

import numpy as np
import pytest

import debandit as db
from debandit.simulation import Runs
from debandit.study.accuracy import QUOTED, accuracy_study
from debandit.study.cell import Cell
from debandit.study.methods import measure
from debandit.study.placed import FIXED, TOGETHER, VALUES, by_place, placed

WORLD = db.worlds.Normal([0.0, 0.2, 0.4], [1.0, 1.0, 1.0])


def test_quoted_means_are_those_of_debias():
    """The same seed and places in the list, hence the same runs."""
    experiments = db.simulate("ucb", WORLD, horizon=40, runs=5, seed=2, paths=True)
    cell = Cell("one", db.UCB(), WORLD, 40, (QUOTED,), 5, 300)
    found = measure(QUOTED, experiments, cell, 7, 1)["estimate"]
    logs = [experiments.log(i) for i in range(5)]
    plain = db.debias_all(logs, "ucb", runs=300, seed=7, control_variates=False, interval="none")
    np.testing.assert_allclose(found, [result.quoted for result in plain], rtol=1e-10)
    assert np.abs(found - [result.corrected for result in plain]).max() > 0.01  # control


def test_errors_by_place():
    """Two experiments by hand: arm 3 leads the first, arm 2 the second, in which arm 3 has no pull."""
    pulls, sums = np.array([[5, 3, 2], [2, 3, 0]]), np.array([[0.0, 0.3, 2.0], [0.0, 3.0, 0.0]])
    experiments = Runs(db.UCB(), WORLD, 10, 0, pulls, sums)
    errors = np.array([[-1.0, 2.0, 3.0], [4.0, 5.0, np.nan]])
    found, none = by_place(experiments, errors), np.nan
    np.testing.assert_array_equal(found["error@leader"], [[none, none, 3.0], [none, 5.0, none]])
    np.testing.assert_array_equal(found["error@most_pulled"], [[-1.0, none, none], [none, 5.0, none]])
    np.testing.assert_array_equal(found["error@others"], [[-1.0, 2.0, none], [4.0, none, none]])
    np.testing.assert_array_equal(found["squared_error@others"], [[1.0, 4.0, none], [16.0, none, none]])


def rows(quantity, naive, quoted):
    """(value, experiments) of each arm; corrected means are like the naive ones."""
    values = dict(zip(VALUES, (naive, naive, quoted), strict=True))
    return [
        {"quantity": quantity, "method": method, "value": value, "n": n}
        for method, arms in values.items()
        for value, n in arms
    ]


def test_a_setting_by_hand():
    """Together (1 x 30 + -2 x 10)/40 = 0.25, with a naive RMSE of sqrt((4 x 30 + 8 x 10)/40) = sqrt(5)."""
    unused = [f"{kind}_of_{place}" for kind in ("bias", "mse") for place in ("most_pulled", "others")]
    found = placed(
        [
            *rows("bias", [(1.0, 30), (-2.0, 10)], [(0.5, 30), (-1.5, 10)]),
            *rows("mse", [(4.0, 30), (8.0, 10)], [(1.0, 30), (2.0, 10)]),
            *rows("bias_of_leader", [(0.5, 8)], [(-0.2, 8)]),
            *rows("mse_of_leader", [(4.0, 8)], [(9.0, 8)]),
            *(row for name in unused for row in rows(name, [(1.0, 1)], [(1.0, 1)])),
        ]
    )
    assert found.off["best-looking arm", "quoted"] == pytest.approx(0.1)
    assert found.rmse["best-looking arm", "quoted"] == pytest.approx(1.5)
    assert found.off[TOGETHER, "naive"] == pytest.approx(0.25 / np.sqrt(5))
    assert found.off[TOGETHER, "quoted"] == pytest.approx(0.0)
    assert found.rmse[TOGETHER, "quoted"] == pytest.approx(np.sqrt(1.25 / 5))
    assert found.off[FIXED, "quoted"] == pytest.approx((0.5 / 2 + 1.5 / np.sqrt(8)) / 2)
    assert found.rmse[FIXED, "quoted"] == pytest.approx(0.5)


def test_beta_thompson_is_among_the_rules_for_binary_rewards():
    """In the settings in which Thompson sampling has its turn; MB cannot run there."""
    study = accuracy_study(settings=4, experiments=2, runs=2, families=("binary",))
    rules = [cell.policy.name for cell in study.cells]
    assert rules == ["etc", "ucb", "thompson", "epsilon_greedy", "beta_thompson"]
    assert study.cells[4].methods == VALUES
    assert len(accuracy_study(settings=4, families=("t5",)).cells) == 4
