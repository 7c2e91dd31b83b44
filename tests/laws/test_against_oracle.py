"""The engine against the exact enumeration, the slow simulator and the replay of its own paths."""

import functools

import numpy as np
import oracle
import pytest
from catalogue import ALLOWED, DETERMINISTIC, RULES, WORLDS, Z, z_scores

import debandit as db

ROUNDS, RUNS = 24, 300_000  # enough to tell every other rule from UCB at z > 9


@functools.cache
def enumerated(rule):
    return oracle.enumerate_two_arms(RULES[rule][1], 0.4, 0.55, ROUNDS)


@functools.cache
def simulated(rule):
    return db.simulate(RULES[rule][0], db.worlds.Bernoulli([0.4, 0.55]), horizon=ROUNDS, runs=RUNS, seed=21)


@pytest.mark.parametrize("rule", RULES)
def test_exact_two_armed_bernoulli(rule):
    exact, runs = enumerated(rule), simulated(rule)
    pulls_se = runs.pulls.std(axis=0) / np.sqrt(len(runs.pulls))
    assert np.abs(z_scores(runs.bias() - exact.bias, runs.bias_se())).max() < Z
    assert np.abs(z_scores(runs.pulls.mean(axis=0) - exact.pulls, np.maximum(pulls_se, 1e-12))).max() < Z
    never = (runs.pulls == 0).mean(axis=0)
    assert (np.abs(never - exact.never_pulled) <= Z * np.sqrt(exact.never_pulled / RUNS) + 1e-12).all()


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


# Exact values of the paper's settings with Ber(.3) and Ber(.6), T = 100, by sums for ETC (eq:bias-etc) and dynamic
# programming for the others. They were computed independently of both the engine and the oracle. `tests/reproduction`
# has ETC's in all settings.
EXACT = {
    "etc": [-0.01878796, -0.02032234],
    "ucb": [-0.0421753465, -0.0023521767],
    "epsilon": [-0.0458339561, -0.0730671551],
    "thompson-one": [-0.0298335557, -0.0029634573],
}


@pytest.mark.parametrize("rule", ["ucb", "epsilon", "thompson-one"])
def test_exact_values_of_the_paper_settings(rule):
    policy = db.ThompsonSampling(initial_pulls=1) if rule == "thompson-one" else RULES[rule][0]
    runs = db.simulate(policy, db.worlds.Bernoulli([0.3, 0.6]), horizon=100, runs=400_000, seed=22)
    for name, bias in EXACT.items():
        z = np.abs(z_scores(runs.bias() - bias, runs.bias_se())).max()
        assert z < Z if name == rule else z > 2 * Z  # control: the other rules


def test_the_oracle_agrees_with_the_exact_values():
    for rule in ("ucb", "epsilon", "etc"):
        assert np.abs(oracle.enumerate_two_arms(RULES[rule][1], 0.3, 0.6, 100).bias - EXACT[rule]).max() < 1e-8


@pytest.mark.parametrize(("rule", "world"), [pair for pair in ALLOWED if pair[0] in DETERMINISTIC])
def test_paths_of_deterministic_rules_agree_decision_for_decision(rule, world):
    """Ties abound with 0/1 rewards; every one must fall to the lowest index."""
    policy, judge = RULES[rule]
    runs = db.simulate(policy, WORLDS[world], horizon=100, runs=60, seed=23, paths=True)
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


FIVE = db.worlds.Bernoulli([0.2, 0.35, 0.5, 0.5, 0.65])


@functools.cache
def slow(rule):
    """Pulls and sums of the oracle."""
    count = 120 if rule.startswith("top-two") else 250  # its oracle draws again and again
    return oracle.simulate(RULES[rule][1], lambda arm, rng: float(rng.random() < FIVE.means[arm]), 5, 60, count, 24)


def off_by(rule, judge):
    """How many errors the engine's pulls and sums are off those of the oracle."""
    fast = db.simulate(RULES[rule][0], FIVE, horizon=60, runs=40_000, seed=24)
    worst = 0.0
    for ours, theirs in zip((fast.pulls, fast.sums), slow(judge), strict=True):
        difference, spread = ours.mean(axis=0) - theirs.mean(axis=0), ours.std(axis=0)  # few runs may miss rare ones
        error = spread * np.sqrt(1 / len(ours) + 1 / len(theirs)) + 1e-12
        worst = max(worst, np.abs(difference / error).max())
    return worst


@pytest.mark.parametrize("rule", RULES)
def test_slow_simulator_with_five_arms(rule):
    assert off_by(rule, rule) < Z


def test_the_slow_simulator_tells_rules_apart():
    """Control."""
    assert off_by("ucb", "ucb-wide") > 2 * Z
