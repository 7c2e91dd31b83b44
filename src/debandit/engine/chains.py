"""Walks over the orders of an experiment's rewards under which its rule would have made the same numbers of pulls.

Of each walk the state is a tape: every arm's rewards in the order in which its pulls yield them. A step swaps
rewards of an arm, a few pairs at a time, lets the rule play with the tape, and undoes the swaps if the numbers of pulls
come out different. Swaps are as likely as their undoing, so that all such orders are visited equally often.
"""

from typing import NamedTuple

import numpy as np

from debandit.engine.data import TAPE, Floats, Ints, WorldData
from debandit.engine.experiment import REORDER, Experiment, Rule
from debandit.engine.spread import play

SWAPS = 4  # in a step, on average: with one the walk takes four times as many steps out of a corner


class Tapes(NamedTuple):
    """Walks side by side, and sums over the steps that are counted."""

    policy: Rule
    pulls: Ints  # (K,) of every arm, in the log and in every replay that counts
    forced: int  # this many first pulls of each arm are made whatever comes
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
        world = WorldData(TAPE, rows, rows, rows, self.values.ravel(), begin)
        ids = np.arange(walks)
        experiment = Experiment(self.policy, world, ids, arm_count, horizon, 0, REORDER)
        pulls: Ints = play(experiment, np.stack((ids, 0 * ids), axis=1)).table[0].T.astype(np.int64)
        return pulls

    def walked(self, steps: int) -> "Tapes":
        """The walks after this many more steps."""
        values, random, walks = self.values.copy(), self.random, np.arange(len(self.values))
        now, starts, movable = self._replace(values=values), self.starts, np.flatnonzero(self.pulls > self.forced)
        first = starts[:, None] + np.arange(self.forced)
        sums, squares, accepted = self.sums.copy(), self.squares.copy(), self.accepted
        for _ in range(steps):
            before = values.copy()
            for _ in range(min(random.geometric(1 / SWAPS), 4 * SWAPS)):
                arms = movable[random.integers(len(movable), size=len(walks))]
                one, two = starts[arms] + _places(self.pulls[arms], random)
                values[walks, one], values[walks, two] = values[walks, two], values[walks, one]
            bad = (now.replayed() != self.pulls).any(axis=1)
            values[bad] = before[bad]
            accepted += len(bad) - int(bad.sum())
            seen = values[:, first].mean(axis=2) - self.centre
            sums += seen
            squares += seen * seen
        return now._replace(accepted=accepted, sums=sums, squares=squares)

    def uncounted(self) -> "Tapes":
        """With nothing counted so far."""
        return self._replace(accepted=0, sums=np.zeros_like(self.sums), squares=np.zeros_like(self.squares))


def _places(counts: Ints, random: np.random.Generator) -> Ints:
    """Two pulls of each arm, the early ones more often, because they decide what follows: every doubling alike."""
    one, two, coin = random.random((3, len(counts)))
    early: Ints = np.minimum((counts + 1.0) ** np.array([one, two]) - 1, counts - 1).astype(np.int64)
    early[1] = np.where(coin < 0.5, early[1], (two * counts).astype(np.int64))
    return early


def tapes_of(policy: Rule, samples: list[Floats], forced: int, walks: int, seed: np.random.SeedSequence) -> Tapes:
    """Walks that start from the order of the log."""
    pulls = np.array([len(sample) for sample in samples])
    values = np.tile(np.concatenate(samples), (walks, 1))
    centre, nothing = np.array([sample.mean() for sample in samples]), np.zeros((walks, len(samples)))
    random = np.random.Generator(np.random.PCG64(seed))
    return Tapes(policy, pulls, forced, values, random, centre, 0, nothing, nothing)
