"""Propensities, replay and the weighted estimators, worked out by hand."""

import numpy as np
import pytest
from catalogue import RULES

import debandit as db
from debandit import replay
from debandit.estimators import aipw, ipw, naive
from debandit.theory.dynamic import exact_two_arms

# Epsilon-greedy with epsilon = 0.2: rounds 1 and 2 are forced. Means after them are 1 and 0, so arm A is greedy and has
# 0.1 + 0.8 = 0.9; round 3 explores B (0.1), whose mean is then 2; round 4 pulls B, now greedy (0.9).
LOG = db.ExperimentLog(["A", "B", "B", "B"], [1.0, 0.0, 4.0, 3.0])
RULE = db.EpsilonGreedy(0.2)


def test_replay_by_hand():
    chances = replay.propensities(LOG, RULE)
    np.testing.assert_allclose(chances, [1, 1, 0.1, 0.9])
    assert replay.forced(chances).tolist() == [True, True, False, False]
    np.testing.assert_allclose(replay.propensities(LOG, "epsilon_greedy(epsilon=0.2)"), chances)


def test_ipw_by_hand():
    """Two free rounds: B has 4 / 0.1 = 40 and 3 / 0.9 = 10/3, A has nothing."""
    terms = np.array([40, 10 / 3])
    value, se = ipw(LOG, RULE)
    np.testing.assert_allclose(value, [0, terms.mean()])
    np.testing.assert_allclose(se, [0, terms.std(ddof=1) / np.sqrt(2)])


def test_weighting_in_the_log_s_own_batches():
    """Until the second batch begins A is greedy, with 0.9; then B is."""
    arms, rewards = ["A", "B", "B", "B", "B"], [1.0, 0.0, 4.0, 3.0, 2.0]
    logs = [db.ExperimentLog(arms, rewards, batches=batches) for batches in ("xxyyz", "xxyzz")]
    terms = np.array([[40, 30, 2 / 0.9], [40, 3 / 0.9, 2 / 0.9]])
    np.testing.assert_allclose(ipw(logs, db.Batched(RULE)).value[:, 1], terms.mean(axis=1))
    np.testing.assert_allclose(ipw(logs[0], db.Batched(RULE)).value[1], terms[0].mean())
    with pytest.raises(db.InputError, match="the log has batches, but epsilon_greedy learns from every reward at once"):
        ipw(logs[0], RULE)


def test_aipw_by_hand():
    """The running mean of B is 0, then 2: 0 + (4 - 0) / 0.1 = 40, 2 + (3 - 2) / 0.9. That of A stays 1."""
    terms = np.array([40, 2 + 1 / 0.9])
    value, se = aipw(LOG, RULE)
    np.testing.assert_allclose(value, [1, terms.mean()])
    np.testing.assert_allclose(se, [0, terms.std(ddof=1) / np.sqrt(2)], atol=1e-12)


def test_naive_by_hand():
    value, se = naive(LOG)
    np.testing.assert_allclose(value, [1, 7 / 3])
    np.testing.assert_allclose(se, [np.nan, np.std([0, 4, 3], ddof=1) / np.sqrt(3)])
    np.testing.assert_array_equal(naive(LOG, RULE).value, value)


def test_recorded_propensities_come_first():
    """They are taken as they are, whatever rule is declared; a value of 1 counts as forced."""
    log = db.ExperimentLog(["A", "B", "B", "A"], [1, 0, 4, 3], propensities=[1 - 1e-13, 0.5, 0.25, 0.5])
    np.testing.assert_allclose(ipw(log).value, [6 / 3, 16 / 3])
    np.testing.assert_array_equal(ipw(log, db.UCB()).value, ipw(log).value)
    np.testing.assert_allclose(aipw(log).value, [(1 + 1 + 1 + 2 / 0.5) / 3, (0 + 4 / 0.25 + 2) / 3])


def test_lists_and_runs_are_the_single_logs():
    runs = db.simulate(RULE, db.worlds.Normal([1, 1.5, 0], [1, 1, 2]), horizon=30, runs=20, seed=5, paths=True)
    logs = [runs.log(i) for i in range(20)]
    for estimator in (naive, ipw, aipw):
        single = [estimator(log, RULE) for log in logs]
        for together in (estimator(logs, RULE), estimator(runs)):
            for i, part in enumerate(together):
                assert part.shape == (20, 3)
                np.testing.assert_allclose(part, [one[i] for one in single], rtol=1e-10, atol=1e-12)


