"""Every built-in rule beside the oracle's version of it, and one world of each kind."""

import numpy as np
import oracle

import debandit as db
from debandit.policies.history import History

Z = 4.5  # standard errors; every statistical tolerance in these tests is this many of them

RULES = {
    "etc": (db.ExploreThenCommit(pulls=10), oracle.etc(10)),
    "etc-short": (db.ExploreThenCommit(pulls=3), oracle.etc(3)),
    "etc-random": (db.ExploreThenCommit(pulls=3, ties="random"), oracle.etc(3, "random")),
    "etc-turns": (db.ExploreThenCommit(pulls=3, order="turns"), oracle.etc(3, in_turns=True)),
    "ucb": (db.UCB(), oracle.ucb()),
    "ucb-wide": (db.UCB(c=2.0), oracle.ucb(2.0)),
    "ucb-random": (db.UCB(c=0.0, ties="random"), oracle.ucb(0.0, ties="random")),  # without a bonus ties are common
    "ucb-last": (db.UCB(c=0.0, initial_pulls=3, ties="last"), oracle.ucb(0.0, opening=3, ties="last")),
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
    "beta-prior": (db.BetaThompson(alpha=2.0, beta=3.0, initial_pulls=2), oracle.beta_thompson(2.0, 3.0, 2)),
    "epsilon": (db.EpsilonGreedy(), oracle.epsilon_greedy()),
    "epsilon-wide": (db.EpsilonGreedy(epsilon=0.4), oracle.epsilon_greedy(0.4)),
    "epsilon-random": (
        db.EpsilonGreedy(epsilon=0.2, initial_pulls=2, ties="random"),
        oracle.epsilon_greedy(0.2, 2, "random"),
    ),
    "uniform": (db.Uniform(), oracle.uniform()),
    "greedy-twice": (db.Greedy(initial_pulls=2), oracle.greedy(2)),
    "decaying": (db.DecayingEpsilonGreedy(), oracle.decaying_epsilon_greedy()),
    "decaying-slowly": (db.DecayingEpsilonGreedy(scale=2, power=0.5), oracle.decaying_epsilon_greedy(2, 0.5)),
    "softmax": (db.Softmax(temperature=0.2), oracle.softmax(0.2)),
    "inverse-gap": (db.InverseGap(gamma=10.0), oracle.inverse_gap(10.0)),
    "inverse-gap-floor": (db.InverseGap(gamma=200.0, floor=0.3), oracle.inverse_gap(200.0, 0.3)),
    "top-two": (db.TopTwoThompson(leader=0.7), oracle.top_two_thompson(0.7)),  # with 1/2 and two arms: uniform
    "top-two-prior": (
        db.TopTwoThompson(leader=0.8, prior_mean=0.5, prior_sd=2.0, noise_sd=0.5, initial_pulls=1),
        oracle.top_two_thompson(0.8, 0.5, 2.0, 0.5, 1),
    ),
    "urn": (db.PlayTheWinner(), oracle.play_the_winner()),
    "urn-slow": (db.PlayTheWinner(balls=3.0, added=0.5), oracle.play_the_winner(3.0, 0.5)),
}
DETERMINISTIC = tuple(name for name, (policy, _) in RULES.items() if not policy.randomised)

# rules that look at more than totals, or are for one number of arms only (if there are just two, one is the leader and
# the other the challenger): (policy, oracle's version, arms)
OTHERS = {
    "kl-ucb": (db.KLUCB(), oracle.kl_ucb(), 3),
    "kl-ucb-wide": (db.KLUCB(c=3.0), oracle.kl_ucb(3.0), 3),
    "ucb-tuned": (db.UCBTuned(), oracle.ucb_tuned(), 3),
    "gaussian": (db.GaussianThompson(), oracle.gaussian_thompson(), 3),
    "gaussian-prior": (
        db.GaussianThompson(prior_mean=0.4, prior_sd=0.1, initial_pulls=3),
        oracle.gaussian_thompson(0.4, 0.1**-2, 3),
        3,
    ),
    "exp3": (db.Exp3(gamma=0.3), oracle.exp3(0.3), 3),
    "exp3-scaled": (db.Exp3(gamma=0.4, low=-0.5, high=1.0), oracle.exp3(0.4, -0.5, 1.0), 3),
    "elimination": (db.SuccessiveElimination(delta=0.5, sd=0.1), oracle.successive_elimination(0.5, 0.1), 3),
    "postdiff": (db.TSPostDiff(c=0.2), oracle.ts_postdiff(0.2), 2),
    "leader": (db.LeaderChallenger(), oracle.leader_challenger(), 3),
    "leader-alone": (db.LeaderChallenger(share=1.0, z=0.5), oracle.leader_challenger(1.0, 0.5), 3),
    "weights": (db.FixedWeights((0.5, 0.2, 0.3)), oracle.fixed_weights((0.5, 0.2, 0.3)), 3),
}

_values = np.random.default_rng(20260101)
SKEWED = [_values.exponential(1.0 + k / 2, 30 + k) for k in range(3)]
WINS = [np.repeat([1.0, 0.0], [9, 21]), np.repeat([1.0, 0.0], [18, 12]), np.repeat([1.0, 0.0], [15, 14])]

WORLDS = {
    "normal": db.worlds.Normal(means=[1.0, 1.5, 1.2], sds=[1.0, 0.5, 2.0]),
    "uniform": db.worlds.UniformRewards(means=[1.0, 1.5, 1.2], half_widths=[1.0, 0.5, 2.0]),
    "bernoulli": db.worlds.Bernoulli(means=[0.3, 0.6, 0.5]),
    "empirical": db.worlds.Empirical(SKEWED),
    "empirical-binary": db.worlds.Empirical(WINS),
    "smoothed": db.worlds.Smoothed(SKEWED, sds=[0.5, 0.1, 1.0]),
    "multiplier-gaussian": db.worlds.Multiplier(SKEWED),
    "multiplier-rademacher": db.worlds.Multiplier(SKEWED, weights="rademacher"),
}

ALLOWED = [
    (rule, world) for rule in RULES for world in WORLDS if WORLDS[world].binary or not RULES[rule][0].binary_rewards
]


def replayed(policy, arms, rewards, arm_count):
    """The chances of each arm that the rule had in every round."""
    return policy.replay(History(arms, rewards, arm_count)).chances


def z_scores(difference, *errors):
    """How many combined standard errors a difference is away from 0."""
    return difference / np.sqrt(sum(np.square(error) for error in errors))
