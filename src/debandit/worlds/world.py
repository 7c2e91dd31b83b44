"""What every world has in common."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from debandit.engine.data import Floats, WorldData
from debandit.errors import InputError


class World(ABC):
    """A place rewards come from, whose true means are known; or a stack of W such places: means of shape (W, arms)."""

    name: ClassVar[str]
    means: Floats

    @property
    @abstractmethod
    def binary(self) -> bool:
        """Whether all rewards are 0 or 1."""

    @abstractmethod
    def data(self) -> WorldData:
        """The world as data for the compiled loop."""

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


def pool_of(samples: list[Floats]) -> dict[str, np.ndarray]:
    """Samples laid end to end."""
    return {
        "pool": np.concatenate(samples),
        "pool_start": np.concatenate(([0], np.cumsum([len(sample) for sample in samples]))).astype(np.int64),
    }


def nested_samples(samples: object, where: str) -> tuple[list[Floats], tuple[int, ...]]:
    """Samples per arm, or per world and arm, as a flat list with the shape (arms,) or (W, arms)."""
    try:
        worlds = [list(part) for part in samples]  # type: ignore[attr-defined]
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
    return flat, (arms,) if single else (len(nested), arms)
