"""The choices of rules with a `select` of their own, lane after lane.

A template like `scored`: the import of `select`, `begin` and `take_in` is replaced by the rule's own functions. What
the rule remembers of its own lies behind the rows of the arms, lane after lane.
"""

import numpy as np

from debandit.engine.compiled.jit import jit
from debandit.engine.compiled.layout import *
from debandit.engine.compiled.own import VARIANCES, begin, select, take_in
from debandit.engine.compiled.scored import update_deviations


@jit
def start(arm_count, parameters, numbers, tables, w):
    """Let the rule set the state that it begins with."""
    end = ARMS + arm_count * ARM
    size = (len(w) - end) // LANES
    for at in range(end, len(w)):
        w[at] = 0.0
    for lane in range(LANES):
        begin(w[end + lane * size : end + (lane + 1) * size], arm_count, parameters)


@jit
def choose(t, arm_count, parameters, numbers, tables, w, s, ints, rng):
    """Write down each lane's choice in round t (counted from 0)."""
    end = ARMS + arm_count * ARM
    size = (len(w) - end) // LANES
    pulls, sums = s[ONE : ONE + arm_count], s[ONE + arm_count : ONE + 2 * arm_count]
    variances = s[ONE + 2 * arm_count : ONE + 3 * arm_count]
    for lane in range(LANES):
        if numbers[OPENING] > 0.0 and ints[FIXED + lane] != FREE:
            continue  # the rule counts on initial pulls that it has not heard of yet
        for arm in range(arm_count):
            at = ARMS + arm * ARM + lane
            pulls[arm], sums[arm] = w[at + PULLS], w[at + SUM]
            if VARIANCES:
                variances[arm] = w[at + WIDTH] / w[at + PULLS]
        state = w[end + lane * size : end + (lane + 1) * size]
        choice = np.int64(select(np.float64(t + 1), pulls, sums, variances, state, (rng, lane), parameters))
        if choice < 0 or choice >= arm_count:
            if ints[BAD_ROUND] == 0:
                ints[BAD_LANE], ints[BAD_ROUND] = lane, t + 1
            choice = 0
        ints[lane] = choice


@jit
def learn(arm_count, parameters, numbers, tables, w, s, ints):
    """Take in the pulled arms' rewards."""
    if VARIANCES:
        update_deviations(w, s, ints)
    end = ARMS + arm_count * ARM
    size = (len(w) - end) // LANES
    for lane in range(LANES):
        take_in(ints[lane], s[REWARD + lane], w[end + lane * size : end + (lane + 1) * size], parameters)
