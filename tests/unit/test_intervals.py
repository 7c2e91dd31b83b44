"""Each interval worked out by hand, in other units, and on data that have no good answer."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from commands import flat
from scipy import stats

import debandit as db
from debandit.intervals import Sample, binary, interval_of, mid_p_lower, outside, pooled_t, two_part, wald
from debandit.intervals.interval import _LARGER, _LONG_TAILED_SUMS, _MEASURED
from debandit.settings import INTERVALS

A, B, C = [1.0, 2.0, 4.0, 9.0], [0.0, 3.0], [5.0]


def log_of(*samples):
    arms = [f"{k + 1}" for k, sample in enumerate(samples) for _ in sample]
    return db.ExperimentLog(arms, np.concatenate(samples))


def test_pooled_t_by_hand():
    """Arms 1 2 4 9, 0 3 and 5: means 4, 1.5, 5; sums of squares 9+4+0+25 = 38, 2 x 1.5^2 = 4.5, 0."""
    s0 = (3 * 38 / 3 + 1 * 4.5 / 1) / (3 + 1)  # no arm reaches the caps of 5 and 20, so s5 = s0 = 10.625
    assert s0 == 10.625
    e = np.array(
        [d * np.sqrt(4 / 3) / np.sqrt((s0 + 38) / 4) for d in (-3, -2, 0, 5)]
        + [d * np.sqrt(2 / 1) / np.sqrt((s0 + 4.5) / 2) for d in (-1.5, 1.5)]
    )
    e = (e - e.mean()) / e.std()
    g, kappa = (e**3).mean(), (e**4).mean()
    w = min(max(2 / (1.5 * (kappa - 1)), 0.04), 1)
    assert 0.04 < w <= 1
    low, high = [], []
    for mean, squares, n in ((4, 38, 4), (1.5, 4.5, 2), (5, 0, 1)):
        own = w * (n - 1)
        se = np.sqrt((2 * s0 + w * squares) / (2 + own) / n)
        rho, a = own / (2 + own), g / np.sqrt(n)
        shift = -rho * a / 2 + a * (1 - 3 * rho) / 6 * (1.959964**2 - 1)
        tl, tu = stats.t.ppf(0.965, 2 + own), stats.t.ppf(0.985, 2 + own)
        low.append(mean - (tl + min(max(shift, -0.4 * tl), 0.4 * tl)) * se)
        high.append(mean + (tu - min(max(shift, -0.6 * tu), 0)) * se)
    found = interval_of(log_of(A, B, C), "pooled-t")
    np.testing.assert_allclose(found.low, low, rtol=1e-6)
    np.testing.assert_allclose(found.high, high, rtol=1e-6)
    other = interval_of(log_of(A, B, C), "pooled-t", level=0.9)  # 7 % below, 3 % above
    assert "docs/coverage.md has this level" in other.known
    assert (other.low > found.low).all()
    assert (other.high < found.high).all()


def test_the_caps_of_pooled_t():
    """31 pulls count as 20 in the scale, as 5 in the residuals' scale; symmetric rewards have no shift."""
    many, few = np.tile([-1.0, 1.0], 16)[:-1], [-2.0, 2.0]  # SS 31 - 1/31, 8
    squares = 31 - 1 / 31
    s0 = (20 * squares / 30 + 1 * 8) / 21
    found = pooled_t(Sample([0] * 31 + [1] * 2, [*many, *few], 2), 0.95)
    w = np.clip(2 / (1.5 * (found.kurtosis[0] - 1)), 0.04, 1)
    v = (2 * s0 + w * 8) / (2 + w)
    shift = -w / (2 + w) / 2 + (1 - 3 * w / (2 + w)) / 6 * (stats.norm.ppf(0.975) ** 2 - 1)  # in units of a
    a = found.skewness[0] / np.sqrt(2)
    assert abs(shift * a) < 0.1
    upper = stats.t.ppf(0.985, 2 + w) - min(shift * a, 0)
    np.testing.assert_allclose(found.high[0, 1], upper * np.sqrt(v / 2), rtol=1e-6)
    s5 = (5 * squares / 30 + 8) / 6
    scales = [np.sqrt(31 / 30) / np.sqrt((s5 + squares) / 31)] * 31 + [np.sqrt(2) / np.sqrt((s5 + 8) / 2)] * 2
    e = np.concatenate([many - np.mean(many), few]) * scales
    e = (e - e.mean()) / e.std()
    np.testing.assert_allclose([found.skewness[0], found.kurtosis[0]], [(e**3).mean(), (e**4).mean()])


