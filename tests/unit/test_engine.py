"""Same seed, same answer, whatever the threads, the chunks and the company."""

import ctypes
import os
import signal
import time

import numpy as np
import object_rules
import pytest
from catalogue import ALLOWED, RULES, WORLDS, Z

import debandit as db
from debandit.engine import rounds, spread
from debandit.engine.interrupts import interrupts_repeated
from debandit.simulation import tally


def same(one, two):
    np.testing.assert_array_equal(one.pulls, two.pulls)
    np.testing.assert_array_equal(one.sums, two.sums)


@pytest.mark.parametrize(("rule", "world"), ALLOWED)
def test_threads_and_chunks_change_no_bit(rule, world, monkeypatch):
    def run(threads):
        return db.simulate(RULES[rule][0], WORLDS[world], horizon=40, runs=1500, seed=7, threads=threads)

    one = run(1)
    same(one, run(3))
    monkeypatch.setattr(spread, "_ROUNDS_PER_CHUNK", 1)
    same(one, run(2))


@pytest.mark.parametrize("rule", RULES)
def test_the_first_runs_do_not_depend_on_how_many_follow(rule):
    few, many = (db.simulate(RULES[rule][0], WORLDS["bernoulli"], horizon=40, runs=n, seed=7) for n in (77, 500))
    np.testing.assert_array_equal(few.sums, many.sums[:77])


@pytest.mark.parametrize("rule", ["epsilon_greedy(epsilon=0.4)", "thompson(initial_pulls=1)", "gaussian_thompson"])
def test_neighbours_change_no_bit_where_only_some_of_them_lack_initial_pulls(rule):
    """After six uniform rounds one run in nine has pulled all five arms: often none of eight neighbours is free."""
    worlds = db.worlds.Normal(np.arange(100.0).reshape(20, 5) % 3, np.ones((20, 5)))
    alone, among = (db.simulate(f"warm_up({rule}, rounds=6)", worlds, horizon=40, runs=n, seed=7) for n in (1, 9))
    np.testing.assert_array_equal(alone.sums[:, 0], among.sums[:, 0])


def test_tallies_do_not_depend_on_threads_chunks_or_steps(monkeypatch):
    world = db.worlds.Normal([[1, 2], [3, 1], [0, 0]], [[1, 1], [2, 1], [1, 1]])
    one = tally(db.UCB(), world, horizon=50, runs=1300, seed=2, threads=1)
    monkeypatch.setattr(spread, "_ROUNDS_PER_CHUNK", 1)
    two = tally(db.UCB(), world, horizon=50, runs=1300, seed=2, threads=3)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)
    runs = db.simulate(db.UCB(), world, horizon=50, runs=1300, seed=2)
    np.testing.assert_allclose(one.bias, runs.bias(), rtol=1e-10)
    np.testing.assert_allclose(one.bias_se, runs.bias_se(), rtol=1e-10)
    np.testing.assert_array_equal(one.pull_totals, runs.pulls.sum(axis=1))


def test_a_stack_of_worlds_gives_each_world_its_own_runs():
    means, sds = [[1, 1.5], [1, 1.5], [0, 3]], [[1, 1]] * 3
    stack = db.simulate(db.UCB(), db.worlds.Normal(means, sds), horizon=30, runs=300, seed=1)
    assert stack.pulls.shape == stack.means.shape == (3, 300, 2)
    assert stack.bias().shape == (3, 2)
    same_world = db.simulate(db.UCB(), db.worlds.Normal(means[0], sds[0]), horizon=30, runs=300, seed=1)
    np.testing.assert_array_equal(stack.sums[0], same_world.sums)
    assert (stack.sums[0] != stack.sums[1]).any(axis=1).all()  # equal worlds, but streams of their own


@pytest.mark.parametrize("world", [db.worlds.Normal, db.worlds.Bernoulli])
def test_the_size_of_a_stack_changes_no_bit(world):
    """Explore-then-commit skips its rounds in both, or in neither."""

    def first(size):
        means = np.tile([0.3, 0.6], (size, 1))
        stack = world(means) if world is db.worlds.Bernoulli else world(means, np.ones((size, 2)))
        return db.simulate(db.ExploreThenCommit(), stack, horizon=100, runs=2, seed=1).sums[:5]

    np.testing.assert_array_equal(first(5), first(25_000))


def test_rewards_of_0_or_1_for_certain():
    runs = db.simulate(db.ExploreThenCommit(3), db.worlds.Bernoulli([0.0, 1.0]), horizon=20, runs=100, seed=1)
    np.testing.assert_array_equal(runs.sums, np.tile([0, 17], (100, 1)))


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_seeds_differ(seed):
    one = db.simulate(db.UCB(), WORLDS["normal"], horizon=30, runs=100, seed=seed)
    two = db.simulate(db.UCB(), WORLDS["normal"], horizon=30, runs=100, seed=5)
    assert (one.sums != two.sums).any(axis=1).all()


