"""The multiplier bootstrap of section 2.1, drawn from its definition."""

from typing import Any, ClassVar

import numpy as np

from debandit.engine.data import GAUSSIAN_WEIGHTS, SIGN_WEIGHTS, Floats, WorldData
from debandit.errors import InputError, shorten
from debandit.worlds.world import Pool, World, pool_of

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
        self.weights = weights
        self._pool = samples if isinstance(samples, Pool) else pool_of(samples)
        self.means = self._pool.means()

    @property
    def binary(self) -> bool:
        return False

    @property
    def variances(self) -> Floats:
        return self._pool.variances()

    def options(self) -> dict[str, Any]:
        return {"samples": self._pool.samples(), "weights": repr(self.weights)}

    def data(self) -> WorldData:
        counts = self._pool.counts
        means, roots = self.means.ravel(), np.sqrt(counts.ravel())
        residuals = self._pool.residuals() / np.repeat(roots, counts.ravel())
        return WorldData(
            _KINDS[self.weights], means, self.variances.ravel(), np.zeros(means.size), residuals, self._pool.starts
        )
