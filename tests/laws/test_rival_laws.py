"""What the rival estimators promise, and controls that do not keep it."""

import numpy as np
import pytest
from catalogue import Z, z_scores
from scipy import stats

import debandit as db
from debandit.estimators import aw_aipw, batch_weighted, batched_ols, naive, sequences, w_decorrelation


def means_z(values):
    """Of each arm: how many standard errors the mean over experiments is from 0."""
    return z_scores(np.nanmean(values, axis=0), np.nanstd(values, axis=0) / np.sqrt(len(values)))


@pytest.fixture(scope="module")
def equal_arms():
    """Two equal arms, where Thompson sampling's choices depend most on chance."""
    rule = "floor(thompson(prior_sd=10), probability=0.05)"
    return db.simulate(rule, db.worlds.Normal([0, 0], [1, 1]), horizon=300, runs=3000, seed=5, paths=True)


@pytest.mark.parametrize("weights", ["constant", "two-point"])
def test_adaptive_weights_centre_the_studentised_error(equal_arms, weights):
    value, se = aw_aipw(equal_arms, weights=weights)
    assert np.abs(means_z(value / se)).max() < Z
    assert (np.abs(np.std(value / se, axis=0) - 1) < 0.1).all()
    value, se = naive(equal_arms)
    assert means_z(value / se).max() < -Z  # control: the sample mean


def test_uniform_weights_are_unbiased(equal_arms):
    assert np.abs(means_z(aw_aipw(equal_arms, weights="uniform").value)).max() < Z
    assert means_z(naive(equal_arms).value).max() < -Z  # control
    wrong = aw_aipw(equal_arms, "floor(thompson(prior_sd=10), probability=0.2)", weights="uniform").value
    assert np.abs(means_z(wrong)).max() > Z  # control: another rule's propensities


def test_decorrelation_removes_most_of_the_bias():
    """With few pulls lambda is small, and the first ones, which no reward had influenced, count most."""
    runs = db.simulate("ucb", db.worlds.Normal([0, 0], [1, 1]), horizon=100, runs=2000, seed=6, paths=True)
    logs = [runs.log(i) for i in range(2000)]
    values, means = w_decorrelation(logs, lambda_=1).value, naive(runs).value
    assert means_z((values - means / 2).mean(axis=1, keepdims=True))[0] > Z  # less than half of it is left
    assert means_z(means).max() < -Z  # control: the sample mean


SIZE, BATCHES = 60, 4
RULE = db.Floor(db.ThompsonSampling(prior_sd=10), 0.15)  # an arm without a pull in some batch: 1 log in 2,000


def drifting_logs(count, means, seed):
    """Logs in four batches under the rule, with normal rewards of `means` (batches, 2) and variance 1."""
    rng = np.random.default_rng(seed)
    arms, rewards = np.empty((2, count, BATCHES, SIZE))
    pulls, sums = np.zeros((count, 2), np.int64), np.zeros((count, 2))
    for batch in range(BATCHES):
        chances = RULE.probabilities(batch * SIZE, pulls, sums, BATCHES * SIZE)
        second = rng.random((count, SIZE)) < chances[:, [1]]
        arms[:, batch], rewards[:, batch] = second, means[batch][second.astype(int)] + rng.normal(size=(count, SIZE))
        for arm in (0, 1):
            pulls[:, arm] += (second == arm).sum(axis=1)
            sums[:, arm] += np.where(second == arm, rewards[:, batch], 0).sum(axis=1)
    shape, days = (count, BATCHES * SIZE), (list("1234"), np.repeat(np.arange(BATCHES), SIZE))
    for arm, reward in zip(arms.reshape(shape).astype(np.int64), rewards.reshape(shape), strict=True):
        log = db.ExperimentLog.of_codes(["A", "B"], arm, reward.copy(), labels=["A", "B"], batches=days)
        cells = np.bincount(np.repeat(np.arange(BATCHES), SIZE) * 2 + arm, minlength=2 * BATCHES)
        if cells.min() > 1:
            yield log


DRIFT = np.array([0.0, 0.5, 1.5, 3.0])


