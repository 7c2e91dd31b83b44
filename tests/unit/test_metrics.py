"""Outcomes besides the reward in results: slopes by hand, what is kept and printed, and what cannot be corrected."""

import json

import numpy as np
import pytest

import debandit as db
from debandit.debiasing.metrics import slopes

ARMS, REWARDS = ["a", "a", "a", "b", "b", "c"], [1.0, 2.0, 3.0, 0.0, 2.0, 5.0]
REVENUE = [10.0, 10.0, 16.0, 1.0, 2.0, 7.0]


@pytest.fixture(scope="module")
def log():
    return db.ExperimentLog(ARMS, REWARDS, metrics={"revenue": REVENUE})


def test_slopes_by_hand(log):
    """Products 6 and 1, squares 2 and 2, freedom 2, 1 and 0: pooled (2 x 3 + 1 x 1)/3 and (2 x 1 + 1 x 2)/3."""
    expected = [(7 / 3 + 6) / (4 / 3 + 2), (7 / 3 + 1) / (4 / 3 + 2), 7 / 4]
    np.testing.assert_allclose(slopes(log, log.metrics["revenue"]), expected)


def test_biases_are_slopes_times_those_of_the_reward(log):
    result = db.debias(log, "uniform", runs=200)
    found = result.metrics["revenue"]
    np.testing.assert_array_equal(found.naive, log.metrics["revenue"].means)
    np.testing.assert_allclose(found.bias, found.slope * result.bias)
    np.testing.assert_allclose(found.quoted, found.naive - found.slope * result.quoted_bias)
    np.testing.assert_allclose(found.corrected, found.naive - found.bias)
    np.testing.assert_allclose(found.quoted_bias_se, np.abs(found.slope) * result.quoted_bias_se)
    falling = db.ExperimentLog(ARMS, REWARDS, metrics={"revenue": np.negative(REVENUE)})
    assert (db.debias(falling, "uniform", runs=200).metrics["revenue"].bias_se > 0).all()


def test_the_exactly_unbiased_method_corrects_metrics_too():
    rounds = db.simulate("ucb", db.worlds.Normal([0, 1], [1, 1]), horizon=30, runs=1, seed=2, paths=True).log(0).rounds
    log = db.ExperimentLog(rounds.arms, rounds.rewards, labels=[0, 1], metrics={"twice": 2 * rounds.rewards})
    result = db.debias(log, "ucb", method="rao-blackwell", runs=200)
    np.testing.assert_allclose(result.metrics["twice"].corrected, 2 * result.corrected)
    assert np.isnan(result.metrics["twice"].quoted).all()
    assert "Metric twice, corrected" in str(result)


def test_what_is_shown_and_kept(log, tmp_path):
    result = db.debias(log, "uniform", runs=200)
    text = str(result)
    assert text.index("Metric revenue, corrected as far as it follows the reward:") > text.index("quoted")
    frame = result.to_frame()
    np.testing.assert_array_equal(frame["revenue.quoted"], result.metrics["revenue"].quoted)
    np.testing.assert_array_equal(frame["revenue.slope"], result.metrics["revenue"].slope)
    result.to_json(tmp_path / "result.json")
    again = db.Debiased.from_json(tmp_path / "result.json")
    assert str(again) == text
    for part, other in zip(again.metrics["revenue"], result.metrics["revenue"], strict=True):
        np.testing.assert_array_equal(part, other)
    document = json.loads((tmp_path / "result.json").read_text())
    kept = {key: document["metrics"]["revenue"][key] for key in ("means", "variances", "covariances")}
    (tmp_path / "old.json").write_text(json.dumps(document | {"metrics": {"revenue": kept}}))
    old = db.Debiased.from_json(tmp_path / "old.json")
    np.testing.assert_array_equal(old.metrics["revenue"].naive, log.metrics["revenue"].means)
    assert np.isnan(old.metrics["revenue"].quoted).all()
    (tmp_path / "odd.json").write_text(json.dumps(document | {"metrics": {"revenue": {"means": [1.0]}}}))
    with pytest.raises(db.errors.InputError, match="not a result of debandit"):
        db.Debiased.from_json(tmp_path / "odd.json")


def test_metrics_that_cannot_be_corrected_say_why():
    days = {"arm": ["a", "b"] * 2, "day": [1, 1, 2, 2], "users": [10, 20, 10, 30], "buyers": [3, 5, 2, 9]}
    sums, products = {"revenue": [30.0, 50.0, 20.0, 90.0]}, {"revenue_products": [30.0, 50.0, 20.0, 90.0]}
    named = {"pulls": "users", "successes": "buyers", "batch": "day", "metrics": ["revenue"]}
    without, with_products = (db.read_log(days | part, **named) for part in (sums, sums | products))
    result = db.debias(without, "batched(uniform)", runs=200)
    np.testing.assert_allclose(result.metrics["revenue"].naive, [2.5, 2.8])
    assert np.isnan(result.metrics["revenue"].corrected).all()
    assert "Metric revenue, not corrected: its products with the reward are not known" in str(result)
    assert "column revenue_products" in str(result)
    found = db.debias(with_products, "batched(uniform)", runs=200).metrics["revenue"]
    np.testing.assert_allclose(found.slope, 10)  # every buyer pays 10
    assert np.isfinite(found.quoted).all()
    assert np.isnan(found.variances).all()  # nothing says how far apart the amounts are
    still = db.ExperimentLog(["a", "b", "a"], [1, 0, 1], metrics={"x": [1, 2, 3]})
    result = db.debias(still, "uniform", runs=200)
    assert np.isnan(result.metrics["x"].slope).all()
    assert "the rewards do not vary within any arm" in str(result)
    once = db.ExperimentLog(["a", "b"], [1, 0], metrics={"x": [1, 2]})
    assert np.isnan(db.debias(once, "uniform", runs=200).metrics["x"].slope).all()


def test_means_alone_are_enough_for_a_metric_of_summaries():
    log = db.ExperimentLog.from_summaries(
        ["a", "b"], [10, 20], [0.5, 0.2], binary=True, metrics={"x": ([1.0, 2.0], None, None)}
    )
    assert np.isnan(log.metrics["x"].covariances).all()
    with pytest.raises(db.errors.InputError, match="a finite value for each arm"):
        db.ExperimentLog.from_summaries(
            ["a", "b"], [10, 20], [0.5, 0.2], binary=True, metrics={"x": ([1.0, 2.0], [1.0, np.nan], None)}
        )
    with pytest.raises(db.errors.InputError, match="a finite value for each arm"):
        db.ExperimentLog.from_summaries(["a", "b"], [10, 20], [0.5, 0.2], binary=True, metrics={"x": (None,) * 3})


def test_an_unseen_arm_has_no_metric():
    log = db.ExperimentLog(["a", "b", "a"], [1.0, 2.0, 3.0], labels=["a", "b", "c"], metrics={"x": [1, 2, 3]})
    found = db.debias(log, "uniform", runs=200, unseen=(5.0, 1.0)).metrics["x"]
    for values in (found.naive, found.slope, found.quoted, found.bias, found.corrected):
        assert np.isnan(values).tolist() == [False, False, True]
