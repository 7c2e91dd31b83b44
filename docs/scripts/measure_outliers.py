"""Measure how often a result warns of outliers, without any and with one; prints the tables of docs/worlds.md.

python docs/scripts/measure_outliers.py [--settings 12] [--experiments 400] [--seed 20261118]
"""

import argparse

import numpy as np

import debandit as db
from debandit.debiasing.outliers import carried_by_few
from debandit.study.population import FAMILIES, population
from debandit.tables import Column, render

SIZES = (10, 30, 100, 1000, 1_000_000)  # standard deviations of the arm
COLUMNS = (
    Column("family", "rewards", "text"),
    Column("none", "no outlier", "share"),
    *(Column(str(size), f"{size:,} sd", "share") for size in SIZES),
)


def main() -> None:
    """Print a row for each family of rewards."""
    parser = argparse.ArgumentParser(description="Measure how often outliers are warned of.")
    parser.add_argument("--settings", type=int, default=12, help="of each family")
    parser.add_argument("--experiments", type=int, default=400)
    parser.add_argument("--seed", type=int, default=20261118)
    given = parser.parse_args()
    rows = []
    for family in (family for family in FAMILIES if family != "binary"):
        found = [
            warned(setting, given.experiments, given.seed)
            for setting in population([family], given.settings, given.seed)
        ]
        rows.append({"family": family} | {key: float(np.mean([each[key] for each in found])) for key in found[0]})
    print(render(rows, COLUMNS, 3))


def warned(setting, experiments: int, seed: int) -> dict[str, float]:
    """How often there is a warning, without an outlier and with one in place of some reward."""
    runs = db.simulate(setting.policy, setting.world, horizon=setting.horizon, runs=experiments, seed=seed, paths=True)
    random, sds = np.random.default_rng(seed), np.sqrt(setting.world.variances)
    found: dict[str, list[bool]] = {"none": [], **{str(size): [] for size in SIZES}}
    for i in range(experiments):
        log = runs.log(i)
        found["none"].append(bool(carried_by_few(log)))
        at = random.integers(log.horizon)
        for size in SIZES if i % 4 == 0 else ():
            rewards = log.rounds.rewards.copy()
            rewards[at] += size * sds[log.rounds.arms[at]]
            planted = db.ExperimentLog.of_codes(log.labels, log.rounds.arms, rewards, labels=log.labels)
            found[str(size)].append(bool(carried_by_few(planted)))
    return {key: float(np.mean(each)) for key, each in found.items()}


if __name__ == "__main__":
    main()
