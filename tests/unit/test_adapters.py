"""MABWiser's and River's policies as rules, with the real packages, which are large and imported only here."""

import pickle
import subprocess
import sys

import numpy as np
import object_rules
import pytest

import debandit as db
from debandit.policies import as_policy

NORMAL = db.worlds.Normal([1.0, 1.5, 1.2], [1.0, 0.5, 2.0])
BERNOULLI = db.worlds.Bernoulli([0.3, 0.6])
MABWISER = [
    "EpsilonGreedy(epsilon=0.2)",
    "Popularity",
    "Random()",
    "Softmax(tau=0.5)",
    "ThompsonSampling()",
    "UCB1(alpha=0.5)",
]
RIVER = [
    "BayesUCB",
    "EpsilonGreedy(epsilon=0.2, decay=0.01)",
    "Exp3(gamma=0.2)",
    "RandomPolicy",
    "ThompsonSampling(reward_obj=Beta(alpha=2))",
    "UCB(delta=0.5, reward_obj=EWMean(fading_factor=0.3))",
]


@pytest.mark.parametrize(
    "text", [*(f"mabwiser(policy={policy})" for policy in MABWISER), *(f"river(policy={policy})" for policy in RIVER)]
)
def test_every_policy_runs_and_repeats(text):
    """Twice the same under one seed, another under another, and told of the rewards if it cares for them."""
    options = {"horizon": 25, "runs": 15, "paths": True, "threads": 1}
    one, again, other = (db.simulate(text, BERNOULLI, seed=seed, **options) for seed in (4, 4, 5))
    np.testing.assert_array_equal(one.path_arms, again.path_arms)
    assert not np.array_equal(one.path_arms, other.path_arms)
    best_first = db.simulate(text, db.worlds.Bernoulli([0.98, 0.02]), seed=4, **options).pulls.sum(axis=0)
    best_last = db.simulate(text, db.worlds.Bernoulli([0.02, 0.98]), seed=4, **options).pulls.sum(axis=0)
    indifferent = "Random" in text
    assert (best_first[0] > best_last[0] + 25) == (not indifferent)


@pytest.mark.parametrize("text", ["mabwiser(policy=UCB1(alpha=0.7))", "river(policy=UCB(delta=0.7, burn_in=1))"])
def test_their_ucb_chooses_the_same_arms_as_ours(text):
    """alpha * sqrt(2 log(rounds so far) / pulls): ours with c = alpha * sqrt(2) and a clock one round behind."""
    options = {"horizon": 60, "runs": 30, "seed": 4, "paths": True, "threads": 1}
    theirs = db.simulate(text, NORMAL, **options).path_arms
    for late, equal in ((1, True), (0, False)):
        ours = db.simulate(object_rules.Confident(c=0.7 * np.sqrt(2), late=late), NORMAL, **options).path_arms
        assert np.array_equal(ours, theirs) == equal


def test_objects_are_written_down():
    from mabwiser.mab import LearningPolicy
    from river import bandit, proba

    rules = {
        db.MABWiserRule(LearningPolicy.EpsilonGreedy(epsilon=0.2)): "mabwiser(policy=EpsilonGreedy(epsilon=0.2))",
        db.RiverRule(bandit.ThompsonSampling(proba.Beta(2, 3), seed=9)): (
            "river(policy=ThompsonSampling(reward_obj=Beta(alpha=2, beta=3), burn_in=0))"
        ),
    }
    for rule, text in rules.items():
        assert rule == as_policy(text) == as_policy(str(rule)) == pickle.loads(pickle.dumps(rule))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mabwiser(policy=LinUCB(alpha=1))", "no such policy(.|\n)*There are EpsilonGreedy, Popularity, Random"),
        ("mabwiser(policy=EpsilonGreedy(eps=1))", "cannot make 'EpsilonGreedy.eps=1.' .TypeError"),
        ("mabwiser(policy=EpsilonGreedy(epsilon=open('x')))", "cannot read"),
        ("mabwiser(policy='EpsilonGreedy(epsilon=open(1))')", "cannot make .* .ValueError: malformed node"),
        ("river(policy='UCB(delta=eval(source=1))')", "cannot make .* .ValueError: malformed node"),
        ("mabwiser(policy=UCB1, initial_pulls=-1)", "initial_pulls must be a whole number"),
        ("mabwiser(policy=EpsilonGreedy(epsilon=7))", "failed in run 0, round 1 .ValueError: The value of epsilon"),
        ("river(policy=Mean())", "no such policy"),
        ("river(policy=LinUCBDisjoint(alpha=1))", "no such policy"),
        ("river(policy='UCB(')", "cannot make 'UCB.' .SyntaxError"),
        ("river(policy=UCB(delta=1, seed=3))", "TypeError.*seed"),
        ("mabwiser", "mabwiser needs policy"),
    ],
)
def test_mistakes(text, message):
    with pytest.raises(db.InputError, match=message):
        db.simulate(text, BERNOULLI, horizon=20, runs=10)


def test_rewards_that_the_package_refuses():
    with pytest.raises(db.InputError, match=r"failed in run 0, round 3 .ValueError: Thompson Sampling requires binary"):
        db.simulate("mabwiser(policy=ThompsonSampling)", NORMAL, horizon=20, runs=10)


def test_an_object_that_cannot_be_written_down():
    from river import bandit, preprocessing

    scaled = bandit.UCB(delta=1, reward_scaler=preprocessing.TargetStandardScaler(None))
    with pytest.raises(db.InputError, match="write an ObjectRule"):
        db.RiverRule(scaled)


@pytest.mark.parametrize("package", ["mabwiser", "river"])
def test_a_package_that_is_not_installed(package):
    code = f"import sys; sys.modules[{package!r}] = None; from debandit.cli import main; sys.exit(main())"
    arguments = ["simulate", "--policy", f"{package}(policy=UCB)", "--world", "bernoulli(means=[0.3,0.6])"]
    done = subprocess.run([sys.executable, "-c", code, *arguments, "--horizon", "9"], capture_output=True, text=True)
    assert done.returncode == 2
    assert f"{package} cannot be imported" in done.stderr
    assert f"pip install 'debandit[{package}]'" in done.stderr
    assert "Traceback" not in done.stderr
