"""The check has the error rates that it claims, and finds what it must."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from catalogue import Z

import debandit as db
from debandit.checking import FEW_ROUNDS, WARNED, _look
from debandit.checking.chosen import Choices, compare_choices
from debandit.checking.neighbours import _log_likelihood, _rounds, forgotten_batches
from debandit.checking.plausibility import judge
from debandit.checking.reward_tests import examine_rewards
from debandit.policies import as_policy
from debandit.policies.history import History

LOGS, HORIZON = 150, 200
NORMAL = {2: db.worlds.Normal([1.0, 1.5], [1.0, 1.0]), 3: db.worlds.Normal([1.0, 1.5, 1.2], [1.0, 0.5, 2.0])}
BINARY = {2: db.worlds.Bernoulli([0.3, 0.6]), 3: db.worlds.Bernoulli([0.3, 0.6, 0.5])}


def at_most(rate, nominal, count):
    return rate <= nominal + Z * np.sqrt(nominal * (1 - nominal) / count)


def p_values(played, declared, world, logs, rounds=HORIZON):
    """Of the choices of many logs; the probabilities of all logs at once, because that is faster."""
    runs = db.simulate(played, world, horizon=HORIZON, runs=logs, seed=91, paths=True)
    arms, rewards = runs.path_arms[:, :rounds].astype(np.int64), runs.path_rewards[:, :rounds]
    history = History(arms, rewards, world.arm_count)
    chances, pulls = declared.replay(history).chances, history.pulls
    means = np.where(pulls > 0, history.sums / np.maximum(pulls, 1), np.nan)

    def p_value(i):
        found = Choices(
            np.arange(rounds),
            arms[i],
            np.append(-1, arms[i, :-1]),
            chances[i],
            np.full(chances[i].shape, np.nan),
            pulls[i],
            means[i],
        )
        return 0.0 if found.impossible.any() else judge(found, np.random.default_rng(i)).p_value

    with ThreadPoolExecutor(2) as pool:
        return np.array(list(pool.map(p_value, range(logs))))


def fixed_weights(arm_count):
    return db.policies.FixedWeights((0.5, 0.2, 0.3)[:arm_count])


# Every randomised rule and the number of logs; docs/check.md has the rates of 1,000 logs for all of them.
OWN_RATES = {
    "thompson": (db.ThompsonSampling(), 100),
    "epsilon_greedy": (db.EpsilonGreedy(), 100),
    "uniform": (db.Uniform(), 100),
    "beta_thompson": (db.BetaThompson(), 100),
    "decaying_epsilon_greedy": (db.policies.DecayingEpsilonGreedy(), 100),
    "softmax": (db.policies.Softmax(), 100),
    "inverse_gap": (db.policies.InverseGap(), 100),
    "leader_challenger": (db.policies.LeaderChallenger(), 100),
    "gaussian_thompson": (db.policies.GaussianThompson(), 100),
    "top_two_thompson": (db.policies.TopTwoThompson(leader=0.8), 100),
    "ts_postdiff": (db.policies.TSPostDiff(), 100),
    "play_the_winner": (db.policies.PlayTheWinner(), 100),
    "exp3": (db.policies.Exp3(), 100),
    "fixed_weights": (fixed_weights, 100),
}
SLOW = ("beta_thompson", "gaussian_thompson", "top_two_thompson")  # three arms need quadrature
UNIT_REWARDS = ("exp3",)  # not only for 0/1 rewards, but for some between 0 and 1


def test_no_randomised_rule_is_left_out():
    assert set(OWN_RATES) == {name for name, rule in db.policies.RULES.items() if rule.randomised}


# Two or three arms by turns, and both where their chances are worked out in another way.
COUNTED = [
    (name, k) for i, name in enumerate(OWN_RATES) for k in ((2, 3) if name in (*SLOW, "thompson") else (2 + i % 2,))
]


@pytest.mark.parametrize(("name", "arm_count"), COUNTED)
def test_the_declared_rule_is_seldom_rejected(name, arm_count):
    policy, logs = OWN_RATES[name]
    policy = policy(arm_count) if callable(policy) else policy
    world = (BINARY if policy.binary_rewards or name in UNIT_REWARDS else NORMAL)[arm_count]
    logs = min(logs, 60) if name in SLOW and arm_count > 2 else logs
    found = p_values(policy, policy, world, logs=logs)
    for level in (0.05, 0.01):
        assert at_most((found < level).mean(), level, logs)


@pytest.mark.parametrize("name", ["softmax", "top_two_thompson", "exp3", "play_the_winner", "decaying_epsilon_greedy"])
def test_control_the_rates_are_those_of_the_declared_rule_only(name):
    """Logs without learning are rejected more often than the level."""
    found = p_values(db.Uniform(), OWN_RATES[name][0], BINARY[2], logs=100)
    assert not at_most((found < 0.05).mean(), 0.05, 100)


def test_epsilon_greedy_is_not_taken_for_thompson_sampling():
    assert (p_values(db.EpsilonGreedy(0.05), db.ThompsonSampling(), NORMAL[2], logs=100) < 0.05).mean() >= 0.9


def test_other_randomised_rules_are_found():
    thompson = db.ThompsonSampling()
    for played, declared in (
        (db.Uniform(), thompson),
        (thompson, db.Uniform()),
        (db.ThompsonSampling(noise_sd=2.0), thompson),
        (thompson, db.ThompsonSampling(noise_sd=2.0)),
    ):
        assert (p_values(played, declared, NORMAL[2], logs=50) < 0.05).mean() > 0.8


def logs_of(policy, world, count, seed=92):
    runs = db.simulate(policy, world, horizon=HORIZON, runs=count, seed=seed, paths=True)
    return [runs.log(i) for i in range(count)]


DETERMINISTIC = (
    db.UCB(),
    db.UCB(c=0.0),
    db.ExploreThenCommit(10),
    db.policies.Greedy(initial_pulls=2),
    db.policies.UCBTuned(),
    db.policies.KLUCB(),
    db.policies.KLUCB(c=3.0),
    db.policies.SuccessiveElimination(delta=0.5, sd=0.1),
)


def test_no_deterministic_rule_is_left_out():
    assert {rule.name for rule in DETERMINISTIC} == {
        name for name, rule in db.policies.RULES.items() if not rule.randomised
    }


def rejected(logs, declared):
    return np.mean([compare_choices(log, declared, HORIZON).impossible.any() for log in logs])


@pytest.mark.parametrize(
    "world", [*NORMAL.values(), *BINARY.values()], ids=lambda world: f"{world.name}-{world.arm_count}"
)
@pytest.mark.parametrize("policy", DETERMINISTIC, ids=str)
def test_deterministic_rules_are_never_rejected_on_their_own_logs(policy, world):
    """Bernoulli rewards tie all the time."""
    if world.binary or not policy.binary_rewards:
        assert rejected(logs_of(policy, world, LOGS), policy) == 0


@pytest.mark.parametrize(
    "world", [*NORMAL.values(), *BINARY.values()], ids=lambda world: f"{world.name}-{world.arm_count}"
)
def test_another_bonus_is_found(world):
    assert rejected(logs_of(db.UCB(c=1.0), world, LOGS), db.UCB(c=2.0)) >= 0.99


@pytest.mark.parametrize("arm_count", [2, 3])
def test_swapped_rows_are_found(arm_count):
    """Every pair of neighbours with different arms, one pair at a time."""
    swapped = []
    for log in logs_of(db.UCB(), NORMAL[arm_count], 20):
        arms, rewards = log.rounds.arms, log.rounds.rewards
        for t in np.flatnonzero(np.diff(arms)):
            order = np.arange(HORIZON)
            order[[t, t + 1]] = t + 1, t
            swapped.append(db.ExperimentLog(arms[order] + 1, rewards[order], labels=log.labels))
    assert len(swapped) > 200
    assert rejected(swapped, db.UCB()) == 1


@pytest.mark.parametrize(
    "policy", [db.UCB(), db.ThompsonSampling(), db.EpsilonGreedy(), db.ExploreThenCommit(10), db.Uniform()], ids=str
)
def test_steady_rewards_seldom_cause_a_warning(policy):
    """Although the rule decides by the rewards when an arm's sequence ends."""
    for world in (NORMAL[2], BINARY[2]):
        tests = [examine_rewards(log) for log in logs_of(policy, world, LOGS)]
        warned = [any(test and test.p_value < 0.01 for test in (each.drift, each.dependence)) for each in tests]
        assert at_most(np.mean(warned), 0.01, LOGS)


