"""The choices of rules that give every arm a score: the highest wins.

A template: the import of `score` is replaced by the rule's own function (see `kernels`). The memory holds each arm's
mean and behind them the sums of squared deviations, both as Welford updates them.
"""

import numpy as np

from debandit.engine.block import challenge
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
            block.scores[lane] = score(sums[lane] / pulls[lane], pulls[lane], now, z[lane], variance, parameters)
        challenge(arm, rule.ties, block)


@jit
def learn(rule, block):
    """Take in the pulled arms' rewards."""
    if VARIANCES:
        update_deviations(block)


@jit
def update_deviations(block):
    """Of the pulled arms."""
    means, deviations = block.memory[: block.arm_count * LANES], block.memory[block.arm_count * LANES :]
    for lane in range(LANES):
        update(np.uint64(block.places[lane]), block.rewards[lane], block.pulls, means, deviations)


@jit
def update(at, reward, pulls, means, deviations):
    """Welford's update of an arm's mean and sum of squared deviations, after its pull was counted."""
    gap = reward - means[at]
    means[at] += gap / pulls[at]
    deviations[at] += gap * (reward - means[at])
