"""The sums of `features` that grow with every pull, in compiled code."""

import numpy as np

from debandit.engine.block import add, pick
from debandit.engine.jit import jit
from debandit.engine.lanes import LANES


@jit
def add_martingales(count, block):
    """Add the terms of block.rewards: sums of `count` pulls at block.places, which the totals have already."""
    size, places, rewards = block.arm_count * LANES, block.places, block.rewards
    one, two, three = block.martingales[:size], block.martingales[size : 2 * size], block.martingales[2 * size :]
    pulls, sums, truth, variance = block.all_pulls, block.all_sums, block.truth, block.variance
    for lane in range(LANES):
        at = np.uint64(places[lane])
        error, share = rewards[lane] - count * truth[at], 1.0 / pulls[at]
        earlier = sums[at] - pulls[at] * truth[at] - error
        one[at] += share * error
        two[at] += share * error * earlier
        three[at] += share * (error * error - count * variance[at])


@jit
def add_martingales_of_two(block):
    """The same for one pull of block.arms, with two arms: loops over few arrays each, because such are vectorised."""
    arms, rewards, pulls, sums = block.arms, block.rewards, block.all_pulls, block.all_sums
    truth, variance, size = block.truth, block.variance, 2 * LANES
    error, share, earlier, square = block.terms[0], block.terms[1], block.terms[2], block.terms[3]
    one, two, three = block.martingales[:size], block.martingales[size : 2 * size], block.martingales[2 * size :]
    for lane in range(LANES):
        error[lane] = rewards[lane] - pick(truth, arms, lane)
        earlier[lane] = pick(sums, arms, lane) - pick(pulls, arms, lane) * pick(truth, arms, lane)
    for lane in range(LANES):
        share[lane] = 1.0 / pick(pulls, arms, lane)
        square[lane] = share[lane] * (error[lane] * error[lane] - pick(variance, arms, lane))
    for lane in range(LANES):
        share[lane] *= error[lane]
        earlier[lane] = share[lane] * (earlier[lane] - error[lane])
    for lane in range(LANES):
        add(share[lane], one, arms, lane)
    for lane in range(LANES):
        add(earlier[lane], two, arms, lane)
    for lane in range(LANES):
        add(square[lane], three, arms, lane)
