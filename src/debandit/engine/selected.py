"""The choices of rules with a `select` of their own, lane after lane.

A template like `scored`: the import of `select` and `take_in` is replaced by the rule's own functions.
"""

import numpy as np

from debandit.engine.jit import jit
from debandit.engine.lanes import LANES
from debandit.engine.own import VARIANCES, begin, select, take_in
from debandit.engine.scored import update_deviations


@jit
def start(rule, block):
    """Nothing is known of any arm, and the rule's own state is what it begins with."""
    block.memory[:] = 0.0
    block.state[:] = 0.0
    for lane in range(LANES):
        begin(block.state[lane], block.arm_count, rule.parameters)


@jit
def choose(t, rule, block):
    """Fill block.arms with each lane's choice in round t (counted from 0)."""
    arms, one, state = block.arms, block.one, block.state
    deviations = block.memory[block.arm_count * LANES :]
    for lane in range(LANES):
        if block.prescribed[lane] >= 0 and rule.opening > 0:
            continue  # the rule counts on initial pulls that it has not heard of yet
        for arm in range(block.arm_count):
            at = arm * LANES + lane
            one[0, arm], one[1, arm] = block.pulls[at], block.sums[at]
            if VARIANCES:
                one[2, arm] = deviations[at] / block.pulls[at]
        choice = np.int64(
            select(np.float64(t + 1), one[0], one[1], one[2], state[lane], (block.rng, lane), rule.parameters)
        )
        if choice < 0 or choice >= block.arm_count:
            if block.failure[1] == 0:
                block.failure[0], block.failure[1] = lane, t + 1
            choice = 0
        arms[lane] = choice


@jit
def learn(rule, block):
    """Take in the pulled arms' rewards."""
    if VARIANCES:
        update_deviations(block)
    for lane in range(LANES):
        take_in(block.arms[lane], block.rewards[lane], block.state[lane], rule.parameters)