def test_a_list_may_mix_recorded_and_replayed():
    recorded = db.ExperimentLog(["A", "B", "B", "B"], [1, 0, 4, 3], propensities=[1, 1, 0.1, 0.9])
    value = aipw([LOG, recorded], RULE).value
    np.testing.assert_allclose(value[0], value[1])


@pytest.mark.parametrize("estimator", [ipw, aipw])
@pytest.mark.parametrize("policy", [db.UCB(), db.ExploreThenCommit(1), "ucb"])
def test_deterministic_rules_are_refused(estimator, policy):
    with pytest.raises(db.Refused, match=r"deterministic: propensities are 0 or 1(.|\n)*debias"):
        estimator(LOG, policy)


def test_what_cannot_be_weighted_is_explained():
    with pytest.raises(db.InputError, match=r"no propensities and no rule(.|\n)*propensity="):
        ipw(LOG)
    with pytest.raises(db.Refused, match="every round was forced"):
        ipw(db.ExperimentLog(["A", "B"], [1, 0]), RULE)
    summaries = db.ExperimentLog.from_summaries(["A", "B"], [5, 4], [0.6, 0.25], binary=True)
    with pytest.raises(db.InputError, match=r"every round(.|\n)*debias"):
        ipw(summaries, RULE)
    with pytest.raises(db.InputError, match="summaries only"):
        replay.propensities(summaries, RULE)
    assert naive(summaries).value.tolist() == [0.6, 0.25]
    with pytest.raises(db.InputError, match="as many in each log"):
        ipw([LOG, db.ExperimentLog(["A", "B", "B"], [1, 0, 4])], RULE)
    with pytest.raises(db.InputError, match="same arms"):
        ipw([LOG, db.ExperimentLog(["A", "B", "C"], [1, 0, 4])], RULE)
    with pytest.raises(db.InputError, match="needs an ExperimentLog"):
        ipw([], RULE)
    with pytest.raises(db.InputError, match="0/1 rewards"):
        ipw(LOG, db.BetaThompson())
    with pytest.raises(db.InputError, match="paths=True"):
        ipw(db.simulate(RULE, db.worlds.Bernoulli([0.3, 0.6]), horizon=5, runs=2))


def test_a_log_that_the_rule_cannot_have_made():
    """Round 1 of epsilon-greedy is arm A; UCB without a bonus stays with the better arm, so round 3 cannot be B."""
    with pytest.raises(db.Refused, match=r"^round 1: .*never chooses arm 'B' in round 1(.|\n)*order of the arms"):
        replay.propensities(db.ExperimentLog(["B", "A"], [1, 0], labels=["A", "B"]), RULE)
    with pytest.raises(db.Refused, match=r"^round 3: "):
        replay.propensities(LOG, db.UCB(c=0.0))
    bad = db.ExperimentLog(["B", "A", "A", "A"], [1, 0, 0, 0], labels=["A", "B"])
    with pytest.raises(db.Refused, match=r"^log 2, round 1: "):
        ipw([LOG, bad], RULE)


def test_deterministic_rules_replay_to_certainty():
    runs = db.simulate(db.UCB(), db.worlds.Bernoulli([0.3, 0.6]), horizon=50, runs=1, seed=1, paths=True)
    assert replay.forced(replay.propensities(runs.log(0), db.UCB())).all()


@pytest.mark.parametrize(
    ("propensities", "message"),
    [
        ([0.5], r"shape \(1,\) for 2 rounds"),
        ([0.5, 0.0], "propensity 0.0 in round 2"),
        ([1.5, -1], r"propensity 1.5 in round 1 .*2 such rounds"),
        ([0.5, np.nan], "propensity nan in round 2"),
        (["x", 1], "must be numbers"),
    ],
)
def test_impossible_propensities(propensities, message):
    with pytest.raises(db.InputError, match=message):
        db.ExperimentLog(["a", "b"], [1, 2], propensities=propensities)


