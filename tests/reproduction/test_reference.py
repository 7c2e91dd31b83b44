"""High-precision values of the paper's experiments (tables 1 and 2), T = 100.

reference.csv: `bias` is E[naive] - mu from 1,024,000 runs; `estMB` and `estEB` are mean estimated biases over 6,016
experiments with 100 runs each, all from an independent implementation with numpy's generator. `TSconj` is Thompson
sampling with prior N(0,1), noise variance 1 and no initial pulls; `TSraw` pulls each arm once and then draws from
N(S/N, 1/(N+1)).
"""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from catalogue import Z, z_scores

import debandit as db

RUNS = 400_000  # with errors of at most twice the reference's
POLICIES = {
    "ETC": db.ExploreThenCommit(pulls=10),
    "UCB": db.UCB(c=1.0),
    "EG": db.EpsilonGreedy(epsilon=0.05),
    "TSconj": db.ThompsonSampling(),
    "TSraw": db.ThompsonSampling(initial_pulls=1, center="sample"),
}


def read_reference():
    """{(algorithm, reward, means, sds): {quantity: (values, errors)}}"""
    table = defaultdict(lambda: defaultdict(list))
    with Path(__file__).with_name("reference.csv").open() as file:
        for row in csv.DictReader(file):
            key = row["algorithm"], row["reward"], row["means"], row["sds"]
            table[key][row["quantity"]].append((float(row["value"]), float(row["se"] or 0)))
    return {key: {name: np.array(pairs).T for name, pairs in rows.items()} for key, rows in table.items()}


REFERENCE = read_reference()
NAMES = ["-".join(filter(None, key)).replace(" ", ",") for key in REFERENCE]


def world_of(reward, means, sds):
    truth = [float(x) for x in means.split()]
    if reward == "normal":
        return db.worlds.Normal(truth, [float(x) for x in sds.split()])
    return db.worlds.Bernoulli(truth)


@pytest.mark.parametrize("key", REFERENCE, ids=NAMES)
def test_real_world_bias(key):
    runs = db.simulate(POLICIES[key[0]], world_of(*key[1:]), horizon=100, runs=RUNS, seed=31)
    value, error = REFERENCE[key]["bias"]
    assert (runs.bias_se() < 2 * error).all()
    assert np.abs(z_scores(runs.bias() - value, runs.bias_se(), error)).max() < Z
    for name in ("bias_exact_quadrature", "bias_exact_ties_first"):
        if name in REFERENCE[key]:
            assert np.abs(z_scores(runs.bias() - REFERENCE[key][name][0], runs.bias_se())).max() < Z


def estimated_bias(key, world, declared, logs=450, seed=32):
    """Mean and standard error over simulated logs of the bias that `debias` estimates under the declared rule.

    With errors of at most four times the reference's, because each log takes hundredths of a second.
    """
    runs = db.simulate(POLICIES[key[0]], world_of(*key[1:]), horizon=100, runs=logs, seed=seed, paths=True)
    unseen = (0.0, 0.0)  # the reference gives arms without a reward the constant 0
    options = {"world": world, "runs": 100, "seed": seed, "unseen": unseen, "interval": "none"}
    results = db.debias_all([runs.log(i) for i in range(logs)], declared, **options)
    bias = np.array([result.bias for result in results])
    count = np.isfinite(bias).sum(axis=0)
    return np.nanmean(bias, axis=0), np.nanstd(bias, axis=0, ddof=1) / np.sqrt(count)


# One setting of each rule, for logs that are corrected by `debias_all`; the studies of tables 1 and 2 have all of them.
GATED = [
    ("ETC", "normal", "2 2.5 3 3.5", "2 1 1 2"),
    ("UCB", "normal", "2 2.5 3 3.5", "2 1 2 1"),
    ("EG", "bernoulli", "0.4 0.5 0.7 0.8", ""),
    ("TSconj", "bernoulli", "0.3 0.6", ""),
    ("TSraw", "normal", "1 1.5", "1 1"),
]


@pytest.mark.parametrize(("quantity", "world"), [("estMB", "gaussian"), ("estEB", "efron")])
@pytest.mark.parametrize("key", GATED, ids=["-".join(filter(None, key)).replace(" ", ",") for key in GATED])
def test_estimated_bias(key, quantity, world):
    mean, error = estimated_bias(key, world, POLICIES[key[0]])
    value, reference_error = REFERENCE[key][quantity]
    assert (error < 4 * reference_error).all()
    assert np.abs(z_scores(mean - value, error, reference_error)).max() < Z


def test_the_comparison_can_fail():
    """Control: UCB with another constant, or logs of UCB debiased as if by epsilon-greedy, are far off."""
    key = ("UCB", "normal", "2 2.5 3 3.5", "2 1 2 1")
    value, error = REFERENCE[key]["bias"]
    runs = db.simulate(db.UCB(c=2**0.5), world_of(*key[1:]), horizon=100, runs=RUNS, seed=31)
    assert np.abs(z_scores(runs.bias() - value, runs.bias_se(), error)).max() > 2 * Z
    mean, error = estimated_bias(key, "gaussian", db.EpsilonGreedy())
    value, reference_error = REFERENCE[key]["estMB"]
    assert np.abs(z_scores(mean - value, error, reference_error)).max() > 2 * Z
