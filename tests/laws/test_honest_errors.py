"""The reported Monte-Carlo error is honest also where the whole bias comes from a few rare runs. With controls.

In these worlds a rule gives up its favourite about once in 1,024 runs. Of 1,000 estimates from 1,024 runs each, at most
8 % may lie more than 1.96 reported errors away from the truth, for every arm. Control: the errors without `rare_run`.
"""

import numpy as np
import pytest
from catalogue import Z

import debandit as db
from debandit.engine import spread
from debandit.engine.control_variates import fit
from debandit.engine.runs import Wish
from debandit.simulation import _experiment
from debandit.theory import etc_bias

TIMES, RUNS, MOST = 1000, 1024, 0.08
TWO, FOUR = [1.0, 1.0], [1.0, 0.7, 1.3, 1.0]
COMMIT = {  # rule, means, sds, rounds
    "dominant": (db.ExploreThenCommit(pulls=10), [0.0, 1.4], TWO, 100),
    "short": (db.ExploreThenCommit(pulls=3), [0.0, 2.1], TWO, 300),
    "certain": (db.ExploreThenCommit(pulls=10), [0.0, 1.0], [0.1, 1.1], 100),
    "four": (db.ExploreThenCommit(pulls=10), [0.0, 0.2, 0.4, 1.8], FOUR, 200),
}
OTHERS = {
    "ucb": (db.UCB(), [0.0, 1.2], TWO, 100),
    "ucb-four": (db.UCB(c=0.5), [0.0, 0.2, 0.4, 2.4], FOUR, 100),
    "thompson": (db.ThompsonSampling(), [0.0, 0.9], TWO, 100),
    "epsilon-four": (db.EpsilonGreedy(epsilon=0.1), [0.0, 0.2, 0.4, 1.8], FOUR, 200),
}


def many(policy, means, sds, rounds, seed=8):
    """TIMES estimates of the same world, each from RUNS runs of its own."""
    places = db.worlds.Normal(np.tile(means, (TIMES, 1)), np.tile(sds, (TIMES, 1)))
    return spread.tally(_experiment(policy, places, rounds, seed), np.full(TIMES, RUNS), Wish(martingales=True))


def share_outside(arms, truth, truth_se):
    """The share of estimates, for each arm, that miss the truth by more than 1.96 errors."""
    return (np.abs(arms.bias - truth) > 1.96 * np.hypot(arms.se, truth_se)).mean(axis=0)


def check(total, truth, truth_se=0.0):
    """The law, and its control."""
    assert share_outside(total.arms, truth, truth_se).max() <= MOST
    surely_more = MOST + Z * np.sqrt(MOST * (1 - MOST) / TIMES)
    assert share_outside(fit(total.moments), truth, truth_se).max() > surely_more


@pytest.mark.parametrize("name", COMMIT)
def test_explore_then_commit(name):
    policy, means, sds, rounds = COMMIT[name]
    check(many(*COMMIT[name]), etc_bias(means=means, sds=sds, pulls=policy.pulls, horizon=rounds))


@pytest.mark.parametrize("name", OTHERS)
def test_rules_that_go_on_exploring(name):
    policy, means, sds, rounds = OTHERS[name]
    truth = spread.tally(_experiment(policy, db.worlds.Normal(means, sds), rounds, 9), np.array([1_000_000]))
    check(many(*OTHERS[name]), truth.bias[0], truth.bias_se[0])
