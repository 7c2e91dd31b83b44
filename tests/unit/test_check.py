"""Does the rule fit the log? By hand, and in words."""

import time

import numpy as np
import pytest
from peeking import Peeking

import debandit as db
from debandit import cli
from debandit.checking.chosen import compare_choices
from debandit.checking.counts import smallest_share
from debandit.checking.plausibility import _anderson_darling, judge
from debandit.checking.reward_tests import examine_rewards
from debandit.policies.history import History

N2 = db.worlds.Normal([1, 1.5], [1, 1])


def log_of(arms, rewards, **options):
    return db.ExperimentLog(list(arms), rewards, **options)


@pytest.fixture(scope="module")
def ucb_log():
    return db.simulate(db.UCB(), N2, horizon=100, runs=1, seed=8, paths=True).log(0)


def test_a_mismatch_by_hand():
    """Round 3: A has 1 + sqrt(ln 3), B has 0.5 + sqrt(ln 3), and the log has B."""
    fit = db.check(log_of("ABBA", [1.0, 0.5, 0.25, 1.0]), db.UCB())
    assert fit.mismatches == (3,)  # in round 4 A has 1 + sqrt(ln 4), B 0.375 + sqrt(ln 4 / 2)
    assert (fit.verdict, fit.fits, fit.p_value) == ("impossible", False, 0.0)
    scores = [row["score"] for row in fit.situation]
    np.testing.assert_allclose(scores, [1 + np.sqrt(np.log(3)), 0.5 + np.sqrt(np.log(3))], rtol=1e-14)
    text = str(fit)
    for part in ("cannot have made", "round 3: the log has 'B', but 'A' has the highest score", "2.0481", "What to do"):
        assert part in text


def test_ties_are_allowed():
    for third in "AB":  # equal means and pulls
        assert db.check(log_of("AB" + third, [1.0, 1.0, 0.0]), db.UCB()).fits
    thirds = [0.1 + 0.2, 0.3]  # equal but for the last bit, as other programs' means may be
    assert thirds[0] > thirds[1]
    assert db.check(log_of("ABB", [*thirds, 0.0]), db.UCB()).fits
    assert not db.check(log_of("ABB", [0.3 + 1e-6, 0.3, 0.0]), db.UCB()).fits


def test_explore_then_commit():
    """After a tie either arm may be the one, but it stays."""
    etc = db.ExploreThenCommit(pulls=2)
    for arm in "AB":
        assert db.check(log_of("AABB" + 3 * arm, [1, 0, 0, 1, 0, 0, 0]), etc).fits
    changed = db.check(log_of("AABB" + "BAB", [1, 0, 0, 1, 0, 0, 0]), etc)
    assert changed.mismatches == (6,)
    assert "had committed to 'B'" in changed.first_mismatch


def test_the_order_of_the_arms_is_explained():
    fit = db.check(log_of("BABA", [1.0, 2.0, 1.5, 2.0], labels=["A", "B"]), db.UCB())
    assert fit.mismatches[:2] == (1, 2)
    for part in ("each arm once, in the order A, B, so this is the turn of 'A'", "--arms"):
        assert part in fit.first_mismatch
    turns = db.check(log_of("ABAB", [1.0, 2.0, 1.5, 2.0]), db.ExploreThenCommit(pulls=2))
    assert "each arm 2 times in a row, in the order A, B" in turns.first_mismatch
    blocks = db.check(log_of("AABB", [1.0, 2.0, 1.5, 2.0]), db.ExploreThenCommit(pulls=2, order="turns"))
    assert "each arm 2 times, taking turns, in the order A, B, so this is the turn of 'B'" in blocks.first_mismatch


def test_explorations_in_turns_and_in_blocks_are_told_apart():
    log = {
        order: log_of(arms, [1, 0, 0, 1, 1, 1, 0, 0]) for order, arms in (("blocks", "AABBAAAA"), ("turns", "ABABAAAA"))
    }
    for order, other in (("blocks", "turns"), ("turns", "blocks")):
        assert db.check(log[order], f"etc(pulls=2, order={order})").fits
        assert db.check(log[order], f"etc(pulls=2, order={other})").mismatches == (2, 3)


def test_probability_zero_is_impossible():
    arms, rewards = "ABA", [0.0, 1.0, 0.0]  # B has the higher mean
    assert db.check(log_of(arms, rewards), db.EpsilonGreedy(epsilon=0.0)).verdict == "impossible"
    assert db.check(log_of(arms, rewards), db.EpsilonGreedy(epsilon=0.1)).verdict != "impossible"


