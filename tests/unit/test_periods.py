"""Periods: cells, the additive fit, which kind of drift, and period-weighted means in a result."""

import numpy as np
import pytest
from scipy import optimize

import debandit as db
from debandit.periods import COMMON, OWN, Cells, Weighted, cells_of, drift_of
from debandit.periods.additive import additive_fit

RNG = np.random.default_rng(7)
PULLS = RNG.integers(3, 60, (6, 3))
PULLS[2, 1] = PULLS[4, 2] = 0


def cells(pulls, means, variances=1.0):
    means = np.where(pulls > 0, means, np.nan)
    return Cells([str(i) for i in range(len(pulls))], pulls, means, pulls * np.broadcast_to(variances, pulls.shape))


def designed(pulls):
    """Dummies of arms and of all periods but the first, for the cells with pulls, row by row."""
    period, arm = np.nonzero(pulls)
    table = np.zeros((len(period), pulls.shape[1] + len(pulls)))
    table[np.arange(len(arm)), arm] = 1
    table[np.arange(len(arm)), pulls.shape[1] + period] = 1
    return np.delete(table, pulls.shape[1], axis=1)


def test_the_additive_fit_is_that_of_least_squares():
    means = RNG.normal(size=PULLS.shape)
    variances = np.array([1.0, 4.0, 0.5])
    fit = additive_fit(cells(PULLS, means), False, variances)
    there, roots = PULLS > 0, np.sqrt((PULLS / variances)[PULLS > 0])
    design = designed(PULLS)
    solution = np.linalg.lstsq(design * roots[:, None], means[there] * roots, rcond=None)[0]
    np.testing.assert_allclose(fit.means[there], design @ solution, atol=1e-10)


