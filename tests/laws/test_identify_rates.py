"""Is the rule that made a log named, with all built-in rules competing and their options free?"""

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np
import pytest

import debandit as db
from debandit.identification import identify

WORLDS = {
    2: db.worlds.Normal(means=[1.0, 1.5], sds=[1.0, 1.0]),
    3: db.worlds.Normal(means=[1.0, 1.5, 1.2], sds=[1.0, 1.0, 1.0]),
}
HORIZON = 200
DEFAULTS = ("etc", "ucb", "epsilon_greedy", "thompson")
OTHERS = {
    "etc(pulls=5)": ("pulls", 5),
    "ucb(c=2.0)": ("c", 2.0),
    "epsilon_greedy(epsilon=0.2)": ("epsilon", 0.2),
    "thompson(noise_sd=2.0)": ("noise_sd", 2.0),
}


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield executor


def found(policy, world, seed, logs):
    """What is identified in the logs of one block of runs."""
    runs = db.simulate(policy, world, horizon=HORIZON, runs=logs, seed=seed, paths=True, threads=1)
    return [identify(runs.log(run)) for run in range(logs)]


def all_found(pool, policy, world, logs):
    halves = pool.map(partial(found, policy, world, logs=logs // 2), (1, 2))
    return [each for half in halves for each in half]


@pytest.mark.parametrize("arm_count", WORLDS)
@pytest.mark.parametrize("policy", DEFAULTS)
def test_the_right_family_is_named_in_nine_of_ten_logs(pool, policy, arm_count):
    answers = all_found(pool, policy, WORLDS[arm_count], 100)
    right = [each.policy.name == policy for each in answers]
    assert np.mean(right) >= 0.9
    clear = [each.policy.name == policy for each in answers if each.verdict == "clear"]
    assert not clear or np.mean(clear) >= 0.95  # what the word promises


@pytest.mark.parametrize("policy", OTHERS)
def test_options_are_found(pool, policy):
    """The median estimate is within a tenth of the truth, also away from the defaults."""
    option, truth = OTHERS[policy]
    answers = all_found(pool, policy, WORLDS[2], 40)
    named = [each.policy for each in answers if each.policy.name == policy.partition("(")[0]]
    assert len(named) >= 0.9 * len(answers)
    assert np.median([getattr(rule, option) for rule in named]) == pytest.approx(truth, rel=0.1)


def test_control_the_order_of_the_rounds_matters():
    """The rounds of UCB logs in random order are not UCB logs."""
    rng = np.random.default_rng(1)
    runs = db.simulate("ucb", WORLDS[2], horizon=HORIZON, runs=10, seed=3, paths=True)
    for run in range(10):
        rounds, order = runs.log(run).rounds, rng.permutation(HORIZON)
        shuffled = db.ExperimentLog(rounds.arms[order], rounds.rewards[order], labels=[0, 1])
        assert all(each.policy.name != "ucb" or each.impossible for each in identify(shuffled).candidates)
