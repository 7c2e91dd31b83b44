"""The choices of Thompson sampling with beta posteriors."""

import numpy as np

from debandit.engine.jit import call, jit
from debandit.engine.lanes import LANES, normal_pair, uniform


@jit
def start(rule, block):
    """Nothing to remember: totals are enough."""


@jit
def choose(t, rule, block):
    """Fill block.arms with the arm of the highest draw."""
    for lane in range(LANES):
        best = -1.0
        block.arms[lane] = 0
        for arm in range(block.arm_count):
            wins = block.sums[arm * LANES + lane]
            losses = block.pulls[arm * LANES + lane] - wins
            a = gamma(rule.parameters[0] + wins, block.rng, lane)
            b = gamma(rule.parameters[1] + losses, block.rng, lane)
            if a / b > best:  # the odds order as the rate a / (a + b) does, and do not round to 1
                best, block.arms[lane] = a / b, arm


@jit
def learn(rule, block):
    """Nothing beyond the totals."""


@call
def gamma(shape, rng, lane):
    """A Gamma(shape, 1) draw by the method of Marsaglia and Tsang (2000)."""
    boost = 1.0
    if shape < 1.0:  # Gamma(a) = Gamma(a + 1) U^(1/a)
        boost = (1.0 - uniform(rng, lane)) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        x, _ = normal_pair(rng, lane)
        v = 1.0 + c * x
        v = v * v * v
        u = 1.0 - uniform(rng, lane)
        if v > 0.0 and (u < 1.0 - 0.0331 * x**4 or np.log(u) < 0.5 * x * x + d * (1.0 - v + np.log(v))):
            return boost * d * v
