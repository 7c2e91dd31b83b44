"""The classroom experiment of which docs/datasets.md says that its counts do not fit the rule well."""

import numpy as np

import debandit as db

RUNS, Z, ROUNDING = 15_000, 4.5, 0.0005  # .016 is given with two digits


def share(policy):
    """Of runs with at least as many pulls of the worse arm, if the true rates are the observed ones: 49/272, 68/238."""
    log = db.datasets.classroom_postdiff.log
    worse = int(log.means.argmin())
    runs = db.simulate(policy, db.worlds.Bernoulli(log.means), horizon=log.horizon, runs=RUNS, seed=5)
    found = float((runs.pulls[:, worse] >= log.pulls[worse]).mean())
    return found, np.sqrt(found * (1 - found) / RUNS)


def test_so_many_pulls_of_the_worse_arm_have_probability_016():
    found, error = share(db.datasets.classroom_postdiff.policy)
    assert abs(found - 0.016) < Z * error + ROUNDING


def test_another_c_has_another_probability():
    found, error = share(db.TSPostDiff(c=0.2))
    assert abs(found - 0.016) > Z * error + ROUNDING
