"""AW-AIPW, W-decorrelation, batchwise estimators and confidence sequences: published values, and by hand."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import debandit as db
from debandit.estimators import (
    aipw,
    aw_aipw,
    batch_weighted,
    batched_ols,
    confidence_sequence,
    ipw,
    naive,
    sequences,
    w_decorrelation,
)
from debandit.replay import path_chances

ARMS = [0, 1, 2, 2, 1, 2, 2, 0, 2, 2, 1, 2]
REWARDS = [1, 0, 2, 1, 0.5, 1.5, 2.5, 0, 1, 2, 1.5, 3]
LOG = db.ExperimentLog(ARMS, REWARDS)
CHANCES = np.repeat(
    [[1 / 3] * 3, [0.25, 0.25, 0.5], [0.2, 0.3, 0.5], [0.2, 0.2, 0.6], [0.1, 0.2, 0.7], [0.1, 0.1, 0.8]],
    [3, 2, 1, 2, 3, 1],
    axis=0,
)
# what the code of Hadad et al. gives for this log, to 7 digits
HADAD = {
    "uniform": ([0.5833333, 0.8680556, 1.8138889], [0.4403019, 0.5134625, 0.4799625]),
    "constant": ([0.6789754, 0.8062063, 1.8342507], [0.4719648, 0.4848223, 0.4206254]),
    "two-point": ([0.8451565, 0.6917063, 1.7637500], [0.4815943, 0.4175976, 0.4639556]),
}
# Epsilon-greedy with epsilon = 0.2: rounds 1 and 2 are forced, then B has 0.1, and 0.9 when its mean is 2
GREEDY_LOG = db.ExperimentLog(["A", "B", "B", "B"], [1.0, 0.0, 4.0, 3.0])
GREEDY = db.EpsilonGreedy(0.2)


@pytest.mark.parametrize("weights", HADAD)
def test_aw_aipw_of_its_authors(weights):
    found = aw_aipw(LOG, weights=weights, propensities=CHANCES)
    np.testing.assert_allclose(found, HADAD[weights], rtol=0, atol=5e-8)


def test_aw_aipw_by_hand():
    """B has the terms 0 + 4 / 0.1 = 40 and 2 + 1 / 0.9; A has 1 and 1, its running mean."""
    terms, h = np.array([40, 2 + 1 / 0.9]), np.sqrt([0.1, 0.9])
    value = (h @ terms) / h.sum()
    found = aw_aipw(GREEDY_LOG, GREEDY)
    np.testing.assert_allclose(found.value, [1, value])
    np.testing.assert_allclose(found.se, [0, np.sqrt(h**2 @ (terms - value) ** 2) / h.sum()], atol=1e-12)
    uniform = aw_aipw(GREEDY_LOG, GREEDY, weights="uniform").value
    np.testing.assert_allclose(uniform, aipw(GREEDY_LOG, GREEDY).value)
    # two-point, alpha = 0: lambda_1 = 1/2 and lambda_2 = 1, so s = 1/2, 1/2 and the weights are the constant ones
    np.testing.assert_allclose(aw_aipw(GREEDY_LOG, GREEDY, weights="two-point", alpha=0).value, found.value)


@pytest.mark.parametrize("weights", ["constant", "two-point"])
def test_aw_aipw_of_lists_and_runs_is_that_of_the_single_logs(weights):
    runs = db.simulate(GREEDY, db.worlds.Normal([1, 1.5, 0], [1, 1, 2]), horizon=30, runs=10, seed=5, paths=True)
    logs = [runs.log(i) for i in range(10)]
    single = np.array([aw_aipw(log, GREEDY, weights=weights) for log in logs]).swapaxes(0, 1)
    for together in (aw_aipw(logs, GREEDY, weights=weights), aw_aipw(runs, weights=weights)):
        np.testing.assert_allclose(together, single, rtol=1e-10)


def test_propensities_may_be_given():
    """Those of the rule, replayed once, serve all estimators that weight by them, of logs and of runs."""
    runs = db.simulate(GREEDY, db.worlds.Normal([1, 1.5, 0], [1, 1, 2]), horizon=30, runs=10, seed=5, paths=True)
    arms, rewards = runs.paths()
    chances = path_chances(arms, rewards, GREEDY, 3)
    pulled = np.take_along_axis(chances, arms[..., None].astype(int), axis=2)[..., 0]
    for estimator in (ipw, aipw):
        np.testing.assert_array_equal(estimator(runs, propensities=pulled), estimator(runs))
        np.testing.assert_allclose(estimator(runs.log(3), propensities=pulled[3]).value, estimator(runs).value[3])
        for wrong in (pulled[:, :5], np.where(pulled < 1, 0, pulled), chances):
            with pytest.raises(db.InputError, match="numbers above 0"):
                estimator(runs, propensities=wrong)
    np.testing.assert_array_equal(aw_aipw(runs, propensities=chances), aw_aipw(runs))
    with pytest.raises(db.InputError, match="shape"):
        aw_aipw(runs, propensities=chances[0])


def test_aw_aipw_in_the_log_s_own_batches():
    """Until the second batch begins A is greedy, with 0.9; then B is."""
    log = db.ExperimentLog(["A", "B", "B", "B", "B"], [1, 0, 4, 3, 2], batches="xxyyz")
    terms, h = np.array([0 + 4 / 0.1, 2 + 1 / 0.1, 7 / 3 - 1 / 3 / 0.9]), np.sqrt([0.1, 0.1, 0.9])
    np.testing.assert_allclose(aw_aipw(log, db.Batched(GREEDY)).value[1], (h @ terms) / h.sum())


def test_what_aw_aipw_refuses():
    with pytest.raises(db.InputError, match=r"every arm in every round(.|\n)*floor\(thompson\)"):
        aw_aipw(LOG)
    with pytest.raises(db.Refused, match="deterministic"):
        aw_aipw(GREEDY_LOG, "ucb")
    zero = CHANCES.copy()
    zero[5] = [0, 0.4, 0.6]
    with pytest.raises(db.Refused, match=r"round 6: the arm '0' could not be chosen(.|\n)*gives every arm a chance"):
        aw_aipw(LOG, propensities=zero)
    log = db.ExperimentLog(["A", "B", "B"], [0, 5, 5])
    with pytest.raises(db.Refused, match="round 3: the arm 'A' could not be chosen"):
        aw_aipw(log, "warm_up(epsilon_greedy(epsilon=0), rounds=2)")
    with pytest.raises(db.Refused, match="every round was forced"):
        aw_aipw(db.ExperimentLog(["A", "B"], [1, 0]), GREEDY)
    with pytest.raises(db.Refused, match="never chooses arm 'B' in round 1"):
        aw_aipw(db.ExperimentLog(["B", "A", "A"], [1, 0, 1], labels=["A", "B"]), GREEDY)
    with pytest.raises(db.InputError, match="only totals"):
        aw_aipw(db.ExperimentLog.from_summaries("AB", [5, 4], [0.6, 0.25], binary=True), GREEDY)
    with pytest.raises(db.InputError, match="weights must be"):
        aw_aipw(LOG, weights="constan", propensities=CHANCES)
    with pytest.raises(db.InputError, match=r"alpha must be a number from 0 to 0\.99"):
        aw_aipw(LOG, weights="two-point", alpha=1.0, propensities=CHANCES)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p[:5], r"shape \(5, 3\) for 12 rounds and 3 arms"),
        (lambda p: p * np.where(np.arange(12) == 7, 2, 1)[:, None], "round 8 are not probabilities that add up to 1"),
        (lambda p: np.where(np.arange(12)[:, None] == 1, np.nan, p), "round 2 are not probabilities"),
        (lambda p: p[:, [1, 2, 0]] * 0 + [0, 0.5, 0.5], "round 1 has the propensity 0"),
    ],
)
def test_impossible_matrices(change, message):
    with pytest.raises(db.InputError, match=message):
        aw_aipw(LOG, propensities=change(CHANCES))
    with pytest.raises(db.InputError, match="those of one log"):
        aw_aipw([LOG], propensities=CHANCES)


def test_w_decorrelation_for_lambda_2():
    """Reference values for lambda = 2, so R = 1/3."""
    value, se = w_decorrelation(LOG, lambda_=2)
    np.testing.assert_allclose(value, [0.5555556, 0.5308642, 1.7081455], rtol=0, atol=5e-8)
    # arm 0 has the rewards 1 and 0: s^2 = 1/2, and the squares of the weights 1/3 and 2/9 are 9/81 and 4/81
    assert se[0] == pytest.approx(np.sqrt(13 / 81 / 2))


def test_w_decorrelation_by_its_recursion():
    """W of Deshpande et al., row by row: w_i = (I - sum_{j<i} w_j x_j') x_i / (lambda + |x_i|^2), x_i a unit vector."""
    design, penalty = np.eye(3)[ARMS], 0.8
    product, weights = np.zeros((3, 3)), []
    for x in design:
        weights.append((np.eye(3) - product) @ x / (penalty + 1))
        product += np.outer(weights[-1], x)
    means = naive(LOG).value
    expected = means + np.array(weights).T @ (np.array(REWARDS) - design @ means)
    np.testing.assert_allclose(w_decorrelation(LOG, lambda_=penalty).value, expected)


def test_the_default_lambda_is_a_quantile_of_simulated_pulls():
    policy, rewards = "epsilon_greedy(epsilon=0.3)", [0, 1, 1, 1, 0, 1, 0, 1, 1, 1]
    log = db.ExperimentLog(list("ABABABBBBB"), rewards)
    wins = np.array([log.samples()[arm].sum() for arm in (0, 1)])
    world = db.worlds.Bernoulli((wins + 0.5) / (log.pulls + 1))  # jeffreys
    runs = db.simulate(policy, world, horizon=10, runs=400, seed=3)
    quantile = np.quantile(runs.pulls.min(axis=1) / np.log(10), 0.05)
    found = w_decorrelation(log, policy, runs=400, seed=3)
    np.testing.assert_array_equal(found, w_decorrelation(log, lambda_=quantile))
    np.testing.assert_array_equal(w_decorrelation([log, log], policy, runs=400, seed=3).value[1], found.value)


def test_what_w_decorrelation_refuses():
    with pytest.raises(db.InputError, match=r"without a rule(.|\n)*lambda_="):
        w_decorrelation(LOG)
    unseen = db.ExperimentLog(["a", "b", "b"], [1, 0, 1], labels=["a", "b", "c"])
    with pytest.raises(db.Refused, match=r"no reward was logged for c(.|\n)*lambda_="):
        w_decorrelation(unseen, "uniform")
    value, se = w_decorrelation(unseen, lambda_=1)
    np.testing.assert_allclose([value, se], [[1, 0.375, np.nan], [np.nan, np.sqrt(0.5 * (1 / 4 + 1 / 16)), np.nan]])
    with pytest.raises(db.InputError, match="lambda_ must be a number from 0"):
        w_decorrelation(LOG, lambda_=-1)
    with pytest.raises(db.InputError, match="order of time"):
        w_decorrelation(db.ExperimentLog.from_summaries("AB", [5, 4], [0.6, 0.25], binary=True), lambda_=1)


# Two batches of 6 and 4: A has 1, 2, 3 and 5; B has 0, 2, 4 and 6, 8, 10
BATCHED = db.ExperimentLog(list("ABABAB") + list("ABBB"), [1, 0, 2, 2, 3, 4, 5, 6, 8, 10], batches="xxxxxxyyyy")
TABLE = db.ExperimentLog.from_batches(
    "xxyy", "ABAB", pulls=[3, 3, 1, 3], means=[2, 2, 5, 8], variances=[2 / 3, 8 / 3, 0, 8 / 3]
)


@pytest.mark.parametrize("log", [BATCHED, TABLE], ids=["rounds", "table"])
def test_batch_weighted_by_hand(log):
    """A: .6 * 2 + .4 * 5, B: .6 * 2 + .4 * 8; the single pull of A borrows the variance 1 of the first batch."""
    value, se, low, high = batch_weighted(log)
    np.testing.assert_allclose(value, [3.2, 4.4])
    np.testing.assert_allclose(se**2, [0.36 / 3 + 0.16, 0.36 * 4 / 3 + 0.16 * 4 / 3])
    # Satterthwaite: (a + b)^2 / (a^2 / f + b^2 / g); all of A comes from the two degrees of its first batch
    parts = np.array([[0.12, 0.16], [0.48, 0.16 * 4 / 3]])
    half = stats.t.ppf(0.975, parts.sum(axis=1) ** 2 / (parts**2 / 2).sum(axis=1)) * se
    np.testing.assert_allclose([low, high], [value - half, value + half])
    assert (half > 1.3 * stats.norm.ppf(0.975) * se).all()  # so few pulls are not normal
    assert batch_weighted([log, log]).value.shape == (2, 2)


def test_batches_of_the_rule_serve_logs_and_runs():
    policy = "batched(epsilon_greedy(epsilon=0.5), size=8)"
    runs = db.simulate(policy, db.worlds.Normal([1, 2, 0], [1, 1, 2]), horizon=30, runs=20, seed=2, paths=True)
    together = batch_weighted(runs)
    assert (batch_weighted(runs, "batched(uniform, size=30)").value != together.value).any()
    for i in range(20):
        arms, rewards = (path[i] for path in runs.paths())
        batches = np.repeat([1, 2, 3, 4], [8, 8, 8, 6])
        alone = batch_weighted(db.ExperimentLog(arms + 1, rewards, labels=["1", "2", "3"], batches=batches))
        np.testing.assert_allclose([part[i] for part in together], alone)
        np.testing.assert_array_equal(batch_weighted(runs.log(i), policy), alone)
    with pytest.raises(db.InputError, match="what its batches were"):
        batch_weighted(runs.log(0))
    with pytest.raises(db.InputError, match="needs a rule with batches"):
        batch_weighted(runs, "uniform")
    log = db.ExperimentLog(list("AABBAABB"), np.arange(8.0), batches="xxxxyyyy")
    found = batched_ols(db.ExperimentLog(list("AABBAABB"), np.arange(8.0)), "batched(uniform, size=4)", control="A")
    np.testing.assert_array_equal(found, batched_ols(log, control="A"))


def test_one_batch_has_the_interval_of_student():
    rewards = [2.0, 3.1, 1.9, 2.2, 3.3]
    log = db.ExperimentLog(["new"] * 5 + ["old"] * 2, [*rewards, 0, 1], batches=[1] * 7)
    found = batch_weighted(log, alpha=0.1)
    low, high = stats.ttest_1samp(rewards, 0).confidence_interval(0.9)
    np.testing.assert_allclose([found.low[0], found.high[0]], [low, high])


def test_where_an_arm_has_no_pull_in_a_batch():
    log = db.ExperimentLog(list("AABBCCAABBC"), [0, 1, 2, 3, 4, 6, 1, 2, 5, 6, 7], batches="xxxxxxyyyyy")
    alone = db.ExperimentLog(list("AABBAABB"), [0, 1, 2, 3, 1, 2, 5, 6], batches="xxxxyyyy")
    found = batched_ols(log, control="A")
    np.testing.assert_array_equal(found.value[:2], batched_ols(alone, control="A").value)
    assert np.isnan([part[2] for part in found]).all()
    with pytest.raises(db.Refused, match="the arm 'C' has only one pull"):
        batched_ols(log, control="C")
    absent = db.ExperimentLog(list("AABBCAABB"), [0, 1, 2, 3, 4, 1, 2, 5, 6], batches="xxxxxyyyy")
    found = batch_weighted(absent)
    # from x to y A rises by 1 and B by 3, with as many pulls, so C rises by 2; nobody knows how much it varies
    np.testing.assert_allclose(found.value, [0.5 * 5 / 9 + 1.5 * 4 / 9, 2.5 * 5 / 9 + 5.5 * 4 / 9, 4 + 2 * 4 / 9])
    assert np.isnan([part[2] for part in found[1:]]).all()
    never = db.ExperimentLog(list("AABB"), [0, 1, 2, 3], labels=list("ABC"), batches="xxxx")
    np.testing.assert_array_equal(batch_weighted(never).value, [0.5, 2.5, np.nan])


def test_what_batchwise_estimators_refuse():
    for estimate in (batch_weighted, lambda log: batched_ols(log, control="A")):
        with pytest.raises(db.InputError, match=r"what its batches were(.|\n)*batch="):
            estimate(GREEDY_LOG)
    empty = db.ExperimentLog(list("AABB"), [1, 0, 1, 1], batches="xxyy")
    with pytest.raises(db.Refused, match=r"the arm 'B' has no pull in the batch '1' \(2 such(.|\n)*that arms share"):
        batch_weighted(empty)
    named = db.ExperimentLog.from_batches(["mon", "tue"], "AB", [3, 4], [1, 0.5], binary=True)
    with pytest.raises(db.Refused, match="the arm 'B' has no pull in the batch 'mon'"):
        batch_weighted(named)
    with pytest.raises(db.Refused, match=r"'A' has only one pull in the batch '2'(.|\n)*two pulls of an arm"):
        batched_ols(BATCHED, control="A")
    constant = db.ExperimentLog(list("AAABBB"), [0.1] * 6, batches="xxxxxx")  # rounding makes no variance
    with pytest.raises(db.Refused, match=r"batch '1': .*do not vary"):
        batched_ols(constant, control="A")
    with pytest.raises(db.InputError, match="there is no arm 'C' to compare with"):
        batched_ols(db.ExperimentLog(list("AABB"), [0, 1, 0, 1], batches="xxxx"), control="C")


def test_one_batch_is_student_s_test():
    control, other = [1.0, 2.5, 0.3, 1.2], [2.0, 3.1, 1.9, 2.2, 3.3]
    log = db.ExperimentLog(["old"] * 4 + ["new"] * 5, control + other, batches=[1] * 9)
    found = batched_ols(log, control="old", draws=200_000, seed=1)
    student = stats.ttest_ind(other, control)
    low, high = student.confidence_interval(0.95)
    assert np.isnan([part[0] for part in found]).all()
    assert found.value[1] == pytest.approx(np.mean(other) - np.mean(control))
    assert found.value[1] / found.se[1] == pytest.approx(student.statistic)
    error = np.sqrt(student.pvalue * (1 - student.pvalue) / 200_000)
    assert abs(found.p_value[1] - student.pvalue) < 4.5 * error
    density = 2 * stats.t.pdf(stats.t.ppf(0.975, 7), 7)  # of |t| at its quantile
    assert (
        abs((found.high - found.low)[1] / (high - low) - 1) * stats.t.ppf(0.975, 7)
        < 4.5 * np.sqrt(0.05 * 0.95 / 200_000) / density
    )
    again = batched_ols(log, control="old", draws=200_000, seed=1)
    np.testing.assert_array_equal(again, found)


def test_batched_ols_by_hand():
    """D = 2 and 4 with 2 pulls each; s^2 = 1 and 4, so w = 1 and 1/2: (2 + 2) / 1.5, and the se sqrt(2) / 1.5."""
    root = np.sqrt(0.5)
    rewards = [-root, root, 2 - root, 2 + root, -2 * root, 2 * root, 4 - 2 * root, 4 + 2 * root]
    log = db.ExperimentLog(list("AABBAABB"), rewards, batches="xxxxyyyy")
    found = batched_ols(log, control="A")
    assert found.value[1] == pytest.approx(4 / 1.5)
    assert found.se[1] == pytest.approx(np.sqrt(2) / 1.5)
    assert found.low[1] < 0 < found.value[1] < found.high[1]
    assert 0.05 < found.p_value[1] < 0.2  # as the interval says
    np.testing.assert_allclose(batched_ols(log, control="B").value[0], -found.value[1])


def test_mixture_bounds_of_their_authors():
    """confseq of Howard et al., its tests: v = v_opt = 100, alpha = 0.05."""
    assert 100 / sequences.mixing(0.05) == pytest.approx(12.60056, abs=5e-6)
    assert sequences.normal_mixture_bound(100, 0.05, 100) == pytest.approx(30.35209, abs=5e-6)
    most = np.array([1e4, 20.0])
    np.testing.assert_allclose(
        sequences.gamma_exponential_bound(100, 0.05, 100, 2, most), [33.02017, 20], rtol=0, atol=5e-6
    )


@pytest.mark.parametrize(
    ("wins", "pulls", "t_opt", "limits"),
    [
        (700, 1000, 100, (0.651629, 0.745949)),
        (15, 50, 50, (0.129556, 0.511896)),
        (5, 50, 50, (0.013021, 0.269264)),
        (1, 50, 50, (0.0, 0.134891)),
        (100, 200, 1, (0.328923, 0.671076)),
        (1, 2, 50, (0.0, 1.0)),
        (0, 1, 50, (0.0, 1.0)),
        (1, 1, 50, (0.0, 1.0)),
    ],
)
def test_bernoulli_limits_of_their_authors(wins, pulls, t_opt, limits):
    """From the same tests, cut off after six digits (0.134891: they have 0.13489)."""
    found = np.ravel(sequences.bernoulli_limits(np.array([wins * 1.0]), np.array([pulls * 1.0]), 0.05, t_opt))
    np.testing.assert_array_equal(np.floor(found * 1e6) / 1e6, limits)
    log = db.ExperimentLog.from_summaries("AB", [pulls, 5], [wins / pulls, 0.4], binary=True)
    sequence = confidence_sequence(log, t_opt=t_opt)
    np.testing.assert_array_equal([sequence.low[0], sequence.high[0]], found)
    assert sequence.value[0] == wins / pulls


def test_t_opt_does_not_look_at_the_pulls():
    log = db.ExperimentLog.from_summaries("ABC", [90, 5, 5], [0.5, 0.4, 0.2], binary=True)
    for found, expected in zip(confidence_sequence(log), confidence_sequence(log, t_opt=100 / 3), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("wins", "pulls", "t_opt"), [(0, 30, 10), (1, 40, 200), (2, 500, 20), (30, 31, 5), (7, 9, 3)])
def test_the_possible_probabilities_are_an_interval(wins, pulls, t_opt):
    """The martingale from its definition: the likelihood under Beta(m p, m (1 - p)) over that of p."""
    mass, p = max(t_opt / sequences.mixing(0.05) - 1, 1e-3), np.linspace(0.0005, 0.9995, 2000)
    mixture = stats.betabinom.logpmf(wins, pulls, mass * p, mass * (1 - p))
    possible = mixture - stats.binom.logpmf(wins, pulls, p) < np.log(20)
    low, high = sequences.bernoulli_limits(np.array([wins * 1.0]), np.array([pulls * 1.0]), 0.05, t_opt)
    np.testing.assert_array_equal(possible, (p > low) & (p < high))


def test_empirical_bernstein_by_hand():
    """Of the rewards 3 and 1 in [0, 4] the first is predicted by 2, the second by 3: V = 1 + 4 = 5."""
    rewards = np.tile([3.0, 1.0], 40)
    log = db.ExperimentLog(["A", *["B"] * 80, "A"], [3.0, *rewards, 1.0])
    found = confidence_sequence(log, support=(0, 4))
    np.testing.assert_array_equal([found.low[0], found.high[0]], [0, 4])  # two rewards say nothing
    before = np.array([2.0, *(np.cumsum(rewards)[:-1] / np.arange(1, 80))])
    variance, v_opt = ((rewards - before) ** 2).sum(), 41 * 1.0**2  # T / K = 41 pulls, sd a quarter of the range
    radius = sequences.gamma_exponential_bound(variance, 0.025, v_opt, 4, np.array(1e4)) / 80
    np.testing.assert_allclose([found.low[1], found.high[1]], [2 - radius, 2 + radius])
    assert 0 < radius < 1
    assert sequences._prediction_errors(np.array([3.0, 1.0]), 2.0) == 5


def test_normal_mixture_by_hand():
    log = db.ExperimentLog.from_summaries("AB", [100, 100], [1.0, 2.0], [1.0, 4.0])
    found = confidence_sequence(log, sd=1)
    np.testing.assert_allclose(found.high - found.value, 0.3035209, rtol=0, atol=5e-8)
    np.testing.assert_allclose(confidence_sequence(log, sd=3).value - confidence_sequence(log, sd=3).low, 0.9105627)


def test_what_confidence_sequences_refuse():
    with pytest.raises(db.InputError, match=r"how far rewards can lie apart(.|\n)*support=(.|\n)*sd="):
        confidence_sequence(LOG)
    with pytest.raises(db.InputError, match=r"the reward 2\.5 in round 7 is not between 0 and 2"):
        confidence_sequence(LOG, support=(0, 2))
    for wrong in [(1, 1), (0, np.inf), (0, 1, 2), "ab"]:
        with pytest.raises(db.InputError, match="support"):
            confidence_sequence(LOG, support=wrong)
    with pytest.raises(db.InputError, match="order of time"):
        confidence_sequence(db.ExperimentLog.from_summaries("AB", [5, 4], [1, 2], [1, 1]), support=(0, 9))
    for option in ({"alpha": 0}, {"alpha": 0.7}, {"t_opt": 0}, {"sd": 0}):
        with pytest.raises(db.InputError, match="must be a number from"):
            confidence_sequence(LOG, **{"sd": 1.0} | option)
    with pytest.raises(db.InputError, match="sd must be a number from 3e-06"):  # a guess of nearly 0 would give NaN
        confidence_sequence(LOG, support=(0, 3), sd=1e-7)
    unseen = db.ExperimentLog(["a", "b", "b"], [1, 0, 1], labels=["a", "b", "c"])
    for found in (
        confidence_sequence(unseen),
        confidence_sequence(unseen, sd=1),
        confidence_sequence(unseen, support=(0, 1)),
    ):
        assert np.isnan(found).sum() == 3
        assert np.isnan([part[2] for part in found]).all()


def test_other_things_than_logs():
    runs = db.simulate("uniform", db.worlds.Bernoulli([0.3, 0.6]), horizon=5, runs=2, paths=True)
    for estimator in (w_decorrelation, batch_weighted, confidence_sequence, lambda log: batched_ols(log, control="A")):
        for wrong in (None, 5, [], [LOG, 3], *([] if estimator is batch_weighted else [runs])):
            with pytest.raises(db.InputError, match="ExperimentLog"):
                estimator(wrong)


def test_the_page_on_estimators():
    page = (Path(__file__).parents[2] / "docs" / "estimators.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict = {}
    exec(block, names)
    assert names["log"].horizon == 400
    for name in db.estimators.__all__:
        assert f"`{name}`" in page or name[0].isupper(), name
