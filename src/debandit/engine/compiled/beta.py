"""The choices of Thompson sampling with beta posteriors.

A beta draw is a / (a + b) for two gamma draws. These come from the method of Marsaglia and Tsang (2000), whose first
try nearly always succeeds and vectorises; where it does not a lane goes on alone.
"""

import numpy as np

from debandit.engine.compiled.jit import call, jit
from debandit.engine.compiled.lanes import fill_uniforms, next_normals, normal_pair, uniform
from debandit.engine.compiled.layout import ARM, ARMS, BEST, EARLIER, ERROR, LANES, PULLS, SHARE, SUM, UNIFORMS


@jit
def start(arm_count, parameters, numbers, tables, w):
    """Nothing to remember: totals are enough."""


@jit
def choose(t, arm_count, parameters, numbers, tables, w, s, ints, rng):
    """Write down the arm of the highest draw."""
    for lane in range(LANES):
        s[BEST + lane], ints[lane] = -1.0, 0
    for arm in range(arm_count):
        at = ARMS + arm * ARM
        for lane in range(LANES):
            s[SHARE + lane] = parameters[0] + w[np.uint64(at + SUM + lane)]
            s[EARLIER + lane] = parameters[1] + w[np.uint64(at + PULLS + lane)] - w[np.uint64(at + SUM + lane)]
        for row in (SHARE, EARLIER):
            _gammas(row, w, s, ints, rng)
        for lane in range(LANES):  # the odds a / b order as the rate a / (a + b) does, and do not round to 1
            odds = s[SHARE + lane] / s[EARLIER + lane]
            ints[lane] = arm if odds > s[BEST + lane] else ints[lane]
            s[BEST + lane] = odds if odds > s[BEST + lane] else s[BEST + lane]


@jit
def learn(arm_count, parameters, numbers, tables, w, s, ints):
    """Nothing beyond the totals."""


@call
def _gammas(row, w, s, ints, rng):
    """Replace every lane's shape, in a row of `s`, by a Gamma(shape, 1) draw."""
    normals = next_normals(w, ints, rng)
    fill_uniforms(s, rng)
    for lane in range(LANES):
        shape, x = s[np.uint64(row + lane)], w[np.uint64(normals + lane)]
        d = shape - 1.0 / 3.0
        v = 1.0 + x / np.sqrt(9.0 * d)
        v = v * v * v
        x2 = x * x
        accepted = (shape >= 1.0) & (v > 0.0) & (1.0 - s[UNIFORMS + lane] < 1.0 - 0.0331 * x2 * x2)
        s[ERROR + lane] = d * v if accepted else -1.0
    for lane in range(LANES):
        if s[ERROR + lane] < 0.0:
            s[ERROR + lane] = _gamma(
                s[np.uint64(row + lane)], w[np.uint64(normals + lane)], 1.0 - s[UNIFORMS + lane], rng, lane
            )
        s[np.uint64(row + lane)] = s[ERROR + lane]


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
