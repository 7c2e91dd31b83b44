"""What `describe` says of a log."""

import numpy as np

import debandit as db
from debandit import cli
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


def test_batches_metrics_and_rules(tmp_path, capsys):
    days = [str(day) for day in range(14) for _ in "ab"]
    metric = {"revenue": (np.full(28, 2.5), np.ones(28), np.zeros(28))}
    log = db.ExperimentLog.from_batches(
        days, ["a", "b"] * 14, [30, 10] * 14, [0.5, 0.2] * 14, binary=True, metrics=metric
    )
    found = Description(log)
    lines = found.batches().splitlines()
    assert len(lines) == 2 + 12 + 1  # six of the first batches, a line for the two in between, six of the last
    assert lines[2].split() == ["0", "40", "75.0", "%", "25.0", "%"]
    assert lines[8] == "... 2 more"
    assert "mean revenue" in str(found)
    assert found.suits().endswith("rules suit")  # two arms and 0/1 rewards
    three = db.ExperimentLog(["a", "b", "c"], [0, 1, 1], batches=[1, 1, 1])
    assert Description(three).suits().endswith("rules suit; 1 needs two arms")
    assert Description(three).headline == "3 arms, 3 rounds in 1 batch of 3; rewards are 0/1"
    assert Description(three).batches().splitlines()[2].split() == ["1", "3", "33.3", "%", "33.3", "%", "33.3", "%"]
    file = tmp_path / "times.csv"
    file.write_text("time,arm,reward\n2026-01-01T10:00,a,1\n2026-01-01T11:00,b,0\n2026-01-02T10:00,a,1\n")
    assert cli.main(["describe", str(file), "--batch-by", "day"]) == 0
    told = capsys.readouterr().out
    assert "in 2 batches of 1 to 2" in told
    assert "--batch-by day" in told
