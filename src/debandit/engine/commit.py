"""Explore-then-commit without rounds: it needs only each arm's exploration sum and the sum of the rounds after it."""

import numpy as np

from debandit.engine.data import NORMAL
from debandit.engine.jit import call
from debandit.engine.lanes import LANES, fill_uniforms, next_normals
from debandit.engine.martingales import add_martingales


@call
def commit_block(task, rule, world, binomials, martingales, block):
    """All rounds of all lanes: K sums of `opening` rewards, the comparison, one sum of the remaining rewards."""
    opening, rest = rule.opening, task.horizon - rule.opening * block.arm_count
    arms, places, best = block.arms, block.places, block.best
    sums, pulls, totals = block.all_sums, block.all_pulls, block.rewards
    best[:] = -np.inf
    block.martingales[:] = 0.0
    sums[:] = 0.0
    pulls[:] = 0.0
    for arm in range(block.arm_count):
        for lane in range(LANES):
            places[lane] = arm * LANES + lane
        _draw_sums(opening, world.kind, binomials[0], block)
        _add_sums(opening, martingales, block)
        for lane in range(LANES):
            mean = totals[lane] / opening
            arms[lane] = arm if mean > best[lane] else arms[lane]
            best[lane] = mean if mean > best[lane] else best[lane]
    if rest > 0:
        for lane in range(LANES):
            places[lane] = arms[lane] * LANES + lane
        _draw_sums(rest, world.kind, binomials[1], block)
        _add_sums(rest, martingales, block)


@call
def _add_sums(count, martingales, block):
    """Add block.rewards to the totals of each lane's arm."""
    places, sums, pulls = block.places, block.all_sums, block.all_pulls
    for lane in range(LANES):
        sums[places[lane]] += block.rewards[lane]
        pulls[places[lane]] += count
    if martingales:
        add_martingales(np.float64(count), block)


@call
def _draw_sums(count, kind, tables, block):
    """Fill block.rewards with the sum of `count` rewards of each lane's arm: normal, or binomial by inversion."""
    places, totals, shift, scale = block.places, block.rewards, block.shift, block.scale
    if kind == NORMAL:
        normals = block.noise[next_normals(block)]
        root = np.sqrt(np.float64(count))
        for lane in range(LANES):
            at = np.uint64(places[lane])
            totals[lane] = count * shift[at] + root * scale[at] * normals[lane]
    else:
        u = block.scratch
        fill_uniforms(block, u)
        for lane in range(LANES):
            row = block.first_row[lane] + places[lane] // LANES
            totals[lane] = np.searchsorted(tables[row, : count + 1], u[lane], side="right")
