"""The laws that rewards can follow: normal, uniform, 0/1, resampled, smoothed and multiplied."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from debandit.checks import LARGEST, checked_choice
from debandit.engine.data import (
    BERNOULLI,
    EMPIRICAL,
    GAUSSIAN_WEIGHTS,
    NORMAL,
    SIGN_WEIGHTS,
    SMOOTHED,
    UNIFORM,
    Floats,
    Ints,
    WorldData,
)
from debandit.errors import InputError
from debandit.log_parts import check_size, in_pieces

WEIGHTS = {"gaussian": GAUSSIAN_WEIGHTS, "rademacher": SIGN_WEIGHTS}


class World(ABC):
    """A place rewards come from, whose true means are known; or a stack of W such places: means of shape (W, arms)."""

    name: ClassVar[str]
    binary: bool = False  # whether all rewards are 0 or 1
    support: tuple[float, float] | None = None  # the lowest and the highest reward of any arm, where that is known
    means: Floats
    variances: Floats  # of each arm's rewards

    @property
    def arm_count(self) -> int:
        return int(self.means.shape[-1])

    def __str__(self) -> str:
        """The world as it is written on the command line."""
        return f"{self.name}({', '.join(f'{name}={value}' for name, value in self.options().items())})"

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """What makes this world, as plain lists and words."""

    @abstractmethod
    def data(self) -> WorldData:
        """The world as data for the compiled loop."""

    def _data(self, kind: int, sds: Floats | None = None, pool: "Pool | None" = None) -> WorldData:
        rows = self.means.size
        return WorldData(
            kind,
            self.means.ravel(),
            self.variances.ravel(),
            np.zeros(rows) if sds is None else sds.ravel(),
            np.empty(0) if pool is None else pool.values,
            np.zeros(rows + 1, np.int64) if pool is None else pool.starts,
        )


class Normal(World):
    """N(means[k], sds[k]^2).

    Examples
    --------
    >>> import debandit as db
    >>> world = db.worlds.Normal([1, 1.5], [1, 1])
    >>> str(world)
    'normal(means=[1.0, 1.5], sds=[1.0, 1.0])'
    """

    name: ClassVar[str] = "normal"

    def __init__(self, means: ArrayLike, sds: ArrayLike) -> None:
        self.means, self.sds = _pairs(means, sds, "sds")
        self.variances = self.sds**2

    def options(self) -> dict[str, Any]:
        return {"means": self.means.tolist(), "sds": self.sds.tolist()}

    def data(self) -> WorldData:
        return self._data(NORMAL, self.sds)


class UniformRewards(World):
    """Any value from means[k] - half_widths[k] to means[k] + half_widths[k], all equally likely.

    Examples
    --------
    >>> import debandit as db
    >>> db.worlds.UniformRewards([0, 1], [1, 1]).support
    (-1.0, 2.0)
    """

    name: ClassVar[str] = "uniform"

    def __init__(self, means: ArrayLike, half_widths: ArrayLike) -> None:
        self.means, self.half_widths = _pairs(means, half_widths, "half_widths")
        self.variances = self.half_widths**2 / 3
        self.support = float((self.means - self.half_widths).min()), float((self.means + self.half_widths).max())

    def options(self) -> dict[str, Any]:
        return {"means": self.means.tolist(), "half_widths": self.half_widths.tolist()}

    def data(self) -> WorldData:
        return self._data(UNIFORM, np.sqrt(self.variances))


class Bernoulli(World):
    """1 with probability means[k], else 0.

    Examples
    --------
    >>> import debandit as db
    >>> db.worlds.Bernoulli([0.1, 0.2]).variances
    array([0.09, 0.16])
    """

    name: ClassVar[str] = "bernoulli"
    binary = True

    def __init__(self, means: ArrayLike) -> None:
        self.means = per_arm(means, "means", low=0, high=1)
        self.variances = self.means * (1 - self.means)

    def options(self) -> dict[str, Any]:
        return {"means": self.means.tolist()}

    def data(self) -> WorldData:
        return self._data(BERNOULLI)


class Pool(NamedTuple):
    """Every arm's values, end to end."""

    values: Floats
    counts: Ints  # (arms,) or (W, arms): at least 1 for each arm

    @property
    def starts(self) -> Ints:
        """Where each arm's values begin, and the end."""
        return np.concatenate(([0], np.cumsum(self.counts)))

    def samples(self) -> list[Any]:
        """The values as nested lists, as they are written."""
        flat = [part.tolist() for part in np.split(self.values, self.starts[1:-1])]
        arms = self.counts.shape[-1]
        return flat if self.counts.ndim == 1 else [flat[i : i + arms] for i in range(0, len(flat), arms)]

    def means(self) -> Floats:
        """The mean of each arm's values; exactly their value where all are the same."""
        low, high = (each.reduceat(self.values, self.starts[:-1]) for each in (np.minimum, np.maximum))
        means = np.add.reduceat(self.values, self.starts[:-1]) / self.counts.ravel()
        return np.where(low == high, low, means).reshape(self.counts.shape)

    def residuals(self) -> Floats:
        """Every value minus its arm's mean."""
        return self.changed(lambda values, mean: values - mean, self.means())

    def changed(self, change: Callable[..., Floats], *of_arms: Floats) -> Floats:
        """What a function makes of the values and of some numbers of their arms, in pieces: a pool may be long."""
        changed, starts = np.empty(len(self.values)), self.starts
        for piece in in_pieces(len(self.values)):
            arms = np.searchsorted(starts, np.arange(piece.start, piece.stop), side="right") - 1
            changed[piece] = change(self.values[piece], *(each.ravel()[arms] for each in of_arms))
        return changed

    def variances(self) -> Floats:
        """The variance of each arm's values, with divisor n."""
        squares = self.changed(lambda values, mean: (values - mean) ** 2, self.means())
        variances: Floats = np.add.reduceat(squares, self.starts[:-1]).reshape(self.counts.shape) / self.counts
        return variances


