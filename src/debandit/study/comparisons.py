"""How often the limits of differences, lift and the winner's mean cover the truth, as methods of a study."""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from debandit.engine.data import Floats, Ints
from debandit.intervals import (
    ARM,
    WINNER,
    Limits,
    Sample,
    binary,
    mover_difference,
    mover_lift,
    pooled_t,
    pooled_t_difference,
    two_part,
    two_part_centre,
    two_part_difference,
    welch,
)
from debandit.simulation import Runs

LEVEL = 0.95
LEVELS = (0.8, 0.9, 0.99)  # the others that are measured
ARM_MEAN, DIFFERENCE, BEST, LIFT = "arm", "difference", "best - second", "lift"
MEAN, PLAIN, TEST = "winner", "winner, plain tails", "p-value"
INTERVALS = {"binary": "binary", "zero-inflated": "two-part"}  # of these families; others have pooled-t
_KINDS = {
    DIFFERENCE: ("pooled-t", "binary", "two-part", "welch"),
    BEST: ("pooled-t", "binary", "two-part", "welch"),
    LIFT: ("binary", "two-part"),
    MEAN: ("pooled-t", "binary", "two-part"),
    PLAIN: ("pooled-t", "binary"),
    TEST: ("welch",),
}
_AT_LEVELS = dict.fromkeys((ARM_MEAN, DIFFERENCE, MEAN), _KINDS[DIFFERENCE][:3])
EXPLANATION = (
    "Differences and lift are those of each arm to the first, which has the lowest mean; best - second is the "
    "difference of the two arms with the highest sample means, and the winner is the first of them. Plain tails are "
    "those that other arms have. Welch is counted where both arms have two pulls."
)


class Asked(NamedTuple):
    """A method in parts: what the limits are for, which they are, and how often they should cover it."""

    kind: str
    interval: str
    level: float = LEVEL

    @classmethod
    def of(cls, method: str) -> "Asked":
        """The parts of a name such as "difference: pooled-t, 80 %"."""
        kind, _, rest = method.partition(": ")
        interval, _, percent = rest.partition(", ")
        return cls(kind, interval, float(percent.removesuffix(" %")) / 100 if percent else LEVEL)

    def __str__(self) -> str:
        at = "" if self.level == LEVEL else f", {100 * self.level:g} %"
        return f"{self.kind}: {self.interval}{at}"


COMPARISONS = tuple(
    str(Asked(kind, interval, level))
    for level, kinds in {LEVEL: _KINDS, **dict.fromkeys(LEVELS, _AT_LEVELS)}.items()
    for kind, intervals in kinds.items()
    for interval in intervals
)
_samples: WeakKeyDictionary[Runs, Sample] = WeakKeyDictionary()  # many methods look at the same experiments


def sample_of(experiments: Runs) -> Sample:
    """The rewards of all experiments, prepared once for all methods."""
    if experiments not in _samples:
        _samples[experiments] = Sample(*experiments.paths(), len(experiments.world.means))
    return _samples[experiments]


def comparisons(family: str, level: float = LEVEL) -> tuple[str, ...]:
    """The methods that suit the rewards of a family at a level, and the textbook's."""
    suitable = (INTERVALS.get(family, "pooled-t"), "welch")
    asked = {name: Asked.of(name) for name in COMPARISONS}
    return tuple(name for name, each in asked.items() if each.interval in suitable and each.level == level)


def measure_comparison(method: str, experiments: Runs) -> dict[str, Floats]:
    """Whether the limits cover the truth, one value per arm; a pair that the data choose stands in the first column.

    A test shows instead whether it finds a difference.
    """
    (kind, interval, level), sample, truths = Asked.of(method), sample_of(experiments), experiments.world.means
    first = np.zeros(len(truths), dtype=np.int64)
    if kind == TEST:
        return found_by_test(_outside(_difference(interval, sample, first, level), 0.0), truths)
    if kind == ARM_MEAN:
        return {"coverage": covered(_mean(interval, sample, ARM, level), truths)}
    if kind == LIFT:
        return {"coverage": covered(_lift(interval, sample, first, level), truths / truths[0] - 1)}
    if kind == DIFFERENCE:
        return {"coverage": covered(_difference(interval, sample, first, level), truths - truths[0])}
    order = np.argsort(-np.nan_to_num(sample.means, nan=-np.inf), axis=1, kind="stable")
    best, second = order[:, :1], order[:, 1:2]
    if kind == BEST:
        limits, truth = _difference(interval, sample, second, level), truths[best] - truths[second]
    else:
        limits, truth = _mean(interval, sample, WINNER if kind == MEAN else ARM, level), truths[best]
    low, high = (np.take_along_axis(limit, best, axis=1) for limit in limits)
    found = np.full(sample.shape, np.nan)
    found[:, :1] = covered(Limits(low, high), truth)
    return {"coverage": found}


def covered(limits: Limits, truths: Floats) -> Floats:
    """1 where the truth lies within the limits, 0 where it does not, NaN without limits."""
    known = ~np.isnan(limits.low)
    return np.where(known, (limits.low <= truths) & (truths <= limits.high), np.nan)


def found_by_test(rejected: Floats, truths: Floats) -> dict[str, Floats]:
    """How often a test finds a difference to the first arm: wrongly where there is none, rightly where there is one."""
    equal = np.isclose(truths, truths[0], rtol=0, atol=1e-9)
    return {"type_1": np.where(equal, rejected, np.nan), "power": np.where(equal, np.nan, rejected)}


def _outside(limits: Limits, value: float) -> Floats:
    return 1 - covered(limits, np.full(limits.low.shape, value))


def _wins(sample: Sample) -> Floats:
    return np.rint(np.nan_to_num(sample.means * sample.pulls))


def _mean(interval: str, sample: Sample, below: float, level: float) -> Limits:
    if interval == "binary":
        return binary(sample.pulls, _wins(sample), level, below)
    return two_part(sample, level) if interval == "two-part" else Limits(*pooled_t(sample, level, below)[:2])


def _difference(interval: str, sample: Sample, control: Ints, level: float) -> Limits:
    if interval == "binary":
        return mover_difference(sample.means, _mean(interval, sample, ARM, level), control)
    return {"two-part": two_part_difference, "pooled-t": pooled_t_difference, "welch": welch}[interval](
        sample, control, level
    )


def _lift(interval: str, sample: Sample, control: Ints, level: float) -> Limits:
    centre = two_part_centre(sample) if interval == "two-part" else sample.means
    return mover_lift(centre, _mean(interval, sample, ARM, level), control)
