"""What the chosen arms yield, for all lanes at once."""

import numpy as np

from debandit.engine.data import BERNOULLI, EMPIRICAL, NORMAL, SIGN_WEIGHTS, SMOOTHED, TAPE
from debandit.engine.jit import call, jit
from debandit.engine.lanes import LANES, fill_uniforms, next_bits, next_normals, normal_pair


@jit
def enter_world(world, arm_count, world_index, lane, block):
    """Put one lane into its world."""
    block.first_row[lane] = world_index * arm_count
    for arm in range(arm_count):
        row, at = block.first_row[lane] + arm, arm * LANES + lane
        normal = world.kind == NORMAL
        block.shift[at] = world.means[row] if normal else 0.0
        block.scale[at] = world.sds[row] if normal else 1.0
        block.truth[at], block.variance[at] = world.means[row], world.variances[row]


@jit
def draw_noise(world, block):
    """The row of block.noise from which this round's rewards follow as shift + scale * noise of the chosen arm."""
    if world.kind == NORMAL:
        return next_normals(block)
    first_row, arms, out = block.first_row, block.arms, block.noise[2]
    drawn = world.kind == EMPIRICAL or world.kind == SMOOTHED
    if drawn or world.kind == BERNOULLI:
        fill_uniforms(block, out)
    if world.kind == BERNOULLI:
        means = world.means
        for lane in range(LANES):
            out[lane] = 1.0 if out[lane] < means[np.uint64(first_row[lane] + arms[lane])] else 0.0
    elif drawn:
        pool, pool_start = world.pool, world.pool_start
        for lane in range(LANES):
            row = np.uint64(first_row[lane] + arms[lane])
            first = pool_start[row]
            size = np.float64(pool_start[row + np.uint64(1)] - first)
            out[lane] = pool[np.uint64(first + np.int64(out[lane] * size))]
        if world.kind == SMOOTHED:
            sds, normals = world.sds, block.noise[next_normals(block)]
            for lane in range(LANES):
                out[lane] += sds[np.uint64(first_row[lane] + arms[lane])] * normals[lane]
    elif world.kind == TAPE:
        for lane in range(LANES):
            row = first_row[lane] + arms[lane]
            at = world.pool_start[row] + np.int64(block.all_pulls[arms[lane] * LANES + lane])
            out[lane] = world.pool[min(at, world.pool_start[row + 1] - 1)]
    else:
        for lane in range(LANES):
            out[lane] = _multiplier_draw(world, first_row[lane] + arms[lane], block.rng, lane)
    return 2


@call
def _multiplier_draw(world, at, rng, lane):
    """mean + sum_i w_i (z_i - mean) / sqrt(n), section 2.1; the pool holds the (z_i - mean) / sqrt(n)."""
    total = world.means[at]
    first, end = world.pool_start[at], world.pool_start[at + 1]
    if world.kind == SIGN_WEIGHTS:
        bits = np.uint64(0)
        for i in range(first, end):
            if (i - first) % 64 == 0:
                bits = next_bits(rng, lane)
            total += world.pool[i] if bits & np.uint64(1) else -world.pool[i]
            bits >>= np.uint64(1)
    else:
        second = 0.0
        for i in range(first, end):
            if (i - first) % 2 == 0:
                z, second = normal_pair(rng, lane)
            else:
                z = second
            total += world.pool[i] * z
    return total