def test_propensities_are_part_of_the_log():
    plain, recorded = (db.ExperimentLog(["a", "b"], [1, 2], propensities=p) for p in (None, [0.5, 1]))
    # the fingerprint of a log without propensities is what it was before they could be recorded
    assert plain.sha256 == "0b481e02df0d7307d402d5f7461b061488c0e5cce507d15e94da4983e7d96886"
    assert recorded.sha256 != plain.sha256
    with pytest.raises(ValueError, match="read-only"):
        recorded.rounds.propensities[0] = 1


def test_propensities_from_a_file(tmp_path):
    path = tmp_path / "trial.csv"
    path.write_text("t,arm,reward,p\n2,B,1,0.25\n1,A,0,1\n")
    log = db.read_log(path, time="t", propensity="p")
    assert log.rounds.propensities.tolist() == [1, 0.25]
    assert db.read_log(path, time="none").rounds.propensities is None
    for content, options, message in [
        (
            "arm,reward,p\nA,1,0.5\nB,0,0\nA,0,2\n",
            {},
            r"row 3: .*'0', not a probability above 0(.|\n)*2 such rows: row 3, 4",
        ),
        ("arm,reward,p\nA,1,0.5\nB,0,\n", {}, "row 3: .*is missing"),
        ("arm,reward,p\nA,1,0.5\nB,0,half\n", {}, "row 3: .*'half', not a probability"),
        ("arm,reward,prop\nA,1,0.5\nB,0,1\n", {}, r"no column 'p'(.|\n)*columns are: arm, reward, prop"),
        ("arm,reward,p\nA,1,0.5\nB,0,1\n", {"propensity": "reward"}, "cannot be the same column 'reward'"),
    ]:
        path.write_text(content)
        with pytest.raises(db.InputError, match=message):
            db.read_log(path, **{"propensity": "p"} | options)


def test_two_arms_by_hand():
    """T = 2, uniform: each arm is never pulled with probability 1/4; the mean of two pulls is 0, 1/2 or 1."""
    exact = exact_two_arms(db.Uniform(), 0.5, 0.25, 2)
    np.testing.assert_allclose(exact.bias, [0, 0], atol=1e-15)
    np.testing.assert_allclose(exact.pulls, [1, 1])
    np.testing.assert_allclose(exact.never_pulled, [0.25, 0.25])
    first = exact.estimates[0]
    np.testing.assert_array_equal(first.values, [0, 0.5, 1])
    # one pull (1/2) is 0 or 1 evenly, two (1/4) are 0, 1/2, 1 with 1/4, 1/2, 1/4; divided by 3/4
    np.testing.assert_allclose(first.probabilities, [5 / 12, 1 / 6, 5 / 12])


@pytest.mark.parametrize("rule", RULES)
def test_the_law_of_the_estimate_has_the_bias(rule):
    exact = exact_two_arms(RULES[rule][0], 0.35, 0.5, 25)
    for law, bias, p in zip(exact.estimates, exact.bias, (0.35, 0.5), strict=True):
        assert law.probabilities.sum() == pytest.approx(1, abs=1e-12)
        assert (np.diff(law.values) > 0).all()
        assert law.values @ law.probabilities - p == pytest.approx(bias, abs=1e-14)
    assert exact.pulls.sum() == pytest.approx(25, abs=1e-10)


def test_certain_arms():
    exact = exact_two_arms("epsilon_greedy", 0, 1, 20)
    np.testing.assert_allclose(exact.bias, [0, 0], atol=1e-14)
    assert [law.values.tolist() for law in exact.estimates] == [[0], [1]]
    alone = exact_two_arms(db.ExploreThenCommit(3), 0.5, 0.5, 2)  # the second arm's turn does not come
    assert np.isnan(alone.bias[1])
    assert alone.never_pulled.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("p1", "p2", "horizon"), [(1.2, 0.5, 5), (0.5, float("nan"), 5), (0.5, 0.5, 0), (0.5, 0.5, 401)]
)
def test_two_arms_has_limits(p1, p2, horizon):
    with pytest.raises(db.InputError, match="must be"):
        exact_two_arms(db.UCB(), p1, p2, horizon)
