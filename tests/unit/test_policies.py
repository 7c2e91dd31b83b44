"""Decisions worked out by hand, and parameters that make no sense."""

import numpy as np
import pytest
from catalogue import OTHERS, RULES

import debandit as db
from debandit.policies import as_policy


def choices(policy, rewards, horizon):
    """The arms pulled when arm k always pays rewards[k]."""
    world = db.worlds.Normal(rewards, np.zeros(len(rewards)))
    return db.simulate(policy, world, horizon=horizon, runs=1, paths=True).path_arms[0].tolist()


def test_etc_by_hand():
    assert choices(db.ExploreThenCommit(pulls=2), [0.0, 1.0, 0.5], 9) == [0, 0, 1, 1, 2, 2, 1, 1, 1]
    assert choices(db.ExploreThenCommit(pulls=1), [1.0, 1.0], 4) == [0, 1, 0, 0]  # a tie goes to the first


def test_ucb_by_hand():
    """Arms pay 0 and 1. Round 3: 0 + sqrt(ln 3) = 1.05 < 1 + 1.05. Round 4: 1.18 < 1 + sqrt(ln 4 / 2) = 1.83. Round 5:
    1.27 < 1 + sqrt(ln 5 / 3) = 1.73 and so on; in round 10, 1.517 < 1 + sqrt(ln 10 / 8) = 1.536; in round 11 at last
    sqrt(ln 11) = 1.5485 > 1 + sqrt(ln 11 / 9) = 1.5162."""
    assert choices(db.UCB(c=1.0), [0.0, 1.0], 12) == [0, 1, *[1] * 8, 0, 1]
    assert choices(db.UCB(c=0.0), [1.0, 1.0, 2.0], 6) == [0, 1, 2, 2, 2, 2]


def test_ties_go_to_the_lowest_index():
    assert choices(db.UCB(), [1.0, 1.0], 6) == [0, 1, 0, 1, 0, 1]
    assert choices(db.EpsilonGreedy(epsilon=0.0), [1.0, 1.0, 1.0], 6) == [0, 1, 2, 0, 0, 0]


def test_thompson_with_a_sharp_posterior_is_greedy():
    sharp = db.ThompsonSampling(noise_sd=1e-9, prior_sd=1.0, initial_pulls=2)
    assert choices(sharp, [0.0, 1.0, 0.5], 9) == [0, 0, 1, 1, 2, 2, 1, 1, 1]


def test_thompson_trusts_its_prior():
    """A prior worth 10^6 pulls at 0 outweighs any reward: both arms stay alike."""
    stubborn = db.ThompsonSampling(prior_mean=0.0, prior_sd=1e-3, noise_sd=1.0)
    runs = db.simulate(stubborn, db.worlds.Normal([0.0, 1.0], [0, 0]), horizon=100, runs=2000, seed=3)
    share = runs.pulls[:, 1].mean() / 100
    assert abs(share - 0.5) < 0.05  # posterior means differ by 1e-4 of 1e-3 at most: P(arm 2) < 0.53
    loose = db.simulate(db.ThompsonSampling(), db.worlds.Normal([0.0, 1.0], [0, 0]), horizon=100, runs=2000, seed=3)
    assert loose.pulls[:, 1].mean() / 100 > 0.8


def test_numbers_of_numpy_are_numbers():
    assert str(db.ExploreThenCommit(np.int64(5))) == "etc(pulls=5)"
    assert str(db.UCB(np.float32(0.5))) == "ucb(c=0.5)"


def test_beta_thompson_with_a_weak_prior_is_fair_at_first():
    """Beta(0.05, 0.05) piles up at 0 and 1; its draws must not tie there. First pulls of two arms: 1/2 each."""
    world = db.worlds.Bernoulli([0.5, 0.5])
    runs = db.simulate(db.BetaThompson(0.05, 0.05), world, horizon=1, runs=200_000, seed=1)
    assert abs(runs.pulls[:, 0].mean() - 0.5) < 4.5 * 0.5 / np.sqrt(200_000)


def test_rules_round_trip_through_their_text():
    for policy, *_ in (*RULES.values(), *OTHERS.values()):
        assert as_policy(str(policy)) == policy
    odd = db.ThompsonSampling(prior_mean=-1.5, noise_sd=2, initial_pulls=3, center="sample")
    assert as_policy(str(odd)) == odd
    assert as_policy("thompson(center=sample, initial_pulls=1)").center == "sample"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: db.ExploreThenCommit(pulls=0), "pulls must be a whole number from 1 to 1e"),
        (lambda: db.ExploreThenCommit(pulls=2.5), "whole"),
        (lambda: db.UCB(c=-1), "c must be a number from 0 to"),
        (lambda: db.UCB(c=float("nan")), "nan"),
        (lambda: db.UCB(c=float("inf")), "inf"),
        (lambda: db.UCB(c="much"), "much"),
        (lambda: db.UCB(c=True), "True"),
        (lambda: db.UCB(c=10**400), "c must be a number"),
        (lambda: db.EpsilonGreedy(epsilon=1.5), "from 0 to 1"),
        (lambda: db.ThompsonSampling(prior_sd=0), "prior_sd must be a number from 1e-100"),
        (lambda: db.ThompsonSampling(center="sample"), "initial_pulls >= 1"),
        (lambda: db.ThompsonSampling(center="median"), "'posterior' or 'sample'"),
        (lambda: db.BetaThompson(alpha=0.01), "from 0.05"),
    ],
)
def test_senseless_parameters_are_refused(make, message):
    with pytest.raises(db.InputError, match=message):
        make()
