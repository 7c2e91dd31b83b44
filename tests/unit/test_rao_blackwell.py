"""The method rao-blackwell: what it refuses, what it reports, and that its answer depends on the seed alone."""

import functools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import debandit as db
from debandit.estimators import rao_blackwell


@functools.cache
def log_of(policy, horizon=60):
    """One in which both arms' rewards vary."""
    runs = db.simulate(policy, db.worlds.Bernoulli([0.4, 0.6]), horizon=horizon, runs=50, seed=3, paths=True)
    return runs.log(int(np.argmax((runs.variances > 0.1).all(axis=1))))


def test_the_answer_depends_on_the_seed_alone():
    log = log_of(db.UCB())
    one = rao_blackwell(log, db.UCB(), runs=20_000, seed=5)
    with ThreadPoolExecutor(2) as pool:
        others = [
            rao_blackwell(log, db.UCB(), runs=20_000, seed=5, threads=1),
            rao_blackwell(log, "ucb", runs=20_000, seed=5, executor=pool),
        ]
    for other in others:
        np.testing.assert_array_equal(one.value, other.value)
        np.testing.assert_array_equal(one.se, other.se)
    assert (rao_blackwell(log, db.UCB(), runs=20_000, seed=6).value != one.value).all()


def test_what_a_result_says(tmp_path):
    log = log_of(db.UCB())
    result = db.debias(log, db.UCB(), method="rao-blackwell", runs=20_000, seed=5)
    alone = rao_blackwell(log, db.UCB(), runs=20_000, seed=5)
    np.testing.assert_array_equal(result.corrected, alone.value)
    np.testing.assert_array_equal(result.bias_se, alone.se)
    np.testing.assert_allclose(result.bias, result.naive - alone.value)
    assert 0 < result.replays.acceptance < 1
    assert (result.replays.effective > 512).all()
    assert result.runs == 512 * 40
    assert "method rao-blackwell" in result.details()
    assert "512 walks of 40 steps" in result.details()
    result.to_json(tmp_path / "r.json")
    back = db.Debiased.from_json(tmp_path / "r.json")
    assert str(back) == str(result)
    assert back.settings == result.settings
    assert list(result.to_frame()["effective"]) == result.replays.effective.tolist()
    both = db.debias([log, log], db.UCB(), method="rao-blackwell", runs=2000, seed=5)
    assert (both[0].corrected != both[1].corrected).all()  # each place has streams of its own


def test_auto_stops_when_the_error_is_small_enough():
    log = log_of(db.UCB())
    found = rao_blackwell(log, db.UCB())
    assert found.reached
    assert (found.se < 0.1 * np.sqrt(log.variances / log.pulls)).all()


@pytest.mark.parametrize(
    "policy",
    [
        db.ThompsonSampling(),
        db.EpsilonGreedy(),
        db.UCB(ties="random"),
        db.Floor(db.UCB(), probability=0.1),
        db.WarmUp(db.UCB(), rounds=10),
    ],
    ids=str,
)
def test_randomised_rules_are_refused(policy):
    with pytest.raises(db.Refused, match=r"without randomness(.|\n)*1.7 times"):
        db.debias(log_of(policy), policy, method="rao-blackwell")


def test_other_refusals():
    with pytest.raises(db.InputError, match="order of time"):
        rao_blackwell(db.ExperimentLog.from_summaries(["a", "b"], [5, 5], [0.2, 0.4], binary=True), db.UCB())
    with pytest.raises(db.Refused, match="different numbers of pulls"):
        db.debias(log_of(db.UCB()), db.UCB(c=3.0), method="rao-blackwell", force=True)
    with pytest.raises(db.InputError, match="does not compare"):
        db.debias(log_of(db.UCB()), db.UCB(), method="rao-blackwell", control="1")
    with pytest.raises(db.InputError, match="method must be bootstrap or rao-blackwell, not 'magic'"):
        db.debias(log_of(db.UCB()), db.UCB(), method="magic")


def test_forced_pulls_alone_are_the_sample_mean():
    """Explore-then-commit learns of the other arm in planned pulls only; a log of nothing else needs no walk."""
    policy = db.ExploreThenCommit(pulls=5)
    log = log_of(policy)
    found = rao_blackwell(log, policy, runs=5000)
    other = int(np.argmin(log.pulls))
    assert found.value[other] == pytest.approx(log.means[other], abs=1e-15)
    assert np.isnan(found.effective[other])
    planned = rao_blackwell(db.ExperimentLog(list("aaabbb"), range(6)), db.ExploreThenCommit(pulls=3))
    np.testing.assert_array_equal(planned.value, [1.0, 4.0])


@pytest.mark.parametrize(
    "policy",
    [db.Greedy(initial_pulls=2, ties="last"), db.Batched(db.UCB(), size=7), db.WarmUp(db.UCB(), pulls=3)],
    ids=str,
)
def test_rules_and_wrappers_without_randomness(policy):
    log = log_of(policy)
    found = rao_blackwell(log, policy, runs=5000)
    low, high = (np.array([f(sample) for sample in log.samples()]) for f in (np.min, np.max))
    assert ((found.value >= low) & (found.value <= high)).all()
    assert found.acceptance > 0.01


def test_huge_and_tiny_rewards():
    """The estimate scales with the rewards of a greedy rule."""
    world = db.worlds.Normal([1.0, 1.2], [1.0, 1.0])
    log = db.simulate(db.Greedy(), world, horizon=40, runs=9, seed=3, paths=True).log(1)
    plain = rao_blackwell(log, db.Greedy(), runs=4000)
    for scale in (2.0**40, 2.0**-40):
        scaled = db.ExperimentLog(log.rounds.arms, log.rounds.rewards * scale, labels=[0, 1])
        np.testing.assert_array_equal(rao_blackwell(scaled, db.Greedy(), runs=4000).value, plain.value * scale)


def test_logs_with_batches():
    """The batches may be the rule's own or the log's: the same experiment, and the same answer."""
    log = log_of(db.Batched(db.Greedy(initial_pulls=5), size=20))
    named = db.ExperimentLog(
        [log.labels[arm] for arm in log.rounds.arms],
        log.rounds.rewards,
        labels=log.labels,
        batches=[1] * 20 + [2] * 20 + [3] * 20,
    )
    options = {"method": "rao-blackwell", "runs": 2000, "seed": 5}
    one = db.debias(log, "batched(greedy(initial_pulls=5), size=20)", **options)
    two = db.debias(named, "batched(greedy(initial_pulls=5))", **options)
    np.testing.assert_array_equal(one.corrected, two.corrected)
    table = db.ExperimentLog.from_batches([1, 1], ["a", "b"], [20, 20], [0.5, 0.4], binary=True)
    with pytest.raises(db.InputError, match="one row per round"):
        db.debias(table, "batched(greedy)", **options, force=True)
    with pytest.raises(db.InputError, match="both the rule and the log have batches"):
        db.debias(named, "batched(greedy(initial_pulls=5), size=10)", **options)
