"""Identifying a rule: intervals and openings worked out by hand, and what is said."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from catalogue import replayed
from commands import flat

import debandit as db
from debandit.identification import identify
from debandit.identification.around import FLOORS, Around, Ended, best_around
from debandit.identification.beginnings import Beginning, roundest
from debandit.identification.chances import logged_chances
from debandit.identification.families import FAMILIES, Family, in_sds
from debandit.identification.identified import ranked
from debandit.identification.read_off import agreeing_span, etc_pulls
from debandit.identification.record import BatchRecord, Record, Seen
from debandit.identification.score import Scored, fitted
from debandit.identification.search import best_fits
from debandit.policies import RULES
from debandit.replay import propensities


def record(arms, rewards, arm_count=2):
    return Record(np.array(arms), np.array(rewards, dtype=float), arm_count)


# A always gives 1, B always 0. Before round 3 both have one pull, hence equal bonuses, and any c pulls A. Before
# round 4 A has two pulls and B one: B is pulled if c sqrt(ln 4) (1 - 1/sqrt 2) > 1, that is c > 2.8998. In round 5
# both have two pulls, and any c pulls A.
ARMS, REWARDS = [0, 1, 0, 1, 0], [1, 0, 1, 0, 1]
LOWEST = 1 / (math.sqrt(math.log(4)) * (1 - math.sqrt(0.5)))


def test_interval_of_c_by_hand():
    found = agreeing_span(db.UCB(c=1.0), record(ARMS, REWARDS))
    assert found == (pytest.approx(LOWEST, rel=1e-14), math.inf, 3)


def test_interval_of_c_with_two_ends():
    """Round 6: A has three pulls and B two; A is pulled if c sqrt(ln 6) (1/sqrt 2 - 1/sqrt 3) < 1, c < 5.757."""
    high = 1 / (math.sqrt(math.log(6)) * (math.sqrt(1 / 2) - math.sqrt(1 / 3)))
    longer = record([*ARMS, 0], [*REWARDS, 1])
    assert agreeing_span(db.UCB(c=1.0), longer) == (pytest.approx(LOWEST), pytest.approx(high), 4)
    inside, outside = db.UCB(c=(LOWEST + high) / 2), db.UCB(c=high + 1e-6)
    assert logged_chances(inside, longer).tolist() == [1] * 6
    assert logged_chances(outside, longer).tolist() == [1] * 5 + [0]


def test_the_c_with_the_most_agreement():
    """B in round 3 is against every c, since A is ahead with as many pulls; round 4 pulls A, which any c allows."""
    found = agreeing_span(db.UCB(c=1.0), record([0, 1, 1, 0], [1, 0, 0, 0]))
    assert found.agreeing == 1
    assert (found.low, found.high) == (0.0, math.inf)


@pytest.mark.parametrize(
    ("low", "high", "value"), [(0.93, 1.04, 1.0), (0.231, 0.264, 0.25), (2.9, math.inf, 7.0), (0, math.inf, 1.0)]
)
def test_roundest(low, high, value):
    assert roundest(low, high) == value


def test_openings():
    assert record([0, 0, 1, 1, 0], [0] * 5).opening == 2
    assert record([0, 1, 2, 0], [0] * 4, 3).opening == 1
    assert record([0, 0, 1, 0], [0] * 4).opening == 0
    assert record([1, 0, 1, 0], [0] * 4).opening == 0
    assert record([0, 0, 0, 0], [0] * 4).opening == 0
    assert record([0, 0, 0, 1], [0] * 4).opening == 0  # would not be over


def test_pulls_before_the_commitment_survive_a_mistake():
    arms = [0, 0, 0, 0, 1, 1, 0, 1, *[1] * 12]  # four each, then B; one row is wrong
    assert etc_pulls(db.ExploreThenCommit, {}, record(arms, arms)).options == {"pulls": 4}
    arms = [0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, *[1] * 12]  # six each in turns; the seventh row is wrong
    assert etc_pulls(db.ExploreThenCommit, {"order": "turns"}, record(arms, arms)).options == {"pulls": 6}


def test_an_exploration_in_turns_is_found():
    policy = db.ExploreThenCommit(pulls=10, order="turns")
    log = db.simulate(policy, db.worlds.Normal([0.0, 1.0, 0.5], [1.0] * 3), horizon=100, runs=1, paths=True).log(0)
    assert identify(log).candidates[0].policy == policy


@pytest.mark.parametrize(
    "policy",
    [
        "thompson",
        "thompson(noise_sd=0.5, prior_sd=3.0, initial_pulls=2)",
        "beta_thompson",
        "beta_thompson(alpha=3.0, beta=0.5)",
        "epsilon_greedy",
        "gaussian_thompson",
        "gaussian_thompson(prior_mean=0.4, prior_sd=0.1)",
        "top_two_thompson(leader=0.7, noise_sd=0.5)",
        "exp3(gamma=0.3)",
        "etc(pulls=5)",
        "etc(pulls=5, order='turns')",
    ],
)
def test_quick_chances_are_those_of_the_rule(policy):
    """To a few digits; the rule's own have 13."""
    rule = db.policies.as_policy(policy)
    for means in ([0.3, 0.6], [0.3, 0.6, 0.5]):
        log = db.simulate(rule, db.worlds.Bernoulli(means), horizon=60, runs=1, seed=1, paths=True).log(0)
        known = Record(log.rounds.arms, log.rounds.rewards, len(means))
        exact = replayed(rule, known.arms, known.rewards, len(means))[np.arange(60), known.arms]
        np.testing.assert_allclose(logged_chances(rule, known), exact, rtol=0.02)


