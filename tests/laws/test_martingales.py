"""Control variates are 0 on average, and take noise out of biases without adding any bias. With controls."""

import numpy as np
import pytest
from catalogue import RULES, WORLDS, Z, z_scores

import debandit as db
from debandit.engine import spread
from debandit.engine.control_variates import fit, fit_differences
from debandit.engine.runs import Wish
from debandit.simulation import _experiment
from debandit.theory.dynamic import exact_two_arms

RUNS, HORIZON = 40_000, 60
FOUR = db.worlds.Normal([2.0, 2.5, 3.0, 3.5], [2.0, 1.0, 2.0, 1.0])  # the paper's K = 4 normal setting, as printed
CASES = [
    *((RULES["ucb"][0], world) for world in WORLDS.values()),
    *(
        (RULES[rule][0], WORLDS[world])
        for rule in ("thompson", "epsilon", "etc")
        for world in ("normal", "bernoulli", "smoothed")
    ),
    (db.BetaThompson(), WORLDS["bernoulli"]),
    (db.UCB(), db.worlds.Normal([1.0, 1.5], [1.0, 2.0])),  # two arms are other code
    (db.Batched(db.EpsilonGreedy(), size=7), WORLDS["normal"]),
    (db.Batched(db.EpsilonGreedy(), size=60), WORLDS["normal"]),  # drawn batch by batch
    (db.Batched(db.EpsilonGreedy(), size=60), WORLDS["bernoulli"]),
]


def means_z(total):
    """z of the means of each arm's four sums (K, 4); those that are always 0 have none."""
    moments, runs = total.moments[0].sum(axis=1), total.runs[0]
    means = moments[:, 0, 2:] / runs
    squares = np.diagonal(moments, axis1=1, axis2=2)[:, 2:] / runs
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(means / np.sqrt((squares - means**2) / runs))


