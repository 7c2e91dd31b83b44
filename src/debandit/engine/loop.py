"""The one simulation loop: blocks of LANES runs, round by round, in compiled code.

The text of this module is also the template for rules with code of their own (see `kernels`): the import of
`choose`, `learn` and `start` is then replaced by the rule's functions of these names.
"""

import numpy as np

from debandit.engine.block import add, new_block, pick
from debandit.engine.collect import collect
from debandit.engine.commit import commit_block
from debandit.engine.index import choose, learn, start
from debandit.engine.jit import jit
from debandit.engine.lanes import LANES, seed_lane, stream_key
from debandit.engine.martingales import add_martingales, add_martingales_of_two
from debandit.engine.rewards import draw_noise, enter_world
from debandit.engine.wrapped import longest_batch, prescribe, recall, remember, settle


def run(task, rule, world, binomials, wanted, stop):
    """Simulate the runs of the task's units and hand them to whatever is wanted. See `data` for the records."""
    units = task.units
    block = new_block(task.arm_count, rule.state_size, longest_batch(rule.plan))
    lane_unit, lane_run, lane_place = np.zeros(LANES, np.int64), np.zeros(LANES, np.int64), np.zeros(LANES, np.int64)
    lane_world, lane_key = np.full(LANES, -1), np.zeros(LANES, np.uint64)
    unit, offset, place = 0, 0, 0
    while unit < len(units) and not stop[0]:
        filled = 0
        while filled < LANES and unit < len(units):
            lane_unit[filled], lane_run[filled], lane_place[filled] = unit, units[unit, 1] + offset, place
            filled, offset, place = filled + 1, offset + 1, place + 1
            if offset == units[unit, 2]:
                unit, offset = unit + 1, 0
        lane_unit[filled:], lane_run[filled:] = lane_unit[0], lane_run[0]  # idle lanes repeat the first
        for lane in range(LANES):
            world_index = units[lane_unit[lane], 0]
            if lane_world[lane] != world_index:
                lane_world[lane] = world_index
                enter_world(world, task.arm_count, world_index, lane, block)
                lane_key[lane] = stream_key(task.seed, np.uint64(task.purpose), np.uint64(task.world_ids[world_index]))
            seed_lane(block.rng, lane, lane_key[lane], np.uint64(lane_run[lane]))
        block.spare[0] = 0
        if task.shortcut:
            commit_block(task, rule, world, binomials, wanted.martingales, block)
        else:
            play_block(task, rule, world, wanted, stop, block, lane_place, filled)
            if block.failure[1]:  # an idle lane repeats the first
                stop[0], stop[1], stop[2] = 1, lane_run[block.failure[0]] + 1, block.failure[1]
        if not stop[0]:
            collect(task, wanted, block, lane_unit, lane_run, lane_place, filled)


@jit
def play_block(task, rule, world, wanted, stop, block, lane_place, filled):
    """Every round of one block."""
    arms, places, rewards, plan = block.arms, block.places, block.rewards, rule.plan
    opening, batched = rule.opening * block.arm_count, len(plan.ends) > 0
    block.pulls[:] = 0.0
    block.sums[:] = 0.0
    block.all_pulls[:] = 0.0
    block.all_sums[:] = 0.0
    block.martingales[:] = 0.0
    block.prescribed[:] = -1
    block.held[:] = -1
    known, batch = 0, 0  # rounds of which the rule has heard
    start(rule, block)
    for t in range(task.horizon):
        if plan.active:
            asked = prescribe(t, rule, block)
        else:
            asked = t >= opening and (t == opening or not rule.hold)
            if t < opening:
                arms[:] = t // rule.opening
        if asked:
            choose(known, rule, block)
        if plan.active:
            settle(t, rule, block)
        for lane in range(LANES):
            places[lane] = arms[lane] * LANES + lane
        add_rewards(draw_noise(world, block), block)
        if wanted.martingales:
            if block.arm_count == 2:
                add_martingales_of_two(block)
            else:
                add_martingales(1.0, block)
        if wanted.paths:
            for lane in range(filled):
                wanted.path_arms[lane_place[lane], t] = arms[lane]
                wanted.path_rewards[lane_place[lane], t] = rewards[lane]
        if batched:
            remember(t - known, block)
        if not batched or t + 1 == plan.ends[batch]:
            for late in range(t + 1 - known):
                if batched:
                    recall(late, block)
                learn(rule, block)
            known, batch = t + 1, batch + 1
        if stop[0] or block.failure[1]:
            return


@jit
def add_rewards(row, block):
    """This round's rewards, from a row of noise, added to the pulled arms' totals."""
    arms, places, noise, rewards = block.arms, block.places, block.noise[row], block.rewards
    shift, scale, pulls, sums = block.shift, block.scale, block.all_pulls, block.all_sums
    if block.arm_count == 2:
        for lane in range(LANES):
            rewards[lane] = pick(shift, arms, lane) + pick(scale, arms, lane) * noise[lane]
        for lane in range(LANES):
            add(rewards[lane], sums, arms, lane)
        for lane in range(LANES):
            add(1.0, pulls, arms, lane)
    else:
        for lane in range(LANES):
            at = np.uint64(places[lane])
            reward = shift[at] + scale[at] * noise[lane]
            sums[at] += reward
            pulls[at] += 1.0
            rewards[lane] = reward