def test_lapses_by_hand():
    """One of four rounds is against UCB: 0.01 / 2 for it, 0.995 for the others, and charged."""
    fit = fitted(db.UCB(c=1.0), record([0, 1, 1, 0], [1, 0, 0, 0]))
    assert fit.impossible == 1
    assert fit.log_likelihood == pytest.approx(math.log(0.005) + 3 * math.log(0.995))
    assert fit.charge == pytest.approx(math.log(100))


def test_charges_for_options_off_their_defaults():
    log = record([0, 1, 1, 1], [0, 1, 1, 1])
    assert etc_pulls(db.ExploreThenCommit, {}, log).charge == pytest.approx(math.log(11))
    opened = record([0, 0, 0, 1, 1, 1], [0] * 6)
    assert fitted(db.ThompsonSampling(initial_pulls=3), opened).charge == pytest.approx(math.log(8))
    assert fitted(db.ThompsonSampling(initial_pulls=1, center="sample"), log).charge == pytest.approx(math.log(8))


def test_counts_only_are_refused():
    log = db.ExperimentLog.from_summaries(["A", "B"], [10, 20], [0.5, 0.6], binary=True)
    with pytest.raises(db.InputError, match="one row per round"):
        identify(log)


def test_three_rounds_cannot_tell():
    found = identify(db.ExperimentLog(["A", "B", "A"], [1.0, 0.5, 2.0]))
    assert found.verdict == "cannot tell"
    assert "This log cannot tell. The best guess is" in str(found)


def test_a_log_of_one_arm_only_is_answered():
    assert identify(db.ExperimentLog(["A"] * 5, [1.0] * 5, labels=["A", "B"])).candidates


def test_rules_for_binary_rewards_compete_for_binary_logs_only():
    arms, rewards = ["A", "B", "B", "A"], [0.0, 1.0, 1.0, 0.0]
    names = {each.policy.core.name for each in identify(db.ExperimentLog(arms, rewards)).candidates}
    assert names == {family.name for family in FAMILIES}
    other = identify(db.ExperimentLog(arms, [0.5, *rewards[1:]]))
    assert names - {each.policy.core.name for each in other.candidates} == {
        "beta_thompson",
        "kl_ucb",
        "leader_challenger",
        "play_the_winner",
        "ts_postdiff",
        "ucb_tuned",
    }
    three = {each.policy.core.name for each in identify(db.ExperimentLog([*arms, "C"], [*rewards, 1.0])).candidates}
    assert names - three == {"ts_postdiff"}


def test_every_built_in_rule_competes():
    assert {family.name for family in FAMILIES} == set(RULES)


