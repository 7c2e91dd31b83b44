"""What a rule of one's own brings to the templates `scored` and `selected`; here, as an example, UCB in both forms.

In a compiled kernel this module is replaced by the functions of one rule (see `policies.own`).
"""

import numpy as np

from debandit.engine.compiled.jit import jit

NOISY_SCORE, VARIANCES = False, False


@jit
def score(mean, pulls, t, z, variance, p):
    return mean + np.sqrt(np.log(t) / pulls)


@jit
def begin(state, arm_count, p):
    pass


@jit
def select(t, pulls, sums, variances, state, random, p):
    best = 0
    for arm in range(len(pulls)):
        if score(sums[arm] / pulls[arm], pulls[arm], t, 0.0, 0.0, p) > score(
            sums[best] / pulls[best], pulls[best], t, 0.0, 0.0, p
        ):
            best = arm
    return best


@jit
def take_in(arm, reward, state, p):
    pass
