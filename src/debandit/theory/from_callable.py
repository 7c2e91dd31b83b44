"""Any law, given by its log moment generating function."""

from collections.abc import Callable

import numpy as np

from debandit.checks import LARGEST
from debandit.errors import InputError
from debandit.theory.arguments import real
from debandit.theory.law import Law

Function = Callable[[float], float]


class FromCallable(Law):
    """A law given by eta(h) = ln E[exp(h X)] and its mean.

    eta_prime and eta_second are five-point differences with this step where they are not given (good to about 1e-12 and
    1e-9 near 0; the step should be a thousandth of 1 / sd). Where eta is infinite it may return inf or nan, or raise
    OverflowError, ValueError or ZeroDivisionError. low and high bound the values of X; span and origin describe the
    lattice origin + span Z of a lattice law: eta does not show it, and without it the law counts as non-lattice.
    """

    def __init__(
        self,
        eta: Function,
        *,
        mean: float,
        eta_prime: Function | None = None,
        eta_second: Function | None = None,
        low: float = -np.inf,
        high: float = np.inf,
        span: float | None = None,
        origin: float = 0.0,
        step: float = 1e-3,
    ) -> None:
        self._eta, self._prime, self._second = eta, eta_prime, eta_second
        self.mean, self.low, self.high = real("mean", mean), float(low), float(high)
        self.span = None if span is None else real("span", span, low=1e-100)
        self.origin, self.step = real("origin", origin), real("step", step, low=1e-100)
        self.variance = self.eta_second(0.0)
        self._check()

    def _check(self) -> None:
        if not abs(self.eta(0.0)) < 1e-9:
            raise InputError(f"eta(0) must be ln 1 = 0, not {self.eta(0.0):g}", where="eta")
        slack = 1e-6 * (abs(self.mean) + np.sqrt(max(self.variance, 0.0)))
        if not abs(self.eta_prime(0.0) - self.mean) <= slack:
            raise InputError(f"eta'(0) = {self.eta_prime(0.0):g} is not the mean {self.mean:g}", where="mean")
        if not 0 < self.variance < LARGEST:
            raise InputError(f"eta''(0) = {self.variance:g} is not the variance of a law that varies", where="eta")
        if not self.low < self.mean < self.high:
            raise InputError("must lie between low and high", where="mean")

    def __repr__(self) -> str:
        return f"FromCallable({getattr(self._eta, '__name__', 'eta')}, mean={self.mean!r})"

    def eta(self, h: float) -> float:
        """The function given, inf where it fails."""
        return _value(self._eta, h)

    def eta_prime(self, h: float) -> float:
        """The function given, or a difference quotient."""
        if self._prime is not None:
            return _value(self._prime, h)
        s = self.step
        inner, outer = self._odd(h, s), self._odd(h, 2 * s)
        return (8 * inner - outer) / (12 * s)

    def eta_second(self, h: float) -> float:
        """The function given, or a difference quotient."""
        if self._second is not None:
            return _value(self._second, h)
        s = 2 * self.step
        inner, outer = self._even(h, s), self._even(h, 2 * s)
        return (16 * inner - outer) / (12 * s * s)

    def _odd(self, h: float, s: float) -> float:
        low, high = self.eta(h - s), self.eta(h + s)
        return high - low if np.isfinite(high) and np.isfinite(low) else np.inf

    def _even(self, h: float, s: float) -> float:
        low, high = self.eta(h - s), self.eta(h + s)
        return high - 2 * self.eta(h) + low if np.isfinite(high) and np.isfinite(low) else np.inf


def _value(function: Function, h: float) -> float:
    """function(h), or inf where it is infinite, undefined or too large."""
    try:
        with np.errstate(all="ignore"):
            value = float(function(h))
    except (OverflowError, ValueError, ZeroDivisionError):
        return np.inf
    return value if np.isfinite(value) else np.inf