def scored(policy, log_likelihood, charge, note=""):
    around = Around(Beginning(0), Ended(), log_likelihood, impossible=0, begins=False, floors=False)
    return Scored(policy.core, policy, around, charge, note)


FITS = [
    scored(db.Uniform(), -10.0, 0.0),
    scored(db.UCB(c=1.0), 0.0, 1.0, "any c between 0.5 and 2 makes the same choices"),
    scored(db.ThompsonSampling(noise_sd=2.0), -7.0, 2.0),
]


def test_ranking_in_words():
    """Weights are e^-1, e^-9 and e^-10 relative to each other: 0.99954, 0.00034, 0.00012."""
    assert str(ranked(FITS, horizon=50, arm_count=2)) == (
        "Clear: ucb(c=1.0); the runner-up is thompson(noise_sd=2.0).\n"
        "Any c between 0.5 and 2 makes the same choices.\n"
        "\n"
        "2 arms, 50 rounds; the rules by how well they explain the choices:\n"
        "\n"
        "rule                    log-likelihood  impossible rounds   weight\n"
        "------------------------------------------------------------------\n"
        "ucb(c=1.0)                         0.0                  0  100.0 %\n"
        "thompson(noise_sd=2.0)            -7.0                  0    0.0 %\n"
        "uniform                          -10.0                  0    0.0 %\n"
        "\n"
        "Delays, quotas, tempered or dropped shares and early stops were not tried.\n"
        "\n"
        "Next: debandit check with this rule tells how well it fits the log."
    )


def test_rules_that_made_the_same_choices_are_twins():
    """However the weights are, it is never clear which of them it was."""
    found = ranked([*FITS, scored(db.EpsilonGreedy(0.0), 0.0, 8.0)], horizon=50, arm_count=2)
    assert found.twins == [db.EpsilonGreedy(0.0)]
    assert found.verdict == "some doubt"
    assert "Every round agrees with epsilon_greedy(epsilon=0.0), too" in flat(str(found))


def test_rules_that_mimic_the_best_one_are_named():
    found = ranked([FITS[2], scored(db.policies.TopTwoThompson(leader=0.98), -7.5, 9.0)], horizon=50, arm_count=2)
    assert found.as_good == [db.policies.TopTwoThompson(leader=0.98)]
    assert found.candidates[0].weight > 0.95
    assert found.verdict == "some doubt"
    assert "look as likely under top_two_thompson(leader=0.98): only that such rules are rarer" in flat(str(found))


def test_rules_that_are_as_good_are_written_in_full():
    """So that they can be typed."""
    other = db.policies.as_policy("warm_up(thompson(noise_sd=1.16, prior_sd=30.0), rounds=150)")
    best = db.policies.as_policy("warm_up(thompson(noise_sd=1.5), rounds=150)")
    found = ranked([scored(best, -7.0, 2.0), scored(other, -7.5, 9.0)], horizon=500, arm_count=2)
    assert "likely under warm_up(thompson(prior_sd=30.0, noise_sd=1.16), rounds=150): only" in flat(str(found))


def test_evidence_is_the_average_likelihood():
    """Shares of two arms, all alike likely: P(given order of 3 and 5 pulls) = 3! 5! / 9!; and a rare rule."""
    log = record([0, 1, 1, 0, 1, 1, 0, 1], [0] * 8)
    (weights,) = (family for family in FAMILIES if family.name == "fixed_weights")
    (fit,) = best_fits([weights], log)
    assert fit.policy.weights == (0.375, 0.625)
    assert fit.score == pytest.approx(math.log(6 * 120 / math.factorial(9) / 20))


def test_two_lines_of_a_rule_share_its_evidence():
    log = record([0, 1, 1, 0, 1, 1, 0, 1], [0] * 8)
    uniform = Family("uniform")
    (once,), (twice,) = best_fits([uniform], log), best_fits([uniform, uniform], log)
    assert once.score == pytest.approx(-8 * math.log(2))
    assert twice.score == pytest.approx(once.score + math.log(2))


