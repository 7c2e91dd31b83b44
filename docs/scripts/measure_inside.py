"""Measure how often quoted and corrected means lie inside their intervals; prints the table of docs/intervals.md.

python docs/scripts/measure_inside.py [--settings 12] [--experiments 100] [--seed 20261118]
"""

import argparse
from collections import defaultdict

import numpy as np

import debandit as db
from debandit.study.population import CONTINUOUS, population
from debandit.tables import Column, render

GROUPS = {"best": "best-looking", "other": "other arms"}
COLUMNS = (
    Column("rewards", "rewards", "text"),
    Column("policy", "rule", "text"),
    *(
        Column(f"{value}_{group}", f"{value}: {title}", "share")
        for value in ("quoted", "corrected")
        for group, title in GROUPS.items()
    ),
)


def main() -> None:
    """Print a row for each kind of rewards and rule."""
    parser = argparse.ArgumentParser(description="Measure how often means lie inside their intervals.")
    parser.add_argument("--settings", type=int, default=12, help="of each family")
    parser.add_argument("--experiments", type=int, default=100)
    parser.add_argument("--seed", type=int, default=20261118)
    given = parser.parse_args()
    rows = []
    kinds = {"on a scale": CONTINUOUS, "many zeros": ("zero-inflated",), "0/1": ("binary",)}
    for kind, families in kinds.items():
        found: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
        for setting in population(families, given.settings, given.seed):
            for key, inside in measured(setting, given.experiments, given.seed).items():
                found[setting.policy.name][key] += inside
                found["all"][key] += inside
        for policy, cells in found.items():
            rows.append({"rewards": kind, "policy": policy} | {key: np.mean(each) for key, each in cells.items()})
    print(render(rows, COLUMNS, 3))


def measured(setting, experiments: int, seed: int) -> dict[str, list[bool]]:
    """Whether means lie inside, arm by arm, for each value and group of arms."""
    policy = setting.policy
    runs = db.simulate(policy, setting.world, horizon=setting.horizon, runs=experiments, seed=seed, paths=True)
    logs = [runs.log(i) for i in range(experiments)]
    found: dict[str, list[bool]] = defaultdict(list)
    for result in db.debias_all(logs, policy, runs=500, seed=seed + 1, unseen=(0.5, 0.5), force=True):
        known = np.isfinite(result.low)
        best = np.arange(len(known)) == np.nanargmax(result.naive)
        for value in ("quoted", "corrected"):
            means = getattr(result, value)
            inside = (result.low <= means) & (means <= result.high)
            for group, which in (("best", best), ("other", ~best)):
                found[f"{value}_{group}"] += inside[known & which].tolist()
    return found


if __name__ == "__main__":
    main()
