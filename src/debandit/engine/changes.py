"""What wrappers make of a rule's own chances (..., K): floors, tempering, dropping. For all who play or replay."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.engine.data import Floats, Rounds

Present = NDArray[np.bool_]
TINY = 1e-300  # no arm of a randomised rule is impossible; where rounding leaves nothing of a chance, it is this


class Least(NamedTuple):
    """No arm has less than its own least chance, which may fall with time.

    Mixed, the least chances are dealt first and the rule shares the rest: least + (1 - sum of them) p. Clipped, chances
    below the least one are raised to it, and what that takes comes from all in proportion to what they have beyond
    theirs (as in Hadad et al., PNAS 118 (15), 2021).
    """

    least: tuple[float, ...]  # of each arm
    decay: float = 0.0  # times t^-decay, t counted from 1
    clipped: bool = False

    @property
    def total(self) -> float:
        """The sum of the least chances in the beginning."""
        return math.fsum(self.least)

    def fading(self, begun: Rounds) -> Floats:
        """What is left of the least chances."""
        return np.asarray((np.asarray(begun) + 1.0) ** -self.decay)

    def of(self, chances: Floats, least: Floats) -> Floats:
        """The chances with the floor."""
        if not self.clipped:
            return np.asarray(least + np.maximum(1 - least.sum(axis=-1, keepdims=True), 0) * chances)
        raised = np.maximum(chances, least)
        beyond = raised - least
        excess, total = (part.sum(axis=-1, keepdims=True) for part in (raised - chances, beyond))
        return np.asarray(raised - np.divide(excess, total, out=np.zeros(total.shape), where=total > 0) * beyond)


class Temper(NamedTuple):
    """Chances in proportion to p^power, or without a power to p (1 - p), as in exploration sampling."""

    power: float | None

    def of(self, chances: Floats) -> Floats:
        """The chances as they are then."""
        likely = np.maximum(chances, TINY)
        if self.power is not None:
            return _scaled((likely / likely.max(axis=-1, keepdims=True)) ** self.power)
        others = likely @ (1 - np.eye(likely.shape[-1]))  # 1 - p would be 0 where p is nearly 1
        return _scaled(likely * others)


class Dropping(NamedTuple):
    """Arms with a smaller chance get nothing, and the rest is scaled to 1; the likeliest arm stays."""

    below: float

    def of(self, chances: Floats) -> Floats:
        """The chances as they are then."""
        stays = (chances >= self.below) | (chances == chances.max(axis=-1, keepdims=True))
        return _scaled(np.where(stays, chances, 0.0))


Change = Least | Temper | Dropping


def changed(changes: tuple[Change, ...], chances: Floats, begun: Rounds, present: Present | None = None) -> Floats:
    """A rule's chances (..., K) of the arms that are `present`, by default all, after all changes in their order.

    `begun` is the first round of the batch, counted from 0: one number, or an array of the leading axes.
    """
    for change in changes:
        if isinstance(change, Least):
            least = np.asarray(change.least)[slice(None) if present is None else present]
            chances = change.of(chances, least * change.fading(begun)[..., None])
        else:
            chances = change.of(chances)
    return chances


def _scaled(weights: Floats) -> Floats:
    total = weights.sum(axis=-1, keepdims=True)  # 0 where the rule was not asked
    return np.asarray(np.divide(weights, total, out=np.zeros(weights.shape), where=total > 0))