@pytest.mark.parametrize(("n", "s"), [(1, 0), (1, 1), (7, 3), (7, 7), (300, 2)])
def test_binary_by_its_definition(n, s):
    """At the lower limit P(X > s) + P(X = s)/2 is 2.5 %, at the upper P(X <= s); 0 and 1 at the ends."""
    low, high = binary(np.array([float(n)]), np.array([float(s)]), 0.95)
    if s > 0:
        assert stats.binom.sf(s, n, low[0]) + stats.binom.pmf(s, n, low[0]) / 2 == pytest.approx(0.025)
    else:
        assert low[0] == 0
    assert stats.binom.cdf(s, n, high[0]) == pytest.approx(0.025 if s < n else 1)
    assert high[0] == (1 if s == n else pytest.approx(stats.beta.ppf(0.975, s + 1, n - s)))


def test_binary_in_numbers():
    """One win of one: p/2 = .025; no win of three: (1 - p)^3 = .025."""
    low, high = binary(np.array([1.0, 3.0, 0.0]), np.array([1.0, 0.0, 0.0]), 0.95)
    np.testing.assert_allclose(low, [0.05, 0, np.nan], atol=1e-15)
    np.testing.assert_allclose(high, [1, 1 - 0.025 ** (1 / 3), np.nan])


def test_two_part_by_hand():
    """Arms 0 0 2 4 and 0 3: 2 and 1 non-zero, M = 9/3 = 3; one arm has two amounts, mean 3, SS 2: cv2 = 2/9."""
    amounts = np.array([(3 + 6) / (1 + 2), (3 + 3) / (1 + 1)])
    p, cv2 = np.array([2 / 4, 1 / 2]), 2 / (1 * 3**2)
    p_low = mid_p_lower(np.array([4.0, 2.0]), np.array([2.0, 1.0]), 0.025)
    p_high = 1 - p_low  # half of the pulls: symmetric
    r = np.exp(1.959964 * np.sqrt((cv2 + 0.49) / (np.array([2, 1]) + 1)))
    high = p * amounts + np.sqrt((amounts * (p_high - p)) ** 2 + ((p + p_high) / 2 * amounts * (r - 1)) ** 2)
    low = p * amounts - np.sqrt((amounts * (p - p_low)) ** 2 + ((p + p_low) / 2 * amounts * (1 - 1 / r)) ** 2)
    log = log_of([0, 0, 2, 4], [0, 3])
    found, pooled = interval_of(log), interval_of(log, "pooled-t")
    assert found.name == "two-part"
    np.testing.assert_allclose(found.high, high, rtol=1e-6)
    np.testing.assert_allclose(found.low, np.maximum(np.minimum(low, pooled.low), 0), rtol=1e-6)


def test_two_part_s_low_limit_is_its_own_where_that_is_lower():
    sample = Sample([0] * 40 + [1] * 40, [0, 5.0] * 20 + [0, 5.1] * 20, 2)
    low, p = two_part(sample, 0.95)[0], 0.5
    p_low = mid_p_lower(np.array([40.0]), np.array([20.0]), 0.025)[0]
    amount = ((20 * 5.0 + 20 * 5.1) / 40 + 20 * 5.0) / 21
    r = np.exp(1.959964 * np.sqrt((0.05 + 0.49) / 21))  # equal amounts have no variance, and .05 is the least
    own = p * amount - np.sqrt((amount * (p - p_low)) ** 2 + ((p + p_low) / 2 * amount * (1 - 1 / r)) ** 2)
    assert own < pooled_t(sample, 0.95).low[0, 0]
    assert low[0, 0] == pytest.approx(own, rel=1e-6)


