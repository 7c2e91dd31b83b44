"""Batches and wrapped rules on the command line."""

from pathlib import Path

import own_rules
import pytest
from commands import fails, run

import debandit as db

SIZES = (12, 20, 8, 20)
RULE = "batched(ucb(c=2))"


@pytest.fixture
def days(tmp_path):
    """A log with a column of batches that differ in size."""
    policy = db.Batched(db.UCB(c=2), size=SIZES)
    runs = db.simulate(policy, db.worlds.Normal([1.0, 1.5, 1.2], [1.0, 1.0, 1.0]), horizon=60, runs=1, paths=True)
    names = [f"day {i + 1}" for i, size in enumerate(SIZES) for _ in range(size)]
    rows = zip(names, runs.path_arms[0], runs.path_rewards[0], strict=True)
    file = tmp_path / "days.csv"
    file.write_text("day,arm,reward\n" + "".join(f"{day},{arm},{float(reward)!r}\n" for day, arm, reward in rows))
    return file


def test_the_log_s_own_batches(days):
    result = run("check", days, "--batch", "day", "--policy", RULE)
    assert result.returncode == 0, result.stderr
    assert "batched(ucb(c=2), size=(12, 20, 8, 20)) may have made this log" in result.stdout
    wrong = run("check", days, "--policy", "batched(ucb(c=2), size=20)")
    assert wrong.returncode == 1
    assert "cannot have made this log" in wrong.stdout
    result = run("debias", days, "--batch", "day", "--policy", RULE, "--json", days.parent / "r.json")
    assert result.returncode == 0, result.stderr
    log = db.read_log(days, batch="day")
    assert str(db.debias(log, RULE)) == result.stdout.rstrip()
    assert db.Debiased.from_json(days.parent / "r.json").settings.policy == f"batched(ucb(c=2), size={SIZES})"


def test_what_batches_need(days):
    assert "the log has batches, but ucb learns from every reward at once" in fails(
        2, "debias", days, "--batch", "day", "--policy", "ucb"
    )
    run("debias", days, "--policy", RULE)  # guesses the column
    nameless = days.with_name("nameless.csv")
    nameless.write_text(days.read_text().replace("day,arm", "tag,arm"))
    assert "--batch COLUMN" in fails(2, "debias", nameless, "--policy", RULE)
    assert "both the rule and the log have batches" in fails(
        2, "check", days, "--batch", "day", "--policy", "batched(ucb, size=5)"
    )
    assert "no column 'dy'" in fails(2, "check", days, "--batch", "dy", "--policy", RULE)
    lines = days.read_text().splitlines(keepends=True)
    days.write_text("".join([*lines[:5], lines[-1], *lines[5:-1]]))
    message = fails(2, "debias", days, "--batch", "day", "--policy", RULE)
    assert "the batch 'day 1' goes on in round 6, after another one" in message
    assert "column 'day'" in message
    assert "the batches have 30 rounds, but the experiment has 60" in fails(
        2, "debias", days, "--policy", "batched(ucb, size=[10, 20])"
    )


def test_a_rule_of_a_file_inside_wrappers():
    file = Path(own_rules.__file__)
    world = ("--world", "bernoulli(means=[0.3,0.6])", "--horizon", 40, "--runs", 500)
    mine = run("simulate", "--policy", f"floor(batched({file}:Optimist(c=2), size=7), probability=0.1)", *world)
    assert mine.returncode == 0, mine.stderr
    assert f"debandit runs the file {file}" in mine.stderr
    built_in = run("simulate", "--policy", "floor(batched(ucb(c=2), size=7), probability=0.1)", *world)
    assert mine.stdout.partition("\n\n")[2] == built_in.stdout.partition("\n\n")[2] != ""  # the tables
    assert "there is no rule 'Optimistic'" in fails(
        2, "simulate", "--policy", f"batched({file}:Optimistic, size=7)", *world
    )


def test_a_data_set_is_a_log(tmp_path):
    """With its own rule, unless another is given; a file of the same name comes first."""
    result = run("check", "PAD", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "fits: quota(warm_up(batched(tempered(beta_thompson(" in result.stdout
    assert "does not fit" in run("check", "pad", "--policy", "batched(beta_thompson)", cwd=tmp_path).stdout
    assert "pad is a data set of debandit, whose columns are known" in fails(2, "check", "pad", "--arm", "arm")
    assert "Missing option '--policy'" in fails(2, "check", "bad")
    (tmp_path / "pad").write_text("arm,reward\na,1\nb,0\n")
    assert "Missing option '--policy'" in fails(2, "check", "pad", cwd=tmp_path)
