"""Many worlds with one run each, against as many runs of one world: rounds, batch steps, and sums of etc.

Intervals and tests simulate every run in a world of its own. The ratio of CPU seconds should be at most 1.5.
"""

import time

import numpy as np

import debandit as db
from debandit.tables import Column, render

TARGET, REPETITIONS = 1.5, 7
CASES = {
    "ucb, 100 rounds": (db.UCB(), "normal", 100, 20_000),
    "thompson, 100 rounds": (db.ThompsonSampling(initial_pulls=1), "normal", 100, 20_000),
    "epsilon-greedy, 0/1, 100 rounds": (db.EpsilonGreedy(0.1), "bernoulli", 100, 20_000),
    "etc by sums, 100 rounds": (db.ExploreThenCommit(10), "normal", 100, 20_000),
    "etc, 0/1, 100 rounds": (db.ExploreThenCommit(10), "bernoulli", 100, 20_000),
    "thompson, 20 batches of 1,000": (db.Batched(db.ThompsonSampling(), size=1000), "normal", 20_000, 1000),
    "beta-thompson, 20 batches of 1,000": (db.Batched(db.BetaThompson(), size=1000), "bernoulli", 20_000, 300),
}
COLUMNS = (
    Column("case", "case", "text"),
    Column("runs", "runs", "count"),
    Column("one", "one world (ms)", "number"),
    Column("many", "one run per world (ms)", "number"),
    Column("ratio", "ratio", "number"),
    Column("verdict", f"<= {TARGET}", "text"),
)


def place(kind: str, worlds: int | None) -> db.worlds.World:
    """One world, or a stack of worlds that differ a little, as those drawn from a posterior do."""
    means = np.array([0.30, 0.35, 0.32])
    if worlds is not None:
        means = means + 0.01 * np.random.default_rng(1).standard_normal((worlds, 3))
    return db.worlds.Bernoulli(means) if kind == "bernoulli" else db.worlds.Normal(means, np.ones(means.shape))


def main() -> None:
    rows = []
    for name, (policy, kind, horizon, runs) in CASES.items():
        one, many, best = place(kind, None), place(kind, runs), [np.inf, np.inf]
        for _ in range(REPETITIONS):  # in turns, so that a slow spell of the machine hits both
            for i, (world, count) in enumerate(((one, runs), (many, 1))):
                start = time.process_time()
                db.simulate(policy, world, horizon=horizon, runs=count, threads=1)
                best[i] = min(best[i], time.process_time() - start)
        ratio = best[1] / best[0]
        verdict = "met" if ratio <= TARGET else "missed"
        row = {"case": name, "runs": runs, "one": 1e3 * best[0], "many": 1e3 * best[1], "ratio": ratio}
        rows.append(row | {"verdict": verdict})
    print(render(rows, COLUMNS, 2))


if __name__ == "__main__":
    main()
