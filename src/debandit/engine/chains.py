"""Walks over the orders of an experiment's rewards under which its rule would have made the same numbers of pulls.

Of each walk the state is a tape: every arm's rewards in the order in which its pulls yield them. A step swaps two
rewards of one arm, lets the rule play with the tape, and undoes the swap if the numbers of pulls come out different.
Swaps are as likely as their undoing, so that all such orders that swaps can reach are visited equally often.
"""

from typing import NamedTuple

import numpy as np

from debandit.engine.data import TAPE, Floats, Ints, WorldData
from debandit.engine.spread import REORDER, Experiment, Need, Rule, simulate_here


class Tapes(NamedTuple):
    """Walks side by side, and sums over the steps that are counted."""

    policy: Rule
    pulls: Ints  # (K,) of every arm, in the log and in every replay that counts
    forced: int  # so many first pulls of each arm are made whatever comes
    values: Floats  # (walks, T) arm after arm
    random: np.random.Generator
    centre: Floats  # (K,) the mean of all pulls
    accepted: int
    sums: Floats  # (walks, K) of the mean of the forced pulls minus the centre
    squares: Floats

    @property
    def starts(self) -> Ints:
        """Where each arm's rewards begin."""
        return np.cumsum(self.pulls) - self.pulls

    def replayed(self) -> Ints:
        """The numbers of pulls (walks, K) that the rule makes with these tapes."""
        walks, arm_count = len(self.values), len(self.pulls)
        horizon, rows = self.values.shape[1], np.zeros(walks * arm_count)
        begin = np.append((np.arange(walks)[:, None] * horizon + self.starts).ravel(), self.values.size)
        world = WorldData(TAPE, rows, rows, self.values.ravel(), begin)
        ids = np.arange(walks)
        experiment = Experiment(self.policy, world, ids, arm_count, horizon, 0, REORDER)
        units = np.stack((ids, np.zeros_like(ids), np.ones_like(ids)), axis=1)
        return simulate_here(experiment, units, Need(runs=True)).pulls

    def walked(self, steps: int) -> "Tapes":
        """After so many steps more."""
        values, random, walks = self.values.copy(), self.random, np.arange(len(self.values))
        now, starts, movable = self._replace(values=values), self.starts, np.flatnonzero(self.pulls > self.forced)
        first = starts[:, None] + np.arange(self.forced)
        sums, squares, accepted = self.sums.copy(), self.squares.copy(), self.accepted
        for _ in range(steps):
            arms = movable[random.integers(len(movable), size=len(walks))]
            begin, count = starts[arms], self.pulls[arms]
            # every other swap has a forced pull in it: others change nothing that is counted
            limit = np.where(random.random(len(walks)) < 0.5, self.forced, count)
            one, two = begin + random.integers(limit), begin + random.integers(count)
            values[walks, one], values[walks, two] = values[walks, two], values[walks, one]
            good = (now.replayed() == self.pulls).all(axis=1)
            bad = ~good
            back, one, two = walks[bad], one[bad], two[bad]
            values[back, one], values[back, two] = values[back, two], values[back, one]
            accepted += int(good.sum())
            seen = values[:, first].mean(axis=2) - self.centre
            sums += seen
            squares += seen * seen
        return now._replace(accepted=accepted, sums=sums, squares=squares)

    def uncounted(self) -> "Tapes":
        """With nothing counted so far."""
        return self._replace(accepted=0, sums=np.zeros_like(self.sums), squares=np.zeros_like(self.squares))


def tapes_of(policy: Rule, samples: list[Floats], forced: int, walks: int, seed: np.random.SeedSequence) -> Tapes:
    """Walks that start from the order of the log."""
    pulls = np.array([len(sample) for sample in samples])
    values = np.tile(np.concatenate(samples), (walks, 1))
    centre, nothing = np.array([sample.mean() for sample in samples]), np.zeros((walks, len(samples)))
    random = np.random.Generator(np.random.PCG64(seed))
    return Tapes(policy, pulls, forced, values, random, centre, 0, nothing, nothing)
