"""The choices of a rule along a log, by the same functions as in the simulation. A template like `selected`."""

import numpy as np

from debandit.engine.lanes import seed_lane
from debandit.engine.own import VARIANCES, begin, select, take_in


def run(arms, rewards, opening, parameters, chosen, scores, state):
    """Fill chosen (T,) with the choices of a rule that draws no random numbers."""
    arm_count = scores.shape[1]
    pulls, sums, variances = np.zeros(arm_count), np.zeros(arm_count), np.zeros(arm_count)
    means, deviations, rng = np.zeros(arm_count), np.zeros(arm_count), np.zeros((4, 1), np.uint64)
    seed_lane(rng, 0, np.uint64(1), np.uint64(1))
    begin(state, arm_count, parameters)
    for t in range(len(arms)):
        if t < opening * arm_count:
            chosen[t] = t // opening
        else:
            if VARIANCES:
                for arm in range(arm_count):
                    variances[arm] = deviations[arm] / pulls[arm]
            chosen[t] = select(np.float64(t + 1), pulls, sums, variances, state, (rng, 0), parameters)
        arm = arms[t]
        pulls[arm] += 1.0
        sums[arm] += rewards[t]
        gap = rewards[t] - means[arm]
        means[arm] += gap / pulls[arm]
        deviations[arm] += gap * (rewards[t] - means[arm])
        take_in(arm, rewards[t], state, parameters)