@pytest.mark.parametrize("rule", RULES)
def test_paths_add_up(rule):
    runs = db.simulate(RULES[rule][0], WORLDS["bernoulli"], horizon=45, runs=200, seed=7, paths=True)
    for arm in range(3):
        mine = runs.path_arms == arm
        np.testing.assert_array_equal(mine.sum(axis=1), runs.pulls[:, arm])
        np.testing.assert_array_equal((mine * runs.path_rewards).sum(axis=1), runs.sums[:, arm])
    log = runs.log(3)
    assert log.labels == ("1", "2", "3")
    np.testing.assert_array_equal(log.pulls, runs.pulls[3])
    if not rule.startswith("etc"):  # which skips its rounds unless they are wanted
        same(runs, db.simulate(RULES[rule][0], WORLDS["bernoulli"], horizon=45, runs=200, seed=7))


@pytest.mark.parametrize("world", ["normal", "empirical"])
@pytest.mark.parametrize("rule", ["etc", "epsilon"])
def test_doubling_rewards_doubles_sums_bit_for_bit(rule, world):
    """Doubling is exact in floating point and greedy comparisons do not see it."""
    if world == "normal":
        worlds = [db.worlds.Normal(np.array([1.0, 1.5]) * c, np.array([1.0, 0.7]) * c) for c in (1, 2)]
    else:
        samples = [np.array([0.0, 1.0, 0.3]), np.array([0.1, 0.9])]
        worlds = [db.worlds.Empirical([c * s for s in samples]) for c in (1, 2)]
    one, two = (db.simulate(RULES[rule][0], w, horizon=60, runs=500, seed=9) for w in worlds)
    np.testing.assert_array_equal(one.pulls, two.pulls)
    np.testing.assert_array_equal(2 * one.sums, two.sums)


def test_shifting_rewards_does_not_change_the_choices_of_ucb():
    one, two = (
        db.simulate(db.UCB(), db.worlds.Normal([1.0 + c, 1.5 + c], [1, 1]), horizon=60, runs=2000, seed=9)
        for c in (0.0, 8.0)
    )
    np.testing.assert_array_equal(one.pulls, two.pulls)


def test_means_are_missing_where_an_arm_was_never_pulled():
    runs = db.simulate(db.ThompsonSampling(), WORLDS["normal"], horizon=2, runs=50, seed=1)
    np.testing.assert_array_equal(np.isnan(runs.means), runs.pulls == 0)
    assert np.isfinite(runs.bias()).all()


@pytest.mark.parametrize("arms", [2, 3, 5, 6, 7, 10, 33])
def test_any_number_of_arms(arms):
    """UCB with no noise at all: the best arm wins, the others get what the bonus gives them."""
    world = db.worlds.Normal(np.arange(arms) / arms, np.zeros(arms))
    runs = db.simulate(db.UCB(c=0.0), world, horizon=arms + 20, runs=3, seed=0)
    expected = np.ones(arms)
    expected[-1] = 21
    np.testing.assert_array_equal(runs.pulls, np.tile(expected, (3, 1)))


def test_bad_arguments_are_refused():
    world = WORLDS["normal"]
    for bad in ({"horizon": 0, "runs": 10}, {"horizon": 10, "runs": 0}, {"horizon": 10, "runs": 10, "seed": -1}):
        with pytest.raises(db.InputError):
            db.simulate(db.UCB(), world, **bad)
    with pytest.raises(db.InputError, match="threads"):
        db.simulate(db.UCB(), world, horizon=10, runs=10, threads=0)
    with pytest.raises(db.InputError, match="30 initial pulls"):
        db.simulate(db.ExploreThenCommit(), world, horizon=29, runs=10)
    with pytest.raises(db.InputError, match="0/1"):
        db.simulate(db.BetaThompson(), world, horizon=10, runs=10)
    with pytest.raises(db.InputError, match="100,000,000"):
        db.simulate(db.UCB(), world, horizon=10**20, runs=10)
    with pytest.raises(db.InputError, match="is not a rule"):
        db.simulate(db.UCB, world, horizon=10, runs=10)
    with pytest.raises(db.InputError, match="is not a world"):
        db.simulate(db.UCB(), 5, horizon=10, runs=10)
    with pytest.raises(db.InputError, match="paths=True"):
        db.simulate(db.UCB(), world, horizon=10, runs=10).log(0)


