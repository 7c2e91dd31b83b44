"""What control variates are worth: the variance of the biases and the time of the runs, with and without them.

    python benchmarks/control_variates.py

The gain is variance x time without, divided by variance x time with: so many times fewer seconds give the same
Monte-Carlo error. With and without take turns on one core, and the fastest turn of each counts.
"""

import math
import sys
import time

import numpy as np

import debandit as db
from debandit.engine import spread
from debandit.engine.experiment import experiment_of
from debandit.engine.runs import Wish
from debandit.tables import Column, render
from debandit.worlds import World

ROUNDS, RUNS, REPETITIONS, TARGET = 100, 40_960, 12, 2.0
FOUR = db.worlds.Normal([2.0, 2.5, 3.0, 3.5], [2.0, 1.0, 2.0, 1.0])  # the paper's setting
TWO = db.worlds.Normal([1.0, 1.5], [1.0, 1.0])
CASES = (
    (db.UCB(), FOUR),
    (db.ThompsonSampling(), FOUR),
    (db.EpsilonGreedy(), FOUR),
    (db.ExploreThenCommit(pulls=10), FOUR),
    (db.UCB(), TWO),
    (db.ThompsonSampling(), TWO),
    (db.EpsilonGreedy(), TWO),
    (db.ExploreThenCommit(pulls=10), TWO),
    (db.UCB(), db.worlds.Bernoulli([0.3, 0.6])),
    (db.UCB(), db.worlds.Normal(np.linspace(0.0, 1.0, 10), np.ones(10))),
)
COLUMNS = (
    Column("rule", "rule", "text"),
    Column("world", "world", "text"),
    Column("arms", "arms", "count"),
    Column("variances", "variance of each arm's bias, divided by", "text"),
    Column("time", "time, times", "number"),
    Column("gain", "gain", "number"),
)


def measured(policy: db.Policy, world: World) -> dict[str, object]:
    """One row of the table."""
    experiment = experiment_of(policy, world.data(), np.arange(1), horizon=ROUNDS, seed=1, purpose=1)
    controls = np.roll(np.arange(world.arm_count), 1)[None]
    seconds, errors = {False: math.inf, True: math.inf}, {}
    for repetition in range(REPETITIONS):
        for fitted in (False, True)[:: -1 if repetition % 2 else 1]:
            start = time.process_time()
            total = spread.tally(experiment, np.array([RUNS]), Wish(controls=controls, martingales=fitted), workers=1)
            errors[fitted] = total.bias_se[0]
            seconds[fitted] = min(seconds[fitted], time.process_time() - start)
    ratios = (errors[False] / errors[True]) ** 2
    slower = seconds[True] / seconds[False]
    return {
        "rule": policy.name,
        "world": world.name,
        "arms": world.arm_count,
        "variances": " ".join(f"{ratio:.1f}" for ratio in ratios),
        "time": slower,
        "gain": math.exp(np.log(ratios).mean()) / slower,
    }


def main() -> int:
    """Print the table; the first row has a target."""
    rows = [measured(policy, world) for policy, world in CASES]
    print(f"Control variates: {RUNS:,} runs of {ROUNDS} rounds; the gain is a geometric mean over the arms.\n")
    print(render(rows, COLUMNS, 2))
    met = rows[0]["gain"] >= TARGET
    print(f"\nUCB with four arms: a gain of at least {TARGET:g} {'is met' if met else 'is MISSED'}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
