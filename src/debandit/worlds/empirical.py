"""Resampled rewards: Efron's bootstrap."""

from typing import ClassVar

import numpy as np

from debandit.engine.data import EMPIRICAL, WorldData
from debandit.worlds.world import World, nested_samples, pool_of


class Empirical(World):
    """Each reward is drawn from the arm's own list of values with equal probability."""

    name: ClassVar[str] = "empirical"

    def __init__(self, samples: object) -> None:
        self._flat, shape = nested_samples(samples, "world")
        self.means = np.array([sample.mean() for sample in self._flat]).reshape(shape)

    @property
    def binary(self) -> bool:
        return all(np.isin(sample, (0.0, 1.0)).all() for sample in self._flat)

    def data(self) -> WorldData:
        return WorldData(EMPIRICAL, self.means.ravel(), np.zeros(self.means.size), **pool_of(self._flat))