def test_wald_by_hand():
    low, high = wald(np.array([4.0, 2.0, 1.0]), np.array([4.0, 1.5, 5.0]), np.array([38.0, 4.5, 0.0]), 0.95)
    np.testing.assert_allclose(high - low, 2 * 1.959964 * np.array([np.sqrt(38 / 3 / 4), 1.5, np.nan]), rtol=1e-6)
    np.testing.assert_allclose((high + low)[:2] / 2, [4, 1.5])


@pytest.mark.parametrize("scale", [1e-68, 1e-12, 1e12, 1e68])
@pytest.mark.parametrize("name", ["pooled-t", "two-part", "wald"])
def test_other_units_and_another_zero(name, scale):
    rng = np.random.default_rng(1)
    samples = [rng.exponential(size=n) * (rng.random(n) < 0.7) for n in (30, 5, 2)]
    one, other = (interval_of(log_of(*(factor * s for s in samples)), name) for factor in (1, scale))
    np.testing.assert_allclose(other.low, scale * one.low, rtol=1e-9, atol=0)
    np.testing.assert_allclose(other.high, scale * one.high, rtol=1e-9, atol=0)
    if name != "two-part":  # there 0 is a special value
        moved = interval_of(log_of(*(s - 7 for s in samples)), name)
        np.testing.assert_allclose(moved.low, one.low - 7, rtol=1e-9)
        np.testing.assert_allclose(moved.high, one.high - 7, rtol=1e-9)


def test_many_experiments_at_once_are_those_one_by_one():
    runs = db.simulate("ucb", "normal(means=[0,1,1],sds=[1,2,1])", horizon=40, runs=5, seed=3, paths=True)
    arms, rewards = runs.paths()
    amounts = np.maximum(rewards, 0)
    together, parts = pooled_t(Sample(arms, rewards, 3), 0.95), two_part(Sample(arms, amounts, 3), 0.95)
    for i in range(5):
        alone = interval_of(runs.log(i), "pooled-t")
        np.testing.assert_allclose(together.low[i], alone.low, rtol=1e-12)
        np.testing.assert_allclose(together.high[i], alone.high, rtol=1e-12)
        log = db.ExperimentLog(arms[i], amounts[i], labels=[0, 1, 2])
        np.testing.assert_allclose(parts[1][i], interval_of(log, "two-part").high, rtol=1e-12)


@pytest.mark.parametrize(
    ("log", "name", "why"),
    [
        (log_of([0, 1, 1], [1, 0]), "binary", "0 or 1"),
        (log_of([0, 2.0, 3.0, 1.0, 4.0], [1.5, 2, 4, 3, 5]), "two-part", "exactly 0"),  # 10 %
        (log_of([0, 2.0, 3.0, 1.0, 4.0], [1.5, 2, 4, 3, 5, 6]), "pooled-t", "neither"),  # 9 %
        (log_of([0, 2.0, 0, 1.0], [-1.0, 0]), "pooled-t", "neither"),
        (db.ExperimentLog.from_summaries("ab", [5, 4], [0.2, 0.5], binary=True), "binary", "0 or 1"),
        (db.ExperimentLog.from_summaries("ab", [5, 4], [0.2, 7], [1, 2]), "pooled-t", "only means and variances"),
    ],
)
def test_auto_says_what_it_chose(log, name, why):
    found = interval_of(log)
    assert found.name == name
    assert why in found.chosen
    assert "observed mean" in str(found)
    assert found.known
    assert (found.low < log.means).all()
    assert (log.means < found.high).all()


