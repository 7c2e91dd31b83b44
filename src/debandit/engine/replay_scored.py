"""The scores of a rule along a log, by the same function as in the simulation. A template like `scored`."""

import numpy as np

from debandit.engine.own import VARIANCES, score
from debandit.engine.scored import update


def run(arms, rewards, prescribed, known, opening, parameters, state, arm_count, scores):
    """Fill scores (T, K), without noise; NaN in prescribed rounds. Before round t known[t] rounds were heard of."""
    heard = 0
    pulls, sums, means, deviations = np.zeros(arm_count), np.zeros(arm_count), np.zeros(arm_count), np.zeros(arm_count)
    for t in range(len(arms)):
        for late in range(heard, known[t]):
            arm = arms[late]
            pulls[arm] += 1.0
            sums[arm] += rewards[late]
            update(arm, rewards[late], pulls, means, deviations)
        heard = known[t]
        for arm in range(arm_count):
            n = pulls[arm]
            variance = deviations[arm] / n if VARIANCES else 0.0
            free = prescribed[t] < 0
            value = score(sums[arm] / n, n, np.float64(heard + 1), 0.0, variance, parameters) if free else np.nan
            scores[t, arm] = value