def test_rules_of_one_s_own_with_scores(monkeypatch):
    """Their scores come from their own replay; the tie in round 4 is allowed."""
    scores = np.array([[np.nan, np.nan], [np.nan, np.nan], [2.0, 1.0], [3.0, 3.0]])
    monkeypatch.setattr(db.UCBTuned, "_followed", lambda *_: scores)
    fit = db.check(log_of("ABBB", [1.0, 0.5, 0.25, 1.0]), db.UCBTuned())
    assert fit.mismatches == (3,)
    assert [row["score"] for row in fit.situation] == [2.0, 1.0]


def test_the_most_extreme_of_several_statistics():
    """Shares of columns that are at least as large; the smallest of both rows is 1/4 for columns 0, 1 and 3."""
    statistics = np.array([[3.0, 1.0, 2.0, 2.0], [1.0, 9.0, 2.0, 9.5]])
    assert smallest_share(statistics) == (0.5, 0)
    assert smallest_share(statistics[:, [2, 0, 1, 3]]) == (1.0, 0)


def test_anderson_darling_from_its_definition():
    u = np.sort(np.random.default_rng(1).random(7))
    total = sum((2 * i + 1) * (np.log(u[i]) + np.log(1 - u[6 - i])) for i in range(7))
    np.testing.assert_allclose(_anderson_darling(u[None]), -total, rtol=1e-5)


def test_the_likelihood_by_hand():
    """Epsilon = 0.2: 0.9 for the higher mean, 0.1 for the other; the two initial rounds are forced."""
    fit = db.check(log_of("ABBA", [0.0, 1.0, 1.0, 0.0]), db.EpsilonGreedy(epsilon=0.2))
    assert fit.log_likelihood == pytest.approx(np.log(0.9) + np.log(0.1))
    assert fit.expected_log_likelihood == pytest.approx(2 * (0.9 * np.log(0.9) + 0.1 * np.log(0.1)))


@pytest.mark.parametrize(
    ("arms", "rewards", "words"),
    [
        ("A" * 50 + "B" * 50, [1.0] * 100, "repeat the arm of the round before"),
        ("AB" + "B" * 98, [0.0] + [1.0] * 99, "follow the highest mean"),
        ("AB" * 50, [1.0] * 100, None),  # too regular, which nobody looks for
    ],
    ids=["repeats", "greedy", "in turn"],
)
def test_departures_from_uniform_are_named(arms, rewards, words):
    fit = db.check(log_of(arms, rewards), db.Uniform())
    assert fit.log_likelihood == pytest.approx(100 * np.log(0.5))
    assert fit.verdict == ("implausible" if words else "fits")
    assert not words or words in fit.findings[0].finding


def test_the_p_value_depends_on_the_seed_alone():
    log = db.simulate(db.ThompsonSampling(), N2, horizon=60, runs=1, paths=True).log(0)
    one, same, other = (db.check(log, "thompson", seed=seed).p_value for seed in (1, 1, 2))
    assert one == same != other


def test_arms_that_cannot_be_chosen_do_no_harm():
    """A quadrature may say 0, or a little less."""
    log = log_of("ABAB", [1.0, 2.0, 1.5, 2.0], labels=["A", "B", "C"])
    found = compare_choices(log, db.Uniform(), 10)._replace(chances=np.array([[0.5, 0.5 + 1e-17, -1e-17]] * 4))
    assert 0 < judge(found, np.random.default_rng(1)).p_value <= 1


def test_counts_alone():
    fits = db.ExperimentLog.from_summaries("ab", [50, 50], [1.0, 1.0], [1.0, 1.0])
    check = db.check(fits, db.Uniform())
    assert (check.verdict, check.rounds_checked, check.mismatches) == ("fits", 0, ())
    assert [row["test"] for row in check.rows()] == ["pull counts (approximate)"]
    odd = db.check(db.ExperimentLog.from_summaries("ab", [90, 10], [1.0, 1.0], [1.0, 1.0]), db.Uniform())
    assert odd.verdict == "implausible"
    assert "pulls" in str(odd)
    warned = db.debias(db.ExperimentLog.from_summaries("ab", [90, 10], [1.0, 1.0], [1.0, 1.0]), db.Uniform(), runs=100)
    assert "is unlikely to have made this log" in warned.warnings[0]


def test_counts_do_not_reject_what_the_choices_confirm():
    """Greedy happened to stay with the worse arm, which its counts make look unlikely; every choice is right."""
    log = log_of("AB" + "B" * 48, np.r_[0.9, 1.0, np.tile([1.0, 1.1], 24)])
    fit = db.check(log, db.Greedy())
    assert fit.fits
    assert fit.p_value == 1.0


def test_rules_that_do_not_say_their_probabilities():
    log = log_of("AB" * 20, np.random.default_rng(3).normal(size=40))
    fit = db.check(log, Peeking())
    assert fit.rounds_checked == 0
    assert fit.findings[0].test == "pull counts (approximate)"


