"""Features of runs and the fit on them, by hand."""

import numpy as np
import object_rules
import pytest

import debandit as db
from debandit.engine import spread
from debandit.engine.control_variates import FEWEST_RUNS, fit, rare_run
from debandit.engine.runs import Wish
from debandit.simulation import _experiment

HORIZON, RUNS = 15, 300
THREE = db.worlds.Normal([0.3, 0.5, 0.4], [1.0, 0.5, 2.0])
TWO = db.worlds.Normal([0.3, 0.5], [1.0, 0.5])


def features_by_hand(arms, rewards, world):
    """Of shape (runs, K, 6): the definition in `engine.features`, pull by pull."""
    features = np.zeros((len(arms), world.arm_count, 6))
    for run, (path, values) in enumerate(zip(arms, rewards, strict=True)):
        pulls, errors = np.zeros(world.arm_count), np.zeros(world.arm_count)
        for arm, reward in zip(path, values, strict=True):
            error = reward - world.means[arm]
            n = pulls[arm] + 1
            features[run, arm, 2:] += (
                error,
                error / n,
                error * errors[arm] / n,
                (error**2 - world.variances[arm]) / n,
            )
            pulls[arm], errors[arm] = n, errors[arm] + error
        features[run, :, 0] = pulls > 0
        features[run, :, 1] = np.divide(errors, pulls, out=np.zeros_like(errors), where=pulls > 0)
    return features


def products(one, two):
    """Summed over even and over odd runs: (K, 2, 6, 6)."""
    return np.stack([np.einsum("rki,rkj->kij", one[h::2], two[h::2]) for h in (0, 1)], axis=1)


@pytest.mark.parametrize(
    ("policy", "world"),
    [
        (db.UCB(), TWO),
        (db.UCB(), THREE),
        (db.ThompsonSampling(), THREE),  # not every run pulls every arm
        (db.Batched(db.EpsilonGreedy(0.3), size=4), THREE),
        (object_rules.Confident(), THREE),
        (db.UCB(), db.worlds.Bernoulli([0.3, 0.6])),
        (db.UCB(), db.worlds.Smoothed([np.arange(4.0), np.arange(3.0) ** 2], sds=[0.5, 0.1])),
    ],
    ids=lambda each: each.name,
)
def test_moments_are_those_of_the_runs(policy, world):
    controls = np.roll(np.arange(world.arm_count), 1)
    experiment = _experiment(policy, world, HORIZON, 4)
    total = spread.tally(experiment, np.array([RUNS]), Wish(controls=controls[None], martingales=True))
    runs = db.simulate(policy, world, horizon=HORIZON, runs=RUNS, seed=4, paths=True)
    features = features_by_hand(*runs.paths(), world)
    near = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(total.moments[0], products(features, features), **near)
    np.testing.assert_allclose(total.cross[0], products(features, features[:, controls]), **near)
    best = features.sum(axis=1)
    best[:, 0] = 1.0
    best[:, 1] = features[np.arange(RUNS), np.argmax(np.nan_to_num(runs.means, nan=-np.inf), axis=1), 1]
    np.testing.assert_allclose(total.winner[0], products(best[:, None], best[:, None])[0], **near)


def by_hand(features):
    """Each half of the runs with slopes from the other, by ridge regression: what is added is like more rows."""
    residuals = []
    for h in (0, 1):
        mine, other = features[h::2], features[1 - h :: 2]
        x, y = other[:, 2:] - other[:, 2:].mean(axis=0), other[:, 1] - other[:, 1].mean()
        length = np.sqrt((x**2).sum(axis=0))
        rows = np.vstack((x / length, np.sqrt(4 / len(other)) * np.eye(x.shape[1])))
        slopes, *_ = np.linalg.lstsq(rows, np.append(y, np.zeros(x.shape[1])), rcond=None)
        residuals.append(mine[:, 1] - mine[:, 2:] @ (slopes / length))
    residuals = np.concatenate(residuals)
    return residuals.mean(), residuals.std(ddof=1) / np.sqrt(len(residuals))


