"""The best-looking arm and the differences in results."""

import numpy as np
import object_rules
import pytest
from commands import flat

import debandit as db
from debandit.engine import spread
from debandit.engine.runs import Wish
from debandit.simulation import _experiment


def by_hand(runs, truth, controls):
    """Bias and its error of each difference, and of the highest mean."""
    means = np.where(runs.pulls > 0, runs.sums / np.maximum(runs.pulls, 1), np.nan)
    errors = means - truth
    best = np.nanargmax(means, axis=1)
    every = np.column_stack((errors - errors[:, controls], errors[np.arange(len(errors)), best]))
    count = np.isfinite(every).sum(axis=0)
    return np.nanmean(every, axis=0), np.nanstd(every, axis=0, ddof=1) / np.sqrt(count)


@pytest.mark.parametrize("policy", [db.UCB(), db.ThompsonSampling(), object_rules.Confident()], ids=lambda p: p.name)
def test_tallies_are_what_the_runs_say(policy):
    world = db.worlds.Normal([0.3, 0.5, 0.4], [1.0, 0.5, 1.0])
    controls, count = np.array([2, 2, 1]), 300
    total = spread.tally(_experiment(policy, world, 12, 4), np.array([count]), Wish(controls=controls[None]))
    runs = db.simulate(policy, world, horizon=12, runs=count, seed=4)
    bias, error = by_hand(runs, world.means, controls)
    (differences, differences_se), best = total.differences, total.best
    np.testing.assert_allclose(np.append(differences[0], best.bias[0]), bias, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(np.append(differences_se[0], best.se[0]), error, rtol=1e-8)


@pytest.fixture(scope="module")
def log():
    world = db.worlds.Normal([1.0, 1.5, 1.2], [1.0, 1.0, 1.0])
    return db.simulate(db.UCB(), world, horizon=100, runs=5, seed=8, paths=True).log(2)


def test_a_result_names_the_winner_and_the_differences(log, tmp_path):
    result = db.debias(log, db.UCB(), runs=2000, seed=1)
    best = int(np.argmax(log.means))
    assert result.winner.arm == log.labels[best]
    assert result.winner.corrected == log.means[best] - result.winner.bias
    second = int(np.argsort(-log.means)[1])
    expected = [log.labels[second if k == best else best] for k in range(3)]
    assert list(result.differences.to) == expected
    # both arms are pulled in every run, so the bias of a difference is the difference of the biases
    other = [log.labels.index(label) for label in expected]
    np.testing.assert_allclose(result.differences.bias, result.bias - result.bias[other], atol=1e-12)
    np.testing.assert_allclose(result.differences.corrected, result.corrected - result.corrected[other], atol=1e-12)
    assert (result.differences.bias_se > 0).all()
    assert f"corrected as the winner, arm {result.winner.arm} has" in flat(result.details())
    assert "Differences to" not in result.details()
    frame = result.to_frame()
    assert frame["best_corrected"].dropna().tolist() == [result.winner.corrected]
    plain = db.debias(log, db.UCB(), runs=2000, seed=1, control="2", threads=1)
    np.testing.assert_array_equal(plain.bias, result.bias)
    assert "Differences to 2" in plain.details()
    assert np.isnan(plain.differences.bias[1])
    plain.to_json(tmp_path / "r.json")
    back = db.Debiased.from_json(tmp_path / "r.json")
    assert str(back) == str(plain)
    assert back.winner == plain.winner
    np.testing.assert_array_equal(back.differences.corrected, plain.differences.corrected)


def test_many_logs_are_compared_each_with_its_own_best(log):
    other = db.ExperimentLog(["a", "b", "c"] * 20, np.arange(60.0) % 7)
    together = db.debias([log, other], db.EpsilonGreedy(), runs=200, seed=4, force=True)
    alone = db.debias(other, db.EpsilonGreedy(), runs=200, seed=4, force=True, log_index=1)
    assert together[1].winner == alone.winner
    np.testing.assert_array_equal(together[1].differences.bias, alone.differences.bias)


def test_unknown_controls_and_unseen_arms(log):
    with pytest.raises(db.InputError, match=r"no arm 'B'(.|\n)*arms are 1, 2, 3"):
        db.debias(log, db.UCB(), control="B")
    labelled = db.ExperimentLog(["left", "right"] * 10, np.arange(20.0), labels=["left", "right", "none"])
    with pytest.raises(db.InputError, match="Did you mean left"):
        db.debias(labelled, db.ThompsonSampling(), unseen=(1, 1), control="Left")
    result = db.debias(labelled, db.ThompsonSampling(), unseen=(1, 1), runs=200)
    assert result.winner.arm == "right"
    assert list(result.differences.to) == ["right", "left", "right"]
    assert np.isnan(result.differences.corrected[2])
    gone = db.debias(labelled, db.ThompsonSampling(), unseen=(1, 1), runs=200, control="none")
    assert np.isnan(gone.differences.corrected).all()
    assert str(gone)
