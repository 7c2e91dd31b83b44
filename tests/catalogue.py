"""Every built-in rule beside the oracle's version of it, and one world of each kind."""

import numpy as np
import oracle

import debandit as db

Z = 4.5  # standard errors; every statistical tolerance in these tests is this many of them

RULES = {
    "etc": (db.ExploreThenCommit(pulls=10), oracle.etc(10)),
    "etc-short": (db.ExploreThenCommit(pulls=3), oracle.etc(3)),
    "ucb": (db.UCB(), oracle.ucb()),
    "ucb-wide": (db.UCB(c=2.0), oracle.ucb(2.0)),
    "greedy": (db.UCB(c=0.0), oracle.ucb(0.0)),
    "thompson": (db.ThompsonSampling(), oracle.thompson()),
    "thompson-prior": (
        db.ThompsonSampling(prior_mean=0.5, prior_sd=2.0, noise_sd=0.7, initial_pulls=1),
        oracle.thompson(0.5, 2.0, 0.7, 1),
    ),
    "thompson-sample": (
        db.ThompsonSampling(initial_pulls=1, center="sample"),
        oracle.thompson(initial_pulls=1, center="sample"),
    ),
    "beta": (db.BetaThompson(), oracle.beta_thompson()),
    "beta-prior": (db.BetaThompson(alpha=2.0, beta=3.0), oracle.beta_thompson(2.0, 3.0)),
    "epsilon": (db.EpsilonGreedy(), oracle.epsilon_greedy()),
    "epsilon-wide": (db.EpsilonGreedy(epsilon=0.4), oracle.epsilon_greedy(0.4)),
    "uniform": (db.Uniform(), oracle.uniform()),
}
DETERMINISTIC = ("etc", "etc-short", "ucb", "ucb-wide", "greedy")

_values = np.random.default_rng(20260101)
SKEWED = [_values.exponential(1.0 + k / 2, 30 + k) for k in range(3)]
WINS = [np.repeat([1.0, 0.0], [9, 21]), np.repeat([1.0, 0.0], [18, 12]), np.repeat([1.0, 0.0], [15, 14])]

WORLDS = {
    "normal": db.worlds.Normal(means=[1.0, 1.5, 1.2], sds=[1.0, 0.5, 2.0]),
    "bernoulli": db.worlds.Bernoulli(means=[0.3, 0.6, 0.5]),
    "empirical": db.worlds.Empirical(SKEWED),
    "empirical-binary": db.worlds.Empirical(WINS),
    "multiplier-gaussian": db.worlds.Multiplier(SKEWED),
    "multiplier-rademacher": db.worlds.Multiplier(SKEWED, weights="rademacher"),
}

ALLOWED = [
    (rule, world) for rule in RULES for world in WORLDS if WORLDS[world].binary or not RULES[rule][0].binary_rewards
]


def z_scores(difference, *errors):
    """How many combined standard errors a difference is away from 0."""
    return difference / np.sqrt(sum(np.square(error) for error in errors))
