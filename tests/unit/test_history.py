"""What a rule has heard of, added up by hand, and what every rule makes of it."""

import numpy as np
import pytest
from catalogue import OTHERS, RULES

import debandit as db
from debandit.engine.conditions import FREE, UNIFORM, Conditions
from debandit.policies.history import History

RNG = np.random.default_rng(5)
ARMS, REWARDS = RNG.integers(3, size=(2, 4, 30)), RNG.normal(size=(2, 4, 30))
EVERY = {name: policy for name, (policy, *_) in (RULES | OTHERS).items() if name != "postdiff"}


def by_hand(arms, rewards, rounds):
    mine = [rewards[:rounds][arms[:rounds] == arm] for arm in range(3)]
    return [len(one) for one in mine], [sum(one) for one in mine], [len(one) and len(one) * np.var(one) for one in mine]


@pytest.mark.parametrize("ends", [[], [7, 20, 30]])
@pytest.mark.parametrize("asked", [None, [0, 5, 7, 8, 19, 29]])
def test_totals_by_hand(ends, asked):
    conditions = Conditions(ends=np.array(ends, dtype=np.int64))
    history = History(ARMS, REWARDS, 3, None if asked is None else np.array(asked), conditions)
    for i, t in enumerate(range(30) if asked is None else asked):
        known = max([end for end in ends if end <= t], default=0) if ends else t
        expected = by_hand(ARMS[1, 2], REWARDS[1, 2], known)
        for total, by_arm in zip((history.pulls, history.sums, history.squares), expected, strict=True):
            assert total.shape == (2, 4, len(history.rounds), 3)
            np.testing.assert_allclose(total[1, 2, i], by_arm, rtol=1e-12, atol=1e-12)


def test_sums_of_every_round_are_the_engine_s():
    """Bit for bit: 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1, and ties depend on it."""
    rewards, total = RNG.choice([0.1, 0.2, 0.3], 30), 0.0
    history = History(np.zeros(30, np.int64), rewards, 2)
    for t in range(30):
        assert history.sums[t, 0] == total
        total += rewards[t]


def test_what_is_prescribed_by_hand():
    """Three uniform rounds, then what the log's own pulls leave lacking of two for each arm."""
    history = History(np.array([1, 1, 0, 1, 0, 0, 1]), np.zeros(7), 2, conditions=Conditions(opening=2, uniform=3))
    assert history.prescribed.tolist() == [UNIFORM] * 3 + [0, 0, FREE, FREE]
    assert history.forced.tolist() == [0, 0, 0, 0, 0, -1, -1]
    assert history.free.tolist() == [False] * 5 + [True] * 2


@pytest.mark.parametrize("rule", EVERY)
def test_asking_about_some_rounds_is_asking_about_all(rule):
    """For one log or many, under any conditions."""
    policy, rewards, rounds = EVERY[rule], (REWARDS > 0).astype(float), np.array([0, 2, 11, 12, 29])
    for wrapped in (policy, db.Batched(policy, size=4), db.Floor(db.WarmUp(policy, rounds=8), 0.1)):
        every = wrapped.replay(History(ARMS, rewards, 3))
        if every is None:
            assert (rule, type(wrapped)) == ("etc-random", db.Floor)
            continue
        assert every.chances.shape == every.scores.shape == (2, 4, 30, 3)
        np.testing.assert_allclose(every.chances.sum(axis=-1), 1, rtol=0, atol=1e-9)
        some = wrapped.replay(History(ARMS[1, 2], rewards[1, 2], 3, asked=rounds))
        for one, all_rounds in zip(some, every, strict=True):
            np.testing.assert_allclose(one, all_rounds[1, 2, rounds], rtol=1e-12, atol=1e-12)


def test_a_rule_that_goes_by_totals_says_the_same_of_them():
    rewards = (REWARDS > 0).astype(float)
    for policy in EVERY.values():
        history = History(ARMS, rewards, 3)
        if policy.by_totals:
            squares = (history.squares,) if policy.needs_squares else ()
            asked = policy.probabilities(np.arange(30), history.pulls, history.sums, 30, *squares)
            np.testing.assert_allclose(policy.replay(history).chances, asked, rtol=0, atol=1e-12)
    assert {name for name, policy in EVERY.items() if not policy.by_totals} == {
        *("etc", "etc-short", "etc-random", "etc-turns", "kl-ucb", "kl-ucb-wide", "ucb-tuned"),
        *("exp3", "exp3-scaled", "elimination"),
    }