def fitted(features):
    return fit(products(features[:, None], features[:, None])[0])


def some_features(count, seed=1):
    random = np.random.default_rng(seed)
    features = random.normal(size=(count, 6)) * [1, 1, 5, 1e-3, 2, 1]
    features[:, 1] += 0.3 + 0.4 * features[:, 2] - 200 * features[:, 3]
    features[:, 0] = 1.0
    return features


def test_the_fit_is_a_regression():
    features = some_features(200)
    bias, se = by_hand(features)
    found = fitted(features)
    assert (found.bias, found.se) == pytest.approx((bias, se), rel=1e-9)
    assert se < 0.9 * features[:, 1].std() / np.sqrt(200)
    left = np.concatenate([features[h::2] @ found.residual[h] for h in (0, 1)])
    assert left.mean() == pytest.approx(0, abs=1e-12)
    assert left.std(ddof=1) / np.sqrt(200) == pytest.approx(se)
    for scale in (1e-12, 1e12):  # of the rewards
        stretched = fitted(features * [1, scale, scale, scale, scale**2, scale**2])
        assert (stretched.bias, stretched.se) == pytest.approx((bias * scale, se * scale), rel=1e-9)


def test_sums_that_say_the_same_or_nothing_do_no_harm():
    """Ridge regression knows two that say the same by their sum; what is always 0 is as if it were not there."""
    features = some_features(2000)
    features[:, 5] = -2 * features[:, 3]
    features[:, 4] = 0.0
    found, alone = fitted(features), by_hand(features[:, :4])
    assert found.bias == pytest.approx(alone[0], abs=0.01 * alone[1])
    assert found.se == pytest.approx(alone[1], rel=0.01)


def test_rounding_is_not_noise():
    """The squares of two rewards that are as frequent do not vary but for rounding, which goes with the pulls."""
    features = some_features(2000)
    features[:, 5] = 0.0
    alone = fitted(features)
    features[:, 5] = 1e-16 * (features[:, 1] - features[:, 1].mean())  # it would explain everything
    assert (fitted(features).bias, fitted(features).se) == (alone.bias, alone.se)
    features[:, 5] *= 1e10
    assert fitted(features).se < 0.5 * alone.se


def test_sums_that_explain_nothing_are_not_used():
    """If slopes make the error larger, it is the average."""
    features = some_features(64)
    features[:, 1] = np.random.default_rng(2).normal(size=64)
    assert fitted(features).bias == pytest.approx(features[:, 1].mean(), rel=1e-12)
    assert by_hand(features)[1] > fitted(features).se


def test_few_runs_are_averaged():
    features = some_features(FEWEST_RUNS - 1)
    found = fitted(features)
    assert found.bias == pytest.approx(features[:, 1].mean())
    assert found.se == pytest.approx(features[:, 1].std(ddof=1) / np.sqrt(len(features)))
    with np.errstate(all="raise"):
        nothing = fit(np.zeros((2, 2, 6, 6)))
    assert np.isnan(nothing.bias).all()
    assert np.isnan(nothing.se).all()


def test_a_sum_that_is_not_zero_on_average_is_caught():
    """Its z is 14 (0.5 sd, 800 runs); it is left out, and the others are used."""
    features = some_features(800)
    honest = fitted(features)
    assert not honest.caught.any()
    features[:, 4] += 0.5 * 2
    found = fitted(features)
    assert found.caught.tolist() == [False, False, True, False]
    bias, se = by_hand(np.delete(features, 4, axis=1))
    assert (found.bias, found.se) == (pytest.approx(bias, rel=1e-9), pytest.approx(se, rel=1e-9))


def test_a_world_that_lies_is_told(monkeypatch):
    """A world whose rewards do not have the mean that it claims: the result warns."""
    log = db.simulate(db.UCB(), TWO, horizon=60, runs=1, seed=3, paths=True).log(0)
    assert not any("miss the mean" in warning for warning in db.debias(log, db.UCB(), seed=1).warnings)
    honest = db.worlds.Smoothed.data
    monkeypatch.setattr(db.worlds.Smoothed, "data", lambda self: honest(self)._replace(means=self.means + 0.3))
    result = db.debias(log, db.UCB(), seed=1)
    assert any("miss the mean" in warning for warning in result.warnings)


