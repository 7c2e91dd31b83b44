"""What every law of rewards with a log moment generating function can tell."""

from abc import ABC, abstractmethod

import numpy as np

from debandit.errors import InputError
from debandit.theory.checks import number


class Law(ABC):
    """The law of one reward X, through eta(h) = ln E[exp(h X)], finite near 0.

    mean, variance > 0; low and high, the ends of the interior of H = {eta'(h)}; span, the largest d such that X lies in
    origin + d Z (None for a non-lattice law).
    """

    mean: float
    variance: float
    low: float = -np.inf
    high: float = np.inf
    span: float | None = None
    origin: float = 0.0

    @abstractmethod
    def eta(self, h: float) -> float:
        """ln E[exp(h X)]."""

    @abstractmethod
    def eta_prime(self, h: float) -> float:
        """The first derivative of eta: the mean of the law tilted by h."""

    @abstractmethod
    def eta_second(self, h: float) -> float:
        """The second derivative of eta: the variance of the law tilted by h."""

    def centred(self, h: float) -> float:
        """eta(h) - h mean, the log moment generating function of X - mean."""
        return self.eta(h) - h * self.mean

    def zeta(self, x: float) -> float:
        """The solution of eta'(zeta) = x (before prop:two_subGaussian_true_bias); an error for x outside H."""
        x = number(x, "x")
        if not self.low < x < self.high:
            raise self._outside(x)
        return self._solve(x)

    def rate(self, x: float) -> float:
        """The Legendre-Fenchel transform (eq:LF-rate), sup over h of h x - eta(h) = zeta x - eta(zeta).

        It is +inf outside the closure of H, and -ln P(X = x) at an end of it.
        """
        x = number(x, "x")
        if not self.low <= x <= self.high:
            return np.inf
        if x in (self.low, self.high):
            return self._edge_rate(x)
        zeta = self.zeta(x)
        return max(0.0, zeta * (x - self.mean) - self.centred(zeta))

    @property
    def variance_proxy(self) -> float:
        """The smallest a^2 with E[exp(h (X - mean))] <= exp(a^2 h^2 / 2) for all h: sup of 2 (eta(h) - h mean) / h^2.

        Found on a grid of 10^-2 <= |h| sd <= 10^3 and refined; at h -> 0 the value is the variance. +inf where the
        supremum lies at the far end of the grid, as it does for a law that is not subgaussian.
        """
        from scipy.optimize import minimize_scalar

        grid = np.logspace(-2, 3, 501) / np.sqrt(self.variance)
        best = self.variance
        for side in (grid, -grid):
            values = np.array([self._proxy_at(h) for h in side])
            top = int(np.argmax(values))
            if values[top] <= best * (1 + 1e-9):
                continue
            if top == len(side) - 1 or values[top] == np.inf:
                return np.inf
            ends = sorted((side[max(top - 1, 0)], side[top + 1]))
            found = minimize_scalar(
                lambda h: -self._proxy_at(h), bounds=ends, method="bounded", options={"xatol": 1e-9}
            )
            best = max(best, float(values[top]), float(-found.fun))
        return best

    def _proxy_at(self, h: float) -> float:
        value = 2 * self.centred(h) / h**2
        return float(value) if np.isfinite(value) else np.inf

    def _edge_rate(self, x: float) -> float:  # noqa: ARG002 (laws with an atom at the end override it)
        return np.inf

    def _outside(self, x: float) -> InputError:
        return InputError(
            f"no h has eta'(h) = {x:g}: tilted means of {self!r} lie strictly between {self.low:g} and {self.high:g}",
            where="zeta",
            remedy="There the arms never overlap. etc_gap(form='exact') has the answer.",
        )

    def _solve(self, x: float) -> float:
        """The root of eta' - x: walk out from 0, doubling, and stay short of where eta is no number."""
        from scipy.optimize import brentq

        sign = np.sign(x - self.mean)
        if (self.eta_prime(0.0) - x) * sign >= 0:  # x is the mean, or not to be told from it
            return 0.0
        near, far, wall = 0.0, (x - self.mean) / self.variance, np.inf * sign
        for _ in range(2000):
            over = (self.eta_prime(far) - x) * sign
            if not np.isfinite(over):
                wall, far = far, (near + far) / 2
            elif over < 0:
                near, far = far, 2 * far if np.isinf(wall) else (far + wall) / 2
            else:
                return float(brentq(lambda h: self.eta_prime(h) - x, near, far, xtol=abs(far) * 1e-15, rtol=1e-15))
            if far == near or not np.isfinite(far):
                break
        raise self._outside(x)
