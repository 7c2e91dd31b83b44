"""What the chosen arms yield, and the statistics to which it is added, for all lanes at once."""

import numpy as np
from numpy import uint64 as u

from debandit.engine.compiled.arms import add, pick, place, put
from debandit.engine.compiled.jit import call, jit
from debandit.engine.compiled.lanes import fill_uniforms, next_bits, next_normals, normal_pair
from debandit.engine.compiled.layout import *
from debandit.engine.data import (
    BERNOULLI,
    EMPIRICAL,
    NORMAL,
    NORMAL_PART,
    RESIDUALS,
    SIGN_WEIGHTS,
    SMOOTHED,
    TAPE,
    UNIFORM,
)

_WIDTH = 12**0.5  # of a uniform law whose variance is 1


@call
def enter(w, who, first, kind, law):
    """Put every lane into the world of its run, with no pulls yet; idle lanes repeat the last run."""
    last = len(who) - 1
    for arm in range(law.shape[1]):
        base = ARMS + arm * ARM
        for at in range(base, base + ARM):
            w[at] = 0.0
        for lane in range(LANES):
            world = who[min(first + lane, last), 0]
            w[base + TRUTH + lane], w[base + VARIANCE + lane] = law[world, arm, 0], law[world, arm, 1]
            moved = kind in (NORMAL, RESIDUALS, UNIFORM)
            w[base + SHIFT + lane] = law[world, arm, 0] if moved else 0.0
            w[base + SCALE + lane] = law[world, arm, 2] if moved else 1.0


@call
def draw_other(kind, law, pool, pool_start, who, first, batched, w, s, ints, rng):
    """Fill NOISE with the rewards of worlds that are not normal."""
    arm_count, last = law.shape[1], len(who) - 1
    if kind == BERNOULLI:
        fill_uniforms(s, rng)
        for lane in range(LANES):
            w[NOISE + lane] = 1.0 if s[UNIFORMS + lane] < w[place(ints, lane) + u(TRUTH)] else 0.0
    elif kind == UNIFORM:
        fill_uniforms(s, rng)
        for lane in range(LANES):
            w[NOISE + lane] = _WIDTH * (s[UNIFORMS + lane] - 0.5)
    elif kind == RESIDUALS:
        fill_uniforms(s, rng)
        normals = next_normals(w, ints, rng)
        for lane in range(LANES):
            residual = pool[u(np.int64(s[UNIFORMS + lane] * len(pool)))]
            w[NOISE + lane] = residual + NORMAL_PART * w[u(normals + lane)]
    elif kind in (EMPIRICAL, SMOOTHED):
        fill_uniforms(s, rng)
        for lane in range(LANES):
            row = u(who[min(first + lane, last), 0] * arm_count + ints[lane])
            start = pool_start[row]
            size = np.float64(pool_start[row + u(1)] - start)
            w[NOISE + lane] = pool[u(start + np.int64(s[UNIFORMS + lane] * size))]
        if kind == SMOOTHED:
            normals = next_normals(w, ints, rng)
            for lane in range(LANES):
                w[NOISE + lane] += law[who[min(first + lane, last), 0], ints[lane], 2] * w[u(normals + lane)]
    else:
        for lane in range(LANES):
            row = who[min(first + lane, last), 0] * arm_count + ints[lane]
            start, end, at = pool_start[row], pool_start[row + 1], place(ints, lane)
            if kind == TAPE:
                made = np.int64(w[at + u(MADE)] if batched else w[at + u(PULLS)])
                w[NOISE + lane] = pool[min(start + made, end - 1)]
            else:
                w[NOISE + lane] = _weighted(w[at + u(TRUTH)], kind == SIGN_WEIGHTS, pool, start, end, rng, lane)


@call
def _weighted(total, signs, pool, start, end, rng, lane):
    """mean + sum_i w_i (z_i - mean) / sqrt(n), section 2.1; the pool holds the (z_i - mean) / sqrt(n)."""
    bits, second = u(0), 0.0
    for i in range(start, end):
        if signs:
            bits = next_bits(rng, lane) if (i - start) % 64 == 0 else bits >> u(1)
            total += pool[i] if bits & u(1) else -pool[i]
        elif (i - start) % 2 == 0:
            z, second = normal_pair(rng, lane)
            total += pool[i] * z
        else:
            total += pool[i] * second
    return total


@jit
def add_rewards(row, arm_count, squares, n0, s0, w, s, ints):
    """Add this round's rewards, shift + scale * noise (a row of w), to the pulled arms' totals; CENTRE goes by them."""
    if arm_count == 2:
        for lane in range(LANES):
            s[REWARD + lane] = pick(w, SHIFT + lane, ints, lane) + pick(w, SCALE + lane, ints, lane) * w[u(row + lane)]
        for lane in range(LANES):
            add(s[REWARD + lane], w, SUM + lane, ints, lane)
            add(1.0, w, PULLS + lane, ints, lane)
        for lane in range(LANES):
            s[COUNT + lane] = pick(w, PULLS + lane, ints, lane)
            put((pick(w, SUM + lane, ints, lane) + s0) / (s[COUNT + lane] + n0), w, CENTRE + lane, ints, lane)
        if squares:
            for lane in range(LANES):
                error = s[REWARD + lane] - pick(w, TRUTH + lane, ints, lane)
                add(error * error, w, SQUARES + lane, ints, lane)
    else:
        for lane in range(LANES):
            at = place(ints, lane)
            reward = w[at + u(SHIFT)] + w[at + u(SCALE)] * w[u(row + lane)]
            total, count = w[at + u(SUM)] + reward, w[at + u(PULLS)] + 1.0
            w[at + u(SUM)], w[at + u(PULLS)], w[at + u(CENTRE)] = total, count, (total + s0) / (count + n0)
            s[REWARD + lane], s[COUNT + lane] = reward, count
        if squares:
            for lane in range(LANES):
                at = place(ints, lane)
                error = s[REWARD + lane] - w[at + u(TRUTH)]
                w[at + u(SQUARES)] += error * error


@call
def add_martingales(arm_count, w, s, ints):
    """Add this round's squares, and its terms of the sums that serve as control variates; see `engine.runs`."""
    if arm_count == 2:
        for lane in range(LANES):
            truth, pulls = pick(w, TRUTH + lane, ints, lane), pick(w, PULLS + lane, ints, lane)
            s[ERROR + lane] = s[REWARD + lane] - truth
            s[SHARE + lane] = 1.0 / pulls
            s[EARLIER + lane] = pick(w, SUM + lane, ints, lane) - pulls * truth - s[ERROR + lane]
        for lane in range(LANES):
            error, share = s[ERROR + lane], s[SHARE + lane]
            add(error * error, w, SQUARES + lane, ints, lane)
            add(share * error, w, SHARES + lane, ints, lane)
            add(share * error * s[EARLIER + lane], w, PRODUCTS + lane, ints, lane)
            add(share * (error * error - pick(w, VARIANCE + lane, ints, lane)), w, SPREADS + lane, ints, lane)
    else:
        for lane in range(LANES):
            at = place(ints, lane)
            truth, pulls = w[at + u(TRUTH)], w[at + u(PULLS)]
            error, share = s[REWARD + lane] - truth, 1.0 / pulls
            earlier = w[at + u(SUM)] - pulls * truth - error
            w[at + u(SQUARES)] += error * error
            w[at + u(SHARES)] += share * error
            w[at + u(PRODUCTS)] += share * error * earlier
            w[at + u(SPREADS)] += share * (error * error - w[at + u(VARIANCE)])
