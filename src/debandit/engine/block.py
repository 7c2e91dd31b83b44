"""The state of LANES runs that are simulated side by side."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.engine.data import Floats, Ints
from debandit.engine.jit import jit, kernel
from debandit.engine.lanes import LANES


class Block(NamedTuple):
    """Arrays of shape (K * LANES,) hold arm k of lane l at k * LANES + l: inner loops run over neighbouring lanes."""

    arm_count: int
    pulls: Floats  # (K * LANES,)
    sums: Floats  # (K * LANES,)
    memory: Floats  # (2 * K * LANES,) whatever the rule wants to remember between rounds
    arms: Ints  # (LANES,) this round's choices
    places: Ints  # (LANES,) arms * LANES + lane
    rewards: Floats  # (LANES,) this round's rewards
    best: Floats  # (LANES,) scratch: the highest score so far
    scratch: Floats  # (LANES,)
    rng: NDArray[np.uint64]  # (4, LANES)
    bits: NDArray[np.uint64]  # (LANES,) scratch
    noise: Floats  # (3, LANES) two rows of standard normals, one of whatever else a world draws
    spare: Ints  # (1,) whether the second row of normals is still unused
    first_row: Ints  # (LANES,) row of arm 0 of the lane's world
    shift: Floats  # (K * LANES,) a reward is shift + scale * noise
    scale: Floats  # (K * LANES,)
    state: Floats  # (LANES, S) what a selecting rule remembers of its own
    one: Floats  # (3, K) one lane's pulls, sums and variances, side by side
    failure: Ints  # (2,) the lane and round, counted from 1, in which a rule chose an arm that there is not


@kernel
def new_block(arm_count, state_size):
    size = arm_count * LANES
    return Block(
        arm_count,
        np.zeros(size),
        np.zeros(size),
        np.zeros(2 * size),
        np.zeros(LANES, np.int64),
        np.zeros(LANES, np.int64),
        np.zeros(LANES),
        np.zeros(LANES),
        np.zeros(LANES),
        np.zeros((4, LANES), np.uint64),
        np.zeros(LANES, np.uint64),
        np.zeros((3, LANES)),
        np.zeros(1, np.int64),
        np.zeros(LANES, np.int64),
        np.zeros(size),
        np.zeros(size),
        np.zeros((LANES, state_size)),
        np.zeros((3, arm_count)),
        np.zeros(2, np.int64),
    )


# With two arms, choosing between their rows vectorises, which gathering and scattering does not.


@jit
def pick(values, arms, lane):
    """values[arms[lane] * LANES + lane] for two arms."""
    first, second = values[lane], values[LANES + lane]
    return second if arms[lane] != 0 else first


@jit
def put(value, values, arms, lane):
    """values[arms[lane] * LANES + lane] = value for two arms."""
    first, second, to_second = values[lane], values[LANES + lane], arms[lane] != 0
    values[lane] = first if to_second else value
    values[LANES + lane] = value if to_second else second


@jit
def add(amount, values, arms, lane):
    """values[arms[lane] * LANES + lane] += amount for two arms."""
    to_second = arms[lane] != 0
    values[lane] += 0.0 if to_second else amount  # adding nothing instead of not adding leaves no branch
    values[LANES + lane] += amount if to_second else 0.0
