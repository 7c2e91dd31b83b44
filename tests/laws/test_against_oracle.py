"""The engine against the exact enumeration, the slow simulator and the replay of its own paths."""

import functools

import numpy as np
import oracle
import pytest
from catalogue import ALLOWED, DETERMINISTIC, RULES, WORLDS, Z, z_scores

import debandit as db


@functools.cache
def enumerated(rule):
    return oracle.enumerate_two_arms(RULES[rule][1], 0.4, 0.55, 40)


@functools.cache
def simulated(rule):
    return db.simulate(RULES[rule][0], db.worlds.Bernoulli([0.4, 0.55]), horizon=40, runs=400_000, seed=21)


@pytest.mark.parametrize("rule", RULES)
def test_exact_two_armed_bernoulli(rule):
    exact, runs = enumerated(rule), simulated(rule)
    pulls_se = runs.pulls.std(axis=0) / np.sqrt(len(runs.pulls))
    assert np.abs(z_scores(runs.bias() - exact.bias, runs.bias_se())).max() < Z
    assert np.abs(z_scores(runs.pulls.mean(axis=0) - exact.pulls, np.maximum(pulls_se, 1e-12))).max() < Z
    never = (runs.pulls == 0).mean(axis=0)
    assert (np.abs(never - exact.never_pulled) <= Z * np.sqrt(exact.never_pulled / 400_000) + 1e-12).all()


@pytest.mark.parametrize("other", [r for r in RULES if r != "ucb"])
def test_the_enumeration_tells_rules_apart(other):
    """Control: UCB runs judged as any other rule are far off."""
    exact, runs = enumerated(other), simulated("ucb")
    assert np.abs(z_scores(runs.bias() - exact.bias, runs.bias_se())).max() > 2 * Z


@pytest.mark.parametrize(("rule", "other"), [("ucb-random", "greedy"), ("etc-random", "etc-short")])
def test_the_enumeration_tells_how_ties_are_broken(rule, other):
    """Control: the same rule with ties to the first."""
    runs = simulated(rule)
    assert np.abs(z_scores(runs.bias() - enumerated(other).bias, runs.bias_se())).max() > 2 * Z


# Exact values of the paper's settings, T = 100: sums and quadrature for ETC (eq:bias-etc), dynamic programming for the
# others. They were computed independently of both the engine and the oracle.
EXACT = [
    (db.ExploreThenCommit(), db.worlds.Normal([1, 1.5], [1, 1]), [-0.04244324, -0.04244324]),
    (db.ExploreThenCommit(), db.worlds.Bernoulli([0.3, 0.6]), [-0.01878796, -0.02032234]),
    (
        db.ExploreThenCommit(),
        db.worlds.Normal([2, 2.5, 3, 3.5], [2, 1, 2, 1]),
        [-0.01515466, -0.00364827, -0.15015473, -0.04225123],
    ),
    (
        db.ExploreThenCommit(),
        db.worlds.Normal([2, 2.5, 3, 3.5], [2, 1, 1, 2]),
        [-0.02259968, -0.00919087, -0.04028810, -0.15888525],
    ),
    (
        db.ExploreThenCommit(),
        db.worlds.Bernoulli([0.4, 0.5, 0.7, 0.8]),
        [-0.00532610, -0.01363946, -0.03599490, -0.03120849],
    ),
    (db.UCB(), db.worlds.Bernoulli([0.3, 0.6]), [-0.0421753465, -0.0023521767]),
    (db.EpsilonGreedy(0.05), db.worlds.Bernoulli([0.3, 0.6]), [-0.0458339561, -0.0730671551]),
    (db.ThompsonSampling(initial_pulls=1), db.worlds.Bernoulli([0.3, 0.6]), [-0.0298335557, -0.0029634573]),
]


@pytest.mark.parametrize(("policy", "world", "bias"), EXACT)
def test_exact_values_of_the_paper_settings(policy, world, bias):
    runs = db.simulate(policy, world, horizon=100, runs=1_000_000, seed=22)
    assert np.abs(z_scores(runs.bias() - bias, runs.bias_se())).max() < Z


def test_the_oracle_agrees_with_the_exact_values():
    for rule, bias in (("ucb", EXACT[5][2]), ("epsilon", EXACT[6][2]), ("etc", EXACT[1][2])):
        assert np.abs(oracle.enumerate_two_arms(RULES[rule][1], 0.3, 0.6, 100).bias - bias).max() < 1e-8


@pytest.mark.parametrize(("rule", "world"), [pair for pair in ALLOWED if pair[0] in DETERMINISTIC])
def test_paths_of_deterministic_rules_agree_decision_for_decision(rule, world):
    """Ties abound with 0/1 rewards; every one must fall to the lowest index."""
    policy, judge = RULES[rule]
    runs = db.simulate(policy, WORLDS[world], horizon=100, runs=200, seed=23, paths=True)
    for arms, rewards in zip(runs.path_arms, runs.path_rewards, strict=True):
        np.testing.assert_array_equal(oracle.replay(judge, 3, arms, rewards), arms)


def test_replay_notices_another_rule():
    """Control: UCB paths are not those of UCB with twice the bonus."""
    runs = db.simulate(db.UCB(), WORLDS["bernoulli"], horizon=100, runs=20, seed=23, paths=True)
    differ = [
        (oracle.replay(oracle.ucb(2.0), 3, a, r) != a).any()
        for a, r in zip(runs.path_arms, runs.path_rewards, strict=True)
    ]
    assert all(differ)


@pytest.mark.parametrize("rule", RULES)
def test_slow_simulator_with_five_arms(rule):
    policy, judge = RULES[rule]
    truth = np.array([0.2, 0.35, 0.5, 0.5, 0.65])
    world = db.worlds.Bernoulli(truth)
    count = 150 if rule.startswith("top-two") else 600  # its oracle draws again and again
    slow_pulls, slow_sums = oracle.simulate(judge, lambda arm, rng: float(rng.random() < truth[arm]), 5, 60, count, 24)
    fast = db.simulate(policy, world, horizon=60, runs=200_000, seed=24)
    for slow, quick in ((slow_pulls, fast.pulls), (slow_sums, fast.sums)):
        difference = slow.mean(axis=0) - quick.mean(axis=0)
        errors = slow.std(axis=0, ddof=1) / np.sqrt(count), quick.std(axis=0, ddof=1) / np.sqrt(200_000)
        assert np.abs(difference).max() < 1e-12 or np.abs(z_scores(difference, *errors)).max() < Z
