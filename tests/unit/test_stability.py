"""How much an arm's pulls vary from run to run."""

import json

import numpy as np
import pytest
from commands import flat

import debandit as db
from debandit.engine import spread
from debandit.simulation import _experiment


@pytest.mark.parametrize("policy", ["ucb", "etc(pulls=3)", "batched(thompson, size=10)"])
def test_the_coefficient_of_variation_is_that_of_the_runs(policy):
    world = db.worlds.Normal([0.3, 0.5, 0.4], [1.0, 0.5, 1.0])
    total = spread.tally(_experiment(db.policies.as_policy(policy), world, 60, 4), np.array([300]))
    pulls = db.simulate(policy, world, horizon=60, runs=300, seed=4).pulls
    np.testing.assert_allclose(total.pulls_cv[0], pulls.std(axis=0) / pulls.mean(axis=0), rtol=1e-10)


def test_a_binomial_number_of_pulls():
    """Two arms by the throw of a coin: sqrt(T)/2 around T/2, so 1/sqrt(T); it is kept, and not worth a word."""
    log = db.simulate("uniform", db.worlds.Normal([0, 1], [1, 1]), horizon=400, runs=1, seed=3, paths=True).log(0)
    result = db.debias(log, "uniform", runs=4000)
    room = 4.5 / np.sqrt(2 * 4000)  # relative, of a standard deviation
    np.testing.assert_allclose(result.pulls_cv, 1 / 20, rtol=room)
    assert "hardly vary" not in result.details()


def test_unstable_pulls_are_kept_and_said(tmp_path):
    """Greedy rules leave an arm after one bad reward or stay with it to the end."""
    log = db.simulate("greedy", db.worlds.Normal([0, 0], [1, 1]), horizon=100, runs=1, seed=3, paths=True).log(0)
    result = db.debias(log, "greedy", runs=500)
    assert result.pulls_cv.max() > 0.5
    assert "textbook intervals and tests (wald) are only proved to hold if pulls hardly vary" in flat(result.details())
    np.testing.assert_array_equal(result.to_frame()["pulls_cv"], result.pulls_cv)
    result.to_json(tmp_path / "result.json")
    np.testing.assert_array_equal(db.Debiased.from_json(tmp_path / "result.json").pulls_cv, result.pulls_cv)
    document = json.loads((tmp_path / "result.json").read_text())
    for arm in document["arms"]:
        del arm["pulls_cv"]
    (tmp_path / "old.json").write_text(json.dumps(document))
    old = db.Debiased.from_json(tmp_path / "old.json")
    assert np.isnan(old.pulls_cv).all()
    assert "hardly vary" not in str(old)
