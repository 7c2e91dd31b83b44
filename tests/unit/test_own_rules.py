"""Rules of one's own: written as scores or selections, compiled, kept, sent to other processes, and refused."""

import dataclasses
from pathlib import Path

import numpy as np
import own_rules
import pytest
from catalogue import replayed

import debandit as db
from debandit.engine import rounds
from debandit.executors import processes
from debandit.policies import as_policy
from debandit.policies.history import History
from debandit.replay import propensities

FILE = Path(own_rules.__file__)
NORMAL = db.worlds.Normal([1.0, 1.5, 1.2], [1.0, 0.5, 2.0])
BERNOULLI = db.worlds.Bernoulli([0.3, 0.6])


def optimist(c):
    """From the file by its name, so that it is compiled once for all that is tested here."""
    return as_policy(f"{FILE}:Optimist(c={c})")


def same(one, two):
    np.testing.assert_array_equal(one.pulls, two.pulls)
    np.testing.assert_array_equal(one.sums, two.sums)


@pytest.mark.parametrize("world", [NORMAL, BERNOULLI], ids=["normal", "bernoulli"])
def test_a_score_by_hand_is_the_built_in_rule_bit_for_bit(world):
    options = {"horizon": 80, "runs": 3000, "seed": 4}
    same(db.simulate(optimist(0.7), world, **options), db.simulate(db.UCB(c=0.7), world, **options))
    other = db.simulate(optimist(0.8), world, **options)
    assert not np.array_equal(other.pulls, db.simulate(db.UCB(c=0.7), world, **options).pulls)


def test_a_memory_of_its_own():
    """Arms pay 1, 0 and 1: round 1 to 3 forced; then arm 3 paid and stays. With arms 0, 1, 0 the second stays."""

    def choices(rewards):
        world = db.worlds.Normal(rewards, np.zeros(3))
        return db.simulate(own_rules.Repeater(), world, horizon=8, runs=1, paths=True).path_arms[0].tolist()

    assert choices([1.0, 0.0, 1.0]) == [0, 1, 2, 2, 2, 2, 2, 2]
    assert choices([0.0, 1.0, 0.0]) == [0, 1, 2, 0, 1, 1, 1, 1]
    assert choices([0.0, 0.0, 0.0]) == [0, 1, 2, 0, 1, 2, 0, 1]


def test_replay_of_a_rule_of_one_s_own():
    for rule in (optimist(1.0), own_rules.Repeater()):
        runs = db.simulate(rule, BERNOULLI, horizon=50, runs=20, seed=4, paths=True)
        chances = replayed(rule, runs.path_arms, runs.path_rewards, 2)
        np.testing.assert_array_equal(np.argmax(chances, axis=-1), runs.path_arms)
    assert own_rules.Mixed().replay(History(runs.path_arms, runs.path_rewards, 2)) is None
    with pytest.raises(db.InputError, match="does not say how likely"):
        propensities(runs.log(0), own_rules.Mixed())


@dataclasses.dataclass(frozen=True)
class SurelyLost(own_rules.Lost):
    randomised = False


@dataclasses.dataclass(frozen=True)
class SurelyFaulty(own_rules.Faulty):
    randomised = False


def test_a_rule_that_fails_in_the_replay():
    log = db.ExperimentLog(["A", "B", *"AAAAAA"], np.ones(8))
    with pytest.raises(db.InputError, match="chose an arm that does not exist, in round 7"):
        db.check(log, SurelyLost())
    with pytest.raises(db.InputError, match=r"failed in the replay of the log \(ValueError: too much luck"):
        db.check(log, SurelyFaulty())


def test_a_rule_of_one_s_own_debiases():
    runs = db.simulate(db.UCB(), BERNOULLI, horizon=50, runs=1, seed=4, paths=True)
    ours, theirs = (db.debias(runs.log(0), rule, runs=2000, seed=1) for rule in (optimist(1.0), db.UCB()))
    np.testing.assert_array_equal(ours.bias, theirs.bias)


@pytest.fixture(scope="module")
def elsewhere():
    """A single process, for each compiles what it plays."""
    with processes(1) as executor:
        yield executor


