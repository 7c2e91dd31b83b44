"""Simulated limits and p-values: the parts by hand, and both where the policy does not look at the rewards."""

import numpy as np
import object_rules
import pytest
from commands import flat
from scipy import optimize, stats

import debandit as db
from debandit.errors import InputError
from debandit.intervals import Observed, Sums, holm, p_values
from debandit.intervals.simulated import Targets, _probit, _sequential, _to_normal, from_normal, tail_z

PULLS = np.array([[400.0, 300.0]])


def as_planned(shift=0.0, seed=0):
    """Runs with pulls that are fixed beforehand and normal means, `shift` standard errors off, of variance 1."""
    random = np.random.default_rng(seed)

    def play(means, spreads):
        pulls = np.broadcast_to(PULLS, means.shape)
        squares = spreads**2 * random.chisquare(pulls - 1)
        return Sums(pulls, means + spreads / np.sqrt(pulls) * (random.standard_normal(means.shape) + shift), squares)

    return play


def experiment(seed, gap=0.0):
    random = np.random.default_rng([seed, 1])
    means = np.array([[0.0, gap]]) + random.standard_normal((1, 2)) / np.sqrt(PULLS)
    sums = Sums(PULLS, means, random.chisquare(PULLS - 1))
    return Observed.of(sums, False, (np.zeros(2), np.ones(2)), (seed,))


def answered(asking, play):
    """The answer of what asks for runs, which `play` makes."""
    try:
        worlds = next(asking)
        while True:
            worlds = asking.send(play(*worlds))
    except StopIteration as done:
        return done.value


def test_normal_units():
    df, z = np.array([4.0, 10.0, np.inf]), np.array([-2.5, 0.7, 1.3])
    np.testing.assert_allclose(_to_normal(from_normal(z, df), df), z, rtol=1e-12)
    exact = stats.norm.ppf(stats.t.cdf(from_normal(z, df), df))
    np.testing.assert_allclose(exact, z, rtol=0.02)  # the error of the approximation at 4 degrees of freedom


def test_the_fit_is_the_mode_of_its_posterior():
    random = np.random.default_rng(5)
    x = random.uniform(-3, -0.4, (2, 150))
    y, counts = random.random(x.shape) < stats.norm.cdf(0.3 + 0.8 * x), random.random(x.shape) < 0.7
    found = np.array(_probit(x, y, counts))
    for row in range(2):

        def against(at, row=row):
            line = at[0] + at[1] * x[row]
            likely = np.where(y[row], stats.norm.logcdf(line), stats.norm.logcdf(-line))[counts[row]].sum()
            return -likely + 2 * at[0] ** 2 + 5 * (at[1] - 1) ** 2

        best = optimize.minimize(against, [0.0, 1.0], tol=1e-12).x
        np.testing.assert_allclose(found[:, row], best, atol=1e-5)  # what the minimiser leaves


def test_z_is_normal_without_adaptation_and_follows_a_bias():
    arm, critical = Targets(np.array([0]), np.array([-1]), np.array([False])), np.full((1, 2), 1.96)
    plain, high = (
        np.array([answered(tail_z(experiment(seed), arm, critical), as_planned(shift, seed))[0] for seed in range(60)])
        for shift in (0, 1)
    )
    assert (np.abs(plain.mean(axis=0) - 1.96) < 4.5 * plain.std(axis=0) / np.sqrt(len(plain))).all()
    # means that come out a standard error too high need a lower limit that is farther out, and an upper one nearer
    off = (high.mean(axis=0) - 1.96) / (high.std(axis=0) / np.sqrt(len(high)))
    assert off[0] > 4.5
    assert off[1] < -4.5


def test_p_values_without_adaptation():
    arm, control = np.array([1]), np.array([0])
    null, shifted = (
        np.array(
            [answered(p_values(experiment(seed, gap), arm, control), as_planned(0, seed))[0] for seed in range(400)]
        )
        for gap in (0.0, 0.2)
    )
    assert stats.kstest(null, "uniform").pvalue > 6.8e-6  # 4.5 standard errors
    assert stats.kstest(shifted, "uniform").pvalue < 6.8e-6
    # with a gap of 0.2 the difference is 2.6 standard errors: power 1 - Phi(1.96 - 2.62) = .745
    power = stats.norm.sf(1.96 - 0.2 / np.sqrt((1 / PULLS).sum()))
    assert abs((shifted < 0.05).mean() - power) < 4.5 * np.sqrt(power * (1 - power) / 400)


