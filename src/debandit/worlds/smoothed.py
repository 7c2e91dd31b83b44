"""Resampled rewards with normal noise: the smoothed bootstrap."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from debandit.engine.data import SMOOTHED, Floats, WorldData
from debandit.errors import InputError
from debandit.worlds.world import Pool, World, checked, pool_of


class Smoothed(World):
    """One of the arm's own values, each with equal probability, plus N(0, sds[k]^2)."""

    name: ClassVar[str] = "smoothed"

    def __init__(self, samples: object, sds: ArrayLike) -> None:
        self._pool = samples if isinstance(samples, Pool) else pool_of(samples)
        self.means, self.sds = self._pool.means(), checked(sds, "sds", low=0)
        if self.sds.shape != self.means.shape:
            raise InputError("sds needs one value for each list of samples", where="world")

    @property
    def binary(self) -> bool:
        return False

    @property
    def variances(self) -> Floats:
        return np.asarray(self._pool.variances() + self.sds**2)

    def options(self) -> dict[str, Any]:
        return {"samples": self._pool.samples(), "sds": self.sds.tolist()}

    def data(self) -> WorldData:
        return WorldData(
            SMOOTHED,
            self.means.ravel(),
            self.variances.ravel(),
            self.sds.ravel(),
            self._pool.values,
            self._pool.starts,
        )
