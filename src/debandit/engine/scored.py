"""The choices of rules that give every arm a score: the highest wins, ties go to the lowest index.

A template: the import of `score` is replaced by the rule's own function (see `kernels`). The memory holds each arm's
mean and behind them the sums of squared deviations, both as Welford updates them.
"""

import numpy as np

from debandit.engine.jit import jit
from debandit.engine.lanes import LANES, next_normals
from debandit.engine.own import NOISY, VARIANCES, score


@jit
def start(rule, block):
    """Nothing is known of any arm."""
    block.memory[:] = 0.0


@jit
def choose(t, rule, block):
    """Fill block.arms with each lane's choice in round t (counted from 0)."""
    arms, best, size = block.arms, block.best, block.arm_count * LANES
    now, parameters = np.float64(t + 1), rule.parameters
    best[:] = -np.inf
    arms[:] = 0
    for arm in range(block.arm_count):
        row = next_normals(block) if NOISY else 0
        z, pulls, sums = block.noise[row], block.pulls[arm * LANES :], block.sums[arm * LANES :]
        deviations = block.memory[size + arm * LANES :]
        for lane in range(LANES):
            variance = deviations[lane] / pulls[lane] if VARIANCES else 0.0
            value = score(sums[lane] / pulls[lane], pulls[lane], now, z[lane], variance, parameters)
            arms[lane] = arm if value > best[lane] else arms[lane]
            best[lane] = value if value > best[lane] else best[lane]


@jit
def learn(rule, block):
    """Take in the pulled arms' rewards."""
    if VARIANCES:
        update_deviations(block)


@jit
def update_deviations(block):
    """Welford's update of the pulled arms' means and sums of squared deviations."""
    places, pulls, rewards, memory = block.places, block.pulls, block.rewards, block.memory
    deviations = memory[block.arm_count * LANES :]
    for lane in range(LANES):
        at = np.uint64(places[lane])
        gap = rewards[lane] - memory[at]
        memory[at] += gap / pulls[at]
        deviations[at] += gap * (rewards[lane] - memory[at])