@pytest.mark.parametrize("rule", [own_rules.Mixed(), own_rules.Repeater()], ids=lambda rule: rule.name)
def test_threads_processes_and_chunks_change_no_bit(elsewhere, rule):
    options = {"horizon": 30, "runs": 3000, "seed": 4}
    one = db.simulate(rule, NORMAL, threads=1, **options)
    same(one, db.simulate(rule, NORMAL, threads=2, **options))
    same(one, db.simulate(rule, NORMAL, executor=elsewhere, **options))


def test_from_a_file_by_name(elsewhere):
    options = {"horizon": 60, "runs": 2000, "seed": 4}
    by_name = db.simulate(f"{FILE}:Optimist(c=0.7)", NORMAL, **options)
    same(by_name, db.simulate(db.UCB(c=0.7), NORMAL, **options))
    same(by_name, db.simulate(f"{FILE}:Optimist(c=0.7)", NORMAL, executor=elsewhere, **options))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{FILE}:Optimism", "there is no rule 'Optimism'(.|\n)*Did you mean Optimist"),
        (f"{FILE}:Optimist(d=1)", "Optimist has no option 'd'"),
        (f"{FILE}:UCB", "there is no rule 'UCB'"),  # imported there, not made there
        ("nowhere.py:Rule", "nowhere.py: there is no such file"),
    ],
)
def test_mistakes_in_the_name(text, message):
    with pytest.raises(db.InputError, match=message):
        db.simulate(text, NORMAL, horizon=20, runs=10)


def test_a_file_that_fails(tmp_path):
    file = tmp_path / "broken.py"
    file.write_text("import debandit\n1 / 0\n")
    with pytest.raises(db.InputError, match=r"cannot run the file .ZeroDivisionError: division by zero"):
        db.simulate(f"{file}:Rule", NORMAL, horizon=20, runs=10)


def test_an_arm_that_does_not_exist_names_run_and_round():
    with pytest.raises(db.InputError, match="chose an arm that does not exist, in run 0, round 7"):
        db.simulate(own_rules.Lost(), NORMAL, horizon=20, runs=300, threads=1)


def test_functions_that_make_no_sense():
    with pytest.raises(
        db.InputError, match=r"Misspelt.score wants 'pull', which does not exist\n  It may name mean, pulls"
    ):
        db.simulate(own_rules.Misspelt(), NORMAL, horizon=20, runs=10)
    with pytest.raises(db.InputError, match=r"wasteful cannot be compiled .it makes new arrays(.|\n)*Write a loop"):
        db.simulate(own_rules.Wasteful(), NORMAL, horizon=20, runs=10)
    with pytest.raises(db.InputError, match="untyped cannot be compiled"):
        db.simulate(own_rules.Untyped(), NORMAL, horizon=20, runs=10)

    @dataclasses.dataclass(frozen=True)
    class Empty(db.ScoreRule):
        name = "empty"

    with pytest.raises(db.InputError, match="Empty has no function score"):
        db.simulate(Empty(), NORMAL, horizon=20, runs=10)


def test_a_compiled_rule_that_raises_names_run_and_round():
    """Arm 0 always wins in the one world: its sum is above 3 after rounds 1, 3, 4 and 5. In the other seldom."""
    with pytest.raises(db.InputError, match=r"failed in run 0, round 6 \(ValueError: too much luck\)"):
        db.simulate(own_rules.Faulty(), db.worlds.Bernoulli([1.0, 0.5]), horizon=20, runs=100)
    with pytest.raises(db.InputError, match=r"failed in run [1-9]\d*, round 6 "):
        db.simulate(own_rules.Faulty(), db.worlds.Bernoulli([0.3, 0.5]), horizon=6, runs=3000, seed=1)


def test_short_memory_is_not_the_fault_of_a_rule(monkeypatch):
    """When it is looked for, no run fails any more."""
    play, short = rounds._run, iter([MemoryError])

    def played(*arguments):
        for error in short:
            raise error
        return play(*arguments)

    monkeypatch.setattr(rounds, "_run", played)
    with pytest.raises(MemoryError):
        db.simulate("fixed_weights([0.5, 0.5])", db.worlds.Bernoulli([0.3, 0.6]), horizon=9, runs=5, threads=1)
