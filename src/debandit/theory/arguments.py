"""What the formulas are asked about: numbers and lists of them, checked."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from debandit.checks import LARGEST, checked_number, checked_whole
from debandit.errors import InputError, quoted

Floats = NDArray[np.float64]
MOST_PULLS = 10**12


def real(name: str, value: Any, *, low: float = -LARGEST, high: float = LARGEST) -> float:
    """A number as a float."""
    return float(checked_number(name, value, low, high))


def reals(values: ArrayLike, name: str, *, low: float = -LARGEST, high: float = LARGEST) -> Floats:
    """An array of real numbers from low to high."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"must be numbers, not {quoted(values)}", where=name) from None
    if not np.all((array >= low) & (array <= high)):
        raise InputError(f"must be numbers from {low:g} to {high:g}, not {quoted(values)}", where=name)
    return array


def per_arm(values: ArrayLike, name: str, *, arms: int | None = None, low: float = -LARGEST) -> Floats:
    """One number for each of at least two arms."""
    array = reals(values, name, low=low)
    if array.ndim != 1 or array.size < 2:
        raise InputError("must be one number for each of at least two arms", where=name)
    if arms is not None and array.size != arms:
        raise InputError(f"there are {arms} arms but {array.size} numbers", where=name)
    return array


def log_exploitation(pulls: Any, horizon: Any, arms: int) -> tuple[int, float]:
    """The pulls m, checked, and ln[(T - mK) / (m + T - mK)], the factor of (eq:bias-etc); -inf for T = mK."""
    pulls = checked_whole("pulls", pulls, 1, MOST_PULLS)
    horizon = checked_whole("horizon", horizon, 1, 10**15)
    rest = horizon - pulls * arms
    if rest < 0:
        raise InputError(
            f"{horizon} rounds cannot hold {pulls} exploration pulls of each of {arms} arms",
            where="horizon",
            remedy=f"Explore-then-commit needs horizon >= {pulls * arms}.",
        )
    return pulls, float(np.log(rest) - np.log(pulls + rest)) if rest else -np.inf
