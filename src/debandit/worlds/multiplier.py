"""The multiplier bootstrap of section 2.1, drawn from its definition."""

from typing import ClassVar

import numpy as np

from debandit.engine.data import GAUSSIAN_WEIGHTS, SIGN_WEIGHTS, WorldData
from debandit.errors import InputError, shorten
from debandit.worlds.world import World, nested_samples, pool_of

_KINDS = {"gaussian": GAUSSIAN_WEIGHTS, "rademacher": SIGN_WEIGHTS}


def check_weights(weights: object) -> None:
    """Gaussian weights or random signs."""
    if weights not in tuple(_KINDS):
        raise InputError(
            f"weights must be gaussian or rademacher, not {shorten(repr(weights))}", where="world multiplier"
        )


class Multiplier(World):
    """mean + sum_i w_i (z_i - mean) / sqrt(n) with independent weights of mean 0 and variance 1.

    With gaussian weights this is N(mean, variance) again, drawn the long way; `Normal` is the short one.
    """

    name: ClassVar[str] = "multiplier"

    def __init__(self, samples: object, weights: str = "gaussian") -> None:
        check_weights(weights)
        flat, shape = nested_samples(samples, "world")
        self.weights = weights
        self.means = np.array([sample.mean() for sample in flat]).reshape(shape)
        self._residuals = [(sample - sample.mean()) / np.sqrt(len(sample)) for sample in flat]

    @property
    def binary(self) -> bool:
        return False

    def data(self) -> WorldData:
        return WorldData(
            _KINDS[self.weights], self.means.ravel(), np.zeros(self.means.size), **pool_of(self._residuals)
        )
