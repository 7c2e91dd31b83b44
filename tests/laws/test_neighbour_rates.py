"""How often a neighbour is named: that of a nearly right rule mostly, that of a right or a far-off one hardly ever."""

import numpy as np
import pytest
from catalogue import Z

import debandit as db
from debandit import checking
from debandit.checking.fit import LEVEL
from debandit.policies import as_policy

NORMAL = db.worlds.Normal([1.0, 1.5, 1.2], [1.0, 0.5, 2.0])
HORIZON = 200


def shares(made, declared, logs):
    """How many logs are refused, and for how many a neighbour is named, and the one that made them."""
    played, rule = as_policy(made), as_policy(declared)
    runs = db.simulate(played, NORMAL, horizon=HORIZON, runs=logs, seed=91, paths=True)
    found = []
    for log in map(runs.log, range(logs)):
        looked = checking._look(log, rule, HORIZON, 0)
        near = checking._neighbours(log, rule, looked, LEVEL, HORIZON, 0)
        found.append((looked.p_value < LEVEL, len(near) > 0, str(played) in near))
    return np.mean(found, axis=0)


def above(share, bound, count):
    return share > bound + Z * np.sqrt(bound * (1 - bound) / count)


@pytest.mark.parametrize("rule", ["ucb", "epsilon_greedy(0.1)", "uniform", "thompson", "batched(thompson, size=20)"])
def test_a_right_rule_is_not_refused_more_often_and_has_no_neighbours(rule):
    """At most 5 % are refused, and for at most 5 % of these a neighbour is named; docs/check.md has figures."""
    refused, named, _ = shares(rule, rule, 80)
    assert not above(refused, LEVEL, 80)
    assert not above(named, LEVEL**2, 80)


@pytest.mark.parametrize(
    ("made", "declared"),
    [
        ("delayed(ucb, rounds=5)", "ucb"),
        ("batched(ucb, size=20)", "ucb"),
        ("warm_up(ucb, rounds=50)", "ucb"),
        ("delayed(thompson, rounds=50)", "thompson"),
        ("batched(epsilon_greedy(0.1), size=20)", "epsilon_greedy(0.1)"),
    ],
)
def test_control_a_nearly_right_rule_has_some(made, declared):
    refused, named, right = shares(made, declared, 16)
    assert above(named, LEVEL**2, 16)
    assert right >= named / 2
    assert refused >= named


@pytest.mark.parametrize("declared", ["ucb", "thompson", "etc(pulls=20)"])
def test_random_choices_have_no_neighbour(declared):
    refused, named, _ = shares("uniform", declared, 16)
    assert refused == 1
    assert not above(named, LEVEL**2, 16)
