"""Does the rule fit a table of batches? By hand, and in words."""

import numpy as np
import pytest
from batch_tables import table_of, tables
from commands import flat

import debandit as db
from debandit.checking.batch_counts import compare_batches, judge_batches
from debandit.checking.reward_tests import examine_rewards
from debandit.errors import with_few_sizes
from debandit.policies.history import History

SIZES = (60, 80, 40, 120)
N2, B2 = db.worlds.Normal([1.0, 1.5], [1.0, 1.0]), db.worlds.Bernoulli([0.3, 0.6])


def days(*rows, binary=False):
    """A log from rows (day, arm, pulls, mean)."""
    names, arms, pulls, means = zip(*rows, strict=True)
    return db.ExperimentLog.from_batches(
        names, arms, pulls, means, None if binary else [1.0] * len(rows), binary=binary
    )


def first_two(second):
    """Two pulls of either arm with means 1 and 1/2, then a batch of ten."""
    return days(("mon", "A", 2, 1.0), ("mon", "B", 2, 0.5), *(("tue", arm, n, 1.0) for arm, n in second.items()))


def test_a_rule_without_randomness_by_hand():
    """On Tuesday the rule has heard of 4 rounds: A has 1 + sqrt(ln 5 / 2), B has 0.5 + sqrt(ln 5 / 2)."""
    fit = db.check(first_two({"A": 10}), "batched(ucb)")
    assert (fit.verdict, fit.batches_checked, fit.rounds_checked, fit.p_value) == ("fits", 2, 0, 1.0)
    assert fit.findings[0] == ("counts of 2 batches", None, "all 2 agree with the rule, ties allowed")
    wrong = db.check(first_two({"A": 7, "B": 3}), "batched(ucb)")
    assert (wrong.verdict, wrong.mismatches) == ("impossible", (2,))
    bonus = np.sqrt(np.log(5) / 2)
    np.testing.assert_allclose([row["score"] for row in wrong.situation], [1 + bonus, 0.5 + bonus], rtol=1e-14)
    text = flat(str(wrong))
    for part in (
        "1 of 2 batches is impossible under the rule: 'tue'",
        "batch 'tue': the log has 3 pulls of 'B', but the rule makes none there: 'A' has the highest score.",
        "in the batch",
        "each batch ends where the rule learned of its rewards",
    ):
        assert part in text
    with pytest.raises(db.Refused, match=r"batch 'tue': (.|\n)*counts of 1 of the 2 batches(.|\n)*force=True"):
        db.debias(first_two({"A": 7, "B": 3}), "batched(ucb)", runs=100)
    forced = db.debias(first_two({"A": 7, "B": 3}), "batched(ucb)", runs=100, force=True)
    assert forced.warnings[0].startswith(
        "forced: batched(ucb(c=1.0), size=(4, 10)) never makes the counts of 1 of the 2"
    )


def test_ties_are_allowed():
    """Equal means and pulls: whatever the rule does on Tuesday, also if it tosses a coin for each user."""
    for second in ({"A": 10}, {"B": 10}, {"A": 4, "B": 6}):
        rows = [("mon", "A", 2, 1.0), ("mon", "B", 2, 1.0), *(("tue", arm, n, 1.0) for arm, n in second.items())]
        assert db.check(days(*rows), "batched(ucb)").fits


@pytest.mark.parametrize(("pulls", "fits"), [((5, 5), True), ((6, 4), False), ((9, 1), False)])
def test_initial_pulls_and_turns_are_known(pulls, fits):
    """The initial pulls cannot be heard of before the first batch of ten is over, so the arms take turns."""
    log = days(("mon", "A", pulls[0], 1.0), ("mon", "B", pulls[1], 0.5))
    fit = db.check(log, "batched(epsilon_greedy(initial_pulls=2))")
    assert fit.fits == fits
    if not fits:
        assert (
            f"the log has {pulls[0]} pulls of 'A', but the arms take turns until the rule has seen"
            in fit.first_mismatch
        )
        assert "which makes 5 pulls" in fit.first_mismatch


def test_a_lacking_turn_is_explained():
    """A warm-up of four pulls of each arm ends within the batch; whatever comes next, each arm has had four."""
    fit = db.check(days(("mon", "A", 3, 1.0), ("mon", "B", 7, 0.5)), "batched(warm_up(thompson, pulls=4))")
    assert "3 pulls of 'A', but initial pulls and the arms' turns make at least 4 pulls there" in fit.first_mismatch


