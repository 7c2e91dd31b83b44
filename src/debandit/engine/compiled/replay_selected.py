"""The choices of a rule along a log, by the same functions as in the simulation. A template like `selected`."""

import numpy as np

from debandit.engine.compiled.lanes import seed_lane
from debandit.engine.compiled.layout import WORDS
from debandit.engine.compiled.own import VARIANCES, begin, select, take_in
from debandit.engine.compiled.scored import update


def run(arms, rewards, prescribed, known, opening, parameters, state, arm_count, said):
    """Fill said (T, 1 + S) with each choice, if random numbers are 0, and what is remembered; see `replay_scored`."""
    heard, pulls, sums, welford = 0, np.zeros(arm_count), np.zeros(arm_count), np.zeros(2 * arm_count)
    variances, rng = np.zeros(arm_count), np.zeros(WORDS, np.uint64)
    seed_lane(rng, 0, np.uint64(1), np.uint64(1))
    begin(state, arm_count, parameters)
    for t in range(len(arms)):
        for late in range(heard, known[t]):
            arm = arms[late]
            pulls[arm] += 1.0
            sums[arm] += rewards[late]
            update(np.uint64(arm), 0, arm_count, rewards[late], pulls[arm], welford)
            take_in(arm, rewards[late], state, parameters)
        heard = known[t]
        said[t, 0] = prescribed[t]
        if prescribed[t] < 0 or opening == 0:
            if VARIANCES:
                for arm in range(arm_count):
                    variances[arm] = welford[arm_count + arm] / pulls[arm]
            choice = select(np.float64(heard + 1), pulls, sums, variances, state, (rng, 0), parameters)
            if prescribed[t] < 0:
                said[t, 0] = choice
        said[t, 1:] = state
