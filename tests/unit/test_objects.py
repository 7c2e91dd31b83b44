"""Rules that are Python objects: run in this process or in others, replayed, and refused."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import object_rules
import pytest
from catalogue import replayed

import debandit as db
from debandit.cli import main
from debandit.engine import objects, spread
from debandit.executors import processes
from debandit.simulation import tally

NORMAL = db.worlds.Normal([1.0, 1.5, 1.2], [1.0, 0.5, 2.0])
BERNOULLI = db.worlds.Bernoulli([0.3, 0.6])
OPTIONS = {"horizon": 30, "runs": 70, "seed": 4}


def same(one, two, names=("pulls", "sums", "path_arms", "path_rewards")):
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_the_decisions_are_those_of_the_built_in_rule():
    """UCB as an object, and the compiled rule's own account of the paths that it made."""
    runs = db.simulate(object_rules.Confident(c=0.7), NORMAL, paths=True, **OPTIONS)
    chances = replayed(db.UCB(c=0.7), runs.path_arms, runs.path_rewards, 3)
    np.testing.assert_array_equal(np.argmax(chances, axis=-1), runs.path_arms)
    other = replayed(db.UCB(c=0.8), runs.path_arms, runs.path_rewards, 3)
    assert not np.array_equal(np.argmax(other, axis=-1), runs.path_arms)


def test_the_rewards_are_the_world_s():
    """With variance 0 a reward is the arm's mean; totals are those of the path."""
    world = db.worlds.Normal([1.0, 2.0, 3.0], np.zeros(3))
    runs = db.simulate(object_rules.Explorer(epsilon=0.5), world, paths=True, **OPTIONS)
    np.testing.assert_array_equal(runs.path_rewards, np.array([1.0, 2.0, 3.0])[runs.path_arms])
    np.testing.assert_array_equal(runs.pulls, [np.bincount(path, minlength=3) for path in runs.path_arms])
    np.testing.assert_array_equal(runs.sums, runs.pulls * [1.0, 2.0, 3.0])
    assert len(np.unique(runs.path_arms, axis=0)) > 60  # the runs have seeds of their own


def test_the_n_th_pull_of_an_arm_gets_its_n_th_reward():
    """Whatever the rule: two rules in one run are paid the same for the same pull."""
    kept = [
        db.simulate(rule, NORMAL, paths=True, **OPTIONS)
        for rule in (object_rules.Confident(), "river(policy=Exp3(gamma=1))")
    ]
    for arm in range(3):
        one, two = (runs.path_rewards[5][runs.path_arms[5] == arm] for runs in kept)
        n = min(len(one), len(two))
        assert n > 0
        np.testing.assert_array_equal(one[:n], two[:n])