def test_a_rare_run_is_one_more_for_the_slopes_and_several_for_the_error():
    """It is like one more row in each half, without an intercept; the bias is that of the real runs alone."""
    features, rare = some_features(400), np.array([0.0, 3.0, 1.0, 0.01, 0.0, -2.0])
    pair = np.stack([features[h::2].T @ features[h::2] for h in (0, 1)])
    found = fit(pair, np.outer(rare, rare))
    left = np.concatenate([features[h::2] @ found.residual[h] for h in (0, 1)])
    assert left.mean() == pytest.approx(0, abs=1e-12)
    squares = np.mean([(rare @ residual) ** 2 for residual in found.residual])
    room = (3 / 1.96) ** 2 * 2 * np.log(400) * squares
    assert found.se == pytest.approx(np.sqrt(((left**2).sum() + room) / 399 / 400), rel=1e-9)
    assert squares < np.mean([(rare @ residual) ** 2 for residual in fit(pair).residual])  # the slopes mind it


def test_a_rare_run_is_like_those_of_the_least_and_the_most_pulled_arm():
    """In the unit of each arm's rewards: here 1, 10 and 2, for arms with 2, 5 and 50 pulls."""
    world, pulls, runs = db.worlds.Normal([0.0, 0.0, 0.0], [1.0, 10.0, 2.0]), np.array([2, 5, 50]), 600
    arms = np.tile(np.repeat(np.arange(3), pulls), (runs, 1))
    rewards = np.random.default_rng(3).normal(size=arms.shape) * np.sqrt(world.variances)[arms]
    features = features_by_hand(arms, rewards, world)
    moments, totals = products(features, features)[None], runs * pulls[None]
    rare = rare_run(moments, totals)[0].mean(axis=1)
    near = {"rel": 4.5 * np.sqrt(2 / runs) * np.sqrt(2)}  # of two mean squares
    assert rare[1, 1, 1] == pytest.approx(100 * (1 / 2 + 1 / 50), **near)  # of means, of sums, and of both
    assert rare[1, 2, 2] == pytest.approx(100 * (2 + 50), **near)
    assert rare[1, 1, 2] == pytest.approx(100 * (1 + 1), **near)
    assert rare[1, 5, 5] == pytest.approx(
        10**4 * 2 * (1 / 1**2 + 1 / 2**2 + (1 / np.arange(1, 51) ** 2).sum()), rel=0.5
    )
    assert not rare[:, 0].any()
    assert not rare[:, :, 0].any()  # it is not counted

    constant = moments.copy()
    constant[0, 0, :, 1:] = constant[0, 0, :, :, 1:] = 0.0  # the least pulled arm has no errors, but 2 pulls
    rare = rare_run(constant, totals)[0].mean(axis=1)
    assert rare[1, 1, 1] == pytest.approx(100 * (1 / 2 + 1 / 50), **near)
    assert not rare[0].any()

    plain = moments.copy()
    plain[..., 2:, :] = plain[..., :, 2:] = 0.0
    assert not rare_run(plain, totals).any()  # averages stay as they are


def test_they_can_be_turned_off():
    log = db.simulate(db.UCB(), TWO, horizon=60, runs=1, seed=4, paths=True).log(0)
    for runs in (500, 5000):
        plain = db.debias(log, db.UCB(), world="gaussian", runs=runs, seed=1, control_variates=False)
        fitted = db.debias(log, db.UCB(), world="gaussian", runs=runs, seed=1)
        assert (plain.settings.control_variates, fitted.settings.control_variates) == (False, True)
        assert (fitted.bias_se < plain.bias_se).all()
        assert (fitted.differences.bias_se < plain.differences.bias_se).all()
        assert fitted.winner.bias_se <= plain.winner.bias_se
    assert fitted.winner.bias_se < plain.winner.bias_se / 1.5  # the more runs, the less room for rare ones
