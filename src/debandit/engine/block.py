"""The state of LANES runs that are simulated side by side."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.engine.data import FEATURES, LAST, RANDOM, Floats, Ints
from debandit.engine.jit import jit, kernel
from debandit.engine.lanes import LANES, fill_uniforms


class Block(NamedTuple):
    """Arrays of shape (K * LANES,) hold arm k of lane l at k * LANES + l: inner loops run over neighbouring lanes."""

    arm_count: int
    pulls: Floats  # (K * LANES,) what the rule knows of
    sums: Floats  # (K * LANES,)
    all_pulls: Floats  # (K * LANES,) what happened: the same arrays, unless rewards come in batches
    all_sums: Floats  # (K * LANES,)
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
    truth: Floats  # (K * LANES,) the means of the lanes' worlds
    variance: Floats  # (K * LANES,) of their rewards
    martingales: Floats  # (3 * K * LANES,) see `features`
    terms: Floats  # (4, LANES) scratch
    features: Floats  # (K + 1, F) of one lane's arms, and of its highest mean
    state: Floats  # (LANES, S) what a selecting rule remembers of its own
    one: Floats  # (3, K) one lane's pulls, sums and variances, side by side
    scores: Floats  # (LANES,) one arm's
    tied: Floats  # (LANES,) how many arms share the highest score so far
    prescribed: Ints  # (LANES,) the arm that a lane must pull, or -1
    held: Ints  # (LANES,) the arm that a lane has committed to, or -1
    late_arms: Ints  # (B, LANES) rounds of a batch of which the rule has not heard yet
    late_rewards: Floats  # (B, LANES)
    failure: Ints  # (2,) the lane and round, counted from 1, in which a rule chose an arm that there is not


@kernel
def new_block(arm_count, state_size, batch):
    size = arm_count * LANES
    pulls, sums = np.zeros(size), np.zeros(size)
    all_pulls, all_sums = (np.zeros(size), np.zeros(size)) if batch else (pulls, sums)
    return Block(
        arm_count,
        pulls,
        sums,
        all_pulls,
        all_sums,
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
        np.zeros(size),
        np.zeros(size),
        np.zeros(3 * size),
        np.zeros((4, LANES)),
        np.zeros((arm_count + 1, FEATURES)),
        np.zeros((LANES, state_size)),
        np.zeros((3, arm_count)),
        np.zeros(LANES),
        np.zeros(LANES),
        np.full(LANES, -1),
        np.full(LANES, -1),
        np.zeros((batch, LANES), np.int64),
        np.zeros((batch, LANES)),
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


@jit
def explore(probability, block):
    """A uniform arm with the given probability, else the one that was chosen.

    Given that a lane explores, u / probability is uniform again.
    """
    arms, u, last = block.arms, block.scratch, block.arm_count - 1
    fill_uniforms(block, u)
    stretch = block.arm_count / probability if probability > 0 else 0.0
    for lane in range(LANES):
        arm = min(np.int64(np.int32(u[lane] * stretch)), last)
        arms[lane] = arm if u[lane] < probability else arms[lane]


@jit
def challenge(arm, ties, block):
    """Let an arm's block.scores challenge block.best; of equals the first, the last or a random one wins."""
    arms, best, scores, tied, u = block.arms, block.best, block.scores, block.tied, block.scratch
    if ties == RANDOM:
        fill_uniforms(block, u)
    for lane in range(LANES):
        better, equal = scores[lane] > best[lane], scores[lane] == best[lane]
        tied[lane] = 1.0 if better else tied[lane] + 1.0 if equal else tied[lane]
        wins = better or (equal and (ties == LAST or (ties == RANDOM and u[lane] * tied[lane] < 1.0)))
        arms[lane] = arm if wins else arms[lane]
        best[lane] = scores[lane] if better else best[lane]
