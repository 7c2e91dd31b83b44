"""Worlds whose periods move all arms alike: what they say of themselves, what they refuse, and their bits."""

import numpy as np
import pytest
from object_rules import Explorer

import debandit as db
from debandit.engine import spread
from debandit.engine.experiment import SIMULATE, experiment_of
from debandit.engine.runs import Wish
from debandit.policies import as_policy
from debandit.simulation import tally
from debandit.study.cell import Cell
from debandit.study.reading import read_study
from debandit.worlds import Bernoulli, Drifting, Empirical, Normal, UniformRewards, as_world

WEEK = "drifting(bernoulli([0.1, 0.12]), effects=[0, 0, 0, 0, 0, 0.3, 0.3], size=1000)"
WAYS = [("batched(thompson, 9)", False), ("batched(thompson, 9)", True), ("ucb", False)]  # in steps, and drawn


def test_means_and_variances_by_hand():
    """Odds of 1/3 and 1, doubled in the second period: 1/4 and 2/5, 1/2 and 2/3."""
    world = Drifting(Bernoulli([0.25, 0.5]), [0.0, np.log(2)], 10)
    np.testing.assert_allclose(world.means, [(1 / 4 + 2 / 5) / 2, (1 / 2 + 2 / 3) / 2])
    np.testing.assert_allclose(world.variances, world.means * (1 - world.means))
    assert world.binary
    world = Drifting(Normal([1.0, 2.0], [1.0, 0.5]), [0.0, 0.0, 3.0], 10)
    np.testing.assert_allclose(world.means, [2.0, 3.0])
    np.testing.assert_allclose(world.variances, [1 + 2, 0.25 + 2])  # the effects have mean 1 and variance 2
    assert not world.binary
    assert Drifting(UniformRewards([0.0, 1.0], [1.0, 1.0]), [-0.5, 2.0], 1).support == (-1.5, 4.0)


def test_what_is_certain_stays_certain():
    world = Drifting(Bernoulli([0.0, 1.0]), [0.0, -3.0, 800.0], 4)
    np.testing.assert_array_equal(world.means, [0.0, 1.0])
    for paths in (False, True):
        runs = db.simulate("batched(uniform, 6)", world, horizon=24, runs=5, paths=paths)
        np.testing.assert_array_equal(runs.sums, runs.pulls * [0, 1])


def test_the_text_of_one():
    world = as_world(WEEK)
    assert str(world) == WEEK.replace("([0.1, 0.12])", "(means=[0.1, 0.12])").replace(
        "[0, 0, 0, 0, 0, 0.3, 0.3]", "[0.0, 0.0, 0.0, 0.0, 0.0, 0.3, 0.3]"
    )
    again = as_world(str(world))
    assert str(again) == str(world)
    np.testing.assert_array_equal(again.data().drift.means, world.data().drift.means)
    named = as_world("drifting(world=normal(means=[1, 2], sds=[1, 1]), effects=[0, 1], size=5)")
    assert str(named) == "drifting(normal(means=[1.0, 2.0], sds=[1.0, 1.0]), effects=[0.0, 1.0], size=5)"
    assert str(as_world("drifting(normal(means=[1, 2], sds=[1, 1]), [0, 1], size=5)")) == str(named)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("drifting(bernoulli([0.1, 0.2]))", "drifting needs effects, size(.|\n)*drifting\\(WORLD, effects"),
        ("drifting(effects=[0, 1], size=5)", "drifting needs world"),
        ("drifting(bernoulli([0.1, 0.2]), effects=[], size=5)", "effects must be a list of numbers"),
        ("drifting(bernoulli([0.1, 0.2]), effects=[[0, 1]], size=5)", "effects must be a list of numbers"),
        ("drifting(bernoulli([0.1, 0.2]), effects=[0, 1e300], size=5)", "effects must be a list of numbers"),
        ("drifting(bernoulli([0.1, 0.2]), effects=monday, size=5)", "effects must be a list of numbers"),
        ("drifting(bernoulli([0.1, 0.2]), effects=[0, 1], size=0)", "size must be a whole number"),
        (f"drifting({WEEK}, effects=[0, 1], size=5)", "cannot drift once more"),
        ("bernoulli(bernoulli([0.1, 0.2]))", "bernoulli takes no world inside"),
        ("drifting(ucb, effects=[0, 1], size=5)", "there is no world 'ucb'"),
    ],
)
def test_what_is_no_drifting_world(text, complaint):
    with pytest.raises(db.InputError, match=complaint):
        as_world(text)


def test_the_horizon_is_whole_cycles():
    with pytest.raises(db.InputError, match=r"horizon: 10,000 rounds are not a whole(.|\n)*a multiple of 7,000"):
        db.simulate("batched(thompson, 1000)", WEEK, horizon=10_000, runs=2)


@pytest.mark.parametrize("policy", [Explorer(0.3), "etc(5, ties=random)"])
def test_rules_that_cannot_say_their_chances_are_refused(policy):
    world = Drifting(Bernoulli([0.1, 0.2]), [0, 1], 10)
    with pytest.raises(db.InputError, match=r"policy: a drifting world needs the probabilities of(.|\n)*probabilities"):
        db.simulate(policy, world, horizon=20, runs=2)