def test_the_fit_of_log_odds_has_the_highest_likelihood():
    wins = RNG.binomial(PULLS, 0.3)
    fit, there, design = additive_fit(cells(PULLS, wins / np.maximum(PULLS, 1)), True), PULLS > 0, designed(PULLS)

    def loss(parameters):
        odds = design @ parameters
        return (PULLS[there] * np.logaddexp(0, odds) - wins[there] * odds).sum()

    best = optimize.minimize(loss, np.zeros(design.shape[1]), method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(fit.means[there], 1 / (1 + np.exp(-design @ best.x)), atol=2e-5)  # one pull is lent


@pytest.mark.parametrize("binary", [False, True])
def test_the_influence_of_a_cell_is_its_derivative(binary):
    means, gradient = RNG.uniform(0.2, 0.8, PULLS.shape), RNG.normal(size=PULLS.shape)
    base = additive_fit(cells(PULLS, means), binary)
    found = base.influence(gradient)
    for cell in zip(*np.nonzero(PULLS), strict=True):
        moved = means.copy()
        moved[cell] += 1e-5
        slope = ((additive_fit(cells(PULLS, moved), binary).means - base.means) * gradient).sum() / 1e-5
        assert found[cell] == pytest.approx(slope, abs=1e-3)


def test_arms_without_a_shared_period_cannot_be_compared():
    apart = np.array([[5, 0], [0, 5]])
    assert np.isnan(Weighted(cells(apart, np.ones((2, 2))), False).means).all()
    chained = np.array([[5, 0, 5], [0, 5, 5]])  # the third arm is in both
    assert np.isfinite(Weighted(cells(chained, np.ones((2, 3))), False).means).all()


def test_limits_of_a_filled_mean_have_the_spread_that_they_say():
    """The standard error, over data drawn anew with the same pulls; taking filled cells as known makes it too small."""
    levels = np.linspace(0, 1, 6)[:, None] + np.array([0.0, 0.5, 1.0])
    drawn = [levels + RNG.normal(size=PULLS.shape) / np.sqrt(np.maximum(PULLS, 1)) for _ in range(2000)]
    found = [Weighted(cells(PULLS, means, (PULLS - 1) / np.maximum(PULLS, 1)), False) for means in drawn]
    values = np.array([each.means for each in found])
    said = found[0].estimate(0.025).se
    error = said / np.sqrt(2 * len(drawn))  # of a standard deviation
    assert (np.abs(values.std(axis=0) - said) < 4.5 * error).all()
    as_known = np.sqrt((found[0].cells.weights ** 2 / np.maximum(PULLS, 1) * (PULLS > 0)).sum(axis=0))
    assert (values.std(axis=0) - as_known > 4.5 * error)[found[0].filled > 0].any()
    to = np.zeros(3, np.int64)
    differences = found[0].differences(to, 0.025)
    assert np.isnan(differences.value[0])
    spread = (values - values[:, :1]).std(axis=0)[1:]
    assert (np.abs(spread - differences.se[1:]) < 4.5 * differences.se[1:] / np.sqrt(2 * len(drawn))).all()


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(
    ("moves", "kind"),
    [
        ([[0, 0, 0]] * 8, ""),
        ([[(-1) ** p] * 3 for p in range(8)], COMMON),
        ([[(-1) ** p, 0, 0] for p in range(8)], OWN),
    ],
)
def test_which_kind_of_drift(moves, kind, binary):
    rng, pulls = np.random.default_rng(3), np.tile([400, 200, 100], (8, 1))
    odds = 0.4 * np.array(moves) + np.array([-1.0, -0.5, 0.0])
    if binary:
        wins = rng.binomial(pulls, 1 / (1 + np.exp(-odds)))
        found = drift_of(cells(pulls, wins / pulls), True)
    else:
        found = drift_of(cells(pulls, odds + rng.normal(size=pulls.shape) / np.sqrt(pulls)), False)
    assert found.kind(0.01) == kind


def test_too_little_to_tell():
    one = np.array([[5, 5]])
    assert drift_of(cells(one, np.ones((1, 2))), False) is None  # one period
    still = np.array([[5, 5], [5, 5]])
    assert drift_of(cells(still, np.ones((2, 2)), 0.0), False) is None  # nothing varies


WEEK = "drifting(bernoulli([0.10, 0.11, 0.12]), effects=[0, 0, 0, 0, 0, 0.4, 0.4], size=1000)"
RULE = "batched(beta_thompson, size=1000)"


@pytest.fixture(scope="module")
def log():
    return db.simulate(RULE, WEEK, horizon=14_000, runs=1, seed=4, paths=True).log(0)


def test_the_option_and_the_result(log, tmp_path):
    found = db.debias(log, RULE, runs=64, control="1")
    expected = Weighted(cells_of(log, [1000] * 14), True)
    assert found.adjusted.common < 0.005  # so auto takes it
    np.testing.assert_array_equal(found.adjusted.means, expected.means)
    np.testing.assert_array_equal(found.adjusted.difference, expected.differences(np.zeros(3, np.int64), 0.025).value)
    assert "All arms move together from batch to batch" in str(found)
    assert "minus control" in str(found)
    assert {"adjusted", "adjusted_low", "adjusted_difference"} <= set(found.to_frame())
    found.to_json(tmp_path / "result.json")
    again = db.Debiased.from_json(tmp_path / "result.json")
    assert str(again) == str(found)
    np.testing.assert_array_equal(again.adjusted.filled, found.adjusted.filled)
    assert db.debias(log, RULE, runs=64, adjust="none").adjusted is None


def test_auto_leaves_steady_rewards_alone():
    steady = db.simulate(RULE, "bernoulli([0.1, 0.12])", horizon=10_000, runs=1, seed=2, paths=True).log(0)
    assert db.debias(steady, RULE, runs=64).adjusted is None
    asked = db.debias(steady, RULE, runs=64, adjust="batches", level=0.9)
    assert "All arms move together" not in str(asked)
    assert "period-weighted" in str(asked)
    assert "90 % interval" in str(asked)


def test_a_rule_that_hears_at_once_has_no_periods():
    log = db.simulate("ucb", "bernoulli([0.3, 0.4])", horizon=60, runs=1, seed=2, paths=True).log(0)
    assert db.debias(log, "ucb", runs=64).adjusted is None
    with pytest.raises(db.InputError, match=r"adjust: .*learns from every reward at once(.|\n)*batched\(RULE\)"):
        db.debias(log, "ucb", runs=64, adjust="batches")
    with pytest.raises(db.InputError, match="adjust"):
        db.debias(log, "ucb", adjust="days")


def test_check_says_which_kind(log):
    fit = db.check(log, RULE)
    assert "all arms move together" in str(fit)
    assert "--adjust batches" in fit.warnings[0]
    assert fit.fits


FLOORED = "floor(batched(beta_thompson, size=1500), probability=0.1)"


def test_what_was_measured_of_the_limits_is_said():
    """Of experiments like those that were, under the same rule; of all others that it was not."""
    world = "drifting(bernoulli([0.05, 0.06]), effects=[0, 0, 0, 0, 0, 0.6, 0.6], size=1500)"
    log = db.simulate(FLOORED, world, horizon=21_000, runs=1, seed=4, paths=True).log(0)

    def details(*given, **options):
        return " ".join(db.debias(*given, **options).details().split())

    options = {"runs": 64, "interval": "none", "adjust": "batches"}
    measured = "The coverage of these intervals was measured for 20,000 to 100,000 users"
    assert measured in details(log, FLOORED, **options)
    assert "was measured at 95 % for 20,000" in details(log, FLOORED, level=0.9, **options)
    for rule in ("batched(beta_thompson, size=1500)", FLOORED.replace("beta_thompson", "thompson")):
        assert "was not measured in such experiments, but for" in details(log, rule, force=True, **options)
    for option in ("probability=0.4", "beta_thompson(alpha=200)"):
        other = (
            FLOORED.replace(option.split("(")[0], option)
            if "(" in option
            else FLOORED.replace("probability=0.1", option)
        )
        assert "was not measured in such experiments" in details(log, other, force=True, **options)
    steady = db.simulate(FLOORED, "bernoulli([0.05, 0.06])", horizon=21_000, runs=1, seed=4, paths=True).log(0)
    assert "was not measured in such experiments" in details(steady, FLOORED, **options)
    short = db.ExperimentLog(log.rounds.arms[:10_500] + 1, log.rounds.rewards[:10_500], labels=log.labels)
    assert "was not measured in such experiments" in details(short, FLOORED, **options)


def test_no_batches_that_connect_the_arms_no_period_weighted_means():
    """Of one user each: nothing tells an arm from its day."""
    log = db.ExperimentLog(["A", "B"] * 30, np.arange(60) % 3 == 0, batches=range(60))
    found = db.debias(log, "batched(beta_thompson)", runs=100, adjust="batches", force=True)
    assert "There are no period-weighted means" in str(found)
    assert "nan" not in str(found)
