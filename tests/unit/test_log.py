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
    one, two = (db.debias(log, db.UCB(), world="efron", runs=2000, seed=1, force=True) for log in (rounds, counts))
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
        (["a", "b"], [10**400, 1], "must be numbers"),
        (["a", "b"], [1e300, 1], "another unit"),
        (["a", "b"], [1e-170, 1e-171], "another unit"),
        (["a", None], [1, 2], "an arm is missing"),
        (["a", float("nan")], [1, 2], "an arm is missing"),
        (["a", ""], [1, 2], "an arm is missing"),
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


def test_names_are_text_that_files_can_keep():
    half = "\ud800"
    for made in (
        lambda: db.ExperimentLog(["A", half], [1, 2]),
        lambda: db.ExperimentLog(["A", "B"], [1, 2], metrics={half: [1, 2]}),
        lambda: db.ExperimentLog.from_batches([half, half], ["A", "B"], [1, 2], [1, 2], [1, 1]),
        lambda: db.ExperimentLog.from_summaries("AB", [1, 2], [1, 2], [1, 1], metrics={half: ([1, 2], None, None)}),
    ):
        with pytest.raises(db.InputError, match="is not text in UTF-8"):
            made()


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


def test_constant_rewards_have_no_variance():
    """0.1 + 0.1 + 0.1 is not 0.3 in floating point; the variance of three equal rewards is 0 all the same."""
    log = db.ExperimentLog(["a"] * 3 + ["b"] * 2, [0.1] * 3 + [1, 2])
    assert (log.means[0], log.variances[0]) == (0.1, 0.0)


def test_nobody_can_change_a_log():
    log = db.ExperimentLog(["a", "b"], [1, 2])
    for array in (log.means, log.pulls, log.variances, log.rounds.rewards):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9


@pytest.mark.parametrize(
    ("pulls", "means", "variances", "binary", "message"),
    [
        ([1.7, 2], [1, 2], [1, 1], False, "whole numbers"),
        (["x", 2], [1, 2], [1, 1], False, "must be numbers"),
        ([0, 0], [1, 2], [1, 1], False, "not all 0"),
        ([3, 2], [1, 2], None, False, "need variances"),
        ([3, 2], [1, np.nan], [1, 1], False, "finite"),
        ([3, 2], [1, 2], [1, -1], False, "variances 0 or more"),
        ([2, 2], [0.33, 0.5], None, True, "no 0/1 rewards have such a mean"),
        ([2, 2], [1.5, 0.5], None, True, "between 0 and 1"),
        ([3, 2, 1], [1, 2], [1, 1], False, "one value for each arm"),
        ([3, 2, 1], [1, 2, 3], [1, 1, 1], False, "one value for each of the 2 arms"),
    ],
)
def test_impossible_summaries(pulls, means, variances, binary, message):
    with pytest.raises(db.InputError, match=message):
        db.ExperimentLog.from_summaries(["a", "b"], pulls, means, variances, binary=binary)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ({"pulls": -1}, "whole numbers"),
        ({"pulls": 2.5}, "whole numbers"),
        ({"means": 1.2}, "between 0 and 1"),
        ({"means": 0.33}, "no 0/1 rewards have such a mean"),
        ({"means": np.nan}, "finite"),
        ({"variances": -1.0}, "variances 0 or more"),
    ],
)
def test_every_cell_of_a_batch_table_is_checked(cell, message):
    """Each of these would vanish in the totals of its arm."""
    good = {"pulls": [10, 10, 10, 10], "means": [0.5, 0.4, 0.5, 0.6]}
    table = {"batches": [1, 1, 2, 2], "arms": ["a", "b", "a", "b"], **good}
    assert db.ExperimentLog.from_batches(**table, binary=True).horizon == 40
    binary = "variances" not in cell
    table |= {} if binary else {"variances": [1.0, 1.0, 1.0, 1.0]}
    ((name, bad),) = cell.items()
    with pytest.raises(db.InputError, match=message):
        db.ExperimentLog.from_batches(**(table | {name: [*table[name][:3], bad]}), binary=binary)
    with pytest.raises(db.InputError, match="each row needs a batch"):
        db.ExperimentLog.from_batches([1, 1, 2], table["arms"], **good, binary=True)


def test_counts_of_successes_are_not_means_and_variances():
    """The same numbers, but the world and the interval depend on what they are."""
    summaries = ["a", "b"], [10, 20], [0.5, 0.25], [0.25, 0.1875]
    one, two = (db.ExperimentLog.from_summaries(*summaries, binary=binary) for binary in (True, False))
    assert np.array_equal(one.variances, two.variances)
    assert one.sha256 != two.sha256


def test_nobody_can_write_to_metrics():
    rows = db.ExperimentLog(["a", "b"], [0, 1], metrics={"m": [1.0, 2.0]})
    metric = {"m": ([1.0, 2.0], [1.0, 1.0], [0.0, 0.0])}
    table = db.ExperimentLog.from_batches([1, 1], ["a", "b"], [5, 5], [0.2, 0.4], binary=True, metrics=metric)
    assert not any(part.flags.writeable for log in (rows, table) for part in log.metrics["m"])
    assert not rows.rounds.metrics["m"].flags.writeable
    assert not any(part.flags.writeable for part in table.batches.metrics["m"])
