"""Worlds in which some periods are better than others, for all arms alike: weekends, a season, a trend."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from debandit import spec
from debandit.checks import LARGEST, checked_whole
from debandit.engine.data import BERNOULLI, EMPIRICAL, SMOOTHED, Cycle, Floats, WorldData
from debandit.errors import InputError, shorten
from debandit.worlds.laws import LAWS, World


class Drifting(World):
    """Another world, in which all arms are moved by effects[p] in period p, which has `size` rounds, and so on anew.

    An effect is added to the rewards, or to the log-odds of rewards that are 0 or 1. Means and variances are those of a
    reward at any time of a whole cycle. A trend has as many effects as the experiment has periods.

    Examples
    --------
    >>> import debandit as db
    >>> weekends = db.worlds.Drifting("bernoulli(means=[0.1, 0.2])", [0, 0, 0, 0, 0, 0.5, 0.5], size=1000)
    >>> weekends.means.round(3)
    array([0.116, 0.226])
    """

    name: ClassVar[str] = "drifting"

    def __init__(self, world: World | str, effects: ArrayLike, size: int) -> None:
        self.world = as_world(world, f"world {self.name}")
        if isinstance(self.world, Drifting):
            what, remedy = "a drifting world cannot drift once more", "Add up the effects of both in one list."
            raise InputError(what, where=f"world {self.name}", remedy=remedy)
        self.effects, self.size = _effects(effects), checked_whole("size", size, where=f"world {self.name}")
        self.binary, means = self.world.binary, self.world.means
        added = self.effects.reshape(-1, *[1] * means.ndim)
        self._means: Floats = _moved_odds(means, added) if self.binary else means + added
        self.means = self._means.mean(axis=0)
        self.variances = self.means * (1 - self.means) if self.binary else self.world.variances + self.effects.var()
        if self.world.support is not None:
            low, high = self.world.support
            self.support = low + float(self.effects.min()), high + float(self.effects.max())

    def options(self) -> dict[str, Any]:
        return {"effects": self.effects.tolist(), "size": self.size}

    def __str__(self) -> str:
        return super().__str__().replace("(", f"({self.world}, ", 1)

    def data(self) -> WorldData:
        """The other world with the means of a whole cycle, and the means of each period."""
        inner = self.world.data()
        pool = inner.pool + self.effects.mean() if inner.kind in (EMPIRICAL, SMOOTHED) else inner.pool
        return inner._replace(
            kind=BERNOULLI if self.binary else inner.kind,
            means=self.means.ravel(),
            variances=self.variances.ravel(),
            pool=pool,
            drift=Cycle(self.size, self._means.reshape(len(self.effects), -1)),
        )


def _moved_odds(means: Floats, added: Floats) -> Floats:
    """The probabilities, with something added to their log-odds."""
    from debandit.special import expit, logit

    return np.asarray(expit(logit(means) + added))


def _effects(effects: ArrayLike) -> Floats:
    try:
        found = np.array(effects, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.empty(0)
    if found.ndim != 1 or not len(found) or not (np.abs(found) <= LARGEST).all():
        what, remedy = (
            "effects must be a list of numbers, one for each period",
            "For example [0, 0, 0, 0, 0, 0.3, 0.3].",
        )
        raise InputError(what, where=f"world {Drifting.name}", remedy=remedy)
    return found


GIVEN: dict[str, type[World]] = {world.name: world for world in (*LAWS, Drifting)}


def as_world(world: World | str, where: str = "world") -> World:
    """A world, or the text of one: bernoulli(means=[0.3, 0.6])."""
    if isinstance(world, str):
        world = spec.build(world, GIVEN, where, "world")
    if not isinstance(world, World):
        raise InputError(f"{shorten(repr(world))} is not a world", where=where, remedy="Take one of debandit.worlds.")
    return world