def test_pooled_t_of_means_and_variances_by_hand():
    """2 x 2/3 degrees of freedom count for each pull but one, and the rest is the average variance of both arms.

    With 5 and 4 pulls and sums of squares of 5 and 8: variances of 5/4 and 8/3, weighted 4 and 3.
    """
    log = db.ExperimentLog.from_summaries("ab", [5, 4], [0.2, 7], [1, 2])
    found, average = interval_of(log), (4 * 5 / 4 + 3 * 8 / 3) / 7
    for arm, (n, mean, squares) in enumerate([(5, 0.2, 5.0), (4, 7, 8.0)]):
        own = 2 / 3 * (n - 1)
        se = np.sqrt((2 * average + 2 / 3 * squares) / (2 + own) / n)
        np.testing.assert_allclose(found.low[arm], mean - stats.t.ppf(1 - 0.035, 2 + own) * se, rtol=1e-12)
        np.testing.assert_allclose(found.high[arm], mean + stats.t.ppf(1 - 0.015, 2 + own) * se, rtol=1e-12)
    many = db.ExperimentLog.from_summaries("ab", [50, 40], [0.2, 7], [1, 2])
    assert "of which only means and variances were known" in interval_of(many).known
    assert "known to fail" in interval_of(log, "wald").known
    alone = db.ExperimentLog.from_summaries("ab", [1, 2], [0.2, 7], [0, 2])
    assert "the width of its interval is borrowed" in interval_of(alone).notes[0]
    still = db.ExperimentLog.from_summaries("ab", [1, 2], [0.2, 7], [0, 0])
    assert "rewards do not vary within any arm" in interval_of(still).notes[0]


def test_what_does_not_suit_the_rewards_is_refused():
    summaries = db.ExperimentLog.from_summaries("ab", [5, 4], [0.2, 7], [1, 2])
    for log, name, message in [
        (log_of(A, B), "binary", "0/1"),
        (log_of([-1.0, 0], B), "two-part", "negative"),
        (summaries, "two-part", "summaries"),
        (log_of(A, B), "bayes", "pooled-t"),
    ]:
        with pytest.raises(db.InputError, match=message):
            db.debias(log, "ucb", interval=name, force=True)


# ---- data without a good answer ----


def debiased(log, **options):
    return db.debias(log, "ucb", runs=50, force=True, **options)


@pytest.mark.parametrize("log", [log_of([3.0] * 5, [3.0] * 4), log_of([0.1] * 7, [0.3] * 3), log_of([5.0], [7.0])])
@pytest.mark.parametrize("name", ["auto", "two-part"])
def test_rewards_that_never_vary_have_no_interval(log, name):
    """Their spread is unknown, so limits would be made up; the rest of the result is there."""
    result = debiased(log, interval=name, world="gaussian")  # which knows no spread either, and does not mind
    assert np.isnan([result.low, result.high]).all()
    assert any("no intervals" in note for note in result.interval.notes)
    assert np.isfinite(result.corrected).all()
    assert " – " in str(result) or str(result).count("–") >= 2
    assert "No 95 % intervals" in result.details()
    assert "coverage" not in result.details()  # of what is not there nothing is known


def test_arms_pulled_once_or_twice_borrow_their_scale():
    """One pull has no spread of its own; two have hardly any when rewards are skewed. Finite, wide, and labelled."""
    rng = np.random.default_rng(5)
    skewed = debiased(log_of(rng.exponential(size=80) ** 2, [0.3, 0.4], [0.2]))
    (note,) = [note for note in skewed.interval.notes if "borrowed" in note]
    assert note.startswith("2, 3: the width")
    assert (skewed.high - skewed.low)[1] > 10 * 0.1  # its own spread is 0.1, and is not believed
    straight = debiased(log_of(rng.normal(size=80), [0.3, 0.4], [0.2]))
    (note,) = [note for note in straight.interval.notes if "borrowed" in note]
    assert note.startswith("3: the width")


