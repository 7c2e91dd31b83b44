"""Batches, floors and warm-ups around every rule: identities, the oracle, exact values and laws, with controls."""

import functools
import itertools

import numpy as np
import object_rules
import oracle
import own_rules
import pytest
from catalogue import OTHERS, RULES, WORLDS, Z, replayed, z_scores

import debandit as db
from debandit.engine import experiment
from debandit.policies.history import History
from debandit.theory.dynamic import exact_two_arms

JUDGED = {name: (policy, judge, 3) for name, (policy, judge) in RULES.items()} | OTHERS
BERNOULLI = db.worlds.Bernoulli([0.35, 0.6, 0.5])
NORMAL = db.worlds.Normal([1.0, 1.5, 1.2], [1.0, 0.5, 2.0])
DETERMINISTIC = [name for name, (policy, *_) in JUDGED.items() if not policy.randomised]


def place_of(policy, arms=3):
    if policy.binary_rewards:
        return db.worlds.Bernoulli(BERNOULLI.means[:arms])
    return NORMAL


def paths(policy, place, runs=40, horizon=45, seed=3):
    found = db.simulate(policy, place, horizon=horizon, runs=runs, seed=seed, paths=True)
    return found.path_arms, found.path_rewards


@pytest.mark.parametrize("rule", JUDGED)
def test_wrapping_in_nothing_changes_no_bit(rule):
    policy, _, arms = JUDGED[rule]
    plain = paths(policy, place_of(policy, arms))
    for wrapped in (db.Batched(policy, size=1), db.Floor(policy, 0.0), db.WarmUp(policy)):
        for one, two in zip(plain, paths(wrapped, place_of(policy, arms)), strict=True):
            np.testing.assert_array_equal(one, two)
    other = paths(db.Batched(policy, size=8), place_of(policy, arms))  # control
    assert rule in ("uniform", "weights") or (plain[0] != other[0]).any()


def test_the_order_of_wrappers_makes_no_difference():
    wraps = (lambda p: db.Batched(p, size=7), lambda p: db.Floor(p, 0.1), lambda p: db.WarmUp(p, rounds=10))
    found = []
    for one, two, three in itertools.permutations(wraps):
        found.append(paths(one(two(three(db.ThompsonSampling(initial_pulls=1)))), NORMAL))
    for arms, rewards in found[1:]:
        np.testing.assert_array_equal(arms, found[0][0])
        np.testing.assert_array_equal(rewards, found[0][1])


@pytest.mark.parametrize("rule", JUDGED)
def test_a_floor_of_one_in_k_is_uniform(rule):
    """In every round that is the rule's own."""
    policy, _, arms = JUDGED[rule]
    place = place_of(policy, arms)
    path, rewards = paths(db.Uniform(), place)
    if policy.opening:
        path, rewards = paths(db.WarmUp(db.Uniform(), pulls=policy.opening), place)
    for share, equal in ((1 / arms, True), (0.5 / arms, rule == "uniform")):
        if rule == "etc-random":  # ties at random hide what it committed to
            assert db.Floor(policy, share).replay(History(path, rewards, arms)) is None
            continue
        later = replayed(db.Floor(policy, share), path, rewards, arms)[:, policy.opening * arms :]
        assert np.allclose(later, 1 / arms, rtol=0, atol=1e-12) == equal


def test_pulls_under_such_a_floor_are_uniform():
    def worst(probability):
        runs = db.simulate(db.Floor(db.ThompsonSampling(), probability), NORMAL, horizon=60, runs=40_000, seed=4)
        return np.abs(z_scores(runs.pulls.mean(axis=0) - 20, runs.pulls.std(axis=0) / np.sqrt(40_000))).max()

    assert worst(1 / 3) < Z
    assert worst(0.3) > 2 * Z


WRAPPINGS = {
    "batched": (lambda p: db.Batched(p, size=7), oracle.Wrapping(size=7)),
    "batched-late": (lambda p: db.Batched(p, size=16), oracle.Wrapping(size=16)),
    "in-turn": (lambda p: db.WarmUp(p, pulls=4), oracle.Wrapping(turns=4)),
    "uniform": (lambda p: db.WarmUp(p, rounds=9), oracle.Wrapping(uniform=9)),
    "both": (lambda p: db.WarmUp(db.Batched(p, size=10), rounds=6), oracle.Wrapping(uniform=6, size=10)),
    "floor": (lambda p: db.Floor(p, 0.1), oracle.Wrapping(floor=0.1)),
    "all": (
        lambda p: db.Floor(db.WarmUp(db.Batched(p, size=10), pulls=2), 0.05),
        oracle.Wrapping(turns=2, floor=0.05, size=10),
    ),
}


