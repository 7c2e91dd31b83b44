"""Weighting by propensities is unbiased; the exact dynamic programme is exact. With controls that must break it."""

import numpy as np
import oracle
import pytest
from catalogue import RULES, Z, z_scores

import debandit as db
from debandit.estimators import aipw, ipw, naive
from debandit.theory.dynamic import exact_two_arms

LOGS = 20_000
RULE = db.EpsilonGreedy(0.2)
PLACES = {
    "normal": db.worlds.Normal([1.0, 1.5, 0.7], [1.0, 0.5, 2.0]),
    "bernoulli": db.worlds.Bernoulli([0.3, 0.6]),
}


def errors_z(values, truth):
    errors = values - truth
    return z_scores(np.nanmean(errors, axis=0), np.nanstd(errors, axis=0) / np.sqrt(len(errors)))


@pytest.mark.parametrize("place", PLACES)
def test_weighting_is_unbiased_under_epsilon_greedy(place):
    world = PLACES[place]
    runs = db.simulate(RULE, world, horizon=40, runs=LOGS, seed=71, paths=True)
    for estimator in (ipw, aipw):
        assert np.abs(errors_z(estimator(runs).value, world.means)).max() < Z
    assert np.abs(errors_z(naive(runs).value, world.means)).max() > 2 * Z  # control: the sample mean is biased
    wrong = ipw(runs, db.EpsilonGreedy(0.25)).value  # control: propensities of another rule
    assert np.abs(errors_z(wrong, world.means)).max() > 2 * Z


@pytest.mark.parametrize("policy", [db.ThompsonSampling(), db.BetaThompson(), db.ThompsonSampling(noise_sd=0.7)])
def test_weighting_is_unbiased_under_thompson_sampling(policy):
    """Few rounds, so that no propensity is so small that 20,000 logs cannot show the mean."""
    world = PLACES["bernoulli"]
    runs = db.simulate(policy, world, horizon=15, runs=LOGS, seed=72, paths=True)
    for estimator in (ipw, aipw):
        assert np.abs(errors_z(estimator(runs).value, world.means)).max() < Z
    assert np.abs(errors_z(naive(runs).value, world.means)).max() > 2 * Z
    wrong = ipw(runs, db.ThompsonSampling(prior_mean=0.5, prior_sd=0.3)).value
    assert np.abs(errors_z(wrong, world.means)).max() > 2 * Z


@pytest.mark.parametrize("rule", RULES)
def test_the_dynamic_programme_is_the_enumeration(rule):
    policy, judge = RULES[rule]
    for p1, p2, horizon in ((0.4, 0.55, 30), (0.9, 0.2, 12)):
        if horizon < 2 * judge.opening:
            continue
        ours, theirs = exact_two_arms(policy, p1, p2, horizon), oracle.enumerate_two_arms(judge, p1, p2, horizon)
        for one, two in zip(ours[:3], theirs[:3], strict=True):
            np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)
    control = exact_two_arms(policy, 0.42, 0.55, 30)
    assert (
        np.abs(control.pulls - oracle.enumerate_two_arms(judge, 0.4, 0.55, 30).pulls).max() > 1e-4 or rule == "uniform"
    )
    assert np.abs(exact_two_arms(db.UCB(c=0.7), p1, p2, 12).bias - exact_two_arms(policy, p1, p2, 12).bias).max() > 1e-4


# Exact values of the paper's settings, T = 100, Ber(.3), Ber(.6), as in REPRODUCTION.md: to the digits given there
EXACT = [
    (db.ExploreThenCommit(10), [-0.01878796, -0.02032234], 1e-8),
    (db.UCB(), [-0.0421753465, -0.0023521767], 1e-9),
    (db.EpsilonGreedy(0.05), [-0.0458339561, -0.0730671551], 1e-9),
    (db.ThompsonSampling(initial_pulls=1), [-0.0298335557, -0.0029634573], 1e-9),
]


@pytest.mark.parametrize(("policy", "bias", "digits"), EXACT)
def test_exact_values_of_the_paper_settings(policy, bias, digits):
    np.testing.assert_allclose(exact_two_arms(policy, 0.3, 0.6, 100).bias, bias, rtol=0, atol=digits)
    assert np.abs(exact_two_arms(policy, 0.3, 0.601, 100).bias - bias).max() > 10 * digits  # control


@pytest.mark.parametrize("rule", ["epsilon", "thompson", "beta"])
def test_the_law_of_the_estimate_is_that_of_the_runs(rule):
    """The exact distribution function against 200,000 runs; control: that of slightly other arms."""
    policy = RULES[rule][0]
    runs = db.simulate(policy, db.worlds.Bernoulli([0.4, 0.55]), horizon=40, runs=200_000, seed=74)

    def z(p1, p2):
        worst = 0.0
        for arm, law in enumerate(exact_two_arms(policy, p1, p2, 40).estimates):
            means = np.sort(runs.means[runs.pulls[:, arm] > 0, arm])
            for point in (0.25, 0.4, 0.5, 0.7):
                chance = law.probabilities[law.values <= point].sum()
                share = np.searchsorted(means, point, side="right") / len(means)
                worst = max(worst, abs(share - chance) / np.sqrt(chance * (1 - chance) / len(means)))
        return worst

    assert z(0.4, 0.55) < Z
    assert z(0.42, 0.55) > 2 * Z
