"""The choices of Thompson sampling with beta posteriors.

A beta draw is a / (a + b) for two gamma draws. These come from the method of Marsaglia and Tsang (2000), whose first
try nearly always succeeds and vectorises; where it does not a lane goes on alone.
"""

import numpy as np

from debandit.engine.jit import call, jit
from debandit.engine.lanes import LANES, fill_uniforms, next_normals, normal_pair, uniform


@jit
def start(rule, block):
    """Nothing to remember: totals are enough, and the memory is scratch."""


@jit
def choose(t, rule, block):
    """Fill block.arms with the arm of the highest draw."""
    arms, best, memory = block.arms, block.best, block.memory
    a, b = memory[:LANES], memory[LANES : 2 * LANES]
    best[:] = -1.0
    arms[:] = 0
    for arm in range(block.arm_count):
        pulls, wins = block.pulls[arm * LANES :], block.sums[arm * LANES :]
        for lane in range(LANES):
            a[lane] = rule.parameters[0] + wins[lane]
        for lane in range(LANES):
            b[lane] = rule.parameters[1] + pulls[lane] - wins[lane]
        _gammas(a, block)
        _gammas(b, block)
        for lane in range(LANES):  # the odds a / b order as the rate a / (a + b) does, and do not round to 1
            odds = a[lane] / b[lane]
            arms[lane] = arm if odds > best[lane] else arms[lane]
            best[lane] = odds if odds > best[lane] else best[lane]


@jit
def learn(rule, block):
    """Nothing beyond the totals."""


@jit
def _gammas(shapes, block):
    """Replace every lane's shape by a Gamma(shape, 1) draw."""
    draws, u = block.memory[2 * LANES : 3 * LANES], block.scratch
    x = block.noise[next_normals(block)]
    fill_uniforms(block, u)
    for lane in range(LANES):
        d = shapes[lane] - 1.0 / 3.0
        v = 1.0 + x[lane] / np.sqrt(9.0 * d)
        v = v * v * v
        x2 = x[lane] * x[lane]
        accepted = (shapes[lane] >= 1.0) & (v > 0.0) & (1.0 - u[lane] < 1.0 - 0.0331 * x2 * x2)
        draws[lane] = d * v if accepted else -1.0
    for lane in range(LANES):
        if draws[lane] < 0.0:
            draws[lane] = _gamma(shapes[lane], x[lane], 1.0 - u[lane], block.rng, lane)
        shapes[lane] = draws[lane]


@call
def _gamma(shape, x, u, rng, lane):
    """A Gamma(shape, 1) draw that begins with the normal x and the uniform u."""
    boost = 1.0
    if shape < 1.0:  # Gamma(a) = Gamma(a + 1) U^(1/a)
        boost = (1.0 - uniform(rng, lane)) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    while True:
        v = 1.0 + x / np.sqrt(9.0 * d)
        v = v * v * v
        if v > 0.0 and np.log(u) < 0.5 * x * x + d * (1.0 - v + np.log(v)):
            return boost * d * v
        x, _ = normal_pair(rng, lane)
        u = 1.0 - uniform(rng, lane)


@call
def gamma_draw(shape, random):
    """A Gamma(shape, 1) draw of one lane, for `draws`."""
    rng, lane = random
    x, _ = normal_pair(rng, lane)
    return _gamma(shape, x, 1.0 - uniform(rng, lane), rng, lane)