def test_chances_and_expected_counts_by_hand():
    """Beta(1 + 3, 1 + 1) beats Beta(1 + 0, 1 + 2) with probability 33/35: the integral of 20 x^3 (1 - x) F(x)."""
    log = days(("a", "A", 4, 0.75), ("a", "B", 2, 0.0), ("b", "A", 30, 0.5), ("b", "B", 5, 0.2), binary=True)
    rule = db.policies.as_policy("batched(beta_thompson)").in_log(log)
    found = compare_batches(log, rule, 10)
    grid = (np.arange(200_000) + 0.5) / 200_000
    higher = (20 * grid**3 * (1 - grid) * (1 - (1 - grid) ** 3)).mean()
    np.testing.assert_allclose(found.chances, [[0.5, 0.5], [higher, 1 - higher]], rtol=1e-8)
    np.testing.assert_allclose(found.expected[1], [35 * higher, 35 * (1 - higher)], rtol=1e-8)
    judged = judge_batches(found, log.labels, np.random.default_rng(0))
    likelihood = 6 * np.log(0.5) + 30 * np.log(higher) + 5 * np.log(1 - higher)
    np.testing.assert_allclose(judged.log_likelihood, likelihood, rtol=1e-8)


@pytest.mark.parametrize(
    ("pulls", "departure"),
    [
        (([60, 40],) * 12, "too many pulls of 'A'|too few pulls of 'B'"),
        (([50, 50],) * 12, "closer to the expected counts than chance allows"),
        (([70, 30], [30, 70]) * 6, "further from the expected counts than chance allows"),
    ],
)
def test_what_is_noticed_of_fair_coins(pulls, departure):
    """In 12 batches of 100: 2 standard errors each, none ever, and 4 in turn."""
    rows = [
        (day, arm, n, mean)
        for day, each in enumerate(pulls)
        for arm, n, mean in zip("AB", each, (0.5, 0.6), strict=True)
    ]
    fit = db.check(days(*rows), "batched(uniform)")
    assert fit.p_value < 0.01
    finding = fit.findings[0]
    assert finding.test == "counts of 12 batches"
    assert any(part in finding.finding for part in departure.split("|"))
    (warning, *_) = db.debias(days(*rows), "batched(uniform)", runs=100).warnings
    assert "is unlikely to have made this log" in warning


@pytest.mark.parametrize("rule", ["thompson", "ucb", "floor(ucb, probability=0.2)", "warm_up(softmax, rounds=60)"])
@pytest.mark.parametrize("played", ["thompson", "ucb"])
def test_rows_and_their_table_get_the_same_answer(played, rule):
    """Batches of at least 50 rows on average are judged by their counts, too."""
    policy = db.Batched(played, size=SIZES)
    runs = db.simulate(policy, B2, horizon=sum(SIZES), runs=1, seed=5, paths=True)
    (table,) = tables(played, B2, SIZES, 1, seed=5)
    rows = db.ExperimentLog(
        runs.path_arms[0] + 1, runs.path_rewards[0], labels=[1, 2], batches=np.repeat(range(4), SIZES)
    )
    one, two = (db.check(log, f"batched({rule})", seed=3) for log in (table, rows))
    assert (one.p_value, one.verdict, one.mismatches) == (two.p_value, two.verdict, two.mismatches)
    assert one.log_likelihood == two.log_likelihood
    assert two.batches_checked >= 3
    again, other = (db.check(table, f"batched({rule})", seed=seed) for seed in (3, 4))
    assert again.p_value == one.p_value
    assert (other.p_value < 0.05) == (one.p_value < 0.05)


def test_small_batches_of_rows_are_judged_by_rounds():
    policy = db.Batched(db.ThompsonSampling(), size=40)
    log = db.simulate(policy, N2, horizon=200, runs=1, seed=5, paths=True).log(0)
    assert db.check(log, policy).rounds_checked == 200


def test_the_end_of_a_uniform_warm_up_is_left_out():
    """It ends in the second batch, whose counts have two sources; before it the arms are equally likely."""
    (log,) = tables("warm_up(thompson(initial_pulls=1), rounds=100)", N2, SIZES, 1)
    rule = db.policies.as_policy("batched(warm_up(thompson(initial_pulls=1), rounds=100))").in_log(log)
    found = compare_batches(log, rule, 10)
    assert found.batches.tolist() == [0, 2, 3]
    assert found.chances[0].tolist() == [0.5, 0.5]
    fit = db.check(log, "batched(warm_up(thompson(initial_pulls=1), rounds=100))")
    assert fit.findings[0].test == "counts of 3 of 4 batches"
    assert fit.fits