def test_arms_without_rewards(ucb_log):
    log = log_of("ABAB", [1.0, 2.0, 1.5, 2.0], labels=["A", "B", "C"])
    without = db.check(log, db.Uniform())
    assert all("counts" not in row["test"] for row in without.rows())
    assert any("counts" in row["test"] for row in db.check(log, db.Uniform(), unseen=(1, 1)).rows())
    counts = db.ExperimentLog.from_summaries("ab", [5, 0], [1.0, 0.0], [1.0, 0.0])
    with pytest.raises(db.Refused, match="--unseen"):
        db.check(counts, db.Uniform())


def test_long_logs_of_randomised_rules_are_cut():
    log = db.simulate(db.Uniform(), N2, horizon=3000, runs=1, paths=True).log(0)
    fit = db.check(log, db.Uniform())
    assert fit.rounds_checked == 1000
    assert "choices of 1,000 rounds" in str(fit)
    assert "choices of the first 1,000 rounds" in str(db.check(log, db.Exp3()))  # it goes by more than totals
    assert db.check(log, db.Uniform(), rounds=50).rounds_checked == 50
    assert db.check(log, db.UCB()).rounds_checked == 3000  # cheap


def test_a_thousand_arms_are_checked_in_seconds():
    """3 s on a slow core; the pull counts alone would take a minute."""
    arms = db.worlds.Normal(np.linspace(0, 1, 1000), np.ones(1000))
    rounds = db.simulate("thompson", arms, horizon=5000, runs=1, seed=1, paths=True).log(0).rounds
    log, begun = db.ExperimentLog(rounds.arms, rounds.rewards, labels=range(1000)), time.process_time()
    fit = db.check(log, "thompson")
    assert time.process_time() - begun < 10
    assert fit.fits
    assert fit.findings[0].test == "choices of 131 rounds"
    assert "pull counts are not compared" in str(fit)
    assert not db.check(log, "thompson(noise_sd=0.3)").fits


@pytest.mark.parametrize(
    "rule", [db.ThompsonSampling(), db.EpsilonGreedy(ties="random"), db.UCB(ties="random")], ids=str
)
@pytest.mark.parametrize("wrap", [lambda p: p, lambda p: db.WarmUp(db.Floor(db.Batched(p, size=70), 0.02), rounds=50)])
def test_spaced_rounds_are_rounds_of_the_path(rule, wrap):
    policy = wrap(rule)
    runs = db.simulate(policy, N2, horizon=400, runs=1, seed=3, paths=True)
    arms, rewards, rounds = runs.path_arms[0].astype(np.int64), runs.path_rewards[0], np.array([0, 3, 49, 50, 211, 399])
    some, every = policy.replay(History(arms, rewards, 2, asked=rounds)), policy.replay(History(arms, rewards, 2))
    np.testing.assert_allclose(some.chances, every.chances[rounds], rtol=0, atol=1e-12)
    np.testing.assert_allclose(some.scores, every.scores[rounds], rtol=1e-12)


def test_batches_far_from_the_beginning_are_looked_at():
    """The first thousand rounds of a batch of ten thousand say nothing about the rule."""
    place = db.worlds.Normal([0.0, 0.05], [1.0, 1.0])
    policy = db.Batched(db.ThompsonSampling(), size=10_000)
    log = db.simulate(policy, place, horizon=100_000, runs=1, seed=4, paths=True).log(0)
    assert db.check(log, policy).fits
    assert not db.check(log, db.Batched(db.EpsilonGreedy(0.5), size=10_000)).fits
    assert not db.check(log, db.Batched(db.ThompsonSampling(noise_sd=5), size=10_000)).fits


def test_what_a_batched_rule_knew(ucb_log):
    """In round 4 the rule knows of three rounds, since batches have three, and would pull B."""
    log = log_of("ABABBBB", [1.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0])
    fit = db.check(log, db.Batched(db.UCB(), size=3))
    assert fit.mismatches == (4, 5, 6, 7)
    assert [row["pulls"] for row in fit.situation] == [2, 1]
    scores = [1 + np.sqrt(np.log(4) / 2), 0.5 + np.sqrt(np.log(4))]
    np.testing.assert_allclose([row["score"] for row in fit.situation], scores, rtol=1e-12)


def test_what_cannot_be_checked(ucb_log):
    for log, policy, options, message in (
        ("trial.csv", "ucb", {}, "no such file"),
        (ucb_log, "beta_thompson", {}, "0/1 rewards"),
        (ucb_log, "etc(pulls=51)", {}, "102 initial pulls"),
        (ucb_log, "ucb", {"seed": -1}, "seed"),
        (ucb_log, "ucb", {"rounds": 0}, "rounds must be"),
        (ucb_log, "ucb", {"unseen": 1}, "unseen"),
    ):
        with pytest.raises(db.InputError, match=message):
            db.check(log, policy, **options)


