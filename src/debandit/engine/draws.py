"""Random numbers for rules of one's own: what `select` calls with the `random` that it is given.

In compiled code they are replaced by those of `drawn`; in Python they take a numpy generator, so that a rule can be
tried out without compiling it. This module does not import numba, which is slow to load.
"""

from typing import Any


def uniform(random: Any) -> float:
    """Uniform in [0, 1)."""
    return float(random.random())


def normal(random: Any) -> float:
    """Standard normal."""
    return float(random.standard_normal())


def beta(random: Any, a: float, b: float) -> float:
    """Beta(a, b), for a and b of at least 0.05."""
    return float(random.beta(a, b))
