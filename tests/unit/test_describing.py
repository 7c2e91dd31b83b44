"""What `describe` says of a log."""

import numpy as np

import debandit as db
from debandit.describing import Description


def test_numbers_of_each_arm():
    log = db.ExperimentLog(["a", "a", "b", "a"], [0.0, 2.0, 5.0, 4.0], labels=["a", "b", "c"])
    found = Description(log)
    assert found.headline == "3 arms, 4 rounds; rewards are numbers"
    a, b, c = found.rows()
    assert (a["pulls"], a["share"], a["mean"], a["sd"], a["zeros"], a["first"], a["last"]) == (
        3,
        0.75,
        2,
        2,
        1 / 3,
        "1",
        "4",
    )
    assert (b["pulls"], b["first"], b["last"], c["pulls"], c["first"]) == (1, "3", "3", 0, "–")
    assert found.shares().tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert "never pulled: c" in str(found)
    assert "world smoothed" in str(found)


def test_batches_and_counts():
    log = db.ExperimentLog.from_batches(["x", "x", "y"], ["a", "b", "b"], [30, 10, 60], [0.5, 0.2, 0.3], binary=True)
    found = Description(log)
    assert found.headline == "2 arms, 100 rounds in 2 batches of 40 to 60; rewards are 0/1"
    assert [(row["first"], row["last"]) for row in found.rows()] == [("x", "x"), ("x", "y")]
    np.testing.assert_allclose(found.shares(), [[0.75, 0.25], [0, 1]])
    assert found.picture().splitlines()[1:] == ["a  ▆ |", "b  ▂█|"]
    counts = Description(db.ExperimentLog.from_summaries(["a", "b"], [5, 6], [1.5, 2.5], [1, 1]))
    assert (counts.shares(), counts.picture()) == (None, "")
    assert "world gaussian" in str(counts)


def test_long_logs_are_cut_into_slices():
    log = db.ExperimentLog(["a"] * 500 + ["b"] * 500, np.arange(1000.0))
    assert Description(log).picture().splitlines()[1:] == [f"a  {'█' * 20}{' ' * 20}|", f"b  {' ' * 20}{'█' * 20}|"]
