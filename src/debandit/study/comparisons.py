"""How often the limits of differences, lift and the winner's mean cover the truth, as methods of a study."""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from debandit.engine.data import Floats, Ints
from debandit.estimators.batchwise import cells_of_runs
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
from debandit.periods import Weighted
from debandit.simulation import Runs
from debandit.study.population import family_of

LEVEL = 0.95
SIGNIFICANT = 0.05
LEVELS = (0.8, 0.9, 0.99)  # the others that are measured
ARM_MEAN, DIFFERENCE, BEST, LIFT = "arm", "difference", "best - second", "lift"
MEAN, PLAIN, TEST = "winner", "winner, plain tails", "p-value"
ADJUSTED = "period-weighted"  # the limits of `adjusted` means and differences
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
WEIGHTED_BY_PERIODS = tuple(
    str(Asked(kind, ADJUSTED, level)) for level in (LEVEL, *LEVELS) for kind in (ARM_MEAN, DIFFERENCE)
)
_samples: WeakKeyDictionary[Runs, Sample] = WeakKeyDictionary()  # many methods look at the same experiments


def sample_of(experiments: Runs) -> Sample:
    """The rewards of all experiments, prepared once for all methods; of 0/1 rewards the counts are enough."""
    if experiments not in _samples:
        counts_only = experiments.path_arms is None and experiments.binary
        arms, rewards = _in_any_order(experiments) if counts_only else experiments.paths()
        _samples[experiments] = Sample(arms, rewards, len(experiments.world.means))
    return _samples[experiments]


def _in_any_order(experiments: Runs) -> tuple[Ints, Floats]:
    """Arms and 0/1 rewards (experiments, rounds) that have the counts."""
    wins = experiments.sums.astype(np.int64)
    counts = np.stack((experiments.pulls - wins, wins), axis=-1)
    codes = np.repeat(np.tile(np.arange(counts[0].size), len(counts)), counts.ravel()).reshape(len(counts), -1)
    return codes // 2, codes % 2.0


def comparisons(family: str, level: float = LEVEL) -> tuple[str, ...]:
    """The methods that suit the rewards of a family at a level, and the textbook's."""
    suitable = (INTERVALS.get(family, "pooled-t"), "welch")
    asked = {name: Asked.of(name) for name in COMPARISONS}
    return tuple(name for name, each in asked.items() if each.interval in suitable and each.level == level)


def measure_comparison(method: str, experiments: Runs) -> dict[str, Floats]:
    """Whether the limits cover the truth, one value per arm; a pair that the data choose stands in the first column.

    A test shows instead whether it finds a difference.
    """
    asked, truths = Asked.of(method), experiments.world.means
    limits = closed_limits(asked, experiments)
    if asked.kind == TEST:
        return found_by_test(1 - covered(limits, np.zeros(len(truths))), truths)
    best, second = _best_two(experiments)
    truth = {
        ARM_MEAN: truths,
        LIFT: truths / truths[0] - 1 if asked.kind == LIFT else truths,
        DIFFERENCE: truths - truths[0],
        BEST: truths[best] - truths[second],
    }.get(asked.kind, truths[best])
    found = np.full(experiments.pulls.shape, np.nan)
    found[:, : limits.low.shape[1]] = covered(limits, truth)
    return {"coverage": found}


def measure_adjusted(method: str, experiments: Runs) -> dict[str, Floats]:
    """Whether the limits of period-weighted means, or of their differences to the first arm, cover the truth."""
    asked, truths = Asked.of(method), experiments.world.means
    first, tail = np.zeros(len(truths), np.int64), (1 - asked.level) / 2
    found = [Weighted(cells, experiments.binary) for cells in cells_of_runs(experiments, None, asked.interval)]
    of_arms = asked.kind == ARM_MEAN
    told = [each.estimate(tail) if of_arms else each.differences(first, tail) for each in found]
    limits = Limits(*(np.stack([getattr(each, side) for each in told]) for side in ("low", "high")))
    return judged(limits, truths if of_arms else truths - truths[0], closed_limits(asked, experiments))


def judged(limits: Limits, truths: Floats, closed: Limits) -> dict[str, Floats]:
    """Whether the limits cover the truth, and their width beside that in closed form, where both are bounded."""
    width, plain = limits.high - limits.low, closed.high - closed.low
    bounded = np.isfinite(width) & np.isfinite(plain) & (plain > 0)
    return {
        "coverage": covered(limits, truths),
        "width": np.where(bounded, width, np.nan),
        "plain_width": np.where(bounded, plain, np.nan),
    }


def closed_limits(asked: Asked, experiments: Runs) -> Limits:
    """Limits in closed form: of every arm (experiments, arms), or of the pair or arm that the data choose (.., 1).

    An interval that is no closed form stands for that which suits the rewards.
    """
    sample, (kind, interval, level) = sample_of(experiments), asked
    if interval not in _KINDS[DIFFERENCE]:
        interval = INTERVALS.get(family_of(str(experiments.world)), "pooled-t")
    first = np.zeros(sample.means.shape[1], dtype=np.int64)
    if kind in (TEST, DIFFERENCE):
        return _difference(interval, sample, first, level)
    if kind == ARM_MEAN:
        return _mean(interval, sample, ARM, level)
    if kind == LIFT:
        return _lift(interval, sample, first, level)
    best, second = _best_two(experiments)
    if kind == BEST:
        limits = _difference(interval, sample, second, level)
    else:
        limits = _mean(interval, sample, WINNER if kind == MEAN else ARM, level)
    return Limits(*(np.take_along_axis(limit, best, axis=1) for limit in limits))


def _best_two(experiments: Runs) -> tuple[Ints, Ints]:
    """The arms with the two highest means, of shape (experiments, 1); of equals the first."""
    order = np.argsort(-np.nan_to_num(sample_of(experiments).means, nan=-np.inf), axis=1, kind="stable")
    return order[:, :1], order[:, 1:2]


def covered(limits: Limits, truths: Floats) -> Floats:
    """1 where the truth lies within the limits, 0 where it does not, NaN without limits."""
    known = ~np.isnan(limits.low)
    return np.where(known, (limits.low <= truths) & (truths <= limits.high), np.nan)


def found_by_test(rejected: Floats, truths: Floats) -> dict[str, Floats]:
    """How often a test finds a difference to the first arm: wrongly where there is none, rightly where there is one."""
    equal = np.isclose(truths, truths[0], rtol=0, atol=1e-9)
    return {"type_1": np.where(equal, rejected, np.nan), "power": np.where(equal, np.nan, rejected)}


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
