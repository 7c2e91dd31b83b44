"""Laws with a closed log moment generating function."""

import numpy as np

from debandit.errors import InputError
from debandit.theory.checks import number
from debandit.theory.law import Law


class Normal(Law):
    """N(mean, sd^2), sd > 0: eta(h) = mean h + sd^2 h^2 / 2, rate (x - mean)^2 / (2 sd^2), H the whole line."""

    def __init__(self, mean: float, sd: float) -> None:
        self.mean, self.sd = number(mean, "mean"), number(sd, "sd", low=1e-100)
        self.variance = self.sd**2

    def __repr__(self) -> str:
        return f"Normal({self.mean!r}, {self.sd!r})"

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


class Bernoulli(Law):
    """1 with probability p, else 0, 0 < p < 1: eta(h) = ln(1 - p + p e^h), H = (0, 1), a lattice of span 1."""

    low, high, span = 0.0, 1.0, 1.0

    def __init__(self, p: float) -> None:
        self.p = number(p, "p", low=0.0, high=1.0)
        if self.p in (0.0, 1.0):
            raise InputError("a reward that never varies has no bias; p must be strictly between 0 and 1", where="p")
        self.mean, self.variance = self.p, self.p * (1 - self.p)
        self._logit = float(np.log(self.p) - np.log1p(-self.p))

    def __repr__(self) -> str:
        return f"Bernoulli({self.p!r})"

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

        x = number(x, "x")
        return float(kl_div(x, self.p) + kl_div(1 - x, 1 - self.p)) if 0 <= x <= 1 else np.inf

    def _solve(self, x: float) -> float:
        return float(np.log(x) - np.log1p(-x)) - self._logit

    @property
    def variance_proxy(self) -> float:
        """(1 - 2p) / (2 ln((1 - p) / p)), 1/4 at p = 1/2."""
        lean = 1 - 2 * self.p
        return float(lean / (4 * np.arctanh(lean))) if lean else 0.25


class Uniform(Law):
    """Uniform on (low, high): with y = h (high - low) / 2, eta(h) = h mean + ln(sinh(y) / y); H = (low, high)."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = number(low, "low"), number(high, "high")
        if not self.low < self.high:
            raise InputError("must be above low", where="high")
        self.half = (self.high - self.low) / 2
        self.mean, self.variance = self.low + self.half, self.half**2 / 3

    def __repr__(self) -> str:
        return f"Uniform({self.low!r}, {self.high!r})"

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