def test_control_variates_are_refused():
    world = Drifting(Bernoulli([0.1, 0.2]), [0, 1], 10)
    task = experiment_of(as_policy("ucb"), world.data(), np.arange(1), horizon=20, seed=0, purpose=SIMULATE)
    with pytest.raises(db.InputError, match="control variates"):
        spread.tally(task, np.array([10]), Wish(martingales=True), workers=1)


@pytest.mark.parametrize(("policy", "paths"), WAYS)
@pytest.mark.parametrize(
    "stack",
    [Normal([[0.0, 1.0], [2.0, 2.0]], [[1.0, 0.5], [0.3, 0.2]]), Bernoulli([[0.1, 0.3], [0.5, 0.7]])],
    ids=["normal", "bernoulli"],
)
def test_stacks_of_worlds_and_threads_do_not_change_a_bit(stack, policy, paths):
    def played(world, threads):
        return db.simulate(policy, world, horizon=36, runs=300, seed=4, paths=paths, threads=threads)

    alone, several = played(Drifting(stack, [0.0, 1.0], 6), 1), played(Drifting(stack, [0.0, 1.0], 6), 3)
    np.testing.assert_array_equal(alone.sums, several.sums)
    np.testing.assert_array_equal(alone.squares, several.squares)
    options = {name: values[0] for name, values in stack.options().items()}
    np.testing.assert_array_equal(alone.sums[0], played(Drifting(type(stack)(**options), [0.0, 1.0], 6), 2).sums)
    rule, data = as_policy(policy), Drifting(stack, [0.0, 1.0], 6).data()
    both = experiment_of(rule, data, np.arange(2), horizon=36, seed=4, purpose=SIMULATE)
    second = spread.play(both.within(1, 2), np.array([[0, 0], [0, 1]]), paths=paths).table
    np.testing.assert_array_equal(second[1].T, alone.sums[1, :2])


def test_a_stack_of_pools():
    """Each world is cut out of the stack with its own values and means."""
    one, two = [[0.0, 1.0], [1.0, 2.0, 3.0]], [[10.0, 11.0], [7.0, 8.0]]
    runs = db.simulate("uniform", Drifting(Empirical([one, two]), [0.5, 0.0], 3), horizon=6, runs=600, paths=True)
    for world, samples in enumerate((one, two)):
        arms, rewards = runs.path_arms[world], runs.path_rewards[world]
        for arm, sample in enumerate(samples):
            there = [set(rewards[:, days][arms[:, days] == arm]) for days in (slice(0, 3), slice(3, 6))]
            assert there == [{x + 0.5 for x in sample}, set(sample)]


@pytest.mark.parametrize("policy", ["batched(thompson, 9)", "ucb"])
def test_tallies_have_the_same_runs(policy):
    world = Drifting(Bernoulli([0.1, 0.3]), [0.0, 1.0], 6)
    runs = db.simulate(policy, world, horizon=36, runs=300, seed=4)
    total = tally(policy, world, horizon=36, runs=300, seed=4)
    np.testing.assert_allclose(total.bias[0], runs.bias(), rtol=0, atol=1e-12)


def test_squares_with_and_without_paths_are_about_the_world():
    world = Drifting(Normal([0.0, 1.0], [1.0, 0.5]), [0.0, 1.0], 6)
    runs = db.simulate("ucb", world, horizon=36, runs=50, seed=4, paths=True)
    again = db.simulate("ucb", world, horizon=36, runs=50, seed=4)
    np.testing.assert_allclose(again.squares, runs.squares)
    own = [[rewards[arms == arm].var() for arm in range(2)] for arms, rewards in zip(*runs.paths(), strict=True)]
    np.testing.assert_allclose(runs.variances, own, atol=1e-12)


def test_studies_tell_drifts_apart():
    def seed(world):
        return Cell("cell", as_policy("batched(thompson, 100)"), as_world(world), 7000, ("naive",)).seed(1, 0)

    worlds = [WEEK, WEEK.replace("0.3", "0.2"), WEEK.replace("1000", "500"), "bernoulli([0.1, 0.12])"]
    assert len({seed(world) for world in worlds}) == 4
    assert seed(WEEK) == seed(WEEK)


def test_the_mistakes_of_a_study_are_found_when_it_is_read(tmp_path):
    cells = [(7000, "ucb"), (8000, "ucb"), (7000, "etc(5, ties=random)")]
    text = [f"[[cell]]\nlabel = '{h}, {p}'\nhorizon = {h}\npolicy = '{p}'\nworld = '{WEEK}'\n" for h, p in cells]
    (tmp_path / "weeks.toml").write_text("\n".join(text))
    with pytest.raises(db.InputError) as told:
        read_study(tmp_path / "weeks.toml")
    assert "2 mistakes" in str(told.value)
    assert "cell 2, world: 8,000 rounds are not a whole number of cycles" in str(told.value)
    assert "cell 3, world: a drifting world needs the probabilities of the rule, and etc" in str(told.value)
