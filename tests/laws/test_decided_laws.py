"""Experiments that are decided on the way, in all ways of playing: the oracle and laws, with controls."""

import functools

import numpy as np
import object_rules
import oracle
import pytest
from catalogue import Z, z_scores

import debandit as db
from debandit.policies import as_policy

TRUTH = {2: (0.35, 0.6), 3: (0.3, 0.5, 0.65)}
HORIZON, SIZE = 60, 6
# the rule, the oracle's, its number of arms, the wrappers' text, and what the oracle has around the rule
CASES = {
    "stop-probability": (
        "beta_thompson",
        oracle.beta_thompson(),
        2,
        "stop_when({}, most=60, probability=0.9)",
        {"stop": ("probability", 0.9)},
    ),
    "stop-share": (
        "thompson",
        oracle.thompson(),
        2,
        "stop_when(floor({}, 0.1), most=60, share=0.8)",
        {"stop": ("share", 0.8), "changes": (oracle.mixing([0.1, 0.1]),)},
    ),
    "commit-share": (
        "softmax(0.3)",
        oracle.softmax(0.3),
        3,
        "commit_when(quota({}), share=0.65)",
        {"commit": ("share", 0.65), "quota": True},
    ),
    "commit-probability-stop-failures": (
        "beta_thompson",
        oracle.beta_thompson(),
        2,
        "stop_when(commit_when({}, probability=0.8), most=60, failures=12)",
        {"commit": ("probability", 0.8), "stop": ("failures", 12)},
    ),
    "stop-value": (
        "beta_thompson",
        oracle.beta_thompson(),
        2,
        "stop_when({}, most=60, value_remaining=0.1)",
        {"stop": ("value", 0.1)},
    ),
    "stop-draws-gate": (
        "beta_thompson(draws=10)",
        oracle.beta_thompson(),
        2,
        "stop_when(gate({}, 8), most=60, probability=0.9)",
        {"stop": ("probability", 0.9), "draws": 10, "gate": (8, 0)},
    ),
    "late": (
        "beta_thompson",
        oracle.beta_thompson(),
        2,
        "delayed(stop_when({}, most=60, probability=0.85), batches=2)",
        {"stop": ("probability", 0.85), "late_batches": 2},
    ),
    "commit-failures": ("ucb", oracle.ucb(), 3, "commit_when({}, failures=9)", {"commit": ("failures", 9)}),
    "stop-failures": ("exp3", oracle.exp3(), 3, "stop_when({}, most=60, failures=9)", {"stop": ("failures", 9)}),
}


def moments(pulls, sums):
    rounds = pulls.sum(axis=1, keepdims=True)
    values = np.concatenate([pulls, sums, pulls**2, pulls * sums, rounds, rounds == HORIZON], axis=1)
    return values.mean(axis=0), values.std(axis=0) / np.sqrt(len(values)) + 1e-12


def worst(one, two):
    return np.abs(z_scores(one[0] - two[0], one[1], two[1])).max()


@functools.cache
def slow(case):
    _, judge, arms, _, around = CASES[case]
    rng, found = np.random.default_rng(7), []
    for _ in range(150):
        path, rewards, _ = oracle.play(
            judge,
            oracle.Wrapping(size=SIZE, **around),
            arms,
            HORIZON,
            lambda _, arm: float(rng.random() < TRUTH[arms][arm]),
            rng,
        )
        found.append([np.bincount(path, minlength=arms), np.bincount(path, rewards, arms)])
    return moments(*np.array(found).swapaxes(0, 1))


def fast(case, paths, text=None, runs=3000):
    rule, _, arms, wrap, _ = CASES[case]
    policy = as_policy((wrap if text is None else text).format(f"batched({rule}, {SIZE})"))
    found = db.simulate(policy, db.worlds.Bernoulli(TRUTH[arms]), horizon=HORIZON, runs=runs, seed=3, paths=paths)
    return moments(found.pulls, found.sums)


