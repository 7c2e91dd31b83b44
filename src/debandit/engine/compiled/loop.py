"""The one simulation loop: blocks of LANES runs, round by round.

The text of this module is a template (see `kernels`): the import of `choose`, `learn` and `start` is replaced by the
functions of one kind of rule.
"""

import numpy as np

from debandit.engine.compiled.forced import prescribe, settle
from debandit.engine.compiled.index import choose, learn, start
from debandit.engine.compiled.lanes import next_normals, seed_lane
from debandit.engine.compiled.layout import *
from debandit.engine.compiled.rewards import add_martingales, add_rewards, draw_other, enter
from debandit.engine.data import NORMAL


def run(who, keys, world, rule, space, out, stop):
    """Play the runs whose (world, number) are in `who`. See `data` for the records."""
    kind, law, pool, pool_start = world
    numbers, parameters, tables, fixed, ends, heard, shares = rule
    w, s, ints, rng, late_arms, late_noise = space
    table, path_arms, path_rewards = out
    arm_count, kept, horizon = law.shape[1], table.shape[0], np.int64(numbers[ROUNDS])
    settled, batched, commit, decay = len(fixed), len(ends) > 0, numbers[COMMIT] > 0.0, numbers[DECAY]
    floor = numbers[FLOOR]
    for first in range(0, len(who), LANES):
        filled = min(LANES, len(who) - first)
        for lane in range(LANES):  # idle lanes repeat the last run
            world_index, number = who[first + min(lane, filled - 1)]
            seed_lane(rng, lane, keys[world_index], np.uint64(number))
            ints[HELD + lane] = -1
        ints[SPARE] = ints[BAD_ROUND] = 0
        enter(w, who, first, kind, law)
        start(arm_count, parameters, numbers, tables, w)
        known = begun = batch = np.int64(0)  # rounds of which the rule has heard, where this batch began, and batches
        for t in range(horizon):
            asked = not commit
            if t <= settled:
                asked = prescribe(t, fixed, batched, arm_count, numbers, w, s, ints, rng)
            if asked:
                choose(known, arm_count, parameters, numbers, tables, w, s, ints, rng)
            if decay > 0.0:
                floor = numbers[FLOOR] * (begun + 1.0) ** -decay
            if t < settled or commit or floor > 0.0:
                settle(t < settled, commit, floor, shares, arm_count, s, ints, rng)
            row = NOISE
            if kind == NORMAL:
                row = next_normals(w, ints, rng)
            else:
                draw_other(kind, law, pool, pool_start, who, first, batched, w, s, ints, rng)
            told = t + 1
            if batched:
                at = t % len(late_arms)
                for lane in range(LANES):
                    late_arms[at, lane], late_noise[at, lane] = ints[lane], w[row + lane]
                    w[ARMS + ints[lane] * ARM + MADE + lane] += 1.0
                if t + 1 < ends[batch]:
                    continue
                told = heard[batch]
            for late in range(known, told):
                if batched:
                    at = late % len(late_arms)
                    for lane in range(LANES):
                        ints[lane], w[NOISE + lane] = late_arms[at, lane], late_noise[at, lane]
                    row = NOISE
                add_rewards(row, arm_count, kept == 3, numbers[PRIOR_PULLS], numbers[PRIOR_SUM], w, s, ints)
                if kept > 3:
                    add_martingales(arm_count, w, s, ints)
                learn(arm_count, parameters, numbers, tables, w, s, ints)
                if path_arms.shape[1]:
                    for lane in range(filled):
                        path_arms[first + lane, late], path_rewards[first + lane, late] = ints[lane], s[REWARD + lane]
            known, begun, batch = told, t + 1, batch + 1
            if stop[0] or ints[BAD_ROUND]:
                break
        if ints[BAD_ROUND]:  # a rule chose an arm that does not exist
            stop[0], stop[1], stop[2] = 1, who[first + min(ints[BAD_LANE], filled - 1), 1] + 1, ints[BAD_ROUND]
        if stop[0]:
            return
        for i in range(kept):
            for arm in range(arm_count):
                for lane in range(filled):
                    table[i, arm, first + lane] = w[ARMS + arm * ARM + i * LANES + lane]
