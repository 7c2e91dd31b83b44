"""What is made of chances, worked out by hand, and what is refused."""

from dataclasses import dataclass

import numpy as np
import object_rules
import pytest

import debandit as db
from debandit.engine.changes import Dropping, Least, Temper, changed
from debandit.engine.conditions import FREE, Conditions, Threshold
from debandit.engine.planning import Stretch, prescribed_pulls, prescribed_rounds, stretches, unguided
from debandit.policies import as_policy

P = np.array([0.7, 0.25, 0.05])


@dataclass(frozen=True)
class Urn(object_rules.Explorer):
    """An object that also states its probabilities, and must not be asked for more where they are changed."""

    def probabilities(self, t, pulls, sums, horizon):
        return (1 + sums) / (1 + sums).sum(axis=-1, keepdims=True)

    def make(self, arm_count, horizon, seed):
        raise AssertionError


def after(*changes, chances=P, begun=0, present=None):
    return changed(changes, chances, begun, present)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (Least((0.1,) * 3), [0.59, 0.275, 0.135]),  # 0.1 + 0.7 p
        (Least((0.2, 0, 0)), [0.76, 0.2, 0.04]),  # the control's share, and 0.8 p
        # raised by 0.05; beyond the floor are 0.6 and 0.15, of which 0.05 / 0.75 is taken
        (Least((0.1,) * 3, clipped=True), [0.66, 0.24, 0.1]),
        (Least((0.2, 0, 0), clipped=True), P),  # all have their share
        (Least((0, 0, 0.2), clipped=True), [0.7 - 0.15 * 0.7 / 0.95, 0.25 - 0.15 * 0.25 / 0.95, 0.2]),
        (Least((1 / 3,) * 3, clipped=True), [1 / 3] * 3),
        (Temper(None), np.array([0.21, 0.1875, 0.0475]) / 0.445),
        (Temper(2.0), np.array([0.49, 0.0625, 0.0025]) / 0.555),
        (Temper(0.0), [1 / 3] * 3),
        (Dropping(0.1), [0.7 / 0.95, 0.25 / 0.95, 0]),
        (Dropping(0.05), P),  # only smaller ones are dropped
    ],
)
def test_by_hand(change, expected):
    np.testing.assert_allclose(after(change), expected, rtol=1e-14)
    np.testing.assert_allclose(after(change, chances=np.tile(P, (2, 4, 1)), begun=np.zeros(4, int))[1, 2], expected)


def test_a_floor_that_falls():
    """t^-0.7 / 3 in rounds t = 1 and 101."""
    falling = Least((1 / 3,) * 3, decay=0.7)
    np.testing.assert_allclose(after(falling, begun=0), [1 / 3] * 3)
    low = 101**-0.7 / 3
    np.testing.assert_allclose(after(falling, begun=np.array(100)), low + (1 - 3 * low) * P, rtol=1e-14)
    np.testing.assert_allclose(after(falling._replace(clipped=True), begun=100), P)  # 0.013 is below all


def test_from_the_inside_out():
    one, two = after(Dropping(0.1), Least((0.1,) * 3)), after(Least((0.1,) * 3), Dropping(0.1))
    np.testing.assert_allclose(one, 0.1 + 0.7 * np.array([0.7, 0.25, 0]) / 0.95)
    assert two[2] == pytest.approx(0.135)
    assert str(as_policy("floor(batched(drop(uniform, 0.1), 5))")).startswith("floor(batched(drop(uniform, below=0.1)")
    changes = as_policy("floor(batched(drop(uniform, 0.1), 5), how=clip)").conditions(3, 10).changes
    assert [type(change) for change in changes] == [Dropping, Least]


def test_chances_that_are_nearly_sure():
    """With p = 1 - e the leader's p (1 - p) is the sum of all others', so that it gets one half."""
    np.testing.assert_allclose(after(Temper(None), chances=np.array([1.0, 2e-290, 1e-290])), [1 / 2, 1 / 3, 1 / 6])
    np.testing.assert_allclose(after(Temper(None), chances=np.array([1.0, 0.0])), [0.5, 0.5])
    np.testing.assert_allclose(after(Temper(50.0), chances=np.array([1e-200, 1.0])), [0, 1])
    np.testing.assert_allclose(after(Dropping(0.5), chances=np.array([0.4, 0.35, 0.25])), [1, 0, 0])


