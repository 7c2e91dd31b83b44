"""Rules that are Python objects obey the same laws as the built-in rules that they are."""

import numpy as np
import object_rules
import pytest
from catalogue import Z, z_scores

import debandit as db

RUNS, HORIZON = 1500, 30
WORLD = db.worlds.Bernoulli([0.3, 0.7])
# (object, the same rule compiled, one that is not)
ALIKE = {
    "ucb": (object_rules.Confident(), db.UCB(), db.UCB(c=2.0)),
    "epsilon": (object_rules.Explorer(epsilon=0.1), db.EpsilonGreedy(epsilon=0.1), db.EpsilonGreedy(epsilon=0.4)),
    "river-epsilon": (
        "river(policy=EpsilonGreedy(epsilon=0.1, burn_in=1))",
        db.EpsilonGreedy(epsilon=0.1),
        db.EpsilonGreedy(epsilon=0.4),
    ),
    "river-beta": (
        "river(policy=ThompsonSampling(reward_obj=Beta()))",
        db.BetaThompson(),
        db.BetaThompson(alpha=4.0, beta=4.0),
    ),
}
SLOW = {  # fewer runs, and so a control that is farther off
    "mabwiser-epsilon": ("mabwiser(policy=EpsilonGreedy(epsilon=0.1))", db.EpsilonGreedy(epsilon=0.1), db.Uniform()),
    "mabwiser-beta": ("mabwiser(policy=ThompsonSampling, initial_pulls=0)", db.BetaThompson(), db.Uniform()),
}


def moments(rule, runs, seed):
    """Of pulls, their squares, and the totals of each arm: mean and standard error."""
    done = db.simulate(rule, WORLD, horizon=HORIZON, runs=runs, seed=seed, threads=1)  # without processes to start
    values = np.concatenate([done.pulls, done.pulls**2, done.sums], axis=1)
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(runs)


@pytest.mark.parametrize("name", [*ALIKE, *SLOW])
def test_the_law_is_that_of_the_compiled_rule(name):
    rule, built_in, control = {**ALIKE, **SLOW}[name]
    (ours, error), theirs, wrong = (
        moments(rule, 250 if name in SLOW else RUNS, 31),
        moments(built_in, 100_000, 32),
        moments(control, 100_000, 33),
    )
    assert np.abs(z_scores(ours - theirs[0], error, theirs[1])).max() < Z
    assert np.abs(z_scores(ours - wrong[0], error, wrong[1])).max() > 2 * Z


@pytest.mark.parametrize("world", [WORLD, db.worlds.Normal([1.0, 1.5], [1.0, 2.0])], ids=["bernoulli", "normal"])
def test_wald_s_identity(world):
    """E[S - mean * N] = 0 for every rule that does not look ahead; not so with another mean."""
    runs = db.simulate(object_rules.Explorer(), world, horizon=HORIZON, runs=RUNS, seed=34, threads=1)

    def score(truth):
        excess = runs.sums - truth * runs.pulls
        return np.abs(excess.mean(axis=0) / (excess.std(axis=0, ddof=1) / np.sqrt(RUNS))).max()

    assert score(world.means) < Z
    assert score(world.means + 0.2) > 2 * Z
