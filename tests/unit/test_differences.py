"""Limits of differences, lift and the winner: worked out by hand, mirrored, in other units, and at the edges."""

import numpy as np
import pytest
from scipy import optimize, stats

from debandit.intervals import (
    WINNER,
    Limits,
    Sample,
    Sums,
    binary,
    mover_difference,
    mover_lift,
    pooled_t,
    pooled_t_difference,
    two_part,
    two_part_centre,
    two_part_difference,
    wald_lift,
    welch,
    wilson,
    wilson_difference,
)

A, B, C = [1.0, 2.0, 4.0, 9.0], [0.0, 3.0], [5.0]


def sample_of(*samples):
    return Sample(np.repeat(np.arange(len(samples)), [len(s) for s in samples]), np.concatenate(samples), len(samples))


def skewed(seed=1, sizes=(30, 5, 2, 12)):
    rng = np.random.default_rng(seed)
    return [rng.exponential(size=n) * (rng.random(n) < 0.7) for n in sizes]


# ---- the winner ----


def test_the_winner_s_pooled_t_has_the_tails_swapped():
    """Means and variances only, so no shift: 1.5 % below and 3.5 % above, by 2 + 2/3 (n - 1) degrees of freedom."""
    sums = Sums(np.array([[5.0, 4.0]]), np.array([[0.2, 7.0]]), np.array([[5.0, 8.0]]))
    plain, winner = pooled_t(sums, 0.95), pooled_t(sums, 0.95, WINNER)
    df = 2 + 2 / 3 * np.array([4, 3])
    se = (plain.high[0] - sums.means[0]) / stats.t.ppf(0.985, df)
    np.testing.assert_allclose(winner.low[0], sums.means[0] - stats.t.ppf(0.985, df) * se, rtol=1e-12)
    np.testing.assert_allclose(winner.high[0], sums.means[0] + stats.t.ppf(0.965, df) * se, rtol=1e-12)


@pytest.mark.parametrize(("n", "s"), [(1, 0), (1, 1), (7, 3), (7, 7), (300, 2)])
def test_the_winner_s_binary_limits_by_their_definition(n, s):
    """Below P(X >= s) is 2.5 %, above P(X < s) + P(X = s)/2; 0 and 1 at the ends."""
    low, high = (limit[0] for limit in binary(np.array([float(n)]), np.array([float(s)]), 0.95, WINNER))
    assert stats.binom.sf(s - 1, n, low) == pytest.approx(0.025 if s > 0 else 1)
    if s < n:
        assert stats.binom.cdf(s - 1, n, high) + stats.binom.pmf(s, n, high) / 2 == pytest.approx(0.025)
    else:
        assert high == 1
    mirrored = binary(np.array([float(n)]), np.array([float(n - s)]), 0.95)
    np.testing.assert_allclose([1 - high, 1 - low], np.ravel(mirrored), rtol=1e-9, atol=1e-15)


# ---- difference of continuous rewards ----


def test_pooled_t_difference_by_hand():
    """Arms 1 2 4 9, 0 3 and 5, minus the second; variances and shifts are those of pooled-t by hand."""
    sample = sample_of(A, B, C)
    g, kappa = (value[0] for value in pooled_t(sample, 0.95)[2:])
    s0, w = 10.625, np.clip(2 / (1.5 * (kappa - 1)), 0.04, 1)  # see test_intervals.py
    n, squares, means = np.array([4, 2, 1]), np.array([38, 4.5, 0]), np.array([4, 1.5, 5])
    own = w * (n - 1)
    v, df, rho = (2 * s0 + w * squares) / (2 + own), 2 + own, own / (2 + own)
    shift = g / np.sqrt(n) * (-rho / 2 + (1 - 3 * rho) / 6 * (1.959963985**2 - 1))
    found = pooled_t_difference(sample, [1, 1, 1], 0.95)
    for k in (0, 2):
        a, b = v[k] / n[k], v[1] / n[1]
        s, f, d = np.sqrt(a + b), (a - b) / (a + b), means[k] - means[1]
        degrees = (a + b) ** 2 / (a**2 / df[k] + b**2 / df[1])
        tl = stats.t.ppf(1 - 0.025 * (1 + 0.4 * f), degrees)
        tu = stats.t.ppf(1 - 0.025 * (1 - 0.4 * f), degrees)
        moved = (shift[k] * a**1.5 - shift[1] * b**1.5) / s**3
        low = d - (tl + min(max(moved, -0.4 * tl * max(f, 0)), 0.6 * tl)) * s
        high = d + (tu - min(max(moved, -0.6 * tu), 0.4 * tu * max(-f, 0))) * s
        np.testing.assert_allclose([found.low[0, k], found.high[0, k]], [low, high], rtol=1e-8)
    assert np.isnan([found.low[0, 1], found.high[0, 1]]).all()