def test_debias_refuses_the_impossible(ucb_log):
    with pytest.raises(
        db.Refused, match=r"round \d+: ucb\(c=2.0\) cannot have made(.|\n)*score(.|\n)*force=True"
    ) as error:
        db.debias(ucb_log, db.UCB(c=2.0), runs=100)
    assert len(str(error.value)) < 1500
    with pytest.raises(db.Refused, match="log 2, round"):
        db.debias([ucb_log, log_of("ABB", [1.0, 0.0, 0.0])], db.UCB(), runs=100)
    forced = db.debias(ucb_log, db.UCB(c=2.0), runs=100, force=True)
    assert forced.warnings[0].startswith("forced: ucb(c=2.0) never makes")
    assert not any("forced" in warning for warning in db.debias(ucb_log, db.UCB(), runs=100, force=True).warnings)


def test_debias_warns_of_the_implausible():
    log = db.simulate(db.Uniform(), N2, horizon=200, runs=1, seed=1, paths=True).log(0)
    warning, *_ = db.debias(log, db.ThompsonSampling(), runs=100).warnings
    for part in ("is unlikely to have made this log (p = 0.00", "explore more than the rule", "What to do"):
        assert part in warning
    assert not any("unlikely" in warning for warning in db.debias(log, db.Uniform(), runs=100).warnings)


def test_long_lists_of_logs_are_only_searched_for_the_impossible(ucb_log):
    logs = [ucb_log] * 30
    assert len(db.debias(logs, db.UCB(), runs=2)) == 30
    with pytest.raises(db.Refused, match="log 1, round"):
        db.debias(logs, db.UCB(c=2.0), runs=2)
    assert all(each.warnings[0].startswith("forced") for each in db.debias(logs, db.UCB(2.0), runs=2, force=True))
    assert not any("unlikely" in str(each) for each in db.debias(logs, db.ThompsonSampling(initial_pulls=1), runs=2))


def test_drift_and_dependence_are_found():
    rng = np.random.default_rng(4)
    noise, arms = rng.normal(size=400), rng.choice(["A", "B"], 400)
    steady = log_of(arms, noise)
    tests = examine_rewards(steady)
    assert min(tests.drift.p_value, tests.dependence.p_value) > 0.01
    drifting = db.check(log_of(arms, noise - (arms == "A") * np.linspace(0, 2, 400)), db.Uniform())
    assert len(drifting.warnings) >= 1
    assert drifting.warnings[0].startswith("A: its rewards fall over time")
    assert drifting.fits  # the rule is not to blame
    values = np.zeros(400)
    for arm in "AB":
        at = np.flatnonzero(arms == arm)
        values[at] = np.convolve(noise[at], [1.0, 1.0])[: len(at)]  # moving average: correlation 1/2
    (warning,) = db.debias(log_of(arms, values), db.Uniform(), runs=20_000).warnings[:1]
    assert "each reward is like the one before it" in warning


def test_rewards_that_say_nothing():
    few = examine_rewards(log_of("AB" * 9, np.arange(18.0)))
    constant = examine_rewards(log_of("AB" * 20, [1.0, 2.0] * 20))
    assert (few.drift, few.dependence, constant.drift) == (None, None, None)
    line = examine_rewards(log_of("AB" * 20, np.arange(40.0)))
    assert line.drift.p_value < 1e-10


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo", "--save", "trial.csv"]) == 0
    columns = ["--arm", "drug", "--reward", "response"]
    assert cli.main(["check", "trial.csv", *columns, "--policy", "ucb"]) == 0
    assert capsys.readouterr().out.startswith("fits: ucb(c=1.0) may have made this log (2 arms, 100 rounds)")
    assert cli.main(["check", "trial.csv", *columns, "--policy", "ucb", "--arms", "B,A"]) == 1
    assert "in the order B, A" in capsys.readouterr().out
    assert cli.main(["debias", "trial.csv", *columns, "--policy", "ucb(c=2)", "--runs", "100"]) == 1
    assert "--force" in capsys.readouterr().err
    assert cli.main(["debias", "trial.csv", *columns, "--policy", "ucb(c=2)", "--runs", "100", "--force"]) == 0
    assert "warning: forced" in capsys.readouterr().out
    assert cli.main(["check", "trial.csv", *columns, "--policy", "ubc"]) == 2


def test_labels_are_shown_as_text():
    fit = db.check(log_of(["\x1b[31m", "b\nc", "b\nc"], [1.0, 0.0, 0.0]), db.UCB())
    assert not fit.fits
    assert "\x1b" not in str(fit)
    assert "b\nc" not in str(fit)
    many = db.check(log_of([*range(300), 0], np.arange(301.0)), db.UCB())
    assert len(str(many)) < 2500