class Empirical(World):
    """One of the arm's own values, each with equal probability: Efron's bootstrap.

    Examples
    --------
    >>> import debandit as db
    >>> db.worlds.Empirical([[1, 2, 3], [2, 4]]).means
    array([2., 3.])
    """

    name: ClassVar[str] = "empirical"

    def __init__(self, samples: object) -> None:
        self._pool = pool_of(samples)
        self.means, self.variances = self._pool.means(), self._pool.variances()
        self.binary = bool(np.isin(self._pool.values, (0.0, 1.0)).all())

    def options(self) -> dict[str, Any]:
        return {"samples": self._pool.samples()}

    def data(self) -> WorldData:
        return self._data(EMPIRICAL, pool=self._pool)


class Smoothed(World):
    """One of the arm's own values, each with equal probability, plus N(0, sds[k]^2): the smoothed bootstrap.

    Examples
    --------
    >>> import debandit as db
    >>> db.worlds.Smoothed([[1, 2, 3], [2, 4]], [0.5, 0.5]).variances.round(3)
    array([0.917, 1.25 ])
    """

    name: ClassVar[str] = "smoothed"

    def __init__(self, samples: object, sds: ArrayLike) -> None:
        self._pool, self.sds = pool_of(samples), per_arm(sds, "sds", low=0)
        if self.sds.shape != self._pool.counts.shape:
            raise InputError("sds needs one value for each list of samples", where="world")
        self.means, self.variances = self._pool.means(), self._pool.variances() + self.sds**2

    def options(self) -> dict[str, Any]:
        return {"samples": self._pool.samples(), "sds": self.sds.tolist()}

    def data(self) -> WorldData:
        return self._data(SMOOTHED, self.sds, self._pool)


class Multiplier(World):
    """mean + sum_i w_i (z_i - mean) / sqrt(n) with independent weights of mean 0 and variance 1, as in section 2.1.

    With gaussian weights this is N(mean, variance) again, drawn the long way; `Normal` is the short one.

    Examples
    --------
    >>> import debandit as db
    >>> db.worlds.Multiplier([[1, 2, 3], [2, 4]], weights="rademacher").variances.round(3)
    array([0.667, 1.   ])
    """

    name: ClassVar[str] = "multiplier"

    def __init__(self, samples: object, weights: str = "gaussian") -> None:
        self.weights = checked_choice("weights", weights, tuple(WEIGHTS), where="world multiplier")
        self._pool = pool_of(samples)
        self.means, self.variances = self._pool.means(), self._pool.variances()

    def options(self) -> dict[str, Any]:
        return {"samples": self._pool.samples(), "weights": repr(self.weights)}

    def data(self) -> WorldData:
        counts = self._pool.counts.ravel()
        residuals = self._pool.residuals() / np.repeat(np.sqrt(counts), counts)
        return self._data(WEIGHTS[self.weights], pool=self._pool._replace(values=residuals))


def _pairs(means: ArrayLike, spreads: ArrayLike, name: str) -> tuple[Floats, Floats]:
    """Means and what says how far rewards lie from them, of one shape."""
    pair = per_arm(means, "means"), per_arm(spreads, name, low=0)
    try:
        centers, others = np.broadcast_arrays(*pair)
    except ValueError:
        raise InputError(f"means and {name} differ in length", where="world") from None
    return np.array(centers), np.array(others)


def per_arm(values: ArrayLike, name: str, low: float = -LARGEST, high: float = LARGEST) -> Floats:
    """A float array of shape (arms,) or (W, arms) within limits."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a list of numbers", where="world") from None
    if array.ndim not in (1, 2) or array.shape[-1] < 2 or array.size == 0:
        raise InputError(f"{name} needs one value for each of at least two arms", where="world")
    if not ((array >= low) & (array <= high)).all():
        raise InputError(f"{name} must be numbers from {low:g} to {high:g}", where="world")
    if high == LARGEST:
        check_size(array, f"world: {name}")
    return array


def pool_of(samples: Any) -> Pool:
    """Lists of values for each arm, or for each world and arm, laid end to end; or what has been laid already."""
    if isinstance(samples, Pool):
        return samples
    try:
        worlds = [list(part) for part in samples]
        single = all(np.ndim(part[0]) == 0 for part in worlds)
        nested = [worlds] if single else worlds
        flat = [np.array(sample, dtype=np.float64) for world in nested for sample in world]
    except (TypeError, ValueError, LookupError, OverflowError):
        raise InputError("samples must be lists of numbers, one list for each arm", where="world") from None
    arms = len(nested[0]) if nested else 0
    if arms < 2 or any(len(world) != arms for world in nested):
        raise InputError("samples need one list for each of at least two arms", where="world")
    if any(sample.ndim != 1 or len(sample) == 0 or not (np.abs(sample) <= LARGEST).all() for sample in flat):
        raise InputError("every arm needs at least one finite value", where="world")
    counts = np.array([len(sample) for sample in flat])
    check_size(np.concatenate(flat), "world: samples")
    return Pool(np.concatenate(flat), counts if single else counts.reshape(len(nested), arms))


LAWS = (Normal, UniformRewards, Bernoulli, Empirical, Smoothed, Multiplier)
