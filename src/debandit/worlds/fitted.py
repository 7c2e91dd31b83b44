"""Worlds built from a log: the bootstraps of section 2.1."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from debandit.engine.data import Floats
from debandit.errors import InputError
from debandit.log import ExperimentLog
from debandit.worlds.empirical import Empirical
from debandit.worlds.multiplier import Multiplier
from debandit.worlds.normal import Normal
from debandit.worlds.world import World


@dataclass(frozen=True)
class Unseen:
    """The world of an arm that has no reward in the log."""

    mean: float
    sd: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mean) and 0 <= self.sd < np.inf):
            raise InputError(
                f"MEAN and SD must be finite and SD not negative, not {self.mean:g},{self.sd:g}", where="--unseen"
            )


class Bootstrap(ABC):
    """How a world is made from a log. Subclasses are frozen dataclasses."""

    name: ClassVar[str]

    @abstractmethod
    def fit(self, log: ExperimentLog, unseen: Unseen | None = None) -> World:
        """The world of this log; `unseen` is used for arms without a reward."""

    def __str__(self) -> str:
        options = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self))  # type: ignore[arg-type]
        return f"{self.name}({options})" if options else self.name


@dataclass(frozen=True)
class Gaussian(Bootstrap):
    """The multiplier bootstrap with Gaussian weights: N(sample mean, sample variance with divisor n), eq:mb-dist."""

    name: ClassVar[str] = "gaussian"

    def fit(self, log: ExperimentLog, unseen: Unseen | None = None) -> Normal:
        means, sds = log.means, np.sqrt(log.variances)
        if unseen is not None:
            means, sds = np.where(log.pulls, means, unseen.mean), np.where(log.pulls, sds, unseen.sd)
        return Normal(means, sds)


@dataclass(frozen=True)
class Efron(Bootstrap):
    """Efron's bootstrap: each reward is one of the arm's own, with equal probability."""

    name: ClassVar[str] = "efron"

    def fit(self, log: ExperimentLog, unseen: Unseen | None = None) -> Empirical:
        return Empirical(_samples(log, unseen))


@dataclass(frozen=True)
class MultiplierBootstrap(Bootstrap):
    """The multiplier bootstrap from its definition, with any weights; slower than `gaussian`."""

    name: ClassVar[str] = "multiplier"
    weights: str = "gaussian"

    def fit(self, log: ExperimentLog, unseen: Unseen | None = None) -> Multiplier:
        return Multiplier(_samples(log, unseen), self.weights)


def _samples(log: ExperimentLog, unseen: Unseen | None) -> list[Floats]:
    """The arms' rewards; two values stand for the mean and standard deviation of an unseen arm."""
    samples = log.samples()
    if unseen is None:
        return samples
    pair = np.array([unseen.mean - unseen.sd, unseen.mean + unseen.sd])
    return [sample if len(sample) else pair for sample in samples]