@pytest.mark.parametrize("case", CASES)
def test_against_the_oracle(case):
    """Whole batches in single steps, and round by round."""
    steps, rounds = (fast(case, paths) for paths in (False, True))
    assert worst(steps, slow(case)) < Z
    assert worst(rounds, slow(case)) < Z
    assert worst(steps, rounds) < Z
    assert worst(steps, fast(case, False, "{}")) > 2 * Z  # control: the rule that is not decided


@pytest.mark.parametrize("text", ["stop_when({}, most=60, failures=6)", "commit_when({}, failures=6)"])
def test_rules_of_every_kind_are_decided_by_failures(text):
    """A compiled rule is decided like the same rule as a Python object, and sums stay fair."""
    place, ended = db.worlds.Bernoulli(TRUTH[3]), []
    for rule in (as_policy("ucb"), object_rules.Confident()):
        wrapped = db.StopWhen(rule, failures=6) if "stop" in text else db.CommitWhen(rule, failures=6)
        runs = db.simulate(wrapped, place, horizon=40, runs=800, seed=5)
        residual = runs.sums - np.array(TRUTH[3]) * runs.pulls
        assert np.abs(z_scores(residual.mean(axis=0), residual.std(axis=0) / np.sqrt(800))).max() < Z
        ended.append(moments(runs.pulls, runs.sums))
    assert worst(*ended) < Z
    plain = db.simulate("ucb", place, horizon=40, runs=800, seed=5)
    assert worst(ended[0], moments(plain.pulls, plain.sums)) > 2 * Z  # control


@pytest.mark.parametrize("case", ["stop-probability", "commit-share", "stop-value", "stop-failures"])
def test_sums_are_fair_although_the_experiment_stops(case):
    """E[S - mu N] = 0 (optional stopping), but the means are not; a world that lies by 0.1 is caught."""
    rule, _, arms, wrap, _ = CASES[case]
    place = db.worlds.Bernoulli(TRUTH[arms])
    runs = db.simulate(as_policy(wrap.format(f"batched({rule}, 5)")), place, horizon=60, runs=8000, seed=11)

    def z(truth):
        residual = runs.sums - truth * runs.pulls
        return np.abs(z_scores(residual.mean(axis=0), residual.std(axis=0) / np.sqrt(8000))).max()

    assert z(place.means) < Z
    assert z(place.means + 0.1) > 2 * Z


@pytest.mark.parametrize("case", CASES)
def test_repeatable_whatever_the_threads(case):
    rule, _, arms, wrap, _ = CASES[case]
    policy, place = as_policy(wrap.format(f"batched({rule}, 5)")), db.worlds.Bernoulli(TRUTH[arms])
    for paths in (False, True):
        one, two = (db.simulate(policy, place, horizon=60, runs=300, seed=8, threads=n, paths=paths) for n in (1, 2))
        few = db.simulate(policy, place, horizon=60, runs=40, seed=8, paths=paths)
        np.testing.assert_array_equal(one.sums, two.sums)
        np.testing.assert_array_equal(one.pulls[:40], few.pulls)


@pytest.mark.parametrize("case", CASES)
def test_logs_of_a_stopped_rule_fit_it(case):
    """Few of its own logs are rejected, and none is impossible; cut by a batch it is."""
    rule, _, arms, wrap, _ = CASES[case]
    policy = as_policy(wrap.format(f"batched({rule}, {SIZE})"))
    runs = db.simulate(policy, db.worlds.Bernoulli(TRUTH[arms]), horizon=HORIZON, runs=15, seed=4, paths=True)
    verdicts = [db.check(runs.log(i), policy).verdict for i in range(15)]
    assert "impossible" not in verdicts
    doubted = verdicts.count("implausible") + verdicts.count("doubtful")
    assert doubted / 15 < 0.05 + Z * np.sqrt(0.05 * 0.95 / 15)
    if "stop" not in case or "draws" in case:  # shares of ten draws may be high at any time
        return
    stopped = [i for i in range(15) if SIZE < runs.pulls[i].sum() < HORIZON]
    assert len(stopped) > 2
    for i in stopped[:3]:
        log = runs.log(i)
        short = db.ExperimentLog(log.rounds.arms[:-SIZE] + 1, log.rounds.rewards[:-SIZE], labels=log.labels)
        assert "Was it stopped by hand?" in db.check(short, policy).first_mismatch
