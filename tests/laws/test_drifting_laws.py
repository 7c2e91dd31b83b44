"""Worlds whose periods move all arms: steps of whole batches and drawn rounds against the oracle, with controls."""

import functools

import numpy as np
import oracle
import pytest
from catalogue import Z, z_scores

import debandit as db
from debandit.engine.experiment import SIMULATE, experiment_of
from debandit.policies import as_policy

SIZE, HORIZON, BATCH = 8, 48, 9  # batches lie across the ends of periods
EFFECTS, NONE = (0.0, -2.0, 2.5), (0.0, 0.0, 0.0)
LATER = (-2.0, 2.5, 0.0)  # the same effects, in other periods: the means of a cycle are the same
ARMS = {"bernoulli": (0.2, 0.35), "normal": ((0.3, 1.0), (0.6, 0.5))}
BATCHED = oracle.Wrapping(size=BATCH)

# (the rule, the oracle's version of it, what is around that)
RULES = {
    "thompson": (f"batched(thompson, {BATCH})", oracle.thompson(), BATCHED),
    "beta": (f"batched(beta_thompson, {BATCH})", oracle.beta_thompson(), BATCHED),
    "epsilon": (f"batched(epsilon_greedy(0.2), {BATCH})", oracle.epsilon_greedy(0.2), BATCHED),
    "ucb": (f"batched(ucb, {BATCH})", oracle.ucb(), BATCHED),
    "late": (f"delayed(batched(thompson, {BATCH}), batches=1)", oracle.thompson(), BATCHED._replace(late_batches=1)),
    "quota": (f"quota(batched(thompson, {BATCH}))", oracle.thompson(), BATCHED._replace(quota=True)),
    "spread": (f"batched(gaussian_thompson, {BATCH})", oracle.gaussian_thompson(), BATCHED),
    "rounds": ("epsilon_greedy(0.2)", oracle.epsilon_greedy(0.2), oracle.Wrapping()),
    "commits": ("etc(6)", oracle.etc(6), oracle.Wrapping()),
}
STEPPED = ("thompson", "beta", "epsilon", "ucb", "late", "spread")
COMMON = [
    ("thompson", "bernoulli"),
    ("thompson", "normal"),
    ("beta", "bernoulli"),
    ("epsilon", "bernoulli"),
    ("epsilon", "normal"),
    ("ucb", "bernoulli"),
    ("ucb", "normal"),
]
OTHERS = [
    ("late", "normal"),
    ("quota", "bernoulli"),
    ("spread", "normal"),
    ("rounds", "bernoulli"),
    ("rounds", "normal"),
    ("commits", "normal"),
]
CASES = [*((*case, EFFECTS) for case in COMMON + OTHERS), *((*case, NONE) for case in COMMON)]


def world_of(world, effects):
    arms = ARMS[world]
    inner = db.worlds.Bernoulli(arms) if world == "bernoulli" else db.worlds.Normal(*zip(*arms, strict=True))
    return db.worlds.Drifting(inner, effects, SIZE)


def moments(pulls, sums, squares):
    values = np.concatenate([pulls, sums, squares, pulls**2, pulls * sums], axis=1)
    return values.mean(axis=0), values.std(axis=0) / np.sqrt(len(values)) + 1e-12


@functools.cache
def slow(rule, world, effects):
    """The squares are about the means of the world over a cycle."""
    _, judge, around = RULES[rule]
    rng, found, truth = np.random.default_rng(11), [], world_of(world, effects).means
    reward_of = oracle.drifting(ARMS[world], effects, SIZE, rng)
    for _ in range(150 if rule == "spread" else 500):
        arms, rewards, _ = oracle.play(judge, around, 2, HORIZON, reward_of, rng)
        values = np.ones(HORIZON), rewards, (rewards - truth[arms]) ** 2
        found.append([np.bincount(arms, each, 2) for each in values])
    return moments(*np.array(found).swapaxes(0, 1))


