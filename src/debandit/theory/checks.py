"""What the formulas can be asked."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from debandit.errors import InputError, shorten

Floats = NDArray[np.float64]
LARGEST = 1e100  # squares must not overflow


def number(value: Any, name: str, *, low: float = -LARGEST, high: float = LARGEST) -> float:
    """A real number from low to high."""
    sound = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not (sound and low <= value <= high):
        raise InputError(f"must be a number from {low:g} to {high:g}, not {shorten(repr(value), 30)}", where=name)
    return float(value)


def whole(value: Any, name: str, *, low: int, high: int = 10**12) -> int:
    """A whole number from low to high."""
    sound = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not (sound and low <= value <= high):
        raise InputError(f"must be a whole number from {low} to {high}, not {shorten(repr(value), 30)}", where=name)
    return int(value)


def numbers(values: ArrayLike, name: str, *, low: float = -LARGEST, high: float = LARGEST) -> Floats:
    """An array of real numbers from low to high."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"must be numbers, not {shorten(repr(values))}", where=name) from None
    if not np.all((array >= low) & (array <= high)):
        raise InputError(f"must be numbers from {low:g} to {high:g}, not {shorten(repr(values))}", where=name)
    return array


def per_arm(values: ArrayLike, name: str, *, arms: int | None = None, low: float = -LARGEST) -> Floats:
    """One number for each of at least two arms."""
    array = numbers(values, name, low=low)
    if array.ndim != 1 or array.size < 2:
        raise InputError("must be one number for each of at least two arms", where=name)
    if arms is not None and array.size != arms:
        raise InputError(f"there are {arms} arms but {array.size} numbers", where=name)
    return array


def one_of(value: str, name: str, allowed: tuple[str, ...]) -> str:
    """One of a few words."""
    if value not in allowed:
        raise InputError(f"must be one of {', '.join(allowed)}, not {shorten(repr(value), 30)}", where=name)
    return value


def log_exploitation(pulls: Any, horizon: Any, arms: int) -> tuple[int, float]:
    """The pulls m, checked, and ln[(T - mK) / (m + T - mK)], the factor of (eq:bias-etc); -inf for T = mK."""
    pulls = whole(pulls, "pulls", low=1)
    horizon = whole(horizon, "horizon", low=1, high=10**15)
    rest = horizon - pulls * arms
    if rest < 0:
        raise InputError(
            f"{horizon} rounds cannot hold {pulls} exploration pulls of each of {arms} arms",
            where="horizon",
            remedy=f"Explore-then-commit needs horizon >= {pulls * arms}.",
        )
    return pulls, float(np.log(rest) - np.log(pulls + rest)) if rest else -np.inf
