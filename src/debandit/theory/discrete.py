"""Laws with finitely many values."""

import numpy as np
from numpy.typing import ArrayLike

from debandit.errors import InputError
from debandit.theory.arguments import Floats, reals
from debandit.theory.law import Law

FINEST = 10**5  # a range of more spans than this counts as non-lattice


class Discrete(Law):
    """values[i] with probability probabilities[i]: eta(h) = ln sum p_i e^(h v_i), H = (lowest, highest value).

    A lattice law if the differences of the values have a common divisor, as they have for two values; not 0, 1, sqrt 2.
    """

    def __init__(self, values: ArrayLike, probabilities: ArrayLike) -> None:
        value, mass = reals(values, "values"), reals(probabilities, "probabilities", low=0.0, high=1.0 + 1e-9)
        if value.ndim != 1 or value.shape != mass.shape:
            raise InputError("must be one for each value", where="probabilities")
        if abs(mass.sum() - 1) > 1e-9:
            raise InputError(f"must add up to 1, not {mass.sum():.10g}", where="probabilities")
        self.values, place = np.unique(value[mass > 0], return_inverse=True)
        self.probabilities = np.bincount(place, mass[mass > 0]) / mass.sum()
        if self.values.size < 2:
            raise InputError("a reward that never varies has no bias; there must be two values", where="values")
        self.low = self.origin = float(self.values[0])
        self.high = float(self.values[-1])
        self.mean = self.low + float(np.dot(self.probabilities, self.values - self.low))
        self.variance = float(np.dot(self.probabilities, (self.values - self.mean) ** 2))
        self.span = common_span(self.values - self.low)

    def __repr__(self) -> str:
        return f"Discrete({self.values.tolist()!r}, {self.probabilities.tolist()!r})"

    def eta(self, h: float) -> float:
        """ln sum p_i e^(h v_i)."""
        return h * self.mean + self.centred(h)

    def centred(self, h: float) -> float:
        """ln sum p_i e^(h (v_i - mean)); near 0 without the linear terms, which add up to 0."""
        y = h * (self.values - self.mean)
        if np.abs(y).max() < 0.5:
            return float(np.log1p(np.dot(self.probabilities, np.expm1(y) - y)))
        return float(np.logaddexp.reduce(y + np.log(self.probabilities)))

    def tilted(self, h: float) -> Floats:
        """The probabilities p_i e^(h v_i - eta(h))."""
        weight = np.log(self.probabilities) + h * (self.values - self.mean)
        weight = np.exp(weight - weight.max())
        return np.asarray(weight / weight.sum())

    def eta_prime(self, h: float) -> float:
        """The mean of the tilted law."""
        return self.mean + float(np.dot(self.tilted(h), self.values - self.mean))

    def eta_second(self, h: float) -> float:
        """The variance of the tilted law."""
        mass = self.tilted(h)
        centre = np.dot(mass, self.values)
        return float(np.dot(mass, (self.values - centre) ** 2))

    def _edge_rate(self, x: float) -> float:
        return float(-np.log(self.probabilities[0 if x == self.low else -1]))


def common_span(steps: Floats) -> float | None:
    """The largest d that divides every step up to rounding, or None if it would be a tiny part of the range."""
    reach = float(np.abs(steps).max())
    divisor = 0.0
    for step in np.abs(steps[steps != 0]):
        a, b = max(divisor, float(step)), min(divisor, float(step))
        while b > reach * 1e-9:
            a, b = b, abs(a - b * round(a / b))
        divisor = a
        if divisor < reach / FINEST:
            return None
    return reach / round(reach / divisor)