@functools.cache
def fast(rule, world, effects, paths):
    place = world_of(world, effects)
    number = 1000 if rule in ("quota", "commits") else 4000  # these take longer
    runs = db.simulate(RULES[rule][0], place, horizon=HORIZON, runs=number, seed=3, paths=paths)
    return moments(runs.pulls, runs.sums, runs.squares)


def worst(one, two):
    return np.abs(z_scores(one[0] - two[0], one[1], two[1])).max()


@pytest.mark.parametrize(("rule", "world", "effects"), CASES)
def test_against_the_oracle(rule, world, effects):
    policy, data = as_policy(RULES[rule][0]), world_of(world, effects).data()
    played = experiment_of(policy, data, np.arange(1), horizon=HORIZON, seed=0, purpose=SIMULATE)
    assert played.can_step == (rule in STEPPED)
    steps, rounds = (fast(rule, world, effects, paths) for paths in (False, True))
    assert worst(steps, rounds) < Z
    for ours in (steps, rounds):
        assert worst(ours, slow(rule, world, effects)) < Z
        other = NONE if effects == EFFECTS else EFFECTS
        assert worst(ours, slow(rule, world, other)) > Z  # control


@pytest.mark.parametrize(("rule", "world"), COMMON)
def test_it_matters_when_the_effects_come(rule, world):
    """A control that has the same means over a cycle, and differs only in what the rule makes of the periods."""
    for paths in (False, True):
        assert worst(fast(rule, world, EFFECTS, paths), fast(rule, world, LATER, paths)) > Z


LAWS = {
    "uniform": db.worlds.UniformRewards([0.0, 1.0], [1.0, 0.5]),
    "empirical": db.worlds.Empirical([[0.0, 0.5, 3.0], [1.0, 2.0]]),
    "binary": db.worlds.Empirical([[0, 0, 0, 1], [0, 1, 1]]),
    "smoothed": db.worlds.Smoothed([[0.0, 0.5, 3.0], [1.0, 2.0]], [0.5, 0.1]),
    "multiplier": db.worlds.Multiplier([[0.0, 0.5, 3.0], [1.0, 2.0]], "rademacher"),
    "normal": db.worlds.Normal([0.0, 1.0], [1.0, 0.5]),
    "bernoulli": db.worlds.Bernoulli([0.1, 0.5]),
}


@pytest.mark.parametrize("paths", [False, True])
@pytest.mark.parametrize("law", LAWS)
def test_rewards_have_the_means_and_variances_of_the_world(law, paths):
    """Choices that look at nothing: then every pull of an arm is one at a random time of the cycle."""
    world = db.worlds.Drifting(LAWS[law], [0.0, 0.3, -1.0], 5)
    runs = db.simulate("batched(uniform, 10)", world, horizon=60, runs=3000, seed=5, paths=paths)

    def worst_error(means, variances):
        errors = runs.sums - runs.pulls * means, runs.squares - runs.pulls * variances
        return max(np.abs(e.mean(axis=0) / (e.std(axis=0) / np.sqrt(len(e)))).max() for e in errors)

    assert worst_error(world.means, world.variances) < Z
    assert worst_error(LAWS[law].means, LAWS[law].variances) > Z  # control: as if nothing were moved


def test_each_period_has_its_own_means():
    """Round by round, for laws whose rewards are moved and for those that are drawn anew."""
    for law in LAWS.values():
        world = db.worlds.Drifting(law, [0.0, 0.7, -1.0], 5)
        arms, rewards = db.simulate("uniform", world, horizon=30, runs=4000, seed=6, paths=True).paths()
        periods = np.arange(30) // 5 % 3
        for period, effect in enumerate(world.effects):
            for arm, mean in enumerate(law.means):
                there = rewards[:, periods == period][arms[:, periods == period] == arm]
                odds = mean / (1 - mean) * np.exp(effect) if law.binary else np.nan
                moved = odds / (1 + odds) if law.binary else mean + effect
                error = there.std() / np.sqrt(len(there))
                assert abs(there.mean() - moved) < Z * error
                assert effect == 0 or abs(there.mean() - mean) > Z * error  # control
