"""The choices of index rules: the highest (S + s0) / (N + n0) + level[t] * width[N] * noise. See `RuleData`.

CENTRE and WIDTH of an arm change only when it was pulled.
"""

import numpy as np
from numpy import uint64 as u

from debandit.engine.compiled.arms import challenge, explore, place, put
from debandit.engine.compiled.jit import call, jit
from debandit.engine.compiled.lanes import next_normals
from debandit.engine.compiled.layout import *


@jit
def start(arm_count, parameters, numbers, tables, w):
    """Before the first pull."""
    centre = numbers[PRIOR_SUM] / numbers[PRIOR_PULLS] if numbers[PRIOR_PULLS] > 0 else 0.0
    for arm in range(arm_count):
        for at in range(ARMS + arm * ARM, ARMS + arm * ARM + LANES):
            w[at + CENTRE], w[at + WIDTH] = centre, tables[WIDTHS, 0]


@jit
def choose(t, arm_count, parameters, numbers, tables, w, s, ints, rng):
    """Write down each lane's choice in round t (counted from 0)."""
    if tables[EXPLORE, t] < 1.0:
        noisy, ties = numbers[NOISY] != 0.0, numbers[TIES]
        if noisy and arm_count == 2:
            _higher_of_two_draws(next_normals(w, ints, rng), w, ints)
        elif noisy or ties != FIRST:
            _highest(tables[LEVELS, t], noisy, ties, arm_count, w, s, ints, rng)
        else:
            _highest_index(tables[LEVELS, t], arm_count, w, s, ints)
    if numbers[EXPLORES]:
        explore(tables[EXPLORE, t], arm_count, s, ints, rng)


@jit
def learn(arm_count, parameters, numbers, tables, w, s, ints):
    """Take in the pulled arms' new totals."""
    if numbers[WIDE] == 0.0:
        return
    if arm_count == 2:
        for lane in range(LANES):
            s[SCRATCH + lane] = tables[WIDTHS, u(np.int64(s[COUNT + lane]))]
        for lane in range(LANES):
            put(s[SCRATCH + lane], w, WIDTH + lane, ints, lane)
    else:
        for lane in range(LANES):
            w[place(ints, lane) + u(WIDTH)] = tables[WIDTHS, u(np.int64(s[COUNT + lane]))]


@jit
def _index(level, w, at):
    return w[at + u(CENTRE)] + level * w[at + u(WIDTH)]


@jit
def _highest_index(level, arm_count, w, s, ints):
    """The first arm with the highest centre + level * width."""
    for lane in range(LANES):
        a, b = _index(level, w, u(ARMS + lane)), _index(level, w, u(ARMS + ARM + lane))
        s[BEST + lane] = b if b > a else a
        ints[lane] = 1 if b > a else 0
    arm = 2
    while arm + 4 <= arm_count:  # four arms a pass: each pass reads and writes the best so far
        for lane in range(LANES):
            at = u(ARMS + arm * ARM + lane)
            a, b = _index(level, w, at), _index(level, w, at + u(ARM))
            c, d = _index(level, w, at + u(2 * ARM)), _index(level, w, at + u(3 * ARM))
            ab, cd = b if b > a else a, d if d > c else c
            i, j = arm + 1 if b > a else arm, arm + 3 if d > c else arm + 2
            top, i = cd if cd > ab else ab, j if cd > ab else i
            ints[lane] = i if top > s[BEST + lane] else ints[lane]
            s[BEST + lane] = top if top > s[BEST + lane] else s[BEST + lane]
        arm += 4
    while arm < arm_count:
        for lane in range(LANES):
            a = _index(level, w, u(ARMS + arm * ARM + lane))
            ints[lane] = arm if a > s[BEST + lane] else ints[lane]
            s[BEST + lane] = a if a > s[BEST + lane] else s[BEST + lane]
        arm += 1


@call
def _highest(level, noisy, ties, arm_count, w, s, ints, rng):
    """The same, where indices are random or not always the first of equals wins."""
    for lane in range(LANES):
        s[BEST + lane] = -np.inf
    for arm in range(arm_count):
        normals = next_normals(w, ints, rng) if noisy else 0
        if noisy:  # no two are equal
            for lane in range(LANES):
                a = _index(w[u(normals + lane)], w, u(ARMS + arm * ARM + lane))
                ints[lane] = arm if a > s[BEST + lane] else ints[lane]
                s[BEST + lane] = a if a > s[BEST + lane] else s[BEST + lane]
        else:
            for lane in range(LANES):
                s[SCRATCH + lane] = _index(level, w, u(ARMS + arm * ARM + lane))
            challenge(arm, ties, s, ints, rng)


@jit
def _higher_of_two_draws(normals, w, ints):
    """Two arms: the difference of two normal draws is one normal draw."""
    for lane in range(LANES):
        a, b = w[ARMS + WIDTH + lane], w[ARMS + ARM + WIDTH + lane]
        gap = w[ARMS + ARM + CENTRE + lane] - w[ARMS + CENTRE + lane]
        ints[lane] = 1 if gap > np.sqrt(a * a + b * b) * w[u(normals + lane)] else 0
