"""What every world has in common."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from debandit.engine.data import Floats, Ints, WorldData
from debandit.errors import InputError


class World(ABC):
    """A place rewards come from, whose true means are known; or a stack of W such places: means of shape (W, arms)."""

    name: ClassVar[str]
    means: Floats

    @property
    @abstractmethod
    def binary(self) -> bool:
        """Whether all rewards are 0 or 1."""

    @property
    @abstractmethod
    def variances(self) -> Floats:
        """Of each arm's rewards."""

    @abstractmethod
    def data(self) -> WorldData:
        """The world as data for the compiled loop."""

    def __str__(self) -> str:
        """As it is written on the command line."""
        return f"{self.name}({', '.join(f'{name}={value}' for name, value in self.options().items())})"

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """What makes this world, as plain lists and words."""

    @property
    def arm_count(self) -> int:
        return int(self.means.shape[-1])


def checked(values: ArrayLike, name: str, low: float = -1e100, high: float = 1e100) -> Floats:
    """A float array of shape (arms,) or (W, arms) within limits."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a list of numbers", where="world") from None
    if array.ndim not in (1, 2) or array.shape[-1] < 2 or array.size == 0:
        raise InputError(f"{name} needs one value for each of at least two arms", where="world")
    if not ((array >= low) & (array <= high)).all():
        raise InputError(f"{name} must be numbers from {low:g} to {high:g}", where="world")
    return array


def no_pool(rows: int) -> dict[str, np.ndarray]:
    """The pool of a world that needs none."""
    return {"pool": np.empty(0), "pool_start": np.zeros(rows + 1, np.int64)}


class Pool(NamedTuple):
    """Every arm's values, end to end."""

    values: Floats
    counts: Ints  # (arms,) or (W, arms): at least 1 for each arm

    @property
    def starts(self) -> Ints:
        """Where each arm's values begin, and the end."""
        return np.concatenate(([0], np.cumsum(self.counts)))

    def samples(self) -> list[Any]:
        """Nested lists, as they are written."""
        flat = [part.tolist() for part in np.split(self.values, self.starts[1:-1])]
        arms = self.counts.shape[-1]
        return flat if self.counts.ndim == 1 else [flat[i : i + arms] for i in range(0, len(flat), arms)]

    def means(self) -> Floats:
        """Of each arm's values; exactly their value where all are the same."""
        low, high = (each.reduceat(self.values, self.starts[:-1]) for each in (np.minimum, np.maximum))
        means = np.add.reduceat(self.values, self.starts[:-1]) / self.counts.ravel()
        return np.where(low == high, low, means).reshape(self.counts.shape)

    def residuals(self) -> Floats:
        """Every value minus its arm's mean."""
        residuals: Floats = self.values - np.repeat(self.means().ravel(), self.counts.ravel())
        return residuals

    def variances(self) -> Floats:
        """Of each arm's values, with divisor n."""
        squares = np.add.reduceat(self.residuals() ** 2, self.starts[:-1]).reshape(self.counts.shape)
        variances: Floats = squares / self.counts
        return variances


def pool_of(samples: Any, where: str = "world") -> Pool:
    """Lists of values for each arm, or for each world and arm, laid end to end."""
    try:
        worlds = [list(part) for part in samples]
        single = all(np.ndim(part[0]) == 0 for part in worlds)
        nested = [worlds] if single else worlds
        flat = [np.array(sample, dtype=np.float64) for world in nested for sample in world]
    except (TypeError, ValueError, LookupError, OverflowError):
        raise InputError("samples must be lists of numbers, one list for each arm", where=where) from None
    arms = len(nested[0]) if nested else 0
    if arms < 2 or any(len(world) != arms for world in nested):
        raise InputError("samples need one list for each of at least two arms", where=where)
    if any(sample.ndim != 1 or len(sample) == 0 or not (np.abs(sample) <= 1e100).all() for sample in flat):
        raise InputError("every arm needs at least one finite value", where=where)
    counts = np.array([len(sample) for sample in flat])
    return Pool(np.concatenate(flat), counts if single else counts.reshape(len(nested), arms))
