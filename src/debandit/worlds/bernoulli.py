"""0/1 rewards."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from debandit.engine.data import BERNOULLI, Floats, WorldData
from debandit.worlds.world import World, checked, no_pool


class Bernoulli(World):
    """1 with probability means[k], else 0."""

    name: ClassVar[str] = "bernoulli"

    def __init__(self, means: ArrayLike) -> None:
        self.means = checked(means, "means", low=0, high=1)

    @property
    def binary(self) -> bool:
        return True

    @property
    def variances(self) -> Floats:
        return self.means * (1 - self.means)

    def options(self) -> dict[str, Any]:
        return {"means": self.means.tolist()}

    def data(self) -> WorldData:
        return WorldData(
            BERNOULLI, self.means.ravel(), self.variances.ravel(), np.zeros(self.means.size), **no_pool(self.means.size)
        )
