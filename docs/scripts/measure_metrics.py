"""Measure how far corrected means of metrics are off; prints the table of docs/metrics.md.

python docs/scripts/measure_metrics.py [--experiments 4000] [--seed 20261118]
"""

import argparse
from collections.abc import Callable

import numpy as np

import debandit as db
from debandit.special import ndtr
from debandit.tables import Column, render

POLICIES = ("ucb", "thompson(initial_pulls=1)", "epsilon_greedy(epsilon=0.1)")
NORMAL = db.worlds.Normal([0.0, 0.2, 0.4], [1.0] * 3)
BERNOULLI = db.worlds.Bernoulli([0.3, 0.4, 0.5])
Drawn = Callable[[np.ndarray, np.random.Generator], np.ndarray]
# a metric of the rewards x, and its mean from the mean of x; the normal rewards have the variance 1
METRICS: dict[str, tuple[object, Drawn, Callable[[np.ndarray], np.ndarray]]] = {
    "the reward itself": (NORMAL, lambda x, _: x, lambda mean: mean),
    "independent of the reward": (NORMAL, lambda x, random: random.normal(size=x.shape), lambda mean: 0 * mean),
    "normal, correlation 0.5": (NORMAL, lambda x, random: x + np.sqrt(3) * random.normal(size=x.shape), lambda m: m),
    "exponential amount if the reward is 1": (BERNOULLI, lambda x, r: x * r.exponential(size=x.shape), lambda p: p),
    "(reward - 0.2)^2, hardly a slope": (NORMAL, lambda x, _: (x - 0.2) ** 2, lambda mean: (mean - 0.2) ** 2 + 1),
    "1 if the reward is below -1": (NORMAL, lambda x, _: (x < -1) * 1.0, lambda mean: ndtr(-1 - mean)),
    "exp(reward)": (NORMAL, lambda x, _: np.exp(x), lambda mean: np.exp(mean + 0.5)),
}
COLUMNS = (
    Column("metric", "metric", "text"),
    Column("naive", "all arms: naive", "number"),
    Column("corrected", "corrected", "number"),
    Column("worst_naive", "worst arm: naive", "number"),
    Column("worst_corrected", "corrected", "number"),
    Column("best_naive", "best-looking arm: naive", "number"),
    Column("best_quoted", "quoted", "number"),
)


def main() -> None:
    """Print a row for each metric, on average over the rules."""
    parser = argparse.ArgumentParser(description="Measure the bias that is left in metrics.")
    parser.add_argument("--experiments", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=20261118)
    given = parser.parse_args()
    found: dict[str, list[dict[str, float]]] = {name: [] for name in METRICS}
    for policy in POLICIES:
        for world in (NORMAL, BERNOULLI):
            for name, row in measured(policy, world, given.experiments, given.seed).items():
                found[name].append(row)
    rows = [
        {"metric": name} | {key: (max if "worst" in key else np.mean)([row[key] for row in of]) for key in of[0]}
        for name, of in found.items()
    ]
    print(render(rows, COLUMNS, 3))


def measured(policy: str, world, experiments: int, seed: int) -> dict[str, dict[str, float]]:
    """The absolute mean errors in units of the naive RMSE, of each metric of such rewards."""
    runs = db.simulate(policy, world, horizon=100, runs=experiments, seed=seed, paths=True)
    random = np.random.default_rng(seed)
    wanted = {name: (draw, mean) for name, (rewards, draw, mean) in METRICS.items() if rewards is world}
    drawn = {name: draw for name, (draw, _) in wanted.items()}
    logs = [with_metrics(runs.log(i), drawn, random) for i in range(experiments)]
    results = db.debias_all(logs, policy, runs=500, seed=seed + 1, interval="none", force=True)
    best = np.array([int(np.nanargmax(result.naive)) for result in results])
    found = {}
    for name, (_, mean) in wanted.items():
        truth = mean(np.asarray(world.means))
        error = {
            value: np.array([getattr(result.metrics[name], value) for result in results]) - truth
            for value in ("naive", "corrected", "quoted")
        }
        unit = np.sqrt(np.nanmean(error["naive"] ** 2, axis=0))
        off = {value: np.abs(np.nanmean(error[value], axis=0)) / unit for value in ("naive", "corrected")}
        led = {value: each[np.arange(len(best)), best] for value, each in error.items()}
        led_unit = np.sqrt(np.mean(led["naive"] ** 2))
        found[name] = {
            **{value: float(each.mean()) for value, each in off.items()},
            **{f"worst_{value}": float(each.max()) for value, each in off.items()},
            **{f"best_{value}": float(abs(led[value].mean()) / led_unit) for value in ("naive", "quoted")},
        }
    return found


def with_metrics(log: db.ExperimentLog, metrics: dict[str, Drawn], random: np.random.Generator) -> db.ExperimentLog:
    """The same log with metrics drawn for its rewards."""
    rewards = log.rounds.rewards
    drawn = {name: draw(rewards, random) for name, draw in metrics.items()}
    return db.ExperimentLog.of_codes(log.labels, log.rounds.arms, rewards, labels=log.labels, metrics=drawn)


if __name__ == "__main__":
    main()