def test_only_one_arm_with_more_than_one_pull():
    """Its spread serves for all arms."""
    result = debiased(log_of([1.0, 2.0, 4.0, 9.0, 3.0], [5.0], [7.0]))
    assert np.isfinite([result.low, result.high]).all()
    assert (result.low < result.naive).all()
    assert (result.high > result.naive).all()
    assert (result.high - result.low)[1:] == pytest.approx((result.high - result.low)[1])
    assert any(note.startswith("2, 3: the width") for note in result.interval.notes)


def test_a_binary_arm_of_zeros():
    """The lower limit is 0, the upper where five losses still have the probability 2.5 %."""
    result = debiased(log_of([0] * 5, [1, 0, 1]))
    assert result.interval.name == "binary"
    assert result.low[0] == 0
    assert result.high[0] == pytest.approx(1 - 0.025 ** (1 / 5))
    ones = debiased(log_of([1] * 5, [1] * 3))
    np.testing.assert_array_equal(ones.high, 1)
    assert (ones.low > 0).all()


def test_an_arm_without_a_positive_reward_has_no_upper_limit(tmp_path):
    """Whatever an arm may pay that has paid nothing yet, nobody knows; its probability alone would be a limit."""
    result = debiased(log_of([0, 2.5, 0, 4, 3], [0, 0, 0]))
    assert result.high[1] == np.inf
    assert result.low[1] == 0
    assert any(note.startswith("2: no upper limit") for note in result.interval.notes)
    assert re.search(r" 0\.0+, no upper limit ", str(result))
    assert result.rows()[1]["high"] is None
    assert result.to_frame()["high"][1] == np.inf
    result.to_json(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["arms"][1]["high"] is None
    assert db.Debiased.from_json(tmp_path / "r.json").high[1] == np.inf


def test_long_tails_are_labelled():
    rng = np.random.default_rng(2)
    tails = debiased(log_of([*rng.normal(size=60), 40.0], rng.normal(size=20)))
    assert any("long tails" in note for note in tails.interval.notes)
    assert not debiased(log_of(rng.normal(size=60), rng.normal(size=20))).interval.notes


def test_a_hundred_arms():
    """Two pulls each: every arm has an interval of its own, and the table stays narrow."""
    rng = np.random.default_rng(3)
    result = debiased(log_of(*rng.normal(size=(100, 2))))
    assert np.isfinite([result.low, result.high]).all()
    assert max(len(line) for line in str(result).splitlines()) <= 100


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_tiny_and_huge_rewards(scale):
    result = debiased(log_of(scale * np.array(A), scale * np.array(B)))
    plain = debiased(log_of(A, B))
    np.testing.assert_allclose(result.low, scale * plain.low, rtol=1e-9)
    np.testing.assert_allclose(result.high, scale * plain.high, rtol=1e-9)
    assert max(len(line) for line in str(result).splitlines()) <= 100


def test_arms_never_pulled_have_no_interval():
    log = db.ExperimentLog(["a"] * 4 + ["b"] * 2, A + B, labels=["a", "c", "b"])
    for name in ("pooled-t", "two-part", "wald"):
        found = interval_of(log, name)
        np.testing.assert_array_equal(np.isnan(found.low), [False, True, False])
        np.testing.assert_array_equal(np.isnan(found.high), [False, True, False])
    low, _ = binary(np.array([0.0, 2.0]), np.array([0.0, 1.0]), 0.95)
    np.testing.assert_array_equal(np.isnan(low), [True, False])


# ---- what a result says ----


def test_what_is_said_of_coverage_was_measured():
    """It is what the table by family in docs/coverage.md has."""
    page = (Path(__file__).parents[2] / "docs" / "coverage.md").read_text(encoding="utf-8")
    with_rewards = page.partition("## By family")[2].partition("\n##")[0]  # the first of them: up to 300 rounds
    without = page.partition("## Where only sums are known")[2].partition("\n##")[0]
    rows, others = ([line.strip("| ").split(" | ") for line in part.split("\n")] for part in (with_rewards, without))
    found = {(row[0], row[1]): (row[3], row[7], row[5]) for row in rows if len(row) == 11}
    sums = {row[0]: (row[3], row[7], row[5]) for row in others if len(row) == 11}
    names = {"other": "the four continuous families", "zeros": "zero-inflated", "binary": "binary"}
    for (interval, kind), (mean, share, worst) in _MEASURED.items():
        told = sums[names["other"]] if (interval, kind) == ("pooled-t", "summaries") else found[names[kind], interval]
        assert told == (f"{mean:.4f}", f"{100 * share:.1f} %", f"{worst:.4f}")
    assert sums["long-lognormal"][2] == f"{_LONG_TAILED_SUMS:.4f}"


def test_what_is_said_of_larger_experiments_was_measured():
    """It is what the first table of docs/coverage.md has."""
    page = (Path(__file__).parents[2] / "docs" / "coverage.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.split("\n")]
    found = {row[0]: row[1] for row in rows if len(row) == 6}
    rewards = {"other": "rewards on a scale", "zeros": "many zeros", "binary": "0/1"}
    for larger in _LARGER:
        for (_, kind), covered in larger.covered.items():
            alike = [row for row in found if row.startswith(larger.experiments[:15]) and rewards[kind] in row]
            (row,) = [row for row in alike if "batched" not in row or row.rpartition(", ")[2] in larger.experiments]
            assert re.findall(r"[\d.]+", found[row]) == re.findall(r"[\d.]+", covered)


def test_a_result_says_which_interval_it_is_and_what_is_known():
    log = log_of(A, [0.5, 3.0])
    assert "not measured in such experiments, but for 60 to 300 rounds" in flat(debiased(log).details())
    long = db.simulate("ucb", db.worlds.Normal([0, 1], [1, 1]), horizon=60, runs=1, paths=True).log(0)
    text = flat(debiased(long).details())
    for part in ("95 % interval", "pooled-t", "auto", "observed mean", "98.0 %", "0.9 %", "theorem"):
        assert part in text
    assert "90 % interval" in str(debiased(log, level=0.9))
    assert "known to fail" in flat(debiased(log, interval="wald").details())
    assert "two-part is made for" in flat(debiased(log_of([0, 2.0, 0, 1.5], B), interval="pooled-t").details())
    assert "interval" not in str(debiased(log, interval="none"))


def test_a_quoted_mean_outside_is_said_to_be():
    log = log_of([0.0, 1.0] * 20, [1.0, 1.0, 1.0, 0.0])
    inside = debiased(log)
    assert not any("outside" in note for note in inside.interval.notes)
    narrow = interval_of(log, level=0.01)  # so narrow that what is taken off brings both means outside
    (note,) = outside(log, narrow, inside.quoted, "quoted")
    assert note.startswith("1, 2: the quoted mean lies outside the interval")


@pytest.mark.parametrize("name", INTERVALS)
def test_json_keeps_the_interval(name, tmp_path):
    log = log_of([1, 0, 1, 1], [0, 0, 1]) if name == "binary" else log_of([0, 2.0, 3.0, 9.0], B)
    result = debiased(log, interval=name)
    result.to_json(tmp_path / "r.json")
    back = db.Debiased.from_json(tmp_path / "r.json")
    np.testing.assert_array_equal([back.low, back.high], [result.low, result.high])
    assert str(back) == str(result)
    assert (back.settings.interval, back.interval.notes) == (name, result.interval.notes)
    document = json.loads((tmp_path / "r.json").read_text())
    for key in ("interval", "arms"):
        assert key in document
    del document["interval"]  # as written before there were intervals
    for arm in document["arms"]:
        del arm["low"], arm["high"]
    for key in ("interval", "level"):
        del document["settings"][key]
    (tmp_path / "old.json").write_text(json.dumps(document))
    assert db.Debiased.from_json(tmp_path / "old.json").interval.name == "none"
