"""Resampled rewards: Efron's bootstrap."""

from typing import Any, ClassVar

import numpy as np

from debandit.engine.data import EMPIRICAL, Floats, WorldData
from debandit.worlds.world import Pool, World, pool_of


class Empirical(World):
    """Each reward is drawn from the arm's own list of values with equal probability."""

    name: ClassVar[str] = "empirical"

    def __init__(self, samples: object) -> None:
        self._pool = samples if isinstance(samples, Pool) else pool_of(samples)
        self.means = self._pool.means()

    @property
    def binary(self) -> bool:
        return bool(np.isin(self._pool.values, (0.0, 1.0)).all())

    @property
    def variances(self) -> Floats:
        return self._pool.variances()

    def options(self) -> dict[str, Any]:
        return {"samples": self._pool.samples()}

    def data(self) -> WorldData:
        return WorldData(
            EMPIRICAL,
            self.means.ravel(),
            self.variances.ravel(),
            np.zeros(self.means.size),
            self._pool.values,
            self._pool.starts,
        )
