"""The scores of a rule along a log, by the same function as in the simulation. A template like `scored`."""

import numpy as np

from debandit.engine.compiled.own import VARIANCES, score
from debandit.engine.compiled.scored import update


def run(arms, rewards, prescribed, known, opening, parameters, state, arm_count, scores):
    """Fill scores (T, K), without noise; NaN in prescribed rounds. Before round t known[t] rounds were heard of."""
    heard, pulls, sums, welford = 0, np.zeros(arm_count), np.zeros(arm_count), np.zeros(2 * arm_count)
    for t in range(len(arms)):
        for late in range(heard, known[t]):
            arm = arms[late]
            pulls[arm] += 1.0
            sums[arm] += rewards[late]
            update(np.uint64(arm), 0, arm_count, rewards[late], pulls[arm], welford)
        heard = known[t]
        for arm in range(arm_count):
            n = pulls[arm]
            variance = welford[arm_count + arm] / n if VARIANCES else 0.0
            free = prescribed[t] < 0
            value = score(sums[arm] / n, n, np.float64(heard + 1), 0.0, variance, parameters) if free else np.nan
            scores[t, arm] = value
