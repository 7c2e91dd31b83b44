"""The check of batch tables has the error rates that docs/check.md claims, and finds what it must."""

import numpy as np
import pytest
from batch_tables import table_of, tables
from catalogue import Z

import debandit as db
from debandit.checking.batch_counts import compare_batches, judge_batches
from debandit.checking.reward_tests import examine_rewards

LOGS = 60
SMALL, LARGE = (20,) * 10, (100,) * 20
N2, N3 = db.worlds.Normal([1.0, 1.5], [1.0, 1.0]), db.worlds.Normal([1.0, 1.5, 1.2], [1.0, 0.5, 2.0])
B2, B3 = db.worlds.Bernoulli([0.3, 0.6]), db.worlds.Bernoulli([0.3, 0.6, 0.5])


def at_most(rate, nominal, count):
    return rate <= nominal + Z * np.sqrt(nominal * (1 - nominal) / count)


def p_values(played, declared, world, sizes, logs=LOGS):
    found = []
    for i, log in enumerate(tables(played, world, sizes, logs)):
        policy = db.Batched(declared).in_log(log)
        seen = compare_batches(log, policy, 1000)
        sure = 0.0 if seen.impossible.any() else 1.0
        judged = policy.randomised and sure
        found.append(judge_batches(seen, log.labels, np.random.default_rng(i)).p_value if judged else sure)
    return np.array(found)


OWN = [
    ("thompson", N2, SMALL),
    ("thompson", N3, LARGE),
    ("beta_thompson", B2, SMALL),
    ("beta_thompson", B3, LARGE),
    ("epsilon_greedy(epsilon=0.1)", N2, LARGE),
    ("epsilon_greedy(epsilon=0.1)", N3, SMALL),
    ("floor(ucb, probability=0.1)", N2, LARGE),
    ("floor(thompson, probability=0.05)", N3, SMALL),
    ("warm_up(softmax, rounds=50)", N2, SMALL),
    ("uniform", N3, LARGE),
]


@pytest.mark.parametrize(("rule", "world", "sizes"), OWN, ids=lambda value: str(value)[:30])
def test_the_declared_rule_is_seldom_rejected(rule, world, sizes):
    found = p_values(rule, rule, world, sizes)
    for level in (0.05, 0.01):
        assert at_most((found < level).mean(), level, LOGS)


@pytest.mark.parametrize(
    ("played", "declared"),
    [
        ("epsilon_greedy(epsilon=0.05)", "thompson"),
        ("thompson", "epsilon_greedy(epsilon=0.05)"),
        ("uniform", "thompson"),
        ("thompson", "uniform"),
        ("thompson", "thompson(noise_sd=3)"),
        ("ucb(c=1)", "ucb(c=2)"),
    ],
)
def test_control_another_rule_is_noticed(played, declared):
    assert (p_values(played, declared, N2, LARGE, 40) < 0.05).mean() > 0.8


@pytest.mark.parametrize("world", [N2, N3, B2, B3], ids=lambda world: f"{world.name}-{world.arm_count}")
@pytest.mark.parametrize("rule", ["ucb", "ucb(c=0)", "greedy(initial_pulls=2)"])
def test_rules_without_randomness_are_never_rejected_on_their_own_logs(rule, world):
    assert p_values(rule, rule, world, SMALL).min() == 1


@pytest.mark.parametrize("rule", ["ucb", "thompson", "epsilon_greedy"])
def test_steady_rewards_seldom_cause_a_warning(rule):
    warned = [examine_rewards(log).drift.p_value < 0.01 for log in tables(rule, N2, SMALL, LOGS)]
    assert at_most(np.mean(warned), 0.01, LOGS)


def test_control_drifting_rewards_cause_one():
    """Whatever arm it pulls, the last batch is 2 standard deviations above the first."""
    drift, warned = np.repeat(np.linspace(0, 2, len(LARGE)), LARGE), 0
    runs = db.simulate(db.Batched("thompson", size=LARGE), N2, horizon=sum(LARGE), runs=40, seed=1, paths=True)
    for arms, rewards in zip(runs.path_arms, runs.path_rewards + drift, strict=True):
        warned += examine_rewards(table_of(arms, rewards, LARGE, 2, binary=False)).drift.p_value < 0.01
    assert warned > 36