def test_a_rule_that_was_broken_is_said_to_be():
    runs = db.simulate("ucb", db.worlds.Normal(means=[1.0, 1.5], sds=[1.0, 1.0]), horizon=200, runs=1, paths=True)
    rounds = runs.log(0).rounds
    arms = rounds.arms.copy()
    arms[150] = 1 - arms[150]
    found = identify(db.ExperimentLog(arms, rounds.rewards, labels=[0, 1]))
    assert found.policy.name == "ucb"
    assert "of the 200 rounds: it agrees with" in flat(str(found))


def test_beta_thompson_is_recognised_with_doubt():
    """For 0/1 rewards the two kinds of Thompson sampling choose nearly alike."""
    runs = db.simulate("beta_thompson", "bernoulli(means=[0.3, 0.6])", horizon=200, runs=5, seed=1, paths=True)
    found = [identify(runs.log(run)) for run in range(5)]
    assert sum(each.policy.name in ("beta_thompson", "thompson") for each in found) >= 4
    assert sum(each.verdict != "clear" for each in found) >= 2


BINARY = db.worlds.Bernoulli([0.1, 0.13, 0.11])
WORLD = db.worlds.Normal(means=[1.0, 1.5], sds=[1.0, 1.0])


def around(chances, turns=()):
    """What is found around a rule with these chances of the logged arms, of two."""
    rounds = len(chances)
    arms = [*turns, *[(t // 2) % 2 for t in range(rounds - len(turns))]]
    seen = Seen(np.array(chances, dtype=float)[:, None], np.ones((rounds, 1), int))
    return best_around(seen, record(arms, [0] * rounds), 0, begins=True, floors=True)


def test_an_even_split_at_first_by_hand():
    """50 rounds that the rule never makes, and 50 that it must make; 50 has one digit and a zero."""
    found = around([0.0] * 50 + [1.0] * 50)
    assert (found.beginning.stretches, found.beginning.rounds, found.ended.floor) == (50, 50, 0.0)
    assert found.log_likelihood == pytest.approx(-50 * math.log(2))
    assert found.charge == pytest.approx(math.log(50) + math.log(10))
    assert str(found.wrapped(db.UCB())) == "warm_up(ucb(c=1.0), rounds=50)"


def test_turns_at_first_by_hand():
    """20 rounds that the rule never makes, in turns, which are certain under turns and 2^-20 under an even split."""
    found = around([0.0] * 20 + [1.0] * 80, turns=[0, 1] * 10)
    assert (found.beginning.turns, found.log_likelihood) == (10, 0.0)
    assert str(found.wrapped(db.UCB())) == "warm_up(ucb(c=1.0), pulls=10)"


def test_a_floor_by_hand():
    """With a floor f the rule makes 180 rounds with 1 - f, and 20 that are spread evenly with f."""
    found = around(([1.0] * 9 + [0.0]) * 20)
    assert (found.beginning.stretches, found.ended.floor, found.impossible) == (0, 0.1, 0)
    assert found.log_likelihood == pytest.approx(180 * math.log(0.9) + 20 * math.log(0.1))
    assert found.charge == pytest.approx(math.log(50) + math.log(len(FLOORS)))


@pytest.mark.parametrize("policy", ["thompson(initial_pulls=8)", "ucb(initial_pulls=8)", "etc(pulls=8)"])
def test_a_floor_leaves_initial_pulls_as_they_are(policy):
    """As in the rule itself, whose propensities are the oracle here; of the 16 pulls each would cost ln 0.9."""
    log = db.simulate(f"floor({policy}, probability=0.1)", WORLD, horizon=200, runs=1, seed=3, paths=True).log(0)
    known = Record(log.rounds.arms, log.rounds.rewards, 2)
    found = Ended(0.1).logs(known.seen_by(db.policies.as_policy(policy)), known).sum()
    exact = np.log(propensities(log, f"floor({policy}, probability=0.1)")).sum()
    assert found == pytest.approx(exact, abs=0.02)


def test_no_floor_explains_other_initial_pulls():
    """UCB begins with A, whatever floor it has; with another order of the arms it is the same log."""
    log = db.simulate("floor(ucb, probability=0.1)", WORLD, horizon=500, runs=1, seed=1, paths=True).log(0)
    swapped = db.ExperimentLog(log.rounds.arms, log.rounds.rewards, labels=[1, 0])
    found = identify(swapped)
    assert found.verdict != "none fits"
    assert db.check(swapped, found.policy).fits
    first = Record(swapped.rounds.arms, swapped.rounds.rewards, 2)
    assert np.isneginf(Ended(0.1).logs(first.seen_by(db.UCB()), first)[:2]).all()


@pytest.mark.parametrize("name", sorted({family.name for family in FAMILIES if family.begins}))
def test_a_beginning_does_not_change_the_chances_after_it(name):
    """Which are worked out once, without it."""
    rule = RULES[name](**{"gamma": 0.5} if name == "exp3" else {})
    warm = db.WarmUp(rule, rounds=30)
    log = db.simulate(warm, "bernoulli([0.5, 0.55])", horizon=80, runs=1, seed=1, paths=True).log(0)
    alone = logged_chances(rule, Record(log.rounds.arms, log.rounds.rewards, 2))
    np.testing.assert_allclose(alone[30:], propensities(log, warm)[30:], rtol=0.02)


def test_control_what_successive_elimination_drops_depends_on_when_it_begins():
    """A is worse after a turn and better after three: alone it would be dropped, after six rounds B is."""
    arms, rewards = [0, 1, 0, 1, 0, 1, 0], [0, 1, 1, 0, 1, 0, 1]
    rule, log = db.policies.SuccessiveElimination(sd=0.01), db.ExperimentLog(arms, rewards, labels=[0, 1])
    assert logged_chances(rule, record(arms, rewards))[6] == 0
    assert propensities(log, db.WarmUp(rule, rounds=6))[6] == 1
    assert not any(family.begins for family in FAMILIES if family.rule is type(rule))


def test_a_commitment_survives_a_lapse():
    """A and B had two pulls each, B was better, and A's pull in the sixth round is the only one that is wrong."""
    log = record([0, 0, 1, 1, 1, 0, 1, 1], [0, 0, 1, 1, 1, 0, 1, 1])
    assert logged_chances(db.ExploreThenCommit(pulls=2), log).tolist() == [1, 1, 1, 1, 1, 0, 1, 1]


def test_one_wrong_round_is_a_lapse_and_no_floor():
    found = around([1.0] * 70 + [0.0] + [1.0] * 29)
    assert found.ended.lapses
    assert found.impossible == 1
    assert found.log_likelihood == pytest.approx(99 * math.log(0.995) + math.log(0.005))


def test_a_clipped_floor_in_batches_by_hand():
    """Chances 1 and 0 become .9 and .1 whether they are mixed or clipped; .8 and .2 stay as they are if clipped."""
    batches = SimpleNamespace(there=np.array([2, 2]), present=np.ones((2, 2), bool))
    seen = Seen(np.array([[1.0, 0.0], [0.8, 0.2]]), np.array([[9, 1], [8, 2]]))
    same = 9 * math.log(0.9) + math.log(0.1)
    assert Ended(0.1, "clip").logs(seen, batches) == pytest.approx([same, 8 * math.log(0.8) + 2 * math.log(0.2)])
    assert Ended(0.1).logs(seen, batches) == pytest.approx([same, 8 * math.log(0.74) + 2 * math.log(0.26)])


def test_the_order_of_prescribed_pulls_by_hand():
    """Greedy has a hundred pulls of each arm in a first batch; in turns they are certain, else one order of many."""
    turns, later, orders = [0, 1] * 100, [0] * 200, math.comb(200, 100)
    for first, likely in ((turns, 0.0), (sorted(turns), -math.log(orders)), ([0] * 99 + [1] * 101, -np.inf)):
        log = db.ExperimentLog(first + later, [3.0 - arm for arm in first + later])
        known = BatchRecord(log, 200)
        assert Ended().logs(known.seen_by(db.policies.Greedy()), known) == pytest.approx([likely, 0.0])


def made_by(policy, horizon=2000, batches=None):
    """A log of this rule, with the batch of each round if it is to be told."""
    rounds = db.simulate(policy, BINARY, horizon=horizon, runs=1, seed=3, paths=True).log(0).rounds
    return db.ExperimentLog(rounds.arms, rounds.rewards, labels=[0, 1, 2], batches=batches)


@pytest.mark.parametrize(
    "policy",
    [
        "batched(beta_thompson, size=500)",
        "batched(beta_thompson, size=100)",
        "batched(ucb, size=50)",
        "floor(thompson(noise_sd=0.3), probability=0.1)",
        "gate(thompson(noise_sd=0.3), pulls=100)",
        "warm_up(beta_thompson, rounds=600)",
        "warm_up(ucb, pulls=20)",
        "floor(warm_up(batched(beta_thompson, size=200), rounds=400), probability=0.05)",
    ],
)
def test_what_was_around_a_rule_is_found(policy):
    """Not always to the digit: a gate opens after some rounds, like a warm-up, and Thompson sampling has two kinds."""
    made, found = db.policies.as_policy(policy), identify(made_by(policy, horizon=4000))
    expected = {type(layer) for layer in made.layers}
    best = next(
        each.policy for each in found.candidates if "thompson" in each.policy.core.name or made.core.name == "ucb"
    )
    kinds = {type(layer) for layer in best.layers}
    assert kinds == expected or kinds == expected - {db.Gate} | {db.WarmUp}
    assert found.p_value > 0.01
    if db.Batched in expected:
        (size,) = (layer.size for layer in best.layers if isinstance(layer, db.Batched))
        assert size == next(layer.size for layer in made.layers if isinstance(layer, db.Batched))


def test_on_more_rounds_options_are_read_off_anew():
    """Another c made the first 2,000 choices, too; a rule that was followed does not seem to have been broken."""
    log = db.simulate(f"ucb(c={math.sqrt(2)})", WORLD, horizon=20_000, runs=1, seed=1, paths=True).log(0)
    found = identify(log)
    assert (found.looked_at, found.candidates[0].impossible, found.p_value) == (20_000, 0, 1)
    assert found.policy.c == pytest.approx(math.sqrt(2), abs=1e-4)


@pytest.mark.parametrize("policy", ["warm_up(thompson(noise_sd=0.3), rounds=3000)", "etc(pulls=1500)"])
def test_what_the_first_rounds_do_not_show_is_found(policy):
    """They are an even split, and as many as are looked at first."""
    made = db.policies.as_policy(policy)
    found = identify(made_by(policy, horizon=12_000))
    assert "thompson" in found.policy.core.name or found.policy.core.name == made.core.name
    assert not found.policy.needs_batches
    assert found.p_value > 0.01


def test_a_number_that_made_more_rounds_than_are_looked_at():
    log = db.simulate(f"ucb(c={math.sqrt(2)})", WORLD, horizon=60_000, runs=1, seed=1, paths=True).log(0)
    found = identify(log)
    assert (found.looked_at, found.p_value) == (20_000, 1)
    low, high = re.search(r"Any c between (\S+) and (\S+) makes", flat(str(found))).groups()
    assert float(low) < math.sqrt(2) < float(high)


def test_a_file_is_read(tmp_path):
    log = db.simulate("etc(pulls=10)", WORLD, horizon=60, runs=1, seed=1, paths=True).log(0)
    rows = [f"{arm},{reward}\n" for arm, reward in zip(log.rounds.arms, log.rounds.rewards, strict=True)]
    (tmp_path / "trial.csv").write_text("arm,reward\n" + "".join(rows))
    assert identify(tmp_path / "trial.csv") == identify(log)


def test_options_are_searched_for_after_the_beginning():
    """If the first 2,400 rounds are an even split, 2,000 rounds say nothing of them."""
    policy = "warm_up(thompson(noise_sd=0.5), rounds=2400)"
    log = db.simulate(policy, BINARY, horizon=5000, runs=1, seed=3, paths=True).log(0)
    family = Family("thompson", {"noise_sd": in_sds(0.3, 30, 3)})
    known = Record(log.rounds.arms, log.rounds.rewards, 3)
    (fit,) = best_fits([family], known)
    assert fit.around.beginning.stretches > 2000
    assert 0.25 < fit.core.noise_sd < 1  # and not 0.0975, the nearest of the grid


def test_a_log_with_batches_is_of_a_rule_in_batches():
    """Whose sizes the rule does not need."""
    policy, batch = "batched(beta_thompson, size=500)", np.repeat(["mon", "tue", "wed", "thu"], 500)
    found = identify(made_by(policy, batches=batch))
    assert found.policy.needs_batches
    assert found.policy.core.name in ("beta_thompson", "thompson")
    assert found.p_value > 0.01


def test_of_a_table_of_batches_the_counts_are_compared():
    """As of the rounds that it was made of."""
    policy, batch = "batched(beta_thompson, size=500)", np.repeat(["mon", "tue", "wed", "thu"], 500)
    log = made_by(policy, batches=batch)
    cells = [(day, arm) for day in dict.fromkeys(batch) for arm in range(3)]
    here = [(batch == day) & (log.rounds.arms == arm) for day, arm in cells]
    means = [log.rounds.rewards[rounds].mean() for rounds in here]
    table = db.ExperimentLog.from_batches(
        *zip(*cells, strict=True), [rounds.sum() for rounds in here], means, binary=True
    )
    rounds, counts = identify(log), identify(table)
    assert [str(each.policy) for each in counts.candidates] == [str(each.policy) for each in rounds.candidates]
    known, other = ([each.log_likelihood for each in found.candidates] for found in (counts, rounds))
    np.testing.assert_allclose(known, other, rtol=1e-6)


def test_in_small_batches_initial_pulls_have_an_order():
    """Softmax begins A B A B; A A B B is as many of each, and no batch that it makes. Nor does the check accept it."""
    arms, batches = [0, 0, 1, 1, 0, 1, 1, 0], [1, 1, 1, 1, 2, 2, 2, 2]
    for first, fits in (([0, 0, 1, 1], False), ([0, 1, 0, 1], True)):
        log = db.ExperimentLog([*first, *arms[4:]], [0.1, 0.2, 0.3, 0.4] * 2, labels=[0, 1], batches=batches)
        known = BatchRecord(log, None)
        assert fitted(db.Softmax(), known).impossible == (0 if fits else 4)
        assert db.check(log, "batched(softmax)").fits == fits


def test_rules_that_go_by_totals_compete_in_batches():
    for family in FAMILIES:
        needed = {"fixed_weights": {"weights": (0.5, 0.5)}, "thompson": {"initial_pulls": 1}}.get(family.name, {})
        assert family.by_totals == RULES[family.name](**family.fixed, **needed).by_totals, family.name


def test_no_rule_fits_a_log_of_others():
    """Exploration sampling is not tried."""
    found = identify(db.datasets.pad.log)
    assert found.verdict == "none fits"
    assert "None of the rules fits" in str(found)
    assert "If you think of a rule that is not tried here" in flat(str(found))
    assert "name their column" not in flat(str(found))  # they are known


def test_of_a_log_with_many_rounds_and_arms_only_the_beginning_is_looked_at(monkeypatch):
    """And rules whose work grows with the square of the arms are not tried; both are said."""
    log = db.simulate("ucb", db.worlds.Normal([1, 1.5, 2], [1, 1, 1]), horizon=300, runs=1, seed=1, paths=True).log(0)
    monkeypatch.setattr("debandit.identification.LOOKED_AT", 450)
    monkeypatch.setattr("debandit.identification.families.MOST_PAIRS", 150 * 9 - 1)
    found = identify(log)
    begins = identify(db.ExperimentLog(log.rounds.arms[:150], log.rounds.rewards[:150], labels=[0, 1, 2]))
    assert found.candidates == begins.candidates
    assert (found.horizon, found.looked_at, found.left_out) == (300, 150, ("top_two_thompson",))
    assert "top_two_thompson" not in {each.policy.core.name for each in found.candidates}
    words = flat(str(found))
    assert "3 arms, 300 rounds, of which the first 150 were looked at" in words
    assert "Not tried, because it would take long with so many arms: top_two_thompson." in words
    monkeypatch.setattr("debandit.identification.families.MOST_PAIRS", 150 * 9)
    assert "top_two_thompson" in {each.policy.core.name for each in identify(log).candidates}
