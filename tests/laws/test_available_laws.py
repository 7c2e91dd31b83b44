"""Arms that come later, against a simulation that knows nothing of ours."""

import numpy as np
import pytest
from batch_tables import table_of
from catalogue import Z, z_scores

import debandit as db
from debandit.checking.batch_counts import compare_batches, judge_batches

N2 = db.worlds.Normal([1.0, 1.5], [1.0, 1.0])
SIZES, TRUTH = (40, 40, 60, 60, 40), np.array([0.5, 0.5, 0.5])
THERE = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1], [0, 1, 1]], bool)


def log_of(counts, sums, squares, available):
    """The table (batches, arms) as a log, in which arms without pulls have no row."""
    days, arms = np.nonzero(counts)
    n, means = counts[days, arms], sums[days, arms] / counts[days, arms]
    variances = np.maximum(squares[days, arms] / n - means**2, 0.0)
    return db.ExperimentLog.from_batches(days, arms, n, means, variances, labels=range(3), available=available)


def thompson(runs, rng):
    """Counts, sums and sums of squares (runs, batches, arms) of Thompson sampling, one draw for each user."""
    counts, sums, squares = np.zeros((3, runs, len(SIZES), 3))
    for b, size in enumerate(SIZES):
        weight, total = 1 + counts.sum(axis=1), sums.sum(axis=1)
        draws = (total / weight)[:, None] + rng.normal(size=(runs, size, 3)) / np.sqrt(weight)[:, None]
        chosen = np.where(THERE[b], draws, -np.inf).argmax(axis=2)
        rewards = TRUTH[chosen] + rng.normal(size=(runs, size))
        for arm in range(3):
            mine = chosen == arm
            counts[:, b, arm] = mine.sum(axis=1)
            sums[:, b, arm], squares[:, b, arm] = (rewards * mine).sum(axis=1), (rewards**2 * mine).sum(axis=1)
    return counts.astype(int), sums, squares


@pytest.fixture(scope="module")
def played():
    return thompson(4000, np.random.default_rng(8))


def ran(rule):
    """The rule in a log with these absences."""
    counts = np.where(THERE, 20, 0)
    counts[:, 1] += np.array(SIZES) - counts.sum(axis=1)
    return db.Batched(rule).in_log(log_of(counts, counts * 0.5, counts * 1.25, THERE))


def simulated(rule, runs=4000):
    return db.simulate(ran(rule), db.worlds.Normal(TRUTH, [1.0, 1.0, 1.0]), horizon=sum(SIZES), runs=runs, seed=3)


@pytest.mark.parametrize("rule", ["uniform", "fixed_weights(weights=[5,3,2])"])
def test_without_learning_means_are_unbiased(rule):
    runs = simulated(rule)
    assert (np.abs(z_scores(runs.bias(), runs.bias_se())) < Z).all()


def test_control_with_learning_they_are_not():
    runs = simulated("thompson")
    assert np.abs(z_scores(runs.bias(), runs.bias_se())).max() > 3 * Z


def test_pulls_without_learning():
    """Every batch is shared by the arms that are there."""
    runs = simulated("uniform")
    expected = (np.array(SIZES)[:, None] * THERE / THERE.sum(axis=1, keepdims=True)).sum(axis=0)
    errors = runs.pulls.std(axis=0) / np.sqrt(len(runs.pulls))
    assert (np.abs(z_scores(runs.pulls.mean(axis=0) - expected, errors)) < Z).all()


def test_the_engine_plays_the_same_game(played):
    """Pulls and means of 4,000 runs, ours and those of the loop above."""
    counts, sums, _ = (part.sum(axis=1) for part in played)
    runs = simulated("thompson")
    for ours, theirs in ((runs.pulls, counts), (runs.means, sums / counts)):
        errors = [each.std(axis=0) / np.sqrt(len(each)) for each in (ours, theirs)]
        assert (np.abs(z_scores(ours.mean(axis=0) - theirs.mean(axis=0), *errors)) < Z).all()
    always = db.simulate(db.Batched("thompson", size=SIZES), runs.world, horizon=sum(SIZES), runs=400, seed=3)
    assert always.pulls[:, 2].mean() > counts[:, 2].mean() + 5  # control: were it there from the beginning


def test_the_correction_is_better_than_none(played):
    """The biases that are estimated from single logs are those of the rule, on average: less than half is left."""
    counts, sums, _ = (part.sum(axis=1) for part in played)
    bias = (sums / counts).mean(axis=0) - TRUTH
    logs = [log_of(*(part[i] for part in played), THERE) for i in range(40)]
    found = np.mean([result.bias for result in db.debias_all(logs, "batched(thompson)", runs=400)], axis=0)
    assert np.abs(bias - found).sum() < np.abs(bias).sum() / 2
    assert np.abs(bias).sum() > 0.05  # there is something to correct


def test_arms_that_a_rule_gives_up_have_not_left():
    """In batches of 100 Thompson sampling gives an arm up in about a third of the tables, whose rows alone mislead."""
    runs = db.simulate("batched(thompson, size=100)", N2, horizon=2000, runs=50, seed=1, paths=True)
    sizes = (100,) * 20
    logs = [table_of(*path, sizes, 2, binary=False, available="auto") for path in zip(*runs.paths(), strict=True)]
    assert sum(not log.batches.available.all() for log in logs) > 5
    for log in logs:
        assert type(db.Batched("thompson").in_log(log)) is db.Batched


def test_the_check_knows_who_was_there(played):
    """Of these logs about 5 % are rejected; if the arms are said to have been there always, most are."""

    def p_value(log):
        found = compare_batches(log, db.Batched("thompson").in_log(log), 10)
        return 0.0 if found.impossible.any() else judge_batches(found, log.labels, np.random.default_rng(0)).p_value

    told = [[log_of(*(part[i] for part in played), there) for i in range(60)] for there in (THERE, "all")]
    right, wrong = (np.array([p_value(log) for log in logs]) < 0.05 for logs in told)
    assert right.mean() < 0.05 + Z * np.sqrt(0.05 * 0.95 / 60)
    assert wrong.mean() > 0.8
