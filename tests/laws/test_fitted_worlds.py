"""What is true of the worlds uniform, smoothed and jeffreys, and controls that must break it."""

import numpy as np
import oracle
import pytest
from catalogue import RULES, Z, z_scores

import debandit as db
from debandit.debiasing import estimated_biases
from debandit.theory import exact_two_arms
from debandit.worlds import as_bootstrap

SAMPLES = [np.array([0.0, 0.1, 0.2, 0.1, 6.0]), np.array([1.0, 2.0, 1.5]), np.array([0.7])]
LOG = db.ExperimentLog(np.repeat(["a", "b", "c"], [len(s) for s in SAMPLES]), np.concatenate(SAMPLES))


def drawn(world, arm):
    """Rewards of one arm, minus its mean."""
    runs = db.simulate(db.Uniform(), world, horizon=60, runs=60_000, seed=3, paths=True)
    return runs.path_rewards[runs.path_arms == arm] - world.means[arm]


def moments(x):
    """The first four, with standard errors."""
    powers = np.stack([x, x**2, x**3, x**4])
    return powers.mean(axis=1), powers.std(axis=1) / np.sqrt(len(x))


@pytest.mark.parametrize("arm", [0, 1, 2])
def test_moments_of_the_smoothed_world(arm):
    """In units of sqrt(v): 0, 1, (1 - h^2)^(3/2) E e^3 and (1 - h^2)^2 E e^4 + 6 h^2 (1 - h^2) + 3 h^4."""
    world, n = as_bootstrap("smoothed").fit(LOG), len(SAMPLES[arm])
    v, h2 = world.variances[arm], 1 / n
    e = (SAMPLES[arm] - SAMPLES[arm].mean()) / (SAMPLES[arm].std() or 1.0)
    third = v**1.5 * (1 - h2) ** 1.5 * (e**3).mean()
    fourth = v**2 * ((1 - h2) ** 2 * (e**4).mean() + 6 * h2 * (1 - h2) + 3 * h2**2)
    values, errors = moments(drawn(world, arm))
    assert np.abs(z_scores(values - [0, v, third, fourth], errors)).max() < Z
    lying = values - [0.01 * np.sqrt(v), 1.02 * v, third, fourth]  # control: a mean and a variance slightly off
    assert np.abs(z_scores(lying, errors))[:2].min() > 2 * Z
    if n > 1:
        normal, efron = 3 * v**2, SAMPLES[arm].var() ** 2 * (e**4).mean()  # control: the law is neither of these
        assert np.abs(z_scores(values[3] - np.array([normal, efron]), errors[3])).min() > 2 * Z


@pytest.mark.parametrize("arm", [0, 1])
def test_moments_of_uniform_rewards(arm):
    """0, h^2 / 3, 0 and h^4 / 5 within h of the mean, which they nearly reach."""
    world, h = db.worlds.UniformRewards([0.5, 1.0], [1.0, 3.0]), (1.0, 3.0)[arm]
    rewards = drawn(world, arm)
    values, errors = moments(rewards)
    assert np.abs(z_scores(values - [0, h**2 / 3, 0, h**4 / 5], errors)).max() < Z
    assert 0.9999 * h < np.abs(rewards).max() <= h * (1 + 1e-12)
    lying = values - [0.01 * h, 1.02 * h**2 / 3, 0, 3 * (h**2 / 3) ** 2]  # control: slightly off, and a normal law's
    assert np.abs(z_scores(lying, errors))[[0, 1, 3]].min() > 2 * Z


def test_a_smoothed_world_without_noise_is_the_empirical_one():
    arms = [
        np.abs(drawn(db.worlds.Smoothed(SAMPLES, [0.0, sd, 0.0]), arm)).mean() for sd in (0.0, 0.3) for arm in (0, 1)
    ]
    values = set(np.round(drawn(db.worlds.Smoothed(SAMPLES, [0.0, 0.0, 0.0]), 0) + SAMPLES[0].mean(), 12))
    assert values == set(SAMPLES[0])
    assert arms[0] == arms[2]  # the noise of one arm leaves the others alone
    assert arms[1] != arms[3]


@pytest.mark.parametrize("rule", ["etc-short", "ucb", "thompson-prior", "epsilon", "beta"])
@pytest.mark.parametrize(("wins", "pulls"), [((1, 20), (5, 35)), ((0, 5), (4, 36)), ((8, 1), (39, 1))])
def test_one_log_of_0_and_1_against_the_enumeration(rule, wins, pulls):
    """The bias in the world Ber((s + 1/2) / (n + 1)), exactly; that of the sample means s / n is another one."""
    policy = RULES[rule][0]
    log = db.ExperimentLog.from_summaries("ab", pulls, np.divide(wins, pulls), binary=True)
    result = db.debias(log, policy, world="jeffreys", runs=100_000, seed=5, force=True)
    exact = exact_two_arms(policy, *((np.array(wins) + 0.5) / (np.array(pulls) + 1)), 40)
    assert np.abs(z_scores(result.bias - exact.bias, result.bias_se)).max() < Z
    plug_in = exact_two_arms(policy, *np.divide(wins, pulls), 40)
    assert np.abs(z_scores(result.bias - plug_in.bias, result.bias_se)).max() > 2 * Z


@pytest.mark.parametrize("rule", ["etc-short", "ucb", "thompson-prior", "epsilon"])
def test_the_average_correction_of_0_and_1_against_the_enumeration(rule):
    """Over all logs of 14 rounds, without a random number: the jeffreys world leaves less bias than s / n does."""
    policy, horizon, truth = RULES[rule][0], 14, np.array([0.3, 0.6])
    exact = oracle.enumerate_two_arms(RULES[rule][1], *truth, horizon)
    n1, s1, s2 = np.nonzero(exact.state)
    pulls, wins, chance = np.stack([n1, horizon - n1]), np.stack([s1, s2]), exact.state[n1, s1, s2]

    def average(worlds):
        found = [exact_two_arms(policy, p1, p2, horizon).bias for p1, p2 in worlds.T]
        return chance @ np.array(found)

    jeffreys, plug_in = average((wins + 0.5) / (pulls + 1)), average(wins / pulls)
    left, left_by_plug_in = np.abs(exact.bias - jeffreys).mean(), np.abs(exact.bias - plug_in).mean()
    assert left < 0.8 * left_by_plug_in

    runs = db.simulate(policy, db.worlds.Bernoulli(truth), horizon=horizon, runs=20_000, seed=6, paths=True)
    for world, expected, other in (("jeffreys", jeffreys, plug_in), ("efron", plug_in, jeffreys)):
        bias = estimated_biases(runs, world=world, runs=50, seed=7)
        error = bias.std(axis=0, ddof=1) / np.sqrt(len(bias))
        assert np.abs(z_scores(bias.mean(axis=0) - expected, error)).max() < Z
        assert np.abs(z_scores(bias.mean(axis=0) - other, error)).max() > 2 * Z  # control
