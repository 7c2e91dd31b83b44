"""Is the rule that made a log named, with all built-in rules competing and their options free?"""

import numpy as np
import pytest
from catalogue import Z

import debandit as db
from debandit.identification import identify

WORLDS = {
    2: db.worlds.Normal(means=[1.0, 1.5], sds=[1.0, 1.0]),
    3: db.worlds.Normal(means=[1.0, 1.5, 1.2], sds=[1.0, 1.0, 1.0]),
}
HORIZON, LOGS = 200, 16
DEFAULTS = ("etc", "ucb", "epsilon_greedy", "thompson")
OTHERS = {
    "etc(pulls=5)": ("pulls", 5),
    "ucb(c=2.0)": ("c", 2.0),
    "epsilon_greedy(epsilon=0.2)": ("epsilon", 0.2),
    "thompson(noise_sd=2.0)": ("noise_sd", 2.0),
}


def found(policy, world):
    """What is identified in 16 logs, of which at least ten must name the right family; half of them are too few."""
    runs = db.simulate(policy, world, horizon=HORIZON, runs=LOGS, seed=1, paths=True, threads=1)
    return [identify(runs.log(run)) for run in range(LOGS)]


def not_below(share, outcomes):
    """Whether so many successes are believable if their probability is `share`; half of it never is."""
    error = np.sqrt(share * (1 - share) / len(outcomes))
    return np.mean(outcomes) > share - Z * error


def test_control_half_of_the_logs_would_be_too_few():
    assert not not_below(0.9, [True, False] * (LOGS // 2))


def assert_named(family, answers):
    """Measured with 100 logs each, and with all rules, in docs/identify.md."""
    assert not_below(0.9, [each.policy.name == family for each in answers])
    clear = [each.policy.name == family for each in answers if each.verdict == "clear"]
    assert not clear or not_below(0.95, clear)  # what the word promises


@pytest.mark.parametrize("policy", DEFAULTS)
def test_the_right_family_of_three_arms_is_named_in_nine_of_ten_logs(policy):
    assert_named(policy, found(policy, WORLDS[3]))


@pytest.mark.parametrize("policy", OTHERS)
def test_the_right_family_of_two_arms_and_its_options_are_found(policy):
    """The median estimate is within a tenth of the truth, also away from the defaults."""
    (option, truth), family = OTHERS[policy], policy.partition("(")[0]
    answers = found(policy, WORLDS[2])
    assert_named(family, answers)
    named = [each.policy for each in answers if each.policy.name == family]
    assert np.median([getattr(rule, option) for rule in named]) == pytest.approx(truth, rel=0.1)


def test_control_the_order_of_the_rounds_matters():
    """The rounds of UCB logs in random order are not UCB logs."""
    rng = np.random.default_rng(1)
    runs = db.simulate("ucb", WORLDS[2], horizon=HORIZON, runs=10, seed=3, paths=True)
    for run in range(10):
        rounds, order = runs.log(run).rounds, rng.permutation(HORIZON)
        shuffled = db.ExperimentLog(rounds.arms[order], rounds.rewards[order], labels=[0, 1])
        assert all(each.policy.name != "ucb" or each.impossible for each in identify(shuffled).candidates)