def test_batch_weights_are_unbiased_whatever_the_drift():
    means = DRIFT[:, None] + [0.3, 0.0] * np.array([1, 1, -1, -1])[:, None]  # the better arm changes, too
    logs = list(drifting_logs(3000, means, seed=7))
    value, se, low, high = batch_weighted(logs)
    errors = value - means.mean(axis=0)
    assert np.abs(means_z(errors)).max() < Z
    assert np.abs(means_z(naive(logs).value - means.mean(axis=0))).min() > Z  # control: plain means
    assert np.abs(means_z(errors**2 - se**2)).max() < Z  # se^2 is unbiased, too
    assert np.abs(means_z(errors**2 - naive(logs).se ** 2)).min() > Z  # control
    tolerance = Z * np.sqrt(0.05 * 0.95 / len(logs))
    assert (np.abs(((low <= value - errors) & (value - errors <= high)).mean(axis=0) - 0.95) < tolerance).all()
    plain = naive(logs)
    assert (
        np.mean(np.abs(plain.value - (value - errors)) < 1.96 * plain.se, axis=0) < 0.95 - tolerance
    ).all()  # control


def test_batched_ols_has_its_level_whatever_the_drift():
    means = DRIFT[:, None] + [0.0, 0.4]
    logs = list(drifting_logs(1500, means, seed=8))
    found = [batched_ols(log, control="A", draws=999, seed=i) for i, log in enumerate(logs)]
    low, high = (np.array([getattr(one, name)[1] for one in found]) for name in ("low", "high"))
    tolerance = Z * np.sqrt(0.05 * 0.95 / len(logs))
    assert abs(np.mean((low < 0.4) & (high > 0.4)) - 0.95) < tolerance
    assert np.mean([one.p_value[1] < 0.05 for one in found]) > 0.5  # power
    plain, se = naive(logs)
    assert np.mean(np.abs(plain[:, 1] - plain[:, 0] - 0.4) < 1.96 * np.hypot(*se.T)) < 0.95 - tolerance  # control

    equal = drifting_logs(1500, np.repeat(DRIFT[:, None], 2, axis=1), seed=9)
    p_values = np.array([batched_ols(log, control="A", draws=999, seed=i).p_value[1] for i, log in enumerate(equal)])
    for level in (0.05, 0.5):
        assert abs(np.mean(p_values <= level) - level) < Z * np.sqrt(level * (1 - level) / len(p_values))


def ever_outside(low, high, truth):
    return np.mean(((truth < low) | (truth > high)).any(axis=1))


def test_limits_hold_at_all_times_under_a_policy():
    """Thompson sampling; the limits of both arms after every pull."""
    rates, horizon, runs = np.array([0.2, 0.3]), 150, 2000
    played = db.simulate("beta_thompson", db.worlds.Bernoulli(rates), horizon=horizon, runs=runs, seed=10, paths=True)
    arms, rewards = played.paths()
    n, s = (grid.ravel() for grid in np.mgrid[0 : horizon + 1, 0 : horizon + 1].astype(float))
    s = np.minimum(s, n)
    sequence = sequences.bernoulli_limits(s, n, 0.05, horizon / 2)
    pearson = stats.beta.ppf(0.025, s, n - s + 1), stats.beta.ppf(0.975, s + 1, n - s)
    for arm, rate in enumerate(rates):
        pulls, wins = (np.cumsum(each, axis=1) for each in (arms == arm, (arms == arm) * rewards))
        state = (pulls * (horizon + 1) + wins).astype(int)
        tolerance = Z * np.sqrt(0.05 * 0.95 / runs)
        assert ever_outside(*(each[state] for each in sequence), rate) < 0.05 + tolerance
        assert ever_outside(*(each[state] for each in pearson), rate) > 0.05 + tolerance  # control: for one time


def test_empirical_bernstein_and_normal_limits_hold_at_all_times():
    rng, runs, n = np.random.default_rng(11), 400, np.arange(1, 201)
    tolerance = Z * np.sqrt(0.05 * 0.95 / runs)
    for rewards, truth in ((rng.beta(0.5, 2, (runs, 200)), 0.2), (rng.normal(0.2, 0.3, (runs, 200)), 0.2)):
        means = np.cumsum(rewards, axis=1) / n
        before = np.concatenate([np.full((runs, 1), 0.5), means[:, :-1]], axis=1)
        squares = np.cumsum((rewards - before) ** 2, axis=1)
        if rewards.min() >= 0:
            radius = sequences.gamma_exponential_bound(squares, 0.025, 100 / 16, 1, n * np.ones((runs, 1))) / n
        else:
            radius = sequences.normal_mixture_bound(n * 0.09, 0.05, 100 * 0.09) / n
        assert ever_outside(means - radius, means + radius, truth) < 0.05 + tolerance
        with np.errstate(invalid="ignore"):
            wald = 1.96 * np.sqrt(np.maximum(np.cumsum(rewards**2, axis=1) / n - means**2, 0) / n)
        late = slice(19, None)
        assert ever_outside((means - wald)[:, late], (means + wald)[:, late], truth) > 0.05 + tolerance  # control