@pytest.mark.parametrize("wrapping", ["batched", "batched-late", "in-turn", "uniform", "both"])
@pytest.mark.parametrize("rule", DETERMINISTIC)
def test_deterministic_rules_decide_as_the_oracle_does(rule, wrapping):
    policy, judge, arms = JUDGED[rule]
    wrap, around = WRAPPINGS[wrapping]
    place = place_of(policy, arms)
    path, rewards = paths(wrap(policy), place)
    chances = replayed(wrap(policy), path, rewards, arms)
    free = 0
    for run in range(len(path)):
        taken, given = path[run], rewards[run]
        chosen, _, own = oracle.play(
            judge,
            around,
            arms,
            len(taken),
            lambda t, _, given=given: given[t],
            np.random.default_rng(0),
            arm_of=taken.__getitem__,
        )
        known = own | (np.arange(len(taken)) >= around.uniform)
        np.testing.assert_array_equal(chosen[known], taken[known])
        np.testing.assert_array_equal(np.argmax(chances[run], axis=-1)[known], taken[known])
        assert (chances[run, known].max(axis=-1) == 1).all()
        assert np.allclose(chances[run, ~known], 1 / arms)
        free += own.sum()
    assert free > 200


def test_batched_decisions_are_not_those_of_the_rule_alone():
    """Control: the oracle without batches decides otherwise."""
    path, rewards = paths(db.Batched(db.UCB(), size=7), NORMAL)
    assert (oracle.replay(oracle.ucb(), 3, path[0], rewards[0]) != path[0]).any()


RANDOMISED = ("thompson", "epsilon-wide", "softmax", "beta", "urn-slow", "exp3", "postdiff", "etc-random", "ucb-random")


@functools.cache
def slow_runs(rule, wrapping):
    """Pulls and sums of every arm in runs of the oracle, more of the rule that must tell wrappings apart."""
    _, judge, arms = JUDGED[rule]
    truth, rng, found = BERNOULLI.means[:arms], np.random.default_rng(5), []
    for _ in range(400 if rule == "softmax" else 200):
        path, rewards, _ = oracle.play(
            judge, WRAPPINGS[wrapping][1], arms, 45, lambda _, arm: float(rng.random() < truth[arm]), rng
        )
        found.append(np.concatenate([np.bincount(path, minlength=arms), np.bincount(path, rewards, arms)]))
    return np.array(found)


@pytest.mark.parametrize("wrapping", ["batched-late", "uniform", "all"])
@pytest.mark.parametrize("rule", RANDOMISED)
def test_against_the_slow_simulator(rule, wrapping):
    policy, _, arms = JUDGED[rule]
    slow = slow_runs(rule, wrapping)
    runs = db.simulate(
        WRAPPINGS[wrapping][0](policy), db.worlds.Bernoulli(BERNOULLI.means[:arms]), horizon=45, runs=15_000, seed=5
    )
    fast = np.concatenate([runs.pulls, runs.sums], axis=1)
    error = fast.std(axis=0) * np.sqrt(1 / len(slow) + 1 / len(fast))  # of few runs it would miss rare ones
    assert np.abs((slow.mean(axis=0) - fast.mean(axis=0)) / error).max() < Z


@pytest.mark.parametrize("wrapping", ["batched-late", "all"])
def test_the_slow_simulator_tells_wrappings_apart(wrapping):
    """Control: its runs of softmax in a wrapping against the rule alone; for warm-ups see the exact values below."""
    slow = slow_runs("softmax", wrapping)
    runs = db.simulate(RULES["softmax"][0], BERNOULLI, horizon=45, runs=40_000, seed=5)
    gap = slow[:, :3].mean(axis=0) - runs.pulls.mean(axis=0)
    errors = (each.std(axis=0) / np.sqrt(len(each)) for each in (slow[:, :3], runs.pulls))
    assert np.abs(z_scores(gap, *errors)).max() > 2 * Z