@pytest.mark.usefixtures("in_steps")
@pytest.mark.parametrize(("policy", "world"), CASES, ids=lambda each: str(each)[:40])
def test_all_sums_are_zero_on_average(policy, world):
    stepped = isinstance(policy, db.Batched) and policy.size >= 60
    horizon, runs = (600, RUNS // 10) if stepped else (HORIZON, RUNS)
    experiment = _experiment(policy, world, horizon, 21)
    assert np.abs(means_z(spread.tally(experiment, np.array([runs]), Wish(martingales=True)))).max() < Z
    lying = experiment._replace(world=experiment.world._replace(variances=1.15 * experiment.world.variances))
    lie = means_z(spread.tally(lying, np.array([runs]), Wish(martingales=True)))
    assert np.abs(lie[:, 3]).max() > 2 * Z  # control
    assert np.abs(lie[:, :3]).max() < Z


@pytest.mark.parametrize("rule", ["ucb", "etc", "epsilon", "thompson", "beta"])
def test_two_arms_exactly(rule):
    """Arms, differences and the winner against the enumeration, with errors that the average would not have."""
    policy, place = RULES[rule][0], db.worlds.Bernoulli([0.4, 0.55])
    experiment, controls = _experiment(policy, place, 40, 33), np.array([[1, 0]])
    exact = exact_two_arms(policy, 0.4, 0.55, 40)
    fitted, plain = (
        spread.tally(experiment, np.array([200_000]), Wish(controls=controls, martingales=each))
        for each in (True, False)
    )
    (differences, differences_se), best = fitted.differences, fitted.best
    found = np.concatenate((fitted.bias[0], differences[0], best.bias))
    error = np.concatenate((fitted.bias_se[0], differences_se[0], best.se))
    expected = np.array([*exact.bias, -exact.difference, exact.difference, exact.winner])
    assert (np.abs(found - expected) < Z * error).all()
    assert (fitted.bias_se < plain.bias_se / np.sqrt(1.5)).all()
    other = exact_two_arms(RULES["epsilon-wide" if rule == "ucb" else "ucb"][0], 0.4, 0.55, 40)  # control
    expected = np.array([*other.bias, -other.difference, other.difference, other.winner])
    for kind in (slice(0, 2), slice(2, 4), slice(4, 5)):  # arms, differences, the winner
        assert np.abs((found - expected) / error)[kind].max() > 2 * Z


@pytest.mark.parametrize("rule", ["ucb", "epsilon"])
def test_errors_are_as_large_as_they_say(rule):
    """400 times 256 runs: no bias from fitting, and the spread of the answers is that of the fit.

    The reported error leaves room for rare runs, too, so that the spread is at most as large.
    """
    times, runs = 400, 256
    places = db.worlds.Normal(np.tile(FOUR.means, (times, 1)), np.tile([2.0, 1.0, 2.0, 1.0], (times, 1)))
    controls = np.tile([3, 3, 3, 2], (times, 1))
    experiment = _experiment(RULES[rule][0], places, 100, 5)
    total = spread.tally(experiment, np.full(times, runs), Wish(controls=controls, martingales=True))
    truth = spread.tally(_experiment(RULES[rule][0], FOUR, 100, 6), np.array([400_000]), Wish(controls=controls[:1]))
    for exactly, arms, best in (
        (True, fit(total.moments), fit(total.winner)),
        (False, total.arms, total.best),
    ):
        differences, differences_se = fit_differences(total.runs, arms, controls, total.cross, total.difference_sums)
        expected, expected_se = truth.differences
        for found, error, target, target_se in (
            (arms.bias, arms.se, truth.bias[0], truth.bias_se[0]),
            (differences, differences_se, expected[0], expected_se[0]),
            (best.bias[:, None], best.se[:, None], truth.best.bias, truth.best.se),
        ):
            spread_of = found.std(axis=0, ddof=1)
            assert np.abs(z_scores(found.mean(axis=0) - target, spread_of / np.sqrt(times), target_se)).max() < Z
            kurtosis = ((found - found.mean(axis=0)) ** 4).mean(axis=0) / spread_of**4
            excess = (spread_of**2 / (error**2).mean(axis=0) - 1) / np.sqrt((kurtosis - 1) / times)
            assert (np.abs(excess) if exactly else excess).max() < Z
        assert (arms.bias.var(axis=0) < truth.bias_se[0] ** 2 * 400_000 / runs / 1.3).all()  # the average's is larger


def test_a_fit_has_no_bias_of_its_own():
    """Explore-then-commit seldom commits to a bad arm. Control: slopes from the very runs that they are used on."""
    times, runs = 2500, 256
    places = db.worlds.Normal(np.tile(FOUR.means, (times, 1)), np.tile([2.0, 1.0, 1.0, 2.0], (times, 1)))
    policy = db.ExploreThenCommit(pulls=10)
    total = spread.tally(_experiment(policy, places, 100, 5), np.full(times, runs), Wish(martingales=True))
    truth = spread.tally(
        _experiment(policy, db.worlds.Normal(FOUR.means, [2.0, 1.0, 1.0, 2.0]), 100, 9), np.array([2_500_000])
    )

    def z(bias):
        return z_scores(bias.mean(axis=0) - truth.bias[0], bias.std(axis=0) / np.sqrt(times), truth.bias_se[0])

    assert np.abs(z(total.bias)).max() < Z
    assert np.abs(z(fit(total.moments).bias)).max() < Z  # also without a rare run
    whole = total.moments.sum(axis=2, keepdims=True)
    assert np.abs(z(fit(np.concatenate((whole, whole), axis=2)).bias)).max() > 2 * Z


def test_an_arm_may_stay_unpulled():
    """Conjugate Thompson sampling without initial pulls: own sums are fair, other arms' are not.

    With the others' a fit misses the truth in the paper's K = 4 setting.
    """
    policy = db.ThompsonSampling()
    truth = spread.tally(_experiment(policy, FOUR, 100, 1), np.array([2_000_000]))
    own = spread.tally(_experiment(policy, FOUR, 100, 2), np.array([300_000]), Wish(martingales=True))
    assert (truth.pulled < truth.runs[:, None]).any()
    assert np.abs(z_scores(own.bias - truth.bias, own.bias_se, truth.bias_se)).max() < Z
    assert (own.bias_se[0] * np.sqrt(300_000) < truth.bias_se[0] * np.sqrt(2_000_000)).all()
    runs = db.simulate(policy, FOUR, horizon=100, runs=1_000_000, seed=3)
    pulled = runs.pulls > 0
    errors = np.where(pulled, runs.means - FOUR.means, 0.0)
    sums = runs.sums - runs.pulls * FOUR.means
    off, caught = [], []
    for arm in range(4):  # every arm's sum of errors, among the runs that pulled this one
        mine = pulled[:, arm]
        features = np.column_stack((np.ones(mine.sum()), errors[mine, arm], sums[mine]))
        (intercept, *_), *_ = np.linalg.lstsq(np.delete(features, 1, axis=1), features[:, 1], rcond=None)
        others = fit(np.stack([features[h::2].T @ features[h::2] for h in (0, 1)]))
        off.append(z_scores(intercept - truth.bias[0, arm], others.se, truth.bias_se[0, arm]))
        caught.append(np.delete(others.caught, arm).any())
        assert not others.caught[arm]
    assert np.abs(off).max() > 2 * Z  # control
    assert all(caught)  # and the fit would have left them out
