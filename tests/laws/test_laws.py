"""What is true of every rule in every world, and controls that must break it."""

import numpy as np
import pytest
from catalogue import ALLOWED, OTHERS, RULES, WORLDS, Z, z_scores
from peeking import Peeking

import debandit as db
from debandit.policies import RULES as BUILT_IN

RUNS, HORIZON = 40_000, 60  # enough to see every rule's arms off by 0.035 at z > 9


def residual_z(runs, truth):
    """z of the mean of S - mu N, whose expectation is 0 for every rule that does not look ahead (Wald's identity)."""
    residual = runs.sums - truth * runs.pulls
    return z_scores(residual.mean(axis=0), residual.std(axis=0, ddof=1) / np.sqrt(len(residual)))


def test_every_built_in_rule_is_judged():
    assert {type(policy) for policy, *_ in (*RULES.values(), *OTHERS.values())} == set(BUILT_IN.values())


# every rule in two worlds, and in every world a rule of each kind: worlds know nothing of rules
FAIR = [pair for pair in ALLOWED if pair[1] in ("normal", "bernoulli") or pair[0] in ("ucb", "thompson", "beta", "urn")]


@pytest.mark.parametrize(("rule", "world"), FAIR)
def test_sums_are_fair(rule, world):
    place = WORLDS[world]
    runs = db.simulate(RULES[rule][0], place, horizon=HORIZON, runs=RUNS, seed=11)
    assert np.abs(residual_z(runs, place.means)).max() < Z
    assert np.abs(residual_z(runs, place.means + 0.035)).min() > 2 * Z  # control: a world that lies by 0.035


@pytest.mark.parametrize("rule", ["etc", "ucb", "thompson-sample", "epsilon"])
def test_bias_is_minus_the_covariance_of_pulls_and_mean(rule):
    """bias = -Cov(N, mean) / E N where every run pulls the arm; the two sides come from different runs."""
    place = WORLDS["normal"]
    one, two = (db.simulate(RULES[rule][0], place, horizon=HORIZON, runs=RUNS, seed=seed) for seed in (14, 15))
    assert (one.pulls > 0).all()
    pulls, means = two.pulls - two.pulls.mean(axis=0), two.means - two.means.mean(axis=0)
    products = pulls * means / two.pulls.mean(axis=0)
    error = products.std(axis=0) / np.sqrt(RUNS)
    assert np.abs(z_scores(one.bias() + products.mean(axis=0), one.bias_se(), error)).max() < Z
    assert np.abs(z_scores(one.bias() - products.mean(axis=0), one.bias_se(), error)).max() > 2 * Z  # control: the sign


def test_a_rule_that_peeks_is_caught():
    """Control: a rule that sees the noise of its next reward."""
    place = db.worlds.Normal([1.0, 1.5], [1.0, 1.0])
    runs = db.simulate(Peeking(), place, horizon=HORIZON, runs=RUNS, seed=11)
    assert np.abs(residual_z(runs, place.means)).min() > 2 * Z


@pytest.mark.parametrize("world", WORLDS)
def test_a_uniform_rule_has_no_bias_but_ucb_has(world):
    fair = db.simulate(db.Uniform(), WORLDS[world], horizon=HORIZON, runs=RUNS, seed=12)
    assert np.abs(z_scores(fair.bias(), fair.bias_se())).max() < Z
    unfair = db.simulate(db.UCB(), WORLDS[world], horizon=HORIZON, runs=RUNS, seed=12)
    assert np.abs(z_scores(unfair.bias(), unfair.bias_se())).max() > 2 * Z


def test_the_multiplier_with_gaussian_weights_is_the_gaussian_world():
    """Section 2.1: same distribution, drawn the long way; with signs for weights it is another one."""
    samples = [np.array([0.0, 1.0, 5.0]), np.array([1.0, 2.0, 2.5, 3.5])]
    normal = db.worlds.Normal([s.mean() for s in samples], [s.std() for s in samples])

    def moments(world):
        rewards = db.simulate(db.Uniform(), world, horizon=50, runs=RUNS // 2, seed=3, paths=True)
        x = rewards.path_rewards[rewards.path_arms == 0]
        x = (x - samples[0].mean()) / samples[0].std()
        powers = np.stack([x, x**2, x**3, x**4, x < -1.0, x < 0.5])
        return powers.mean(axis=1), powers.std(axis=1) / np.sqrt(len(x))

    reference, long_way = moments(normal), moments(db.worlds.Multiplier(samples))
    signs = moments(db.worlds.Multiplier(samples, weights="rademacher"))
    assert np.abs(z_scores(reference[0] - long_way[0], reference[1], long_way[1])).max() < Z
    assert np.abs(z_scores(reference[0] - signs[0], reference[1], signs[1]))[:2].max() < Z  # mean and variance agree
    assert np.abs(z_scores(reference[0] - signs[0], reference[1], signs[1])).max() > 2 * Z  # the law does not


@pytest.mark.parametrize("rule", ["ucb", "thompson", "epsilon", "etc"])
def test_relabelling_arms_relabels_the_answer(rule):
    one = db.simulate(RULES[rule][0], db.worlds.Normal([1.0, 1.5], [1.0, 2.0]), horizon=50, runs=RUNS, seed=4)
    two = db.simulate(RULES[rule][0], db.worlds.Normal([1.5, 1.0], [2.0, 1.0]), horizon=50, runs=RUNS, seed=5)
    difference = one.bias() - two.bias()[::-1]
    assert np.abs(z_scores(difference, one.bias_se(), two.bias_se()[::-1])).max() < Z
    unswapped = one.bias() - two.bias()
    assert np.abs(z_scores(unswapped, one.bias_se(), two.bias_se())).max() > 2 * Z  # control
