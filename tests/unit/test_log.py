"""Logs are valid by construction, whether a reader or a user makes them."""

import numpy as np
import pytest

import debandit as db


def test_summaries_by_hand():
    log = db.ExperimentLog(["b", "a", "b", "b"], [1, 5, 2, 6])
    assert log.labels == ("b", "a")
    assert log.pulls.tolist() == [3, 1]
    assert log.means.tolist() == [3.0, 5.0]
    np.testing.assert_allclose(log.variances, [14 / 3, 0])
    assert (log.horizon, log.binary, log.unseen) == (4, False, [])
    assert [s.tolist() for s in log.samples()] == [[1, 2, 6], [5]]


def test_declared_arms_decide_the_order_and_may_be_unseen():
    log = db.ExperimentLog(["b", "a"], [1, 0], labels=["a", "b", "c"])
    assert log.pulls.tolist() == [1, 1, 0]
    assert log.unseen == ["c"]
    assert log.binary
    assert np.isnan(log.means[2])


def test_summaries_alone_are_the_same_type():
    rounds = db.ExperimentLog(["a"] * 5 + ["b"] * 4, [1, 0, 0, 1, 1, 0, 0, 0, 1])
    counts = db.ExperimentLog.from_summaries(["a", "b"], [5, 4], [0.6, 0.25], binary=True)
    np.testing.assert_allclose(counts.variances, rounds.variances)
    assert [sorted(s) for s in counts.samples()] == [sorted(s) for s in rounds.samples()]
    one, two = (db.debias(log, db.UCB(), world="efron", runs=2000, seed=1) for log in (rounds, counts))
    z = (one.bias - two.bias) / np.hypot(one.bias_se, two.bias_se)
    assert np.abs(z).max() < 4.5
    assert two.path is None
    with pytest.raises(db.InputError, match="summaries only"):
        db.ExperimentLog.from_summaries(["a", "b"], [5, 4], [6, 2], [1, 1]).samples()


@pytest.mark.parametrize(
    ("arms", "rewards", "message"),
    [
        (["a", "a"], [1, 2], "fewer than two arms: a"),
        ([], [], "one number for each round"),
        (["a", "b"], [1], "2 arms but 1 rewards"),
        (["a", "b"], [1, np.nan], "round 2 is missing or infinite"),
        (["a", "b"], [np.inf, 1], "round 1 is missing or infinite"),
        (["a", "b"], ["x", 1], "must be numbers"),
        (["a", "b"], [[1, 2]], "one number for each round"),
    ],
)
def test_impossible_logs(arms, rewards, message):
    with pytest.raises(db.InputError, match=message):
        db.ExperimentLog(arms, rewards)


def test_labels_must_cover_the_log_once():
    with pytest.raises(db.InputError, match="'b' is in the log but not in the list"):
        db.ExperimentLog(["a", "b"], [1, 2], labels=["a", "c"])
    with pytest.raises(db.InputError, match="'a' is listed twice"):
        db.ExperimentLog(["a", "b"], [1, 2], labels=["a", "b", "a"])


def test_the_fingerprint_is_of_the_content():
    make = db.ExperimentLog
    assert make(["a", "b"], [1, 2]).sha256 == make(("a", "b"), np.array([1.0, 2.0])).sha256
    different = {
        make(["a", "b"], [1, 2]).sha256,
        make(["a", "c"], [1, 2]).sha256,
        make(["b", "a"], [1, 2]).sha256,
        make(["a", "b"], [1, 2], labels=["b", "a"]).sha256,
        make(["a", "b"], [1, 2.5]).sha256,
    }
    assert len(different) == 5
