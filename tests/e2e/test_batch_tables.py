"""Tables of batches from the file to the result, on the command line and in Python."""

import json

import numpy as np
import pytest
from batch_tables import tables
from commands import fails, run
from object_rules import Explorer

import debandit as db
from debandit.describing import Description

SIZES = (60, 80, 100)
B3, N3 = db.worlds.Bernoulli([0.3, 0.6, 0.5]), db.worlds.Normal([1.0, 1.5, 1.2], [1.0, 0.5, 2.0])


def written(log, path):
    """The table as a file, with means and standard deviations, or with successes."""
    batches = log.batches
    lines = ["day,arm,n,wins" if log.binary else "day,arm,n,m,s"]
    for b, k in np.argwhere(batches.pulls > 0):
        n, mean, variance = batches.pulls[b, k], batches.means[b, k], batches.variances[b, k]
        sd = float(np.sqrt(variance * n / max(n - 1, 1)))
        told = f"{round(n * mean)}" if log.binary else f"{float(mean)!r},{sd!r}"
        lines.append(f"day {b + 1},{log.labels[k]},{n},{told}")
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def counts(tmp_path):
    (log,) = tables("thompson", N3, SIZES, 1, seed=4)
    columns = ("--pulls", "n", "--mean", "m", "--sd", "s", "--batch", "day", "--arms", "1,2,3", "--available", "all")
    return written(log, tmp_path / "days.csv"), columns, log


def test_everything_works_on_a_table_of_batches(counts):
    path, columns, log = counts
    saved = path.with_name("r.json")
    done = run("debias", path, *columns, "--policy", "batched(thompson)", "--control", "1", "--json", saved)
    assert done.returncode == 0, done.stderr
    result = db.Debiased.from_json(saved)
    again = db.debias(log, "batched(thompson)", control="1")
    np.testing.assert_allclose(result.naive, again.naive, rtol=1e-12)
    assert result.settings.world == "gaussian"
    assert result.interval.name == "pooled-t"
    assert np.isfinite([result.low, result.high, result.corrected]).all()
    assert result.winner.arm in log.labels
    assert np.isfinite(result.differences.corrected[1:]).all()
    assert json.loads(saved.read_text())["settings"]["policy"].endswith("size=(60, 80, 100))")
    fit = run("check", path, *columns, "--policy", "batched(thompson)")
    assert fit.returncode == 0, fit.stdout
    assert "counts of 3 batches" in fit.stdout
    told = str(Description(log))
    assert "in 3 batches of 60 to 100" in told
    assert "interval pooled-t" in told


def test_a_rule_that_is_not_batched_is_refused_with_both_ways_out(counts):
    path, columns, _ = counts
    message = fails(2, "debias", path, *columns, "--policy", "thompson")
    for part in (
        "the log has batches",
        'write "batched(thompson)"',
        "leave out --batch",
        "the counts of each arm are added up",
    ):
        assert part in message
    without = [each for each in columns if each not in ("--batch", "day", "--available", "all")]
    assert run("debias", path, *without, "--policy", "thompson", "--runs", 200).returncode == 0


@pytest.mark.parametrize(
    "rule", ["exp3", "etc(pulls=5)", "kl_ucb", "ucb_tuned", "gaussian_thompson", "play_the_winner"]
)
def test_rules_that_need_the_order_within_a_batch(rule, tmp_path):
    """They are simulated by rounds; those that do not go by totals are judged by their pull counts."""
    (log,) = tables(rule, B3, SIZES, 1, seed=7)
    declared = f"batched({rule})"
    fit = db.check(log, declared)
    by_counts = db.policies.as_policy(rule).by_totals
    assert (fit.batches_checked > 0) == by_counts
    assert fit.findings[0].test == ("counts of 3 batches" if by_counts else "pull counts (approximate)")
    assert fit.fits
    assert np.isfinite(db.debias(log, declared, runs=300).corrected).all()
    if rule == "exp3":
        path = written(log, tmp_path / "days.csv")
        columns = ("--pulls", "n", "--successes", "wins", "--arms", "1,2,3", "--available", "all")
        done = run("debias", path, *columns, "--policy", declared, "--runs", 300)
        assert done.returncode == 0, done.stderr


def test_control_pull_counts_notice_another_rule():
    (log,) = tables("uniform", B3, (200, 200, 200), 1, seed=7)
    assert db.check(log, "batched(etc(pulls=5))").verdict == "implausible"


def test_python_objects():
    (log,) = tables(Explorer(), db.worlds.Bernoulli([0.3, 0.6]), (20, 20), 1, seed=7)
    assert db.check(log, db.Batched(Explorer())).findings[0].test == "pull counts (approximate)"
    assert np.isfinite(db.debias(log, db.Batched(Explorer()), runs=50).corrected).all()
