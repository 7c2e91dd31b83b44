"""A rule that is not in the list: pull the arm whose last rewards were the best.

Write it as a small class, and simulate and debias with it as with any other rule.
"""

import random
from dataclasses import dataclass
from typing import ClassVar

import debandit as db
from debandit.rules import ObjectRule


class Memory:
    """One experiment: it chooses an arm, and learns the reward."""

    def __init__(self, arm_count, depth, rng):
        self.last, self.depth, self.rng = [[] for _ in range(arm_count)], depth, rng

    def choose(self):
        unknown = [arm for arm, rewards in enumerate(self.last) if not rewards]
        if unknown or self.rng.random() < 0.1:
            return self.rng.choice(unknown or range(len(self.last)))
        return max(range(len(self.last)), key=lambda arm: sum(self.last[arm]) / len(self.last[arm]))

    def learn(self, arm, reward):
        self.last[arm] = [*self.last[arm], reward][-self.depth :]


@dataclass(frozen=True)
class ShortMemory(ObjectRule):
    """The rule: `make` returns a new experiment for every run. All its randomness comes from the seed."""

    name: ClassVar[str] = "short_memory"
    depth: int = 5

    def make(self, arm_count, horizon, seed):
        return Memory(arm_count, self.depth, random.Random(seed))


rule = ShortMemory(depth=10)
world = db.worlds.Normal([1.0, 1.5], [1.0, 1.0])
log = db.simulate(rule, world, horizon=200, runs=1, seed=3, paths=True).log(0)  # yours would come from a file
print(db.debias(log, rule, runs=1000))
