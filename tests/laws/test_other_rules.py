"""Rules that look at more than totals: fair, as the oracle has them, and as likely to choose as they say."""

import numpy as np
import oracle
import pytest
from catalogue import OTHERS, WORLDS, Z, replayed, z_scores

import debandit as db

LOGS = {"normal": 1600, "bernoulli": 2000, "empirical": 1600}
RUNS, HORIZON = 40_000, 50
TWO = {
    "normal": db.worlds.Normal([1.0, 1.5], [1.0, 0.5]),
    "bernoulli": db.worlds.Bernoulli([0.3, 0.6]),
    "empirical-binary": db.worlds.Empirical([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]),
}


def pairs(rules):
    for name, (policy, _, arms) in rules.items():
        for world, place in (WORLDS if arms == 3 else TWO).items():
            if (place.binary or not policy.binary_rewards) and world in ("normal", "bernoulli", "empirical"):
                yield name, world


ALLOWED = list(pairs(OTHERS))


def place_of(rule, world):
    return (WORLDS if OTHERS[rule][2] == 3 else TWO)[world]


def residual_z(runs, truth):
    residual = runs.sums - truth * runs.pulls
    return z_scores(residual.mean(axis=0), residual.std(axis=0, ddof=1) / np.sqrt(len(residual)))


@pytest.mark.parametrize(("rule", "world"), ALLOWED)
def test_sums_are_fair(rule, world):
    """E[S - mu N] = 0, and a world that lies by 0.05 is caught."""
    place = place_of(rule, world)
    runs = db.simulate(OTHERS[rule][0], place, horizon=HORIZON, runs=RUNS, seed=81)
    assert np.abs(residual_z(runs, place.means)).max() < Z
    assert np.abs(residual_z(runs, place.means + 0.05)).min() > 2 * Z


@pytest.mark.parametrize("rule", OTHERS)
def test_against_the_slow_simulator(rule):
    policy, judge, arms = OTHERS[rule]
    truth = np.array([0.35, 0.6, 0.5])[:arms]
    slow_pulls, slow_sums = oracle.simulate(judge, lambda arm, rng: float(rng.random() < truth[arm]), arms, 50, 400, 82)
    fast = db.simulate(policy, db.worlds.Bernoulli(truth), horizon=50, runs=40_000, seed=82)
    for slow, quick in ((slow_pulls, fast.pulls), (slow_sums, fast.sums)):
        error = quick.std(axis=0) * np.sqrt(1 / len(slow) + 1 / len(quick))  # of few runs it would miss rare ones
        assert np.abs((slow.mean(axis=0) - quick.mean(axis=0)) / error).max() < Z
    controls = [
        db.simulate(p, db.worlds.Bernoulli(truth), horizon=50, runs=20_000) for p in (db.Uniform(), db.Greedy())
    ]
    gaps = [slow_pulls.mean(axis=0) - control.pulls.mean(axis=0) for control in controls]
    assert np.abs(z_scores(np.array(gaps), slow_pulls.std(axis=0) / np.sqrt(len(slow_pulls)))).max() > 2 * Z


@pytest.mark.parametrize(("rule", "world"), [pair for pair in ALLOWED if not OTHERS[pair[0]][0].randomised])
def test_deterministic_rules_decide_as_the_oracle_does(rule, world):
    policy, judge, arms = OTHERS[rule]
    runs = db.simulate(policy, place_of(rule, world), horizon=100, runs=40, seed=83, paths=True)
    for path, rewards in zip(runs.path_arms, runs.path_rewards, strict=True):
        np.testing.assert_array_equal(oracle.replay(judge, arms, path, rewards), path)
    chances = replayed(policy, runs.path_arms, runs.path_rewards, arms)  # and so does the compiled replay
    np.testing.assert_array_equal(np.argmax(chances, axis=-1), runs.path_arms)


@pytest.mark.parametrize(("rule", "world"), [pair for pair in ALLOWED if OTHERS[pair[0]][0].randomised])
def test_choices_are_as_likely_as_the_rule_says(rule, world):
    """The sum over rounds of 1{arm pulled} - P(arm | past) is a martingale; so is that of its products with P."""
    policy, _, arms = OTHERS[rule]
    runs = db.simulate(policy, place_of(rule, world), horizon=30, runs=LOGS[world], seed=84, paths=True)

    def scores(declared):
        chances = replayed(declared, runs.path_arms, runs.path_rewards, arms)
        surprise = (runs.path_arms[..., None] == np.arange(arms)) - chances
        sums = np.concatenate([surprise.sum(axis=1), (surprise * chances).sum(axis=1)], axis=1)
        spread = sums.std(axis=0) / np.sqrt(len(sums))
        return np.abs(z_scores(sums.mean(axis=0), np.maximum(spread, 1e-12))).max()

    assert scores(policy) < Z
    wrong = {
        "gaussian": db.ThompsonSampling(initial_pulls=2),
        "gaussian-prior": db.GaussianThompson(initial_pulls=3),
        "exp3": db.FixedWeights((0.4, 0.3, 0.3)),
        "exp3-scaled": db.FixedWeights((0.4, 0.3, 0.3)),
        "postdiff": db.TSPostDiff(c=0.6),
        "leader": db.LeaderChallenger(share=0.5),
        "leader-alone": db.LeaderChallenger(share=0.5, z=0.5),
        "weights": db.FixedWeights((0.4, 0.3, 0.3)),
    }
    assert scores(wrong[rule]) > 2 * Z


@pytest.mark.parametrize("rule", ["kl-ucb", "kl-ucb-wide"])
def test_kl_ucb_is_the_enumeration(rule):
    policy, judge, _ = OTHERS[rule]
    exact = oracle.enumerate_two_arms(judge, 0.4, 0.55, 18)
    runs = db.simulate(policy, db.worlds.Bernoulli([0.4, 0.55]), horizon=18, runs=150_000, seed=85)
    assert np.abs(z_scores(runs.bias() - exact.bias, runs.bias_se())).max() < Z
    other = oracle.enumerate_two_arms(oracle.ucb(), 0.4, 0.55, 18)
    assert np.abs(z_scores(runs.bias() - other.bias, runs.bias_se())).max() > 2 * Z
