"""Normal rewards."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from debandit.engine.data import NORMAL, Floats, WorldData
from debandit.errors import InputError
from debandit.worlds.world import World, checked, no_pool


class Normal(World):
    """N(means[k], sds[k]^2)."""

    name: ClassVar[str] = "normal"

    def __init__(self, means: ArrayLike, sds: ArrayLike) -> None:
        self.means, self.sds = checked(means, "means"), checked(sds, "sds", low=0)
        try:
            self.means, self.sds = (np.array(a) for a in np.broadcast_arrays(self.means, self.sds))
        except ValueError:
            raise InputError("means and sds differ in length", where="world") from None

    @property
    def binary(self) -> bool:
        return False

    @property
    def variances(self) -> Floats:
        return self.sds**2

    def options(self) -> dict[str, Any]:
        return {"means": self.means.tolist(), "sds": self.sds.tolist()}

    def data(self) -> WorldData:
        return WorldData(
            NORMAL, self.means.ravel(), self.variances.ravel(), self.sds.ravel(), **no_pool(self.means.size)
        )