def test_floors_of_arms_that_are_there():
    """Each keeps its own."""
    there = np.array([True, False, True])
    np.testing.assert_allclose(after(Least((0.1, 0.2, 0.3)), chances=np.array([0.5, 0.5]), present=there), [0.4, 0.6])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("floor(ucb, probability=0.1, decay=0.7)", "floor: give either probability or decay"),
        ("floor(ucb, shares=[0.6, 0.6])", "add up to 1.2, which is more than 1"),
        ("floor(ucb, shares=0.2)", "a list with a number for each arm"),
        ("floor(ucb, shares=[0.2, -1])", "a share must be a number from 0 to 1, not -1"),
        ("floor(ucb, how=cut)", "how must be mix or clip"),
        ("floor(etc(ties=random), how=clip)", "needs the probabilities of the rule, and etc.* does not give them"),
        ("tempered(etc)", "etc has no randomness"),
        ("tempered(gate(ucb))", "gate has no randomness"),
        ("tempered(ucb)", "ucb has no randomness"),
        ("tempered(uniform, how=power)", "give the power"),
        ("drop(batched(ucb, 5))", "batched has no randomness"),
        ("drop(uniform, below=0.6)", "below must be a number from 0 to 0.5"),
        ("drop(drop(uniform))", "drop can be around a rule only once"),
    ],
)
def test_what_makes_no_sense(text, message):
    with pytest.raises(db.InputError, match=message):
        as_policy(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("floor(ucb, shares=[0.2, 0, 0])", "there are 2 arms, but 3 shares"),
        ("floor(ucb, probability=0.5, how=clip)", None),
        ("drop(uniform, below=0.5)", None),
    ],
)
def test_what_depends_on_the_number_of_arms(text, message):
    if message:
        with pytest.raises(db.InputError, match=message):
            db.simulate(text, "bernoulli([0.3, 0.6])", horizon=10, runs=2)
        return
    db.simulate(text, "bernoulli([0.3, 0.6])", horizon=10, runs=2)
    with pytest.raises(db.InputError, match="3 arms"):
        db.simulate(text, "bernoulli([0.3, 0.6, 0.5])", horizon=10, runs=2)


def test_the_text_of_a_rule_makes_it_again():
    for text in (
        "floor(ucb, shares=[0.2, 0, 0])",
        "floor(thompson, decay=0.7, how=clip)",
        "tempered(beta_thompson)",
        "drop(tempered(softmax, power=0.5), below=0.02)",
    ):
        policy = as_policy(text)
        assert as_policy(str(policy)) == policy
        assert policy.randomised


def test_exploration_sampling_is_a_name():
    assert as_policy("exploration_sampling") == db.Tempered(db.BetaThompson(1, 1))
    assert as_policy("batched(Exploration_Sampling(alpha=2), 5)").core == db.BetaThompson(2, 1)


def test_rounds_and_counts_of_what_is_prescribed():
    """`prescribed_rounds`, counted, are `prescribed_pulls`; a run follows them with arm 0 where it is free."""
    rng = np.random.default_rng(5)
    for _ in range(100):
        opening, turns, uniform = rng.integers(4), rng.integers(9), rng.integers(12)
        ends = np.unique(np.append(rng.integers(1, 40, 4), 40))
        gate = Threshold(3, 1, 40) if rng.random() < 0.5 else None
        conditions = Conditions(opening, turns, 0 if turns else uniform, gate, ends if rng.random() < 0.7 else ends[:0])
        pulls = heard = np.zeros((1, 3), np.int64)
        for here in stretches(conditions, 40):
            assert isinstance(here, Stretch)
            uniform = unguided(conditions, here, heard, heard * 0.5)
            arms = prescribed_rounds(conditions, here, pulls, heard, uniform)
            counts = (arms[..., None] == np.arange(3)).sum(axis=1)
            np.testing.assert_array_equal(counts, prescribed_pulls(conditions, here, pulls, heard, uniform))
            pulls = pulls + counts + np.array([1, 0, 0]) * (arms == FREE).sum()
            heard = pulls if here.end in conditions.moments(40) else heard


def test_objects_that_state_their_probabilities_are_drawn():
    policy = db.Floor(db.Batched(Urn(), size=20), 0.3, how="clip")
    runs = db.simulate(policy, "bernoulli([0.2, 0.9])", horizon=60, runs=50, paths=True)
    assert db.check(runs.log(0), policy).fits
