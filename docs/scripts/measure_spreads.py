"""Measure the intervals pooled-t where standard deviations differ; prints the table of docs/intervals.md.

python docs/scripts/measure_spreads.py [--experiments 1500] [--seed 20261118]
"""

import argparse
from itertools import product

import numpy as np

import debandit as db
from debandit.intervals import Sample, pooled_t
from debandit.intervals.interval import FACTOR, spread_ratio
from debandit.tables import Column, render

POLICIES = ("ucb", "thompson(initial_pulls=1)", "epsilon_greedy(epsilon=0.1)", "etc(pulls=5)")
FACTORS = (1, 2, 3, 5, 10)
COLUMNS = (
    Column("factor", "factor", "count"),
    Column("mean", "all arms", "share"),
    Column("worst", "worst arm", "share"),
    Column("wide", "the wide arms", "share"),
    Column("once", "wide arms pulled once", "share"),
    Column("worst_once", "worst of them", "share"),
    Column("twice", "pulled 2 to 5 times", "share"),
    Column("often", "more often", "share"),
    Column("warned", "warned of", "share"),
)


def main() -> None:
    """Print a row for each factor between standard deviations."""
    parser = argparse.ArgumentParser(description="Measure intervals where standard deviations differ.")
    parser.add_argument("--experiments", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=20261118)
    given = parser.parse_args()
    rows = [{"factor": factor} | measured(factor, given.experiments, given.seed) for factor in FACTORS]
    print(render(rows, COLUMNS, 3))


def measured(factor: float, experiments: int, seed: int) -> dict[str, float]:
    """How often the truth is covered if every other arm's standard deviation is so many times as large."""
    found, warned = [], []
    for policy, arms, horizon, gap, first in product(POLICIES, (2, 4), (100, 300), (0.2, 0.6), (0, 1)):
        sds = np.where(np.arange(arms) % 2 == first, float(factor), 1.0)
        truth = gap * np.arange(arms)
        world = db.worlds.Normal(truth, sds)
        runs = db.simulate(policy, world, horizon=horizon, runs=experiments, seed=seed, paths=True)
        sample = Sample(runs.path_arms, runs.path_rewards, arms)
        low, high, *_ = pooled_t(sample, 0.95)
        covered = (low <= truth) & (truth <= high)
        warned.append((spread_ratio(sample.pulls, sample.squares / np.maximum(sample.pulls, 1)) > FACTOR).mean())
        found.append((covered, sample.pulls, np.broadcast_to(sds == factor, covered.shape)))

    def share(which) -> list[float]:
        return [float(c[w].mean()) for c, n, wide in found if (w := which(n, wide)).sum() >= 100]

    cells = [rate for covered, _, _ in found for rate in covered.mean(axis=0)]
    once = share(lambda n, wide: wide & (n == 1))
    return {
        "mean": float(np.mean(cells)),
        "worst": min(cells),
        "wide": float(np.mean(share(lambda n, wide: wide & (n > 0)))),
        "once": float(np.mean(once)),
        "worst_once": min(once),
        "twice": float(np.mean(share(lambda n, wide: wide & (n > 1) & (n <= 5)))),
        "often": float(np.mean(share(lambda n, wide: wide & (n > 5)))),
        "warned": float(np.mean(warned)),
    }


if __name__ == "__main__":
    main()