def test_a_side_stops_at_twenty():
    above = np.zeros(100, bool)
    above[9::10] = True  # ten of a hundred: (1 + 10) / (1 + 100)
    below = np.arange(100) % 2 == 0  # the twentieth is the 39th run: 20/39
    p, done = _sequential(np.stack((above, below), axis=1))
    assert (p, done) == (pytest.approx(2 * 11 / 101), False)
    p, done = _sequential(np.stack((below, ~below), axis=1))  # 20/39 and 20/40
    assert (p, done) == (1.0, True)
    many = np.tile(above, 2)  # the twentieth is the 200th run
    assert _sequential(np.stack((many, ~many), axis=1)) == (pytest.approx(0.2), True)
    assert _sequential(np.zeros((999, 2), bool)) == (pytest.approx(0.002), False)
    assert _sequential(np.zeros((0, 2), bool)) == (1.0, False)


def test_holm():
    p = np.array([0.04, np.nan, 0.01, 0.03])
    np.testing.assert_allclose(holm(p), [0.06, np.nan, 0.03, 0.06])
    np.testing.assert_allclose(holm(np.array([0.9, 0.8])), [1.0, 1.0])


BINARY = db.worlds.Bernoulli([0.3, 0.4, 0.5])


@pytest.fixture(scope="module")
def binary_log():
    runs = db.simulate("ucb", BINARY, horizon=400, runs=1, seed=3, paths=True)
    return runs.log(0)


def test_same_seed_same_limits(binary_log):
    one, two = (db.debias(binary_log, "ucb", runs=100, control="1", threads=threads) for threads in (1, 2))
    other = db.debias(binary_log, "ucb", runs=100, control="1", seed=1)
    for name in ("low", "high", "p_value", "p_adjusted", "lift_low"):
        np.testing.assert_array_equal(getattr(one.differences, name), getattr(two.differences, name))
    np.testing.assert_array_equal(one.low, two.low)
    assert (other.low != one.low).any()
    closed = db.debias(binary_log, "ucb", runs=100, control="1", interval="binary")
    np.testing.assert_array_equal(one.differences.p_value, closed.differences.p_value)


def test_logs_side_by_side_have_the_limits_that_they_have_alone():
    """Their runs are made together, but the numbers of a run are its own; with the place in the list they change."""
    runs = db.simulate("batched(beta_thompson, size=200)", BINARY, horizon=1000, runs=2, seed=3)
    logs = [runs.log(i) for i in range(2)]
    options = {"runs": 50, "control": "1", "force": True}
    together = db.debias_all(logs, runs.policy, **options)
    for place, (log, found) in enumerate(zip(logs, together, strict=True)):
        alone = db.debias(log, runs.policy, log_index=place, **options)
        np.testing.assert_array_equal(alone.low, found.low)
        np.testing.assert_array_equal(alone.differences.high, found.differences.high)
        np.testing.assert_array_equal(alone.differences.p_value, found.differences.p_value)
    assert (db.debias(logs[0], runs.policy, log_index=1, **options).low != together[0].low).any()


def test_what_is_said(binary_log, tmp_path):
    result = db.debias(binary_log, "ucb", runs=100, control="1")
    assert result.interval.name == "simulated"
    assert "more than 300 rounds" in result.interval.chosen
    assert "p-value" in result.details()
    assert "after adjusting for" in flat(str(result))
    result.to_json(tmp_path / "result.json")
    again = db.Debiased.from_json(tmp_path / "result.json")
    np.testing.assert_array_equal(again.differences.p_adjusted, result.differences.p_adjusted)
    alone = db.debias(binary_log, "ucb", runs=100)
    assert "percentage points above arm" in flat(str(alone))  # the best-looking one, compared with the second
    assert np.isnan(alone.differences.p_value).all()  # the data chose the pair
    best = alone.labels.index(alone.winner.arm)
    assert np.isfinite(alone.differences.low).tolist() == [k == best for k in range(3)]


def test_limits_contain_the_mean_and_get_wider_with_the_level(binary_log):
    normal = db.simulate("ucb", db.worlds.Normal([0, 0.3], [1, 1]), horizon=60, runs=1, seed=3, paths=True).log(0)
    for log in (binary_log, normal):
        widths = []
        for level in (0.5, 0.8, 0.95, 0.999):
            found = db.debias(log, "ucb", runs=50, level=level, control="1", interval="simulated")
            assert ((found.low <= found.naive) & (found.naive <= found.high)).all()
            differences = found.differences
            assert (differences.low[1:] <= differences.naive[1:]).all()
            assert (differences.naive[1:] <= differences.high[1:]).all()
            widths.append(np.concatenate((found.high - found.low, (differences.high - differences.low)[1:])))
        assert (np.diff(widths, axis=0) > 0).all()


def test_rules_of_python_objects_are_not_simulated(binary_log):
    rule = object_rules.Confident(c=1.0)
    result = db.debias(binary_log, rule, runs=20, control="1", force=True)
    assert result.interval.name == "binary"
    assert np.isnan(result.differences.p_value).all()
    assert any("closed form" in warning and "Python objects" in warning for warning in result.warnings)
    with pytest.raises(InputError, match="is not possible: rules of Python objects"):
        db.debias(binary_log, rule, runs=20, interval="simulated", force=True)
