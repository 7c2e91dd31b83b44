"""The scores of a rule along a log, by the same function as in the simulation. A template like `scored`."""

import numpy as np

from debandit.engine.own import VARIANCES, score


def run(arms, rewards, opening, parameters, chosen, scores):
    """Fill chosen (T,) with the rule's choices and scores (T, K), without noise; NaN in forced rounds."""
    arm_count = scores.shape[1]
    pulls, sums, means, deviations = np.zeros(arm_count), np.zeros(arm_count), np.zeros(arm_count), np.zeros(arm_count)
    for t in range(len(arms)):
        if t < opening * arm_count:
            chosen[t] = t // opening
            scores[t] = np.nan
        else:
            chosen[t], best = 0, -np.inf
            for arm in range(arm_count):
                n = pulls[arm]
                variance = deviations[arm] / n if VARIANCES else 0.0
                scores[t, arm] = score(sums[arm] / n, n, np.float64(t + 1), 0.0, variance, parameters)
                if scores[t, arm] > best:
                    chosen[t], best = arm, scores[t, arm]
        arm = arms[t]
        pulls[arm] += 1.0
        sums[arm] += rewards[t]
        gap = rewards[t] - means[arm]
        means[arm] += gap / pulls[arm]
        deviations[arm] += gap * (rewards[t] - means[arm])
