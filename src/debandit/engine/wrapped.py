"""What the loop does for wrapped rules: prescribed rounds, floors, and rewards that come in batches. See `Plan`."""

import numpy as np

from debandit.engine.block import explore
from debandit.engine.jit import call, kernel
from debandit.engine.lanes import LANES, fill_uniforms


@kernel
def longest_batch(plan):
    """In rounds; 0 without batches."""
    longest, end = 0, 0
    for i in range(len(plan.ends)):
        longest, end = max(longest, plan.ends[i] - end), plan.ends[i]
    return longest


@call
def prescribe(t, rule, block):
    """Fill block.prescribed for round t, and say whether the rule is asked."""
    plan, prescribed, arm_count = rule.plan, block.prescribed, block.arm_count
    if t >= plan.settled:
        prescribed[:] = -1
        return t == plan.settled or not rule.hold
    if t < plan.turns:
        prescribed[:] = t % arm_count
        return rule.opening == 0
    if t < plan.uniform:
        fill_uniforms(block, block.scratch)
        for lane in range(LANES):
            prescribed[lane] = min(np.int64(block.scratch[lane] * arm_count), arm_count - 1)
        return rule.opening == 0  # such a rule copes without pulls, and may want to know what it would have done
    asked = False
    for lane in range(LANES):
        lacks, unheard = -1, False
        for arm in range(arm_count - 1, -1, -1):
            lacks = arm if block.all_pulls[arm * LANES + lane] < rule.opening else lacks
            unheard = unheard or block.pulls[arm * LANES + lane] < rule.opening
        prescribed[lane] = lacks if lacks >= 0 else t % arm_count if unheard else -1
        asked = asked or prescribed[lane] < 0
    return asked


@call
def settle(t, rule, block):
    """The rule's choice as it stands, unless it is committed, explores because of the floor, or is overruled."""
    arms, held, prescribed = block.arms, block.held, block.prescribed
    if rule.hold:
        for lane in range(LANES):
            if prescribed[lane] < 0:
                held[lane] = arms[lane] if held[lane] < 0 else held[lane]
                arms[lane] = held[lane]
    if rule.plan.floor > 0.0:
        explore(rule.plan.floor, block)
    if t < rule.plan.settled:
        for lane in range(LANES):
            arms[lane] = prescribed[lane] if prescribed[lane] >= 0 else arms[lane]


@call
def remember(late, block):
    """Keep a round until the batch ends."""
    for lane in range(LANES):
        block.late_arms[late, lane] = block.arms[lane]
        block.late_rewards[late, lane] = block.rewards[lane]


@call
def recall(late, block):
    """Let the rule hear of a round: totals here, everything else in its `learn`."""
    arms, places, rewards = block.arms, block.places, block.rewards
    for lane in range(LANES):
        arms[lane] = block.late_arms[late, lane]
        rewards[lane] = block.late_rewards[late, lane]
        at = arms[lane] * LANES + lane
        places[lane] = at
        block.pulls[at] += 1.0
        block.sums[at] += rewards[lane]