def beside_many(rewards, law):
    """The sample and one of 100,000 rewards with the mean 2 and next to no error, whose shape all arms borrow."""
    many = law.ppf((np.arange(10**5) + 0.5) / 10**5)
    return sample_of(rewards, 2 + (many - many.mean()) / 100)


def if_the_control_has_no_noise(law):
    """Limits of the difference, and those of pooled-t less the control's mean; the same with the arms exchanged."""
    sample = beside_many(A, law)
    (low, high), mean = (limit[0] for limit in pooled_t(sample, 0.95)[:2]), sample.means[0, 1]
    found = np.squeeze(pooled_t_difference(sample, [1, 0], 0.95))
    return found[:, 0], found[:, 1], np.array([low[0], high[0]]) - mean


@pytest.mark.parametrize("law", [stats.norm(), stats.gamma(4), stats.beta(4, 1)])
def test_if_the_control_has_no_noise_it_is_pooled_t(law):
    there, back, plain = if_the_control_has_no_noise(law)
    np.testing.assert_allclose(there, plain, rtol=1e-3)
    np.testing.assert_allclose(-back[::-1], plain, rtol=1e-3)


def test_but_very_skewed_rewards_may_shift_the_lower_limit_farther():
    """By up to 0.6 t instead of 0.4 t, the recipe of the difference being the wider one; the upper one is the same."""
    there, _, plain = if_the_control_has_no_noise(stats.lognorm(1.3))
    assert there[0] < plain[0] - 0.01
    np.testing.assert_allclose(there[1], plain[1], rtol=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_exchanging_arm_and_control_mirrors_every_difference(seed):
    sample, forth, back = sample_of(*skewed(seed)), [1, 0, 3, 2], [0, 1, 2, 3]
    wins, z = (
        sample.total((sample.rewards > 0).astype(float)),
        (np.array([1.0, 2.0, 1.5, 3.0]), np.array([2.5, 0.5, 2.0, 1.0])),
    )
    mirrored = [each[[1, 0, 3, 2]] for each in z]  # the z's of a pair exchange their sides
    for there, again in (
        (pooled_t_difference(sample, forth, 0.9),) * 2,
        (two_part_difference(sample, forth, 0.9),) * 2,
        (mover_difference(wins / sample.pulls, binary(sample.pulls, wins, 0.9), forth),) * 2,
        (
            wilson_difference(sample.pulls, wins, forth, *z),
            wilson_difference(sample.pulls, wins, forth, *mirrored[::-1]),
        ),
    ):
        np.testing.assert_allclose(there.low, -again.high[:, forth], rtol=1e-12)
        np.testing.assert_allclose(there.high, -again.low[:, forth], rtol=1e-12)
    assert np.isnan(pooled_t_difference(sample, back, 0.9)).all()  # each its own control


@pytest.mark.parametrize("scale", [1e-68, 1e-12, 1e12, 1e68])
def test_other_units_and_another_zero(scale):
    samples = skewed()
    one, other, moved = (
        sample_of(*change) for change in (samples, [scale * s for s in samples], [s - 7 for s in samples])
    )
    for limits in (pooled_t_difference, two_part_difference):
        np.testing.assert_allclose(
            limits(other, [1, 0, 0, 0], 0.95), scale * np.array(limits(one, [1, 0, 0, 0], 0.95)), rtol=1e-9
        )
    found = pooled_t_difference(moved, [1, 0, 0, 0], 0.95)
    np.testing.assert_allclose(found, pooled_t_difference(one, [1, 0, 0, 0], 0.95), rtol=1e-9, atol=1e-12)
    lifts = [mover_lift(two_part_centre(each), two_part(each, 0.95), [1, 0, 0, 0]) for each in (one, other)]
    np.testing.assert_allclose(lifts[0], lifts[1], rtol=1e-9)


def test_many_experiments_at_once_and_a_control_of_each():
    rng = np.random.default_rng(3)
    arms, rewards = rng.integers(0, 3, (5, 40)), rng.exponential(size=(5, 40))
    control = rng.integers(0, 3, (5, 3))
    together = pooled_t_difference(Sample(arms, rewards, 3), control, 0.95)
    for i in range(5):
        alone = pooled_t_difference(Sample(arms[i], rewards[i], 3), control[i], 0.95)
        np.testing.assert_allclose([together.low[i], together.high[i]], np.squeeze(alone), rtol=1e-12)


def test_means_and_variances_only_have_no_shift():
    """Rewards with the same sums: normal-looking ones differ from the sums by their kurtosis and skewness alone."""
    sample = sample_of(*skewed())
    sums = Sums(sample.pulls, sample.means, sample.squares)
    found, d = pooled_t_difference(sums, [1, 0, 0, 0], 0.95), sample.means[0, 1] - sample.means[0, 0]
    n, squares = sample.pulls[0], sample.squares[0]
    weights = np.minimum(n - 1, 20)
    v = (2 * (weights * squares / (n - 1)).sum() / weights.sum() + 2 / 3 * squares) / (2 + 2 / 3 * (n - 1))
    a, b = v[1] / n[1], v[0] / n[0]
    df = (a + b) ** 2 / (a**2 / (2 + 2 / 3 * 4) + b**2 / (2 + 2 / 3 * 29))
    tails = 0.025 * (1 + 0.4 * (a - b) / (a + b) * np.array([1, -1]))
    expected = d + np.array([-1, 1]) * stats.t.isf(tails, df) * np.sqrt(a + b)
    np.testing.assert_allclose([found.low[0, 1], found.high[0, 1]], expected, rtol=1e-10)


def test_what_is_unknown_has_no_limits():
    sample = Sample([0] * 4 + [2] * 2, A + B, 3)  # the second arm was never pulled
    for found in (pooled_t_difference(sample, [1, 0, 0], 0.95), two_part_difference(sample, [1, 0, 0], 0.95)):
        np.testing.assert_array_equal(np.isnan(found.low), [[True, True, False]])
        np.testing.assert_array_equal(np.isnan(found.high), [[True, True, False]])
    still = sample_of([3.0] * 5, [2.0] * 4)
    assert np.isnan(pooled_t_difference(still, [1, 0], 0.95)).all()
    pulls, wins = np.array([0.0, 3.0, 5.0]), np.array([0.0, 1.0, 5.0])
    np.testing.assert_array_equal(np.isnan(wilson_difference(pulls, wins, [1, 0, 1], 2, 2).low), [True, True, False])


def test_welch_is_scipy_s():
    """NaN for the arm pulled once; no width without variation."""
    found = welch(sample_of(A, B, C, [2.0, 2.0]), [1, 0, 0, 3], 0.9)
    low, high = stats.ttest_ind(A, B, equal_var=False).confidence_interval(0.9)
    np.testing.assert_allclose(found.low[0], [low, -high, np.nan, np.nan])
    np.testing.assert_allclose(found.high[0], [high, -low, np.nan, np.nan])
    still = welch(sample_of([3.0, 3.0], [1.0, 1.0]), [1, 0], 0.9)
    np.testing.assert_array_equal(np.squeeze(still), [[2, -2], [2, -2]])


# ---- MOVER ----


def mid_p(n, s):
    return optimize.brentq(lambda p: stats.binom.sf(s, n, p) + stats.binom.pmf(s, n, p) / 2 - 0.025, 1e-9, s / n)


def test_mover_of_binary_limits_by_hand():
    """7 of 10 against 2 of 8: mid-p below, Clopper and Pearson above."""
    n, s = np.array([10.0, 8.0]), np.array([7.0, 2.0])
    found = mover_difference(s / n, binary(n, s, 0.95), [1, 0])
    assert found.low[0] == pytest.approx(0.45 - np.hypot(0.7 - mid_p(10, 7), stats.beta.ppf(0.975, 3, 6) - 0.25))
    assert found.high[0] == pytest.approx(0.45 + np.hypot(stats.beta.ppf(0.975, 8, 3) - 0.7, 0.25 - mid_p(8, 2)))


def test_two_part_differences_are_around_their_own_centre():
    """Arms 0 0 2 4 and 0 3, centres 2/4 (3 + 6)/(1 + 2) and 1/2 (3 + 3)/2; an arm of zeros has no upper limit."""
    sample = sample_of([0.0, 0, 2, 4], [0.0, 3], [0.0, 0])
    centre, limits = two_part_centre(sample)[0], two_part(sample, 0.95)
    np.testing.assert_allclose(centre, [1.5, 1.5, 0])
    low, high = (limit[0] for limit in two_part_difference(sample, [1, 2, 1], 0.95))
    assert low[0] == pytest.approx(-np.hypot(1.5 - limits.low[0, 0], limits.high[0, 1] - 1.5))
    assert (low[1], high[2]) == (-np.inf, np.inf)
    assert np.isfinite([low[0], low[2], high[0], high[1]]).all()


def test_the_observed_difference_is_never_outside_two_part_limits():
    """One reward of 100 beside ones of about 1: half of it is not believed."""
    sample, observed = sample_of([100.0], [1.0, 1.5, 1.0, 0.0]), 100 - 3.5 / 4
    centre = two_part_centre(sample)
    half = Limits(centre / 1.5, centre * 1.5)
    assert mover_difference(centre, half, [1, 0]).high[0, 0] < observed  # what such limits alone would say
    assert two_part(sample, 0.5).high[0, 0] == 100
    assert two_part_difference(sample, [1, 0], 0.5).high[0, 0] >= observed
    assert two_part_difference(sample, [1, 0], 0.5).low[0, 1] <= -observed


@pytest.mark.parametrize(("n", "s"), [(1, 0), (1, 1), (7, 3), (300, 2), (50_000, 49_990)])
def test_wilson_solves_its_equation(n, s):
    """(s/n - x)^2 = z^2 x (1 - x)/n on both sides; exactly 0 and 1 at the ends."""
    low, high = (limit[0] for limit in wilson(np.array([float(n)]), np.array([float(s)]), 1.5, 2.5))
    for x, z in ((low, 1.5), (high, 2.5)):
        assert (s / n - x) ** 2 == pytest.approx(z**2 * x * (1 - x) / n, rel=1e-9, abs=1e-15)
    assert low == 0 if s == 0 else 0 < low < s / n
    assert high == 1 if s == n else s / n < high < 1


def test_wilson_difference_takes_each_side_s_z_for_both_arms():
    """The lower limit needs the control's upper one, and both as far out as the lower side says."""
    n, s = np.array([100.0, 80.0]), np.array([30.0, 20.0])
    found = wilson_difference(n, s, [1, 0], 1.5, 2.5)
    near, far = wilson(n, s, 1.5, 1.5), wilson(n, s, 2.5, 2.5)
    assert found.low[0] == pytest.approx(0.05 - np.hypot(0.3 - near.low[0], near.high[1] - 0.25))
    assert found.high[0] == pytest.approx(0.05 + np.hypot(far.high[0] - 0.3, 0.25 - far.low[1]))
    np.testing.assert_allclose(wilson_difference(n, s, [1, 0], 0.0, 0.0).low[0], 0.05)


# ---- lift ----


def test_lift_by_hand():
    centre, limits = np.array([0.3, 0.2]), Limits(np.array([0.2, 0.1]), np.array([0.5, 0.4]))
    found = mover_lift(centre, limits, [1, 0])
    assert found.low[0] == pytest.approx(1.5 * np.exp(-np.hypot(np.log(0.3 / 0.2), np.log(0.4 / 0.2))) - 1)
    assert found.high[0] == pytest.approx(1.5 * np.exp(np.hypot(np.log(0.5 / 0.3), np.log(0.2 / 0.1))) - 1)
    np.testing.assert_allclose([1 + found.low[1], 1 + found.high[1]], [1 / (1 + found.high[0]), 1 / (1 + found.low[0])])


@pytest.mark.parametrize(
    ("arm", "control", "low", "high"),
    [
        ((0.3, 0.0, 0.5), (0.2, 0.1, 0.4), -1, None),  # the arm's mean may be 0
        ((0.3, 0.2, 0.5), (0.2, 0.0, 0.4), None, np.inf),  # so may the control's
        ((0.0, 0.0, 0.5), (0.2, 0.1, 0.4), -1, 0.5 / 0.1 - 1),
        ((0.3, 0.2, 0.5), (0.0, 0.0, 0.4), 0.2 / 0.4 - 1, np.inf),
        ((0.0, 0.0, 0.5), (0.0, 0.0, 0.4), -1, np.inf),
        ((0.0, 0.0, np.inf), (0.2, 0.1, 0.4), -1, np.inf),  # an arm that paid nothing, by two-part
        ((0.3, 0.2, 0.5), (0.0, 0.0, np.inf), -1, np.inf),
        ((0.3, -0.2, 0.5), (0.2, -0.1, 0.4), -1, np.inf),  # limits of pooled-t below 0 are read as 0
        ((-0.3, -0.4, 0.5), (0.2, 0.1, 0.4), np.nan, np.nan),
        ((0.3, 0.2, 0.5), (-0.2, -0.3, 0.4), np.nan, np.nan),
        ((np.nan, np.nan, np.nan), (0.2, 0.1, 0.4), np.nan, np.nan),
    ],
)
def test_lift_at_the_edges(arm, control, low, high):
    centre, least, most = np.array([arm, control]).T
    found = mover_lift(centre, Limits(least, most), [1, 0])
    for limit, expected in ((found.low[0], low), (found.high[0], high)):
        if expected is None:
            assert -1 < limit < np.inf
        else:
            np.testing.assert_allclose(limit, expected)


def test_lift_at_a_given_z():
    means, errors = np.array([0.03, 0.02, 0.0]), np.array([0.001, 0.002, 0.001])
    found, error = wald_lift(means, errors, [1, 0, 0], 1.5, 2.5), np.hypot(1 / 30, 0.1)
    np.testing.assert_allclose(found.low, [1.5 * np.exp(-1.5 * error) - 1, np.exp(-1.5 * error) / 1.5 - 1, np.nan])
    np.testing.assert_allclose(found.high, [1.5 * np.exp(2.5 * error) - 1, np.exp(2.5 * error) / 1.5 - 1, np.nan])
