"""The choices of index rules, for all lanes at once. See `RuleData` for the family.

The memory holds each arm's location and behind them each arm's width; both change only for the arm that was pulled.
"""

import numpy as np

from debandit.engine.block import challenge, explore, pick, put
from debandit.engine.data import FIRST
from debandit.engine.jit import jit
from debandit.engine.lanes import LANES, next_normals


@jit
def start(rule, block):
    """Before the first pull."""
    size = block.arm_count * LANES
    block.memory[:size] = rule.prior_sum / rule.prior_pulls if rule.prior_pulls > 0 else 0.0
    block.memory[size:] = rule.width[0] if len(rule.width) else 0.0


@jit
def choose(t, rule, block):
    """Fill block.arms with each lane's choice in round t (counted from 0)."""
    if len(rule.explore) == 0 or rule.explore[t] < 1.0:
        if not rule.noisy:
            level = rule.level[t] if len(rule.level) else 0.0
            if rule.ties == FIRST:
                _highest_index(level, block.arm_count, block.memory, block.best, block.arms)
            else:
                _highest_index_with_ties(level, rule.ties, block)
        elif block.arm_count == 2:
            _higher_of_two_draws(block.memory, block.noise[next_normals(block)], block.arms)
        else:
            _highest_draw(block)
    if len(rule.explore):
        explore(rule.explore[t], block)


@jit
def learn(rule, block):
    """Take in the pulled arms' new totals."""
    arms, places, pulls, sums, memory = block.arms, block.places, block.pulls, block.sums, block.memory
    widths, width, scratch = rule.width, memory[block.arm_count * LANES :], block.scratch
    s0, n0 = rule.prior_sum, rule.prior_pulls
    if block.arm_count == 2:
        for lane in range(LANES):
            put((pick(sums, arms, lane) + s0) / (pick(pulls, arms, lane) + n0), memory, arms, lane)
        if len(widths):
            for lane in range(LANES):
                scratch[lane] = widths[np.uint64(np.int64(pick(pulls, arms, lane)))]
            for lane in range(LANES):
                put(scratch[lane], width, arms, lane)
    else:
        for lane in range(LANES):
            at = np.uint64(places[lane])
            memory[at] = (sums[at] + s0) / (pulls[at] + n0)
        if len(widths):
            for lane in range(LANES):
                at = np.uint64(places[lane])
                width[at] = widths[np.uint64(np.int64(pulls[at]))]


@jit
def _highest_index(level, arm_count, memory, best, arms):
    """The first arm with the highest location + level * width."""
    location, width = memory[: arm_count * LANES], memory[arm_count * LANES :]
    for lane in range(LANES):
        a = location[lane] + level * width[lane]
        b = location[LANES + lane] + level * width[LANES + lane]
        best[lane] = b if b > a else a
        arms[lane] = 1 if b > a else 0
    arm = 2
    while arm + 4 <= arm_count:  # four arms a pass: each pass reads and writes the best so far
        location, width = memory[arm * LANES :], memory[(arm_count + arm) * LANES :]
        for lane in range(LANES):
            a = location[lane] + level * width[lane]
            b = location[LANES + lane] + level * width[LANES + lane]
            c = location[2 * LANES + lane] + level * width[2 * LANES + lane]
            d = location[3 * LANES + lane] + level * width[3 * LANES + lane]
            ab, i = (b, arm + 1) if b > a else (a, arm)
            cd, j = (d, arm + 3) if d > c else (c, arm + 2)
            top, i = (cd, j) if cd > ab else (ab, i)
            arms[lane] = i if top > best[lane] else arms[lane]
            best[lane] = top if top > best[lane] else best[lane]
        arm += 4
    while arm < arm_count:
        location, width = memory[arm * LANES :], memory[(arm_count + arm) * LANES :]
        for lane in range(LANES):
            a = location[lane] + level * width[lane]
            arms[lane] = arm if a > best[lane] else arms[lane]
            best[lane] = a if a > best[lane] else best[lane]
        arm += 1


@jit
def _highest_index_with_ties(level, ties, block):
    """The same, where not always the first of equals wins."""
    block.best[:] = -np.inf
    for arm in range(block.arm_count):
        location, width = block.memory[arm * LANES :], block.memory[(block.arm_count + arm) * LANES :]
        for lane in range(LANES):
            block.scores[lane] = location[lane] + level * width[lane]
        challenge(arm, ties, block)


@jit
def _higher_of_two_draws(memory, normals, arms):
    """Two arms: the difference of two normal draws is one normal draw."""
    for lane in range(LANES):
        a, b = memory[2 * LANES + lane], memory[3 * LANES + lane]
        arms[lane] = 1 if memory[LANES + lane] - memory[lane] > np.sqrt(a * a + b * b) * normals[lane] else 0


@jit
def _highest_draw(block):
    """The arm with the highest normal draw."""
    arms, best = block.arms, block.best
    best[:] = -np.inf
    for arm in range(block.arm_count):
        normals = block.noise[next_normals(block)]
        location, width = block.memory[arm * LANES :], block.memory[(block.arm_count + arm) * LANES :]
        for lane in range(LANES):
            a = location[lane] + width[lane] * normals[lane]
            arms[lane] = arm if a > best[lane] else arms[lane]
            best[lane] = a if a > best[lane] else best[lane]