@pytest.mark.parametrize("wrapping", ["both", "all"])
@pytest.mark.parametrize("rule", [rule for rule in RANDOMISED if rule != "etc-random"])
def test_choices_are_as_likely_as_the_wrapped_rule_says(rule, wrapping):
    """The sum over rounds of 1{arm pulled} - P(arm | past) is a martingale; so is that of its products with P."""
    policy, _, arms = JUDGED[rule]
    wrap, _ = WRAPPINGS[wrapping]
    place = db.worlds.Bernoulli(BERNOULLI.means[:arms])
    path, rewards = paths(wrap(policy), place, runs=3000, horizon=30)

    def worst(declared):
        chances = replayed(declared, path, rewards, arms)
        surprise = (path[..., None] == np.arange(arms)) - chances
        sums = np.concatenate([surprise.sum(axis=1), (surprise * chances).sum(axis=1)], axis=1)
        return np.abs(z_scores(sums.mean(axis=0), np.maximum(sums.std(axis=0) / np.sqrt(len(sums)), 1e-12))).max()

    assert worst(wrap(policy)) < Z
    assert worst(wrap(db.FixedWeights((0.6, 0.2, 0.2)[:arms]))) > 2 * Z


@pytest.mark.parametrize("world", ["normal", "empirical-binary"])
@pytest.mark.parametrize("wrapping", ["batched", "uniform", "all"])
@pytest.mark.parametrize("rule", ["ucb", "thompson", "epsilon", "etc-short", "beta"])
def test_sums_are_fair(rule, wrapping, world):
    """E[S - mu N] = 0, and a world that lies by 0.05 is caught."""
    policy, place = RULES[rule][0], WORLDS[world]
    if policy.binary_rewards and not place.binary:
        return
    runs = db.simulate(WRAPPINGS[wrapping][0](policy), place, horizon=60, runs=30_000, seed=11)

    def z(truth):
        residual = runs.sums - truth * runs.pulls
        return z_scores(residual.mean(axis=0), residual.std(axis=0, ddof=1) / np.sqrt(len(residual)))

    assert np.abs(z(place.means)).max() < Z
    assert np.abs(z(place.means + 0.05)).min() > 2 * Z


def exact_batches(judge, size, p1, p2, horizon):
    """Bias of a deterministic rule in batches: every possible table of rewards, with its probability."""
    totals = np.zeros((2, 2))  # E[mean; pulled] and P(pulled) for each arm
    for table in itertools.product((0.0, 1.0), repeat=2 * horizon):
        one, two = table[:horizon], table[horizon:]
        seen = [0, 0]

        def reward(_, arm, seen=seen, one=one, two=two):
            seen[arm] += 1
            return (one, two)[arm][seen[arm] - 1]

        path, rewards, _ = oracle.play(judge, oracle.Wrapping(size=size), 2, horizon, reward, None)
        chance = p1 ** sum(one) * (1 - p1) ** (horizon - sum(one)) * p2 ** sum(two) * (1 - p2) ** (horizon - sum(two))
        for arm in (0, 1):
            if (path == arm).any():
                totals[arm] += chance * rewards[path == arm].mean(), chance
    return totals[:, 0] / totals[:, 1] - [p1, p2]


@pytest.mark.parametrize("size", [2, 3])
def test_batches_against_all_tables_of_rewards(size):
    exact = exact_batches(oracle.ucb(0.5), size, 0.4, 0.6, 6)
    policy, place = db.UCB(c=0.5), db.worlds.Bernoulli([0.4, 0.6])
    runs = db.simulate(db.Batched(policy, size=size), place, horizon=6, runs=400_000, seed=6)
    assert np.abs(z_scores(runs.bias() - exact, runs.bias_se())).max() < Z
    alone = exact_two_arms(policy, 0.4, 0.6, 6).bias
    assert np.abs(z_scores(runs.bias() - alone, runs.bias_se())).max() > 2 * Z  # control


@pytest.mark.parametrize("rule", ["ucb", "epsilon", "thompson", "beta", "ucb-random"])
def test_exact_values_with_a_floor_or_a_warm_up(rule):
    policy, judge = RULES[rule]

    def floored(t, n1, s1, n2, s2):
        return 0.1 + 0.8 * judge.probability(t, n1, s1, n2, s2)

    exact = oracle.enumerate_two_arms(judge._replace(probability=floored), 0.4, 0.55, 20)
    ours = exact_two_arms(db.Floor(policy, 0.1), 0.4, 0.55, 20)
    np.testing.assert_allclose(ours.bias, exact.bias, rtol=0, atol=1e-12)
    plain = exact_two_arms(policy, 0.4, 0.55, 20)
    assert np.abs(plain.bias - exact.bias).max() > 1e-4  # control
    warm = exact_two_arms(db.WarmUp(policy, rounds=6), 0.4, 0.55, 20)
    runs = db.simulate(db.WarmUp(policy, rounds=6), db.worlds.Bernoulli([0.4, 0.55]), horizon=20, runs=200_000, seed=7)
    assert np.abs(z_scores(runs.bias() - warm.bias, runs.bias_se())).max() < Z
    assert np.abs(z_scores(runs.bias() - plain.bias, runs.bias_se())).max() > 2 * Z  # control