def test_texts_and_numbers_of_numpy_are_accepted():
    one = db.simulate(
        "ucb(c=2)", "bernoulli(means=[0.3, 0.6])", horizon=np.int8(50), runs=np.int32(20), seed=np.int64(3)
    )
    two = db.simulate(db.UCB(2), db.worlds.Bernoulli([0.3, 0.6]), horizon=50, runs=20, seed=3)
    same(one, two)


def test_an_interrupt_stops_the_threads(monkeypatch):
    """Whenever it comes, also between two chunks, no further chunk is begun."""
    begun = []

    def kernel(who, *_):
        begun.append(len(who) / spread.BLOCK)

    monkeypatch.setattr(rounds, "load", lambda _: kernel)
    monkeypatch.setattr(spread, "_ROUNDS_PER_CHUNK", 1)
    monkeypatch.setattr(spread, "progress_bar", Interrupting)
    with pytest.raises(KeyboardInterrupt):
        db.simulate(db.UCB(), WORLDS["normal"], horizon=10, runs=10**6, threads=2)
    assert sum(begun) < 100  # of 3,907


@pytest.mark.parametrize("lost", [True, False])
def test_an_interrupt_is_heard_although_a_callback_loses_it(lost, capsys):
    """As LLVM's callbacks do while a kernel is compiled."""

    def compiled():
        callback = ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGINT))
        if lost:
            callback()  # what is raised in it does not come out
        else:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(2)
        pytest.fail("the interrupt was lost")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), interrupts_repeated():
        compiled()
    assert signal.getsignal(signal.SIGINT) is before
    time.sleep(0.3)  # nor does it come again
    assert capsys.readouterr().err == ""


class Interrupting:
    def __init__(self, runs):
        self.updates = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def update(self, _):
        self.updates += 1
        if self.updates == 3:
            raise KeyboardInterrupt


@pytest.mark.parametrize("world", ["normal", "bernoulli"])
@pytest.mark.parametrize(
    "policy",
    [db.UCB(), db.ExploreThenCommit(3), db.Batched(db.EpsilonGreedy(), size=60), object_rules.Confident()],
    ids=lambda policy: policy.name,
)
@pytest.mark.usefixtures("in_steps")
def test_squares_and_variances_are_those_of_the_rewards(policy, world):
    """The mean of squares / pulls is the variance of the world, and of one pull there is none. Control: another world.

    With paths they are added up from the rounds, without by whatever way the runs are simulated.
    """
    place, count = WORLDS[world], 400 if policy.name == "confident" else 4000
    runs = db.simulate(policy, place, horizon=120, runs=count, seed=3)

    def worst(variances):
        excess = runs.squares - runs.pulls * variances  # a martingale: 0 on average, and always for fair coins
        return np.abs(excess.mean(axis=0) / (excess.std(axis=0, ddof=1) / np.sqrt(count) + 1e-12)).max()

    assert worst(place.variances) < Z
    assert worst(1.3 * place.variances) > 2 * Z
    kept = db.simulate(policy, place, horizon=120, runs=20, seed=3, paths=True)
    for arm, (variance, mine) in enumerate(zip(kept.variances.T, (kept.path_arms == k for k in range(3)), strict=True)):
        by_hand = [rewards[own].var() for rewards, own in zip(kept.path_rewards, mine, strict=True)]
        np.testing.assert_allclose(variance, by_hand, rtol=1e-9, atol=1e-12)
        assert (variance[kept.pulls[:, arm] == 1] == 0).all()


@pytest.mark.parametrize("policy", [db.UCB(), db.ExploreThenCommit(3), db.Batched(db.UCB(), size=60)], ids=str)
@pytest.mark.usefixtures("in_steps")
def test_the_same_run_whatever_its_company(policy):
    """Run 0 of world 2 is the same among one run of each world and among many."""
    world = db.worlds.Normal([[1, 2], [3, 1], [0, 0]], [[1, 1], [2, 1], [1, 1]])
    one, many = (db.simulate(policy, world, horizon=120, runs=n, seed=2) for n in (1, 70))
    np.testing.assert_array_equal(one.sums, many.sums[:, :1])
    np.testing.assert_array_equal(one.squares, many.squares[:, :1])


def test_sums_do_not_ask_in_which_order_arms_are_explored():
    """Without paths explore-then-commit is drawn as sums, the same ones in any order; with paths round by round."""
    both = db.ExploreThenCommit(4), db.ExploreThenCommit(4, order="turns")
    blocks, turns = (db.simulate(each, WORLDS["normal"], horizon=50, runs=300, seed=7) for each in both)
    same(blocks, turns)
    blocks, turns = (db.simulate(each, WORLDS["normal"], horizon=50, runs=300, seed=7, paths=True) for each in both)
    assert (blocks.sums != turns.sums).any()  # control
