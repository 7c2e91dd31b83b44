"""Features of runs and the fit on them, by hand."""

import numpy as np
import object_rules
import pytest

import debandit as db
from debandit.engine import spread
from debandit.engine.control_variates import FEWEST_RUNS, fit
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
    total = spread.tally(experiment, np.array([RUNS]), controls=controls[None], martingales=True)
    runs = db.simulate(policy, world, horizon=HORIZON, runs=RUNS, seed=4, paths=True)
    features = features_by_hand(*runs.paths(), world)
    near = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(total.moments[0], np.einsum("rki,rkj->kij", features, features), **near)
    np.testing.assert_allclose(total.cross[0], np.einsum("rki,rkj->kij", features, features[:, controls]), **near)
    best = features.sum(axis=1)
    best[:, 0] = 1.0
    best[:, 1] = features[np.arange(RUNS), np.argmax(np.nan_to_num(runs.means, nan=-np.inf), axis=1), 1]
    np.testing.assert_allclose(total.winner[0], best.T @ best, **near)


def least_squares(features):
    """Intercept and its standard error as any textbook has them."""
    x, y = np.column_stack((np.ones(len(features)), features[:, 2:])), features[:, 1]
    slopes, *_ = np.linalg.lstsq(x, y, rcond=None)
    freedom = len(y) - np.linalg.matrix_rank(x)
    variance = ((y - x @ slopes) ** 2).sum() / freedom
    return slopes[0], np.sqrt(variance * np.linalg.inv(x.T @ x)[0, 0])


def some_features(count, seed=1):
    random = np.random.default_rng(seed)
    features = random.normal(size=(count, 6)) * [1, 1, 5, 1e-3, 2, 1]
    features[:, 1] += 0.3 + 0.1 * features[:, 2] - 200 * features[:, 3]
    features[:, 0] = 1.0
    return features


def test_the_fit_is_least_squares():
    features = some_features(200)
    moments = features.T @ features
    bias, se = least_squares(features)
    assert fit(moments).bias == pytest.approx(bias, rel=1e-9)
    assert fit(moments).se == pytest.approx(se, rel=1e-9)
    assert fit(moments).residual @ moments @ fit(moments).residual == pytest.approx(
        ((features @ fit(moments).residual) ** 2).sum()
    )
    for scale in (1e-12, 1e12):  # of the rewards
        stretch = np.array([1, scale, scale, scale, scale**2, scale**2])
        stretched = fit(moments * stretch * stretch[:, None])
        assert (stretched.bias, stretched.se) == pytest.approx((bias * scale, se * scale), rel=1e-9)


def test_sums_that_say_the_same_or_nothing_do_no_harm():
    features = some_features(200)
    features[:, 5] = -2 * features[:, 3]
    features[:, 4] = 0.0
    bias, _ = least_squares(features[:, :4])
    assert fit(features.T @ features).bias == pytest.approx(bias, rel=1e-9)


def test_few_runs_are_averaged():
    features = some_features(FEWEST_RUNS - 1)
    found = fit(features.T @ features)
    assert found.bias == pytest.approx(features[:, 1].mean())
    assert found.se == pytest.approx(features[:, 1].std(ddof=1) / np.sqrt(len(features)))
    with np.errstate(all="raise"):
        nothing = fit(np.zeros((2, 6, 6)))
    assert np.isnan(nothing.bias).all()
    assert np.isnan(nothing.se).all()


def test_a_sum_that_is_not_zero_on_average_is_caught():
    """Its z is 14 (0.5 sd, 800 runs); it is left out, and the others are used."""
    features = some_features(800)
    honest = fit(features.T @ features)
    assert not honest.caught.any()
    features[:, 4] += 0.5 * 2
    found = fit(features.T @ features)
    assert found.caught.tolist() == [False, False, True, False]
    bias, se = least_squares(np.delete(features, 4, axis=1))
    assert (found.bias, found.se) == (pytest.approx(bias, rel=1e-9), pytest.approx(se, rel=1e-9))


def test_a_world_that_lies_is_told(monkeypatch):
    """A world whose rewards do not have the mean that it claims: the result warns."""
    log = db.simulate(db.UCB(), TWO, horizon=60, runs=1, seed=3, paths=True).log(0)
    assert not any("miss the mean" in warning for warning in db.debias(log, db.UCB(), seed=1).warnings)
    honest = db.worlds.Smoothed.data
    monkeypatch.setattr(db.worlds.Smoothed, "data", lambda self: honest(self)._replace(means=self.means + 0.3))
    result = db.debias(log, db.UCB(), seed=1)
    assert any("miss the mean" in warning for warning in result.warnings)


def test_they_can_be_turned_off():
    log = db.simulate(db.UCB(), TWO, horizon=60, runs=1, seed=4, paths=True).log(0)
    plain = db.debias(log, db.UCB(), world="gaussian", runs=500, seed=1, control_variates=False)
    fitted = db.debias(log, db.UCB(), world="gaussian", runs=500, seed=1)
    assert (plain.settings.control_variates, fitted.settings.control_variates) == (False, True)
    assert (fitted.bias_se < plain.bias_se).all()
    assert fitted.winner.bias_se < plain.winner.bias_se
    assert (fitted.differences.bias_se < plain.differences.bias_se).all()
