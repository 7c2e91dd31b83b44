"""Quoted means: their Monte-Carlo errors are honest, and the leader's is off by much less than its corrected mean."""

import numpy as np
import pytest

import debandit as db

RULES = {"ucb": [0, 0.5], "thompson": [0, 0.3, 0.5], "epsilon_greedy(epsilon=0.1)": [0, 0.3, 0.3, 0.5]}


@pytest.mark.parametrize("policy", RULES)
def test_monte_carlo_errors(policy):
    """|bias - that of very many runs| > 1.96 errors in at most 8 % of the calls (and 4.5 s.e.); half of them not."""
    truth = RULES[policy]
    world = db.worlds.Normal(truth, [1.0] * len(truth))
    log = db.simulate(policy, world, horizon=150, runs=2, seed=3, paths=True).log(1)
    options = {"interval": "none", "world": "gaussian", "threads": 1}
    exact = db.debias(log, policy, runs=200_000, seed=999, **options).quoted_bias
    found = [db.debias(log, policy, runs=1000, seed=seed, **options) for seed in range(120)]
    z = np.array([(result.quoted_bias - exact) / result.quoted_bias_se for result in found])
    room = 4.5 * np.sqrt(0.08 * 0.92 / len(found))
    assert ((np.abs(z) > 1.96).mean(axis=0) <= 0.08 + room).all()
    assert ((np.abs(z) > 1.96 / 2).mean(axis=0) > 0.08 + room).all()  # as if the errors were half as large


@pytest.mark.parametrize("policy", ["thompson", "epsilon_greedy(epsilon=0.1)"])
def test_the_leader_s_mean(policy):
    """Its error over logs, in units of the naive RMSE: the corrected mean's is far off, the quoted one's is small."""
    truth = np.array([0.0, 0.2, 0.4])
    runs = db.simulate(policy, db.worlds.Normal(truth, [1.0] * 3), horizon=100, runs=400, seed=11, paths=True)
    results = db.debias_all([runs.log(i) for i in range(400)], policy, runs=500, interval="none")
    best = np.array([int(np.nanargmax(result.naive)) for result in results])

    def error(name):
        off = np.array([getattr(result, name)[k] for result, k in zip(results, best, strict=True)]) - truth[best]
        return off.mean(), off.std() / np.sqrt(len(off))

    unit = np.sqrt(np.mean([(r.naive[k] - truth[k]) ** 2 for r, k in zip(results, best, strict=True)]))
    (quoted, quoted_se), (corrected, corrected_se) = error("quoted"), error("corrected")
    # .129 on average over 144 settings, with a spread over settings; twice that is allowed
    assert abs(quoted) / unit < 0.26 + 4.5 * quoted_se / unit
    assert (corrected - 4.5 * corrected_se) / unit > 0.26 + 4.5 * quoted_se / unit
