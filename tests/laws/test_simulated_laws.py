"""p-values keep their level, and simulated limits cover, although the policy looks at the rewards; Welch's fail."""

import numpy as np
from scipy import stats

import debandit as db

EXPERIMENTS = 300


def test_level_and_coverage_in_long_experiments():
    """Two equal arms under UCB for 1,000 rounds: among 2,000 experiments Welch's test rejects 14 % at the level 5 %."""
    runs = db.simulate("ucb", db.worlds.Normal([0, 0], [1, 1]), horizon=1000, runs=EXPERIMENTS, seed=11, paths=True)
    ours, covered, welch = [], [], []
    for i in range(EXPERIMENTS):
        log = runs.log(i)
        found = db.debias(log, "ucb", runs=2, control="1", seed=i, force=True).differences
        ours.append(found.p_value[1] <= 0.05)
        covered.append(found.low[1] <= 0 <= found.high[1])
        one, two = (log.rounds.rewards[log.rounds.arms == k] for k in (0, 1))
        welch.append(stats.ttest_ind(one, two, equal_var=False).pvalue <= 0.05)
    room = 4.5 * np.sqrt(0.05 * 0.95 / EXPERIMENTS)
    assert np.mean(ours) < 0.05 + room
    assert np.mean(covered) > 0.95 - room
    assert np.mean(welch) > 0.05 + room