def test_at_most_so_many_batches():
    (log,) = tables("uniform", N2, [10] * 50, 1)
    fit = db.check(log, "batched(uniform)", rounds=20)
    assert (fit.batches_checked, fit.findings[0].test) == (20, "counts of 20 of 50 batches")


def test_drift_is_that_of_the_rewards():
    """The table of batches has all that a correlation of rewards with the number of their batch needs."""
    runs = db.simulate("batched(uniform, size=100)", N2, horizon=300, runs=1, seed=6, paths=True)
    (log,) = tables("uniform", N2, (100, 100, 100), 1, seed=6)
    arms, rewards, batch = runs.path_arms[0], runs.path_rewards[0], np.repeat([0, 1, 2], 100)
    expected = [np.corrcoef(batch[arms == k], rewards[arms == k])[0, 1] for k in range(2)]
    np.testing.assert_allclose(examine_rewards(log).drift.correlation, max(expected, key=abs), rtol=1e-9)
    assert examine_rewards(log).dependence is None


def test_drift_is_found_in_batches():
    rows = [(day, arm, 200, 1.0 + 0.1 * day * (arm == "B")) for day in range(6) for arm in "AB"]
    fit = db.check(days(*rows), "batched(uniform)")
    assert fit.warnings[0].startswith("the arms move from batch to batch, and differently")
    steady = [(day, arm, 200, 1.0) for day in range(6) for arm in "AB"]
    assert not db.check(days(*steady), "batched(uniform)").warnings
    assert examine_rewards(days(("mon", "A", 20, 1.0), ("mon", "B", 20, 1.0))).drift is None  # no time passes


def test_long_lists_of_sizes_are_not_shown():
    """Seven sizes are too many for a line; the settings keep them, for they must reproduce the result."""
    days = [str(day) for day in range(8) for _ in "ab"]
    log = db.ExperimentLog.from_batches(days, ["a", "b"] * 8, [50, 48] * 8, [0.5, 0.25] * 8, binary=True)
    result = db.debias(log, "batched(uniform)", runs=50)
    assert result.settings.policy == f"batched(uniform, size={(98,) * 8})"
    assert "rule batched(uniform, size=(8 batches of 98)):" in str(result)
    assert "98, 98" not in str(db.check(log, "batched(uniform)"))
    with pytest.raises(db.Refused, match=r"\(8 batches of 98\)\) cannot have made this log"):
        db.debias(log, "batched(greedy)", runs=50)
    assert with_few_sizes("ucb, size=(1, 2, 3, 4, 5, 6)") == "ucb, size=(1, 2, 3, 4, 5, 6)"
    assert with_few_sizes("x(size=(901, 5, 5, 5, 5, 5, 1098)), y") == "x(size=(7 batches of 5 to 1,098)), y"


def test_rewards_that_the_core_of_a_rule_cannot_use():
    log = db.ExperimentLog(["a", "b"] * 4, np.arange(8.0), batches=[1] * 8)
    with pytest.raises(db.InputError, match=r"beta_thompson is a rule for 0/1 rewards(.|\n)*thompson"):
        db.debias(log, "batched(beta_thompson)")
    with pytest.raises(db.InputError, match="beta_thompson is a rule for 0/1 rewards"):
        db.check(log, "batched(beta_thompson)")
    with pytest.raises(db.InputError, match="leave out --batch or --batch-by"):
        db.debias(log, "ucb")


def test_tables_say_as_much_of_squares_as_rounds():
    """A rule that goes by the variances of rewards has the same chances in a table of batches as in its rounds."""
    policy = db.Batched(db.GaussianThompson(), size=SIZES)
    world = db.worlds.Normal([1e3, 1e3 + 0.1], [1.0, 2.0])
    runs = db.simulate(policy, world, horizon=300, runs=1, seed=4, paths=True)
    table = table_of(runs.path_arms[0], runs.path_rewards[0], SIZES, 2, binary=False)
    one, two = (compare_batches(log, policy, 4) for log in (runs.log(0), table))
    replay = policy.replay(History(runs.path_arms[0], runs.path_rewards[0], 2, np.array([60, 140, 180]))).chances
    np.testing.assert_allclose(one.chances[1:], replay, rtol=1e-9)
    np.testing.assert_allclose(two.chances[1:], replay, rtol=1e-6)  # a table's variances are rounded
    assert np.abs(np.diff(replay[:, 0])).min() > 0.01
    assert db.check(table, "batched(gaussian_thompson)").fits
