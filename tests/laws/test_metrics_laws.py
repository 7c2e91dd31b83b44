"""Outcomes besides the reward: what the correction through the slope keeps, and where it ends.

Given the rewards, a slope within arms is unbiased if the expected outcome is one straight line of the reward in all
arms. Then the error of a corrected metric differs from slope x the error of the corrected reward by something that is 0
on average, exactly, whatever the rule and the world. The laws below ask for that within 4.5 standard errors.
"""

import numpy as np
import pytest

import debandit as db

LOGS = 700
TRUTH = np.array([0.0, 0.3, 0.6])
NORMAL, BERNOULLI = db.worlds.Normal(TRUTH, [1.0] * 3), db.worlds.Bernoulli([0.3, 0.4, 0.5])


def results(world, policy, **metrics):
    """Of many logs, whose metrics are functions of rewards and a random generator."""
    runs, random = db.simulate(policy, world, horizon=60, runs=LOGS, seed=21, paths=True), np.random.default_rng(5)
    logs = []
    for i in range(LOGS):
        log = runs.log(i)
        drawn = {name: draw(log.rounds.rewards, random) for name, draw in metrics.items()}
        logs.append(
            db.ExperimentLog.of_codes(log.labels, log.rounds.arms, log.rounds.rewards, labels=log.labels, metrics=drawn)
        )
    return db.debias_all(logs, policy, runs=150, interval="none")


def errors(found, name, value, truth):
    return np.array([getattr(result.metrics[name], value) for result in found]) - truth


def z(values):
    """Means over logs in units of their standard errors, of each arm."""
    return values.mean(axis=0) / (values.std(axis=0) / np.sqrt(len(values)))


@pytest.fixture(scope="module")
def normal():
    return results(
        NORMAL,
        "epsilon_greedy(epsilon=0.1)",
        same=lambda x, _: x,
        alone=lambda x, random: random.normal(size=x.shape),
        joint=lambda x, random: 2 * x + random.normal(size=x.shape),
    )


def test_the_reward_as_its_own_metric(normal):
    for result in normal[:100]:
        same = result.metrics["same"]
        for name in ("quoted", "quoted_bias", "quoted_bias_se", "bias", "bias_se", "corrected"):
            np.testing.assert_array_equal(getattr(same, name), getattr(result, name))


def test_a_metric_that_has_nothing_to_do_with_the_reward(normal):
    for value in ("naive", "corrected", "quoted"):
        assert (np.abs(z(errors(normal, "alone", value, 0.0))) < 4.5).all()
    for bias in ("bias", "quoted_bias"):
        assert (np.abs(z(errors(normal, "alone", bias, 0.0))) < 4.5).all()
    assert (np.abs(z(errors(normal, "same", "naive", TRUTH))) > 4.5).any()  # the rule's own outcome is biased
    assert (np.abs(z(errors(normal, "same", "bias", 0.0))) > 4.5).any()


@pytest.mark.parametrize("value", ["corrected", "quoted"])
def test_a_jointly_normal_metric_is_corrected_as_the_reward_is(normal, value):
    left = errors(normal, "joint", value, 2 * TRUTH) - 2 * errors(normal, "same", value, TRUTH)
    assert (np.abs(z(left)) < 4.5).all()
    uncorrected = errors(normal, "joint", "naive", 2 * TRUTH) - 2 * errors(normal, "same", value, TRUTH)
    assert (np.abs(z(uncorrected)) > 4.5).any()


def test_an_amount_that_comes_with_a_success():
    found = results(
        BERNOULLI,
        "epsilon_greedy(epsilon=0.1)",
        amount=lambda x, random: 3 * x * random.exponential(size=x.shape),
        same=lambda x, _: x,
    )
    rates = np.array([0.3, 0.4, 0.5])
    assert all(np.isfinite(result.metrics["amount"].slope).all() for result in found)
    for value in ("corrected", "quoted"):
        of_reward = 3 * errors(found, "same", value, rates)
        left, uncorrected = (errors(found, "amount", each, 3 * rates) - of_reward for each in (value, "naive"))
        assert (np.abs(z(left)) < 4.5).all()
        assert (np.abs(z(uncorrected)) > 4.5).any()


def test_the_limit_is_a_metric_that_is_no_straight_line_of_the_reward():
    """Much of the bias of squares stays; docs/metrics.md says so. A straight line as noisy is corrected well."""
    found = results(
        NORMAL,
        "ucb",
        square=lambda x, _: (x - 0.3) ** 2,
        line=lambda x, random: x + random.normal(size=x.shape),
        same=lambda x, _: x,
    )
    truth = 1 + (TRUTH - 0.3) ** 2
    naive, left = (errors(found, "square", value, truth) for value in ("naive", "corrected"))
    assert (z(naive) > 4.5).any()
    assert (z(left) > 4.5).any()
    assert (z(naive - left) > 4.5).any()  # what goes with the reward is taken off
    straight = errors(found, "line", "corrected", TRUTH) - errors(found, "same", "corrected", TRUTH)
    assert (np.abs(z(straight)) < 4.5).all()
