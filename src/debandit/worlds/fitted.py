"""Worlds built from a log: the bootstraps of section 2.1."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar, Protocol

import numpy as np

from debandit.engine.data import Floats, Ints
from debandit.errors import InputError, quoted
from debandit.worlds.empirical import Empirical
from debandit.worlds.multiplier import Multiplier, check_weights
from debandit.worlds.normal import Normal
from debandit.worlds.world import Pool, World


@dataclass(frozen=True)
class Unseen:
    """The world of an arm that has no reward in the log."""

    mean: float
    sd: float

    @classmethod
    def of(cls, pair: object) -> "Unseen":
        """From (mean, sd)."""
        try:
            mean, sd = (float(value) for value in pair)  # type: ignore[attr-defined]
        except (TypeError, ValueError, OverflowError):
            mean = sd = np.nan
        if not (abs(mean) <= 1e100 and 0 <= sd <= 1e100):
            raise InputError(f"{quoted(pair)} is not a mean and a standard deviation of at least 0", where="unseen")
        return cls(mean, sd)


class Observed(Protocol):
    """What a world is made from: a log with arrays of shape (arms,), or a stack of W logs with (W, arms)."""

    @property
    def pulls(self) -> Ints: ...
    @property
    def means(self) -> Floats: ...
    @property
    def variances(self) -> Floats: ...
    @property
    def binary(self) -> bool: ...
    def pool(self) -> Floats:
        """All rewards, arm after arm, log after log."""
        ...


class Bootstrap(ABC):
    """How a world is made from a log. Subclasses are frozen dataclasses."""

    name: ClassVar[str]

    @abstractmethod
    def fit(self, log: Observed, unseen: Unseen | None = None) -> World:
        """The world of this log, or the worlds of a stack; `unseen` is used for arms without a reward."""

    def __str__(self) -> str:
        options = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self))  # type: ignore[arg-type]
        return f"{self.name}({options})" if options else self.name


@dataclass(frozen=True)
class Gaussian(Bootstrap):
    """The multiplier bootstrap with Gaussian weights: N(sample mean, sample variance with divisor n), eq:mb-dist."""

    name: ClassVar[str] = "gaussian"

    def fit(self, log: Observed, unseen: Unseen | None = None) -> Normal:
        means, sds = log.means, np.sqrt(log.variances)
        if unseen is not None:
            means, sds = np.where(log.pulls, means, unseen.mean), np.where(log.pulls, sds, unseen.sd)
        return Normal(means, sds)


@dataclass(frozen=True)
class Efron(Bootstrap):
    """Efron's bootstrap: each reward is one of the arm's own, with equal probability."""

    name: ClassVar[str] = "efron"

    def fit(self, log: Observed, unseen: Unseen | None = None) -> Empirical:
        return Empirical(_pool(log, unseen))


@dataclass(frozen=True)
class MultiplierBootstrap(Bootstrap):
    """The multiplier bootstrap from its definition, with any weights; slower than `gaussian`."""

    name: ClassVar[str] = "multiplier"
    weights: str = "gaussian"

    def __post_init__(self) -> None:
        check_weights(self.weights)

    def fit(self, log: Observed, unseen: Unseen | None = None) -> Multiplier:
        return Multiplier(_pool(log, unseen), self.weights)


def _pool(log: Observed, unseen: Unseen | None) -> Pool:
    """The arms' rewards; values with the given mean and standard deviation stand for an unseen arm.

    Among 0/1 rewards these are 0/1, too, and the mean alone counts.
    """
    values, counts = log.pool(), log.pulls
    missing = counts.ravel() == 0
    if unseen is None or not missing.any():
        return Pool(values, counts)
    stand_in = np.array([unseen.mean - unseen.sd, unseen.mean + unseen.sd])
    if log.binary and 0 <= unseen.mean <= 1:
        wins = round(1000 * unseen.mean)
        stand_in = np.repeat([1.0, 0.0], [wins, 1000 - wins])
    places = np.repeat(Pool(values, counts).starts[:-1][missing], len(stand_in))
    filled = np.insert(values, places, np.tile(stand_in, missing.sum()))
    return Pool(filled, np.where(counts > 0, counts, len(stand_in)))