STEPPED = {
    "thompson": db.Batched(db.ThompsonSampling(), size=50),
    "floor": db.Floor(db.Batched(db.EpsilonGreedy(0.2), size=60), 0.1),
    "in-turn": db.WarmUp(db.Batched(db.UCB(initial_pulls=10), size=75), pulls=5),
    "uniform": db.WarmUp(db.Batched(db.Softmax(), size=50), rounds=70),
    "short": db.WarmUp(db.Batched(db.UCB(), size=(1, 4, 145, 150)), rounds=1),
    "beta": db.Batched(db.BetaThompson(), size=100),
    "gaussian": db.Batched(db.GaussianThompson(initial_pulls=5), size=50),
    "inverse-gap": db.Floor(db.Batched(db.InverseGap(gamma=30), size=60), 0.05),
    "leader": db.WarmUp(db.Batched(db.LeaderChallenger(), size=50), rounds=40),
}


@pytest.mark.parametrize("wrapped", STEPPED)
def test_steps_of_whole_batches_are_the_rounds(wrapped, monkeypatch):
    policy = STEPPED[wrapped]
    worlds = [db.worlds.Bernoulli([0.3, 0.5, 0.45])] + [NORMAL] * (not policy.binary_rewards)
    for place in worlds:
        monkeypatch.setattr(experiment, "WORTH_A_STEP", 50)
        fast = db.simulate(policy, place, horizon=300, runs=4000, seed=8)
        monkeypatch.setattr(experiment, "WORTH_A_STEP", 10**9)
        slow = db.simulate(policy, place, horizon=300, runs=8_000, seed=9)

        def moments(runs):
            values = np.concatenate([runs.pulls, runs.sums, runs.pulls**2, runs.pulls * runs.sums], axis=1)
            return values.mean(axis=0), values.std(axis=0) / np.sqrt(len(values)) + 1e-12

        (one, one_error), (two, two_error) = moments(fast), moments(slow)
        assert np.abs(z_scores(one - two, one_error, two_error)).max() < Z
        other = db.simulate(db.Batched(policy.core, size=290), place, horizon=300, runs=4000, seed=8)  # control
        three, three_error = moments(other)
        assert np.abs(z_scores(three - two, three_error, two_error)).max() > 2 * Z


@pytest.mark.usefixtures("in_steps")
def test_steps_are_repeatable_whatever_the_threads_and_the_number_of_runs():
    policy = STEPPED["thompson"]
    one, two = (db.simulate(policy, NORMAL, horizon=300, runs=1000, seed=8, threads=n) for n in (1, 2))
    few = db.simulate(policy, NORMAL, horizon=300, runs=300, seed=8)
    np.testing.assert_array_equal(one.sums, two.sums)
    np.testing.assert_array_equal(one.sums[:300], few.sums)
    assert (one.sums != db.simulate(policy, NORMAL, horizon=300, runs=1000, seed=9).sums).all(axis=1).any()


@pytest.mark.parametrize("policy", [own_rules.Optimist(), own_rules.Repeater(), object_rules.Confident()], ids=str)
def test_rules_of_one_s_own_in_batches(policy):
    """Decision for decision: what they choose is what they would choose after the last complete batch."""
    wrapped = db.WarmUp(db.Batched(policy, size=10), pulls=2)
    runs = db.simulate(wrapped, NORMAL, horizon=45, runs=5, seed=3, paths=True)
    assert db.check(runs.log(0), wrapped).p_value == 1
    assert db.check(runs.log(0), db.WarmUp(db.Batched(policy, size=9), pulls=2)).p_value == 0  # control
    own = runs.path_arms[:, 10:]
    if not isinstance(policy, own_rules.Repeater):
        np.testing.assert_array_equal(own[:, :30].reshape(5, 3, 10), np.repeat(own[:, :30:10, None], 10, axis=2))