def test_neither_processes_nor_chunks_change_a_bit(monkeypatch):
    rule = object_rules.Explorer()
    one = db.simulate(rule, NORMAL, threads=1, paths=True, **OPTIONS)
    sums = tally(rule, NORMAL, threads=1, **OPTIONS)
    started = []
    pool = spread.process_pool
    monkeypatch.setattr(spread, "process_pool", lambda *a, **k: started.append(a) or pool(*a, **k))
    same(one, db.simulate(rule, NORMAL, threads=2, paths=True, **OPTIONS))
    assert not started  # it is too little work for that
    monkeypatch.setattr(spread, "_SECONDS_ALONE", 0.0)
    same(one, db.simulate(rule, NORMAL, threads=2, paths=True, **OPTIONS))
    assert started == [(2,)]
    with processes(2) as executor:
        same(one, db.simulate(rule, NORMAL, executor=executor, paths=True, **OPTIONS))
        for got, expected in zip(tally(rule, NORMAL, executor=executor, **OPTIONS), sums, strict=True):
            np.testing.assert_array_equal(got, expected)
    monkeypatch.setattr(spread, "_SECONDS_PER_CHUNK", 0.0)  # a unit at a time
    monkeypatch.setattr(objects, "_NUMBERS_AT_ONCE", 1)  # a run at a time
    same(one, db.simulate(rule, NORMAL, threads=1, paths=True, **OPTIONS))
    for got, expected in zip(tally(rule, NORMAL, threads=1, **OPTIONS), sums, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_tallies_are_the_sums_of_the_runs():
    runs, sums = (run(object_rules.Explorer(), BERNOULLI, threads=1, **OPTIONS) for run in (db.simulate, tally))
    np.testing.assert_allclose(sums.bias[0], runs.bias(), rtol=1e-12)
    np.testing.assert_allclose(sums.bias_se[0], runs.bias_se(), rtol=1e-9)
    np.testing.assert_array_equal(sums.pull_totals[0], runs.pulls.sum(axis=0))


def test_classes_that_another_process_would_not_find(monkeypatch):
    """They are played here, on however little or much work."""
    monkeypatch.setattr(spread, "_SECONDS_ALONE", 0.0)

    @dataclasses.dataclass(frozen=True)
    class Local(object_rules.Explorer):
        pass

    same(
        db.simulate(Local(), NORMAL, threads=2, paths=True, **OPTIONS),
        db.simulate(object_rules.Explorer(), NORMAL, threads=1, paths=True, **OPTIONS),
    )


@pytest.mark.parametrize("what", [3, -1, 1.0, None, "0"])
def test_an_arm_that_does_not_exist(what):
    """Only some runs fail: the message has the first of them, and it is the same with and without processes."""
    with pytest.raises(db.InputError) as caught:
        db.simulate(object_rules.Faulty(what), NORMAL, threads=1, **OPTIONS)
    assert f"the rule chose an arm that does not exist, {what!r}, in run {FIRST}, round 7\n" in str(caught.value)
    assert "Arms are whole numbers from 0 to 2" in str(caught.value)


def seeds(runs):
    return [int(np.random.SeedSequence(4, spawn_key=(1, 0, run)).generate_state(1)[0]) for run in range(runs)]


FIRST = next(run for run, seed in enumerate(seeds(70)) if seed % 8 == 0)


def test_an_object_that_raises():
    assert FIRST > 0
    choosing, learning = (object_rules.Faulty(ValueError("no such luck"), 9, learns) for learns in (False, True))
    message = rf"failed in run {FIRST}, round 9 \(ValueError: no such luck\)"
    for rule in (choosing, learning):
        with pytest.raises(db.InputError, match=message):
            db.simulate(rule, NORMAL, threads=1, **OPTIONS)
    with processes(1) as executor, pytest.raises(db.InputError, match=message):
        db.simulate(learning, NORMAL, executor=executor, **OPTIONS)


def test_an_object_that_cannot_be_made():
    with pytest.raises(db.InputError, match=r"failed in run 0, round 1 \(KeyError: 'nothing'\)"):
        db.simulate(object_rules.Unmade(), NORMAL, **OPTIONS)


def test_an_object_that_does_not_repeat_itself():
    log = db.simulate(db.EpsilonGreedy(), BERNOULLI, horizon=200, runs=1, paths=True).log(0)
    message = r"does not repeat itself(.|\n)*run 0 has arm \d and then arm \d in round \d+\n.*`seed` that make"
    with pytest.raises(db.InputError, match=message):
        db.simulate(object_rules.Forgetful(epsilon=0.9), NORMAL, **OPTIONS)
    with pytest.raises(db.InputError, match=message):
        db.debias(log, object_rules.Forgetful(epsilon=0.9), runs=10)


def test_more_rounds_than_a_table_holds():
    with pytest.raises(db.InputError, match="3 arms times 20,000,000 rounds are too many for a rule of Python objects"):
        db.simulate(object_rules.Explorer(), NORMAL, horizon=20_000_000, runs=1)


def test_the_check_replays_an_object_without_randomness():
    runs = db.simulate(db.UCB(), BERNOULLI, horizon=60, runs=1, seed=4, paths=True)
    assert db.check(runs.log(0), object_rules.Confident()).p_value == 1
    other = db.check(runs.log(0), object_rules.Confident(c=3.0))
    assert other.p_value == 0
    with pytest.raises(db.Refused, match="cannot have made this log"):
        db.debias(runs.log(0), object_rules.Confident(c=3.0))
    with pytest.raises(db.DebanditError, match=r"failed in the replay of the log, round 2 \(ValueError: not mine\)"):
        db.check(runs.log(0), object_rules.Stubborn())


def test_the_check_counts_the_pulls_of_a_randomised_object():
    runs = db.simulate(db.EpsilonGreedy(epsilon=0.1), BERNOULLI, horizon=200, runs=1, seed=4, paths=True)
    fit = db.check(runs.log(0), object_rules.Explorer(epsilon=0.1))
    assert fit.rounds_checked == 0
    assert fit.fits
    assert not db.check(runs.log(0), object_rules.Explorer(epsilon=1.0)).fits


def test_debias_and_study(tmp_path):
    runs = db.simulate(db.UCB(), BERNOULLI, horizon=50, runs=1, seed=4, paths=True)
    result = db.debias(runs.log(0), object_rules.Confident(), runs=100, seed=1)
    again = db.debias(runs.log(0), object_rules.Confident(), runs=100, seed=1, threads=1)
    np.testing.assert_array_equal(result.bias, again.bias)
    assert np.abs(result.bias).min() > 0
    file = tmp_path / "mine.toml"
    file.write_text(
        f'experiments = 4\nruns = 8\nhorizon = 20\n[[cell]]\npolicy = "{Path(object_rules.__file__)}:Explorer"\n'
        'world = "bernoulli(means=[0.3, 0.6])"\n'
    )
    rows = [db.Study.from_toml(file).run(threads=threads, progress="none").rows for threads in (1, 2)]
    assert rows[0] == rows[1]


RULE = """
import random
from dataclasses import dataclass
from typing import ClassVar
from debandit.engine import spread
from debandit.rules import ObjectRule

spread._SECONDS_ALONE = 0.0

class Coin:
    def __init__(self, arm_count, rng):
        self.choose, self.learn = lambda: rng.randrange(arm_count), lambda arm, reward: None

@dataclass(frozen=True)
class Mine(ObjectRule):
    name: ClassVar[str] = "mine"

    def make(self, arm_count, horizon, seed):
        return Coin(arm_count, random.Random(seed))
"""
WORLD = "bernoulli(means=[0.3,0.6])"
SCRIPT = f"""
import debandit as db
from mine import Mine
print(db.simulate(Mine(), {WORLD!r}, horizon=40, runs=200, threads=2).pulls.sum(axis=0))
"""


def test_on_the_command_line_and_in_a_script(tmp_path, monkeypatch, capsys):
    """A user's file is found again by the processes. A script need not say `if __name__ == "__main__"`."""
    monkeypatch.setattr(spread, "_SECONDS_ALONE", 0.0)  # as the file does
    file = tmp_path / "mine.py"
    file.write_text(RULE)
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "whole.py").write_text(RULE + SCRIPT.replace("from mine import Mine\n", ""))
    arguments = ["simulate", "--policy", f"{file}:Mine", "--world", WORLD, "--horizon", "40", "--runs", "200"]

    def run(*words):
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert main([*arguments, "--threads", "1"]) == 0
    assert run("-m", "debandit", *arguments, "--threads", "2") == capsys.readouterr().out
    pulls = db.simulate(f"{file}:Mine", WORLD, horizon=40, runs=200, threads=1).pulls.sum(axis=0)
    assert run("script.py") == run("whole.py") == f"{pulls}\n"
