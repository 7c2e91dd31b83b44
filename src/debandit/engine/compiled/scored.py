"""The choices of rules that give every arm a score: the highest wins.

A template: the import of `score` is replaced by the rule's own function (see `kernels`). MEAN and WIDTH hold each
arm's mean and sum of squared deviations, as Welford updates them.
"""

import numpy as np
from numpy import uint64 as u

from debandit.engine.compiled.arms import challenge, place
from debandit.engine.compiled.jit import jit
from debandit.engine.compiled.lanes import next_normals
from debandit.engine.compiled.layout import ARM, ARMS, BEST, LANES, MEAN, PULLS, REWARD, SCRATCH, SUM, TIES, WIDTH
from debandit.engine.compiled.own import NOISY_SCORE, VARIANCES, score


@jit
def start(arm_count, parameters, numbers, tables, w):
    """Nothing is known of any arm."""


@jit
def choose(t, arm_count, parameters, numbers, tables, w, s, ints, rng):
    """Write down each lane's choice in round t (counted from 0)."""
    now, normals = np.float64(t + 1), 0
    for lane in range(LANES):
        s[BEST + lane], ints[lane] = -np.inf, 0
    for arm in range(arm_count):
        if NOISY_SCORE:
            normals = next_normals(w, ints, rng)
        at = ARMS + arm * ARM
        for lane in range(LANES):
            pulls = w[u(at + PULLS + lane)]
            variance = w[u(at + WIDTH + lane)] / pulls if VARIANCES else 0.0
            s[SCRATCH + lane] = score(
                w[u(at + SUM + lane)] / pulls, pulls, now, w[u(normals + lane)], variance, parameters
            )
        challenge(arm, numbers[TIES], s, ints, rng)


@jit
def learn(arm_count, parameters, numbers, tables, w, s, ints):
    """Take in the pulled arms' rewards."""
    if VARIANCES:
        update_deviations(w, s, ints)


@jit
def update_deviations(w, s, ints):
    """Welford's update of the pulled arms, whose pulls have been counted."""
    for lane in range(LANES):
        at = place(ints, lane)
        update(at, MEAN, WIDTH, s[REWARD + lane], w[at + u(PULLS)], w)


@jit
def update(at, centre, width, reward, pulls, w):
    """Welford's update of one arm's mean and sum of squared deviations."""
    at, deviations = at + u(centre), at + u(width)
    gap = reward - w[at]
    w[at] += gap / pulls
    w[deviations] += gap * (reward - w[at])
