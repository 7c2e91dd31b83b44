"""Every wrapper around every rule, also around those that remember more than totals, and around a second wrapper."""

import itertools
import math
import warnings

import numpy as np
import object_rules
import oracle
import own_rules
import pytest
from catalogue import OTHERS, RULES, WORLDS, Z, replayed, z_scores

import debandit as db
from debandit.policies import as_policy

EVERY = {name: (policy, None) for name, (policy, _) in RULES.items()} | {
    name: (policy, arms) for name, (policy, _, arms) in OTHERS.items()
}
WRAPPERS = {
    "batched": lambda p: db.Batched(p, size=12),
    "delayed": lambda p: db.Delayed(p, rounds=7),
    "warm_up": lambda p: db.WarmUp(p, rounds=9),
    "gate": lambda p: db.Gate(p, pulls=5),
    "floor": lambda p: db.Floor(p, 0.1),
    "clip": lambda p: db.Floor(p, 0.1, how="clip"),
    "tempered": lambda p: db.Tempered(p, power=0.5),
    "drop": lambda p: db.Drop(p, below=0.1),
    "quota": lambda p: db.Quota(p),
}
BY_CHANCES, RESHAPING = {"clip", "tempered", "drop", "quota"}, {"tempered", "drop"}
PAIRS = [pair for pair in itertools.combinations(WRAPPERS, 2) if pair != ("floor", "clip")]  # the same kind twice
TRUTH = (0.35, 0.6, 0.5)


def wrapped(policy, pair):
    """The first one inside; quotas are of batches, and wait for no part of one."""
    if "quota" in pair and "batched" not in pair:
        policy = db.Batched(policy, size=12)
        policy = db.Delayed(policy, batches=1) if "delayed" in pair else policy
    for name in pair:
        if not ("quota" in pair and name == "delayed"):
            policy = WRAPPERS[name](policy)
    return policy


def refused(name, pair):
    """Ties at random hide what etc committed to, and what has no randomness cannot be reshaped, but with a floor."""
    reshaped = RESHAPING & set(pair[:1] if set(pair) & {"floor", "clip"} else pair)
    return (name == "etc-random" and bool(BY_CHANCES & set(pair))) or (not EVERY[name][0].randomised and bool(reshaped))


