"""Worlds built from a log: those of docs/worlds.md, and the bootstraps of section 2.1."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar, Protocol

import numpy as np

from debandit import spec
from debandit.checks import SMALLEST, check_fields, checked_number, choice
from debandit.engine.data import Floats, Ints
from debandit.errors import InputError, Refused, shorten
from debandit.settings import Unseen
from debandit.worlds.laws import WEIGHTS, Bernoulli, Empirical, Multiplier, Normal, Pool, Smoothed, World

LENT_FREEDOM = 1  # degrees of freedom that the pooled variance has in each arm's: d0
MOST_FREEDOM = 5  # of one arm, when the variances are pooled: a long-pulled arm must not speak for all
MANY = 100  # rewards of an arm whose mean and variance are known well enough


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
    @property
    def has_rewards(self) -> bool:
        """Whether `pool` knows the rewards."""
        ...

    def pool(self) -> Floats:
        """All rewards, arm after arm, log after log."""
        ...


class Bootstrap(ABC):
    """How a world is made from a log. Subclasses are frozen dataclasses."""

    name: ClassVar[str]

    @abstractmethod
    def fit(self, log: Observed, unseen: Unseen | None = None) -> World:
        """The world of this log, or the worlds of a stack; `unseen` is used for arms without a reward."""

    def chosen_for(self, _log: Observed, _large_batches: bool = False) -> "tuple[Bootstrap, str]":
        """The bootstrap that is used for such a log, and why, where there was a choice."""
        return self, ""

    def needs_totals(self, _log: Observed) -> bool:
        """Whether it needs no more of such a log than means and variances, if its batches are large."""
        return False

    def __str__(self) -> str:
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]  # all are dataclasses
        options = ", ".join(f"{name}={value!r}" for name, value in values.items() if value is not None)
        return f"{self.name}({options})" if options else self.name


@dataclass(frozen=True)
class SmoothedBootstrap(Bootstrap):
    """For rewards on a scale: the arm's residuals, smoothed by normal noise, with a moderated variance.

    x = mean + sqrt(v) (sqrt(1 - h^2) e + h z): e is one of the arm's residuals, standardised, and z standard normal. v
    is the arm's variance drawn towards that of all arms, or towards ``sd^2``, and h^2 = 1 / n for an arm with n pulls;
    h = 1 if its rewards do not vary.
    """

    name: ClassVar[str] = "smoothed"
    sd: float | None = None

    def __post_init__(self) -> None:
        if self.sd is not None:
            sd = checked_number("sd", self.sd, SMALLEST, where="world smoothed")
            object.__setattr__(self, "sd", float(sd))

    def fit(self, log: Observed, unseen: Unseen | None = None) -> Smoothed:
        pool = _pool(log, unseen)
        own, means = pool.variances(), pool.means()
        total = moderated_variances(log.pulls, own, self.sd)
        normal_share = np.where(own > 0, LENT_FREEDOM / (LENT_FREEDOM + np.maximum(log.pulls - 1, 0)), 1.0)
        if unseen is not None:
            total = np.where(log.pulls, total, unseen.sd**2)
            normal_share = np.where(log.pulls, normal_share, 1.0)
        stretch = np.sqrt(total * (1 - normal_share) / np.where(own > 0, own, 1.0))
        moved = pool.changed(lambda values, mean, factor: mean + factor * (values - mean), means, stretch)
        return Smoothed(pool._replace(values=moved), np.sqrt(total * normal_share))


@dataclass(frozen=True)
class Jeffreys(Bootstrap):
    """For 0/1 rewards: 1 with probability (wins + 1/2) / (pulls + 1), so that no arm is sure to win or to lose.

    Examples
    --------
    >>> import debandit as db
    >>> log = db.ExperimentLog.from_summaries(["A", "B"], [10, 30], [0.2, 0.3], binary=True)
    >>> db.worlds.Jeffreys().fit(log).means.round(3)
    array([0.227, 0.306])
    """

    name: ClassVar[str] = "jeffreys"

    def fit(self, log: Observed, unseen: Unseen | None = None) -> Bernoulli:
        if not log.binary:
            raise InputError(
                "jeffreys is a world of 0/1 rewards, but the log has others",
                where="world",
                remedy="For rewards on a scale take the world smoothed.",
            )
        chances = (np.rint(np.nan_to_num(log.means * log.pulls)) + 0.5) / (log.pulls + 1)
        if unseen is not None and not log.pulls.all():
            if not 0 <= unseen.mean <= 1:
                raise InputError("the mean of 0/1 rewards lies between 0 and 1", where="unseen")
            chances = np.where(log.pulls, chances, unseen.mean)
        return Bernoulli(chances)


@dataclass(frozen=True)
class Auto(Bootstrap):
    """Jeffreys for 0/1 rewards, else smoothed; gaussian where only means and variances are known, or matter."""

    name: ClassVar[str] = "auto"

    def chosen_for(self, log: Observed, large_batches: bool = False) -> tuple[Bootstrap, str]:
        if log.binary:
            return Jeffreys(), "all rewards are 0 or 1"
        if large_batches and self.needs_totals(log):
            return Gaussian(), "batches are large, so only the sums of many rewards matter"
        if log.has_rewards:
            return SmoothedBootstrap(), "the rewards are not just 0 and 1"
        return Gaussian(), "of the rewards only means and variances are known"

    def needs_totals(self, log: Observed) -> bool:
        return bool(log.pulls.min() >= MANY)

    def fit(self, log: Observed, unseen: Unseen | None = None) -> World:
        return self.chosen_for(log)[0].fit(log, unseen)


@dataclass(frozen=True)
class Gaussian(Bootstrap):
    """The multiplier bootstrap with Gaussian weights: N(sample mean, sample variance with divisor n), eq:mb-dist."""

    name: ClassVar[str] = "gaussian"

    def needs_totals(self, _log: Observed) -> bool:
        return True

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
    weights: str = choice(*WEIGHTS)

    def __post_init__(self) -> None:
        check_fields(self, "world multiplier")

    def fit(self, log: Observed, unseen: Unseen | None = None) -> Multiplier:
        return Multiplier(_pool(log, unseen), self.weights)


def moderated_variances(pulls: Ints, variances: Floats, sd: float | None = None) -> Floats:
    """Each arm's variance, drawn towards the pooled one of all arms, or towards `sd`^2.

    s0 = sum_k c_k s_k^2 / sum_k c_k over arms with n_k > 1, c_k = min(n_k - 1, 5), s_k^2 with divisor n_k - 1;
    v_k = (d0 s0 + (n_k - 1) s_k^2) / (d0 + n_k - 1) with d0 = 1. The last axis is the arm; `variances` have divisor n.
    """
    freedom = np.maximum(pulls - 1, 0)
    squares = np.where(pulls > 1, pulls * variances, 0.0)
    if sd is not None:
        pooled = np.float64(sd) ** 2
    else:
        weights = np.minimum(freedom, MOST_FREEDOM)
        total = weights.sum(axis=-1, keepdims=True)
        if not total.all():
            raise Refused(
                "no arm was pulled more than once: nothing says how much rewards vary",
                where="world smoothed",
                remedy='Say it yourself: --world "smoothed(sd=...)" with the standard deviation of an arm\'s rewards.',
            )
        pooled = (weights * squares / np.maximum(freedom, 1)).sum(axis=-1, keepdims=True) / total
    moderated: Floats = (LENT_FREEDOM * pooled + squares) / (LENT_FREEDOM + freedom)
    return moderated


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


FITTED: dict[str, type[Bootstrap]] = {
    world.name: world for world in (Auto, SmoothedBootstrap, Jeffreys, Gaussian, Efron, MultiplierBootstrap)
}


def as_bootstrap(world: Bootstrap | str, where: str = "world") -> Bootstrap:
    """A way to make a world from a log, or the text of one: gaussian, or multiplier(weights=rademacher)."""
    if isinstance(world, str):
        world = spec.build(world, FITTED, where, "bootstrap world")
    if not isinstance(world, Bootstrap):
        raise InputError(
            f"{shorten(repr(world))} cannot be built from a log", where=where, remedy=f"Take {', '.join(FITTED)}."
        )
    return world