@pytest.mark.parametrize("policy", [db.UCB(), db.ThompsonSampling(), db.EpsilonGreedy()], ids=str)
def test_drifting_rewards_cause_one(policy):
    """Control: whatever arm it pulls, the rewards of the last round are 2 standard deviations above the first."""
    drift = np.linspace(0, 2, HORIZON)
    logs = [db.ExperimentLog(x.rounds.arms, x.rounds.rewards + drift) for x in logs_of(policy, NORMAL[2], 100)]
    assert np.mean([examine_rewards(log).drift.p_value < 0.01 for log in logs]) > 0.9


FORGOTTEN = {"thompson": NORMAL[2], "beta_thompson": db.worlds.Bernoulli([0.1, 0.12])}


def warned(played, declared, logs=20):
    """Of how many logs of 20,000 rounds `debias` says that the declared rule is unlikely to have made them."""
    runs = db.simulate(played, FORGOTTEN[declared], horizon=20_000, runs=logs, seed=17, paths=True)
    looks = [_look(runs.log(i), as_policy(declared), FEW_ROUNDS, seed=1) for i in range(logs)]
    return sum(look.p_value < WARNED for look in looks)


@pytest.mark.parametrize("size", [50, 100, 200, 500])
@pytest.mark.parametrize("rule", FORGOTTEN)
def test_debias_notices_forgotten_batches(rule, size):
    """In at least 19 of 20 logs of 20,000 rounds."""
    assert warned(f"batched({rule}, size={size})", rule) >= 19