@pytest.mark.parametrize("name", EVERY)
def test_wrappers_around_every_rule(name):
    """Refused in a sentence, or simulated, and then its own log is believed and debiased. One pair in six runs."""
    policy, only = EVERY[name]
    place, doubted, played = list(EVERY).index(name), 0, 0
    for pair in PAIRS:
        if refused(name, pair):
            with pytest.raises(db.InputError, match=r"needs the probabilities of|has no randomness"):
                wrapped(policy, pair)
    for i, pair in enumerate(pair for pair in PAIRS if not refused(name, pair)):
        around = wrapped(policy, pair)
        assert as_policy(str(around)) == around
        if (i + place) % 6:
            continue
        world = db.worlds.Bernoulli(TRUTH[: only or 2 + i % 2])
        log = db.simulate(around, world, horizon=60, runs=2, seed=i, paths=True, threads=1).log(1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = db.debias(log, around, runs=64, interval="none", seed=i, threads=1, unseen=(0.5, 0.5))
        assert np.isfinite(result.corrected[log.pulls > 0]).all()
        doubted += any("unlikely" in warning for warning in result.warnings)
        played += 1
    assert played >= (1 if name == "etc-random" else 3)
    assert doubted <= 2  # at a level of 1 %, among six: three have a probability of 2e-5


STATEFUL = {
    "exp3": (db.Exp3(gamma=0.3), oracle.exp3(0.3)),
    "gaussian": (db.GaussianThompson(), oracle.gaussian_thompson()),
    "etc-random": RULES["etc-random"],
}
HEARING = {
    "gate": ("gate({}, 6)", oracle.Wrapping(gate=(6, 0))),
    "gate-successes": ("gate({}, pulls=0, successes=3)", oracle.Wrapping(gate=(0, 3))),
    "late": ("delayed({}, 13)", oracle.Wrapping(late=13)),
    "late-batches": ("delayed(batched({}, 6), batches=2)", oracle.Wrapping(size=6, late_batches=2)),
    "all": ("gate(delayed(batched({}, 4), 5), 4)", oracle.Wrapping(size=4, late=5, gate=(4, 0))),
}


def moments(pulls, sums):
    values = np.concatenate([pulls, sums, pulls**2, pulls * sums], axis=1)
    return values.mean(axis=0), values.std(axis=0) / np.sqrt(len(values)) + 1e-12


def worst(one, two):
    return np.abs(z_scores(one[0] - two[0], one[1], two[1])).max()


@pytest.mark.parametrize("hearing", HEARING)
@pytest.mark.parametrize("rule", STATEFUL)
def test_randomised_rules_against_the_oracle(rule, hearing):
    (policy, judge), (text, around) = STATEFUL[rule], HEARING[hearing]
    rng, slow = np.random.default_rng(7), []
    for _ in range(150):
        path, rewards, _ = oracle.play(judge, around, 3, 45, lambda _, arm: float(rng.random() < TRUTH[arm]), rng)
        slow.append([np.bincount(path, minlength=3), np.bincount(path, rewards, 3)])

    def fast(declared):
        return db.simulate(declared, db.worlds.Bernoulli(TRUTH), horizon=45, runs=4000, seed=3, paths=True)

    runs, plain = fast(as_policy(text.format(policy))), fast(policy)
    found = moments(runs.pulls, runs.sums)
    assert worst(found, moments(*np.array(slow).swapaxes(0, 1))) < Z
    assert worst(found, moments(plain.pulls, plain.sums)) > 2 * Z  # control: the rule alone

    def unlikely(declared):
        """The sum of 1{arm pulled} - P(arm | past) is a martingale, and so is that of its products with P."""
        some = slice(1000)
        chances = replayed(declared, runs.path_arms[some], runs.path_rewards[some], 3)
        surprise = (runs.path_arms[some, :, None] == np.arange(3)) - chances
        sums = np.concatenate([surprise.sum(axis=1), (surprise * chances).sum(axis=1)], axis=1)
        return np.abs(z_scores(sums.mean(axis=0), sums.std(axis=0) / np.sqrt(len(sums)) + 1e-12)).max()

    assert unlikely(as_policy(text.format(policy))) < Z
    assert unlikely(policy) > 2 * Z  # control


def _hopeful(t, pulls, sums, rng):
    """UCB that begins with arms of which it has not heard."""
    return oracle.first_best(
        [s / n + math.sqrt(math.log(t + 1) / n) if n else math.inf for n, s in zip(pulls, sums, strict=True)]
    )


def _repeating():
    memory = {}

    def learn(arm, reward):
        memory.update(arm=arm, enough=reward > 0.5)

    def decide(t, pulls, sums, rng):
        return memory["arm"] if memory["enough"] else (memory["arm"] + 1) % len(pulls)

    return oracle.Rule(1, decide, begin=lambda arms: memory.update(arm=0, enough=False), learn=learn)


DECIDED = {
    "elimination": (OTHERS["elimination"][0], OTHERS["elimination"][1]),
    "ucb-tuned": (OTHERS["ucb-tuned"][0], OTHERS["ucb-tuned"][1]),
    "etc": (RULES["etc-short"][0], RULES["etc-short"][1]),
    "repeater": (own_rules.Repeater(), _repeating()),
    "object": (object_rules.Confident(), oracle.Rule(0, _hopeful)),
}


@pytest.mark.parametrize("hearing", [name for name in HEARING if name != "gate-successes"])
@pytest.mark.parametrize("rule", DECIDED)
def test_deterministic_rules_decide_as_the_oracle_does(rule, hearing):
    """Decision for decision, in the simulation and in the replay."""
    (policy, judge), around = DECIDED[rule], HEARING[hearing][1]
    batched = db.Batched(policy, size=around.size) if around.size > 1 else policy
    late = around.late or around.late_batches
    declared = db.Delayed(batched, rounds=around.late, batches=around.late_batches) if late else batched
    declared = db.Gate(declared, pulls=around.gate[0]) if around.gate else declared
    runs = db.simulate(declared, WORLDS["normal"], horizon=48, runs=12, seed=3, paths=True)
    chances = replayed(declared, runs.path_arms, runs.path_rewards, 3)
    alone, free = replayed(policy, runs.path_arms, runs.path_rewards, 3), 0
    for taken, given, likely in zip(runs.path_arms, runs.path_rewards.tolist(), chances, strict=True):
        chosen, _, own = oracle.play(
            judge,
            around,
            3,
            48,
            lambda t, _, given=given: given[t],
            np.random.default_rng(0),
            arm_of=taken.__getitem__,
        )
        np.testing.assert_array_equal(chosen[own], taken[own])
        np.testing.assert_array_equal(likely[own], np.eye(3)[taken[own]])
        np.testing.assert_allclose(likely[~own].max(axis=-1), 1 / 3 if around.gate else 1)
        free += own.sum()
    assert free > 60
    assert (alone.argmax(axis=-1) != runs.path_arms).any()  # control: without what is around it


def test_objects_draw_uniform_arms_before_the_gate():
    """A run has its gate open as soon as each arm has been pulled 5 times, and not before."""
    runs = db.simulate(
        db.Gate(object_rules.Explorer(), pulls=5), WORLDS["normal"], horizon=50, runs=300, seed=2, paths=True
    )
    made = (runs.path_arms[..., None] == np.arange(3)).cumsum(axis=1)
    closed = np.concatenate([np.ones((300, 1), bool), (made < 5).any(axis=-1)[:, :-1]], axis=1)

    def uniform(which):
        shares = np.array([(runs.path_arms == arm)[which].mean() for arm in range(3)])
        return np.abs(z_scores(shares - 1 / 3, np.sqrt(2 / 9 / which.sum()))).max()

    assert uniform(closed & (np.arange(50) < 15)) < Z  # in the first 15 rounds it cannot be open
    assert uniform(~closed) > 2 * Z  # control


@pytest.mark.parametrize(
    "text", ["floor({}, 0.25, how=clip)", "quota(tempered({}, power=0.3))", "gate(drop({}, 0.3), 4)"]
)
@pytest.mark.parametrize("rule", ["exp3(0.3)", "gaussian_thompson"])
def test_changed_chances_of_rules_that_look_at_more_than_totals(rule, text):
    """1{arm pulled} - P(arm | past) adds up to a martingale, with the replay's chances, not with the rule's own."""
    declared, plain = as_policy(text.format(f"batched({rule}, 9)")), as_policy(f"batched({rule}, 9)")
    runs = db.simulate(declared, db.worlds.Bernoulli(TRUTH), horizon=45, runs=1500, seed=5, paths=True)

    def unlikely(policy):
        chances = replayed(policy, runs.path_arms, runs.path_rewards, 3)
        surprise = (runs.path_arms[..., None] == np.arange(3)) - chances
        sums = np.concatenate([surprise.sum(axis=1), (surprise * chances).sum(axis=1)], axis=1)
        return np.abs(z_scores(sums.mean(axis=0), sums.std(axis=0) / np.sqrt(len(sums)) + 1e-12)).max()

    assert unlikely(declared) < Z
    assert unlikely(plain) > 2 * Z  # control


def test_rules_that_cannot_say_their_chances():
    for policy in (own_rules.Mixed(), own_rules.Sampler(), object_rules.Explorer()):
        for wrap in (WRAPPERS["clip"], WRAPPERS["tempered"], WRAPPERS["drop"], WRAPPERS["quota"]):
            with pytest.raises(db.InputError, match=f"{policy.name}.* does not give them"):
                wrap(db.Batched(policy, size=12))
    for wrap in (WRAPPERS["gate"], WRAPPERS["delayed"], WRAPPERS["floor"]):
        for policy in (own_rules.Mixed(), object_rules.Explorer()):
            db.simulate(wrap(policy), WORLDS["bernoulli"], horizon=30, runs=3)
