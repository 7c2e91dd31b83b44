"""Laws of rewards with a log moment generating function, and what every one of them can tell."""

from abc import ABC, abstractmethod

import numpy as np

from debandit.errors import InputError
from debandit.theory.arguments import real


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
        x = real("x", x)
        if not self.low < x < self.high:
            raise self._outside(x)
        return self._solve(x)

    def rate(self, x: float) -> float:
        """The Legendre-Fenchel transform (eq:LF-rate), sup over h of h x - eta(h) = zeta x - eta(zeta).

        It is +inf outside the closure of H, and -ln P(X = x) at an end of it.
        """
        x = real("x", x)
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


class NormalLaw(Law):
    """N(mean, sd^2), sd > 0: eta(h) = mean h + sd^2 h^2 / 2, rate (x - mean)^2 / (2 sd^2), H the whole line."""

    def __init__(self, mean: float, sd: float) -> None:
        self.mean, self.sd = real("mean", mean), real("sd", sd, low=1e-100)
        self.variance = self.sd**2

    def __repr__(self) -> str:
        return f"NormalLaw({self.mean!r}, {self.sd!r})"

    def eta(self, h: float) -> float:
        """Mean h + sd^2 h^2 / 2."""
        return self.mean * h + self.centred(h)

    def centred(self, h: float) -> float:
        """sd^2 h^2 / 2."""
        return (self.sd * h) ** 2 / 2

    def eta_prime(self, h: float) -> float:
        """Mean + sd^2 h."""
        return self.mean + self.variance * h

    def eta_second(self, h: float) -> float:  # noqa: ARG002 (it is a constant)
        """sd^2."""
        return self.variance

    def _solve(self, x: float) -> float:
        return (x - self.mean) / self.sd / self.sd

    @property
    def variance_proxy(self) -> float:
        """sd^2."""
        return self.variance


class BernoulliLaw(Law):
    """1 with probability p, else 0, 0 < p < 1: eta(h) = ln(1 - p + p e^h), H = (0, 1), a lattice of span 1."""

    low, high, span = 0.0, 1.0, 1.0

    def __init__(self, p: float) -> None:
        self.p = real("p", p, low=0.0, high=1.0)
        if self.p in (0.0, 1.0):
            raise InputError("a reward that never varies has no bias; p must be strictly between 0 and 1", where="p")
        self.mean, self.variance = self.p, self.p * (1 - self.p)
        self._logit = float(np.log(self.p) - np.log1p(-self.p))

    def __repr__(self) -> str:
        return f"BernoulliLaw({self.p!r})"

    def eta(self, h: float) -> float:
        """ln(1 - p + p e^h)."""
        return float(np.logaddexp(np.log1p(-self.p), np.log(self.p) + h))

    def eta_prime(self, h: float) -> float:
        """The tilted probability, 1 / (1 + exp(-h - logit p))."""
        from scipy.special import expit

        return float(expit(h + self._logit))

    def eta_second(self, h: float) -> float:
        """The tilted variance."""
        return self.eta_prime(h) * self.eta_prime(-h - 2 * self._logit)

    def rate(self, x: float) -> float:
        """x ln(x / p) + (1 - x) ln((1 - x) / (1 - p)) for 0 <= x <= 1, else +inf."""
        from scipy.special import kl_div

        x = real("x", x)
        return float(kl_div(x, self.p) + kl_div(1 - x, 1 - self.p)) if 0 <= x <= 1 else np.inf

    def _solve(self, x: float) -> float:
        return float(np.log(x) - np.log1p(-x)) - self._logit

    @property
    def variance_proxy(self) -> float:
        """(1 - 2p) / (2 ln((1 - p) / p)), 1/4 at p = 1/2."""
        lean = 1 - 2 * self.p
        return float(lean / (4 * np.arctanh(lean))) if lean else 0.25


class UniformLaw(Law):
    """Uniform on (low, high): with y = h (high - low) / 2, eta(h) = h mean + ln(sinh(y) / y); H = (low, high)."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = real("low", low), real("high", high)
        if not self.low < self.high:
            raise InputError("must be above low", where="high")
        self.half = (self.high - self.low) / 2
        self.mean, self.variance = self.low + self.half, self.half**2 / 3

    def __repr__(self) -> str:
        return f"UniformLaw({self.low!r}, {self.high!r})"

    def eta(self, h: float) -> float:
        """H mean + ln(sinh(y) / y)."""
        return h * self.mean + self.centred(h)

    def centred(self, h: float) -> float:
        """ln(sinh(y) / y), a series near 0."""
        y = abs(h * self.half)
        if y < 0.1:
            s = y * y
            return s * (1 / 6 - s * (1 / 180 - s * (1 / 2835 - s * (1 / 37800 - s / 467775))))
        return float(y + np.log1p(-np.exp(-2 * y)) - np.log(2 * y))

    def eta_prime(self, h: float) -> float:
        """Mean + half (coth y - 1 / y)."""
        y = h * self.half
        if abs(y) < 0.1:
            s = y * y
            return self.mean + self.half * y * (1 / 3 - s * (1 / 45 - s * (2 / 945 - s * (1 / 4725 - s * 2 / 93555))))
        return float(self.mean + self.half * (1 / np.tanh(y) - 1 / y))

    def eta_second(self, h: float) -> float:
        """half^2 (1 / y^2 - 1 / sinh^2 y)."""
        y = abs(h * self.half)
        if y < 0.1:
            s = y * y
            return self.half**2 * (1 / 3 - s * (1 / 15 - s * (2 / 189 - s * (1 / 675 - s * 2 / 10395))))
        return float(self.half**2 * (1 / y**2 - 4 * np.exp(-2 * y) / np.expm1(-2 * y) ** 2))

    @property
    def variance_proxy(self) -> float:
        """(high - low)^2 / 12: a uniform law is strictly subgaussian."""
        return self.variance
