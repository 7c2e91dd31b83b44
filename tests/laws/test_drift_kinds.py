"""The tests of drift from period to period: false alarms are as rare as their level says, and drift has the right name.

They are not exact after a bandit; docs/check.md has rates measured with 1,500 runs each.
"""

import numpy as np
import pytest

import debandit as db
from debandit.periods import COMMON, OWN, cells_of_paths, drift_of

Z, LEVEL, RUNS = 4.5, 0.01, 250  # at the level of a warning
MOST = LEVEL + Z * np.sqrt(LEVEL * (1 - LEVEL) / RUNS)
SIZES = [100] * 10
NORMAL, UNEQUAL = "normal(means=[0, 0.3], sds=[1, 1])", "normal(means=[0, 0.3, 0.3], sds=[1, 2, 1])"
OFTEN, SELDOM = "bernoulli([0.3, 0.4])", "bernoulli([0.05, 0.05, 0.07])"
EFFECTS = [0, 0, 0, 0, 0, 1.5, 1.5, 0, 0, 0]


def kinds(policy, world, sizes=SIZES, change=None):
    """Which kind of drift is found in each run; `change` may move its rewards."""
    runs = db.simulate(policy, world, horizon=sum(sizes), runs=RUNS, seed=16, paths=True)
    arms, rewards = runs.paths()
    if change is not None:
        rewards = rewards + change(arms)
    found = [drift_of(cells, runs.binary) for cells in cells_of_paths(arms, rewards, sizes, runs.world.arm_count)]
    return np.array(["" if each is None else each.kind(LEVEL) for each in found])


@pytest.mark.parametrize(
    ("policy", "world", "sizes"),
    [
        ("batched(thompson, size=100)", NORMAL, SIZES),
        ("batched(ucb, size=100)", UNEQUAL, SIZES),
        ("batched(epsilon_greedy(epsilon=0.1), size=100)", OFTEN, SIZES),
        ("batched(beta_thompson, size=100)", SELDOM, SIZES),
        ("thompson", OFTEN, [50] * 10),  # slices of a log without batches
        ("ucb", NORMAL, [50] * 10),
    ],
)
def test_false_alarms_are_rare(policy, world, sizes):
    assert (kinds(policy, world, sizes) != "").mean() <= MOST


@pytest.mark.parametrize("world", [NORMAL, OFTEN])
def test_drift_that_all_arms_share_is_called_common(world):
    """The control of the law above: here alarms are right, and frequent."""
    found = kinds("batched(epsilon_greedy(epsilon=0.4), size=100)", f"drifting({world}, effects={EFFECTS}, size=100)")
    assert (found == COMMON).mean() > 0.9
    assert (found == OWN).mean() <= MOST


def test_drift_of_a_single_arm_is_called_its_own():
    """The rule does not see what is added; so its choices are those without drift."""
    moved = np.repeat(EFFECTS, 100)
    found = kinds("batched(epsilon_greedy(epsilon=0.4), size=100)", NORMAL, change=lambda arms: moved * (arms == 0))
    assert (found == OWN).mean() > 0.9
    assert (found == COMMON).mean() < 0.1