@pytest.mark.parametrize("rule", FORGOTTEN)
def test_control_batches_that_were_not_forgotten_are_not_noticed(rule):
    assert at_most(warned(rule, rule) / 20, WARNED, 20)


def test_a_likelihood_ratio_seldom_speaks_of_batches_where_there_are_none():
    """It is 1 on average, so that it is above 100 in at most 1 % of all logs."""
    logs = logs_of(db.ThompsonSampling(), NORMAL[2], LOGS)
    assert at_most(np.mean([forgotten_batches(log, db.ThompsonSampling())[0] < WARNED for log in logs]), WARNED, LOGS)


def test_a_round_that_the_rule_never_makes_has_no_likelihood_ratio():
    """Nor has it under the same rule in batches: the p-value of the check stays a number."""
    policy, world = db.Softmax(temperature=0.01), db.worlds.Bernoulli([0.8, 0.2])
    log = db.simulate(policy, world, horizon=20_000, runs=1, seed=1, paths=True).log(0)
    looked_at = compare_choices(log, policy, FEW_ROUNDS).rounds
    arms, hidden = log.rounds.arms.copy(), np.setdiff1d(_rounds(policy, log), looked_at)
    arms[hidden[hidden > 5000][0]] = 1
    changed = db.ExperimentLog(arms, log.rounds.rewards, labels=["0", "1"])
    assert _log_likelihood(policy, changed) == -np.inf
    assert forgotten_batches(changed, policy) == (1.0, 0)
