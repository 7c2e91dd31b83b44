"""Measure quoted and corrected means on random settings; prints the table of docs/quoted.md.

python docs/measure_quoted.py [--settings 10] [--experiments 500] [--seed 20261118]
"""

import argparse

import numpy as np

import debandit as db
from debandit.study.accuracy import FIVE
from debandit.study.population import population
from debandit.tables import Column, render

VALUES = ("naive", "corrected", "quoted")
COLUMNS = (
    Column("arms", "arms", "text"),
    *(Column(f"off_{value}", f"off: {value}", "number") for value in VALUES),
    *(Column(f"rmse_{value}", f"RMSE: {value}", "number") for value in VALUES[1:]),
)


def main() -> None:
    """Print a table for each kind of rewards."""
    parser = argparse.ArgumentParser(description="Measure quoted and corrected means.")
    parser.add_argument("--settings", type=int, default=10, help="of each family; four times as many with 0/1 rewards")
    parser.add_argument("--experiments", type=int, default=500)
    parser.add_argument("--seed", type=int, default=20261118)
    given = parser.parse_args()
    for title, families, count in (
        ("rewards on a scale", FIVE, given.settings),
        ("0/1 rewards", ("binary",), 4 * given.settings),
    ):
        found: dict[str, list[dict[str, float]]] = {}
        for setting in population(families, count, given.seed):
            for group, row in measured(setting, given.experiments, given.seed).items():
                found.setdefault(group, []).append(row)
        rows = [
            {"arms": group} | {key: float(np.mean([abs(row[key]) for row in of])) for key in of[0]}
            for group, of in found.items()
        ]
        print(f"\n{title}: {len(found['all'])} settings, {given.experiments} experiments each, seed {given.seed}\n")
        print(render(rows, COLUMNS, 3), flush=True)


def measured(setting, experiments: int, seed: int) -> dict[str, dict[str, float]]:
    """The mean error and the RMSE of each value in units of the naive RMSE, for groups of arms."""
    policy, world = setting.policy, setting.world
    runs = db.simulate(policy, world, horizon=setting.horizon, runs=experiments, seed=seed, paths=True)
    logs = [runs.log(i) for i in range(experiments)]
    results = db.debias_all(logs, policy, runs=1000, seed=seed + 1, interval="none", unseen=(0.5, 0.5), force=True)
    truth = np.asarray(world.means)
    errors = {value: np.array([getattr(result, value) for result in results]) - truth for value in VALUES}
    row, best, most = np.arange(experiments), np.nanargmax(runs.means, axis=1), runs.pulls.argmax(axis=1)
    leads = np.zeros(runs.pulls.shape, bool)
    leads[row, best] = True
    largest = np.zeros(runs.pulls.shape, bool)
    largest[row, most] = True
    groups = {"best-looking": leads, "most pulled": largest, "others": ~leads, "all": leads | ~leads}
    return {group: _off(errors, which & (runs.pulls > 0)) for group, which in groups.items()}


def _off(errors: dict[str, np.ndarray], which: np.ndarray) -> dict[str, float]:
    unit = np.sqrt(np.mean(errors["naive"][which] ** 2))
    off = {f"off_{value}": error[which].mean() / unit for value, error in errors.items()}
    return off | {f"rmse_{value}": np.sqrt(np.mean(errors[value][which] ** 2)) / unit for value in VALUES[1:]}


if __name__ == "__main__":
    main()
