"""How often the limits of differences, lift and the winner's mean cover the truth, as methods of a study."""

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
DIFFERENCE, BEST, LIFT, MEAN, PLAIN = "difference", "best - second", "lift", "winner", "winner, plain tails"
INTERVALS = {"binary": "binary", "zero-inflated": "two-part"}  # of these families; others have pooled-t
COMPARISONS = tuple(
    f"{kind}: {interval}"
    for kind, intervals in {
        DIFFERENCE: ("pooled-t", "binary", "two-part", "welch"),
        BEST: ("pooled-t", "binary", "two-part", "welch"),
        LIFT: ("binary", "two-part"),
        MEAN: ("pooled-t", "binary", "two-part"),
        PLAIN: ("pooled-t", "binary"),
    }.items()
    for interval in intervals
)
EXPLANATION = (
    "Differences and lift are those of each arm to the first, which has the lowest mean; best - second is the "
    "difference of the two arms with the highest sample means, and the winner is the first of them. Plain tails are "
    "those that other arms have. Welch is counted where both arms have two pulls."
)


_samples: WeakKeyDictionary[Runs, Sample] = WeakKeyDictionary()  # many methods look at the same experiments


def sample_of(experiments: Runs) -> Sample:
    """The rewards of all experiments, prepared once for all methods."""
    if experiments not in _samples:
        _samples[experiments] = Sample(*experiments.paths(), len(experiments.world.means))
    return _samples[experiments]


def comparisons(family: str) -> tuple[str, ...]:
    """The methods that suit the rewards of a family, and the textbook's."""
    suitable = (INTERVALS.get(family, "pooled-t"), "welch")
    return tuple(name for name in COMPARISONS if name.partition(": ")[2] in suitable)


def measure_comparison(method: str, experiments: Runs) -> dict[str, Floats]:
    """Whether the limits cover the truth, one value per arm; a pair that the data choose stands in the first column."""
    kind, _, interval = method.partition(": ")
    sample, truths = sample_of(experiments), experiments.world.means
    if kind in (DIFFERENCE, LIFT):
        first = np.zeros(len(truths), dtype=np.int64)
        if kind == LIFT:
            return {"coverage": _covered(_lift(interval, sample, first), truths / truths[0] - 1)}
        return {"coverage": _covered(_difference(interval, sample, first), truths - truths[0])}
    order = np.argsort(-np.nan_to_num(sample.means, nan=-np.inf), axis=1, kind="stable")
    best, second = order[:, :1], order[:, 1:2]
    if kind == BEST:
        limits, truth = _difference(interval, sample, second), truths[best] - truths[second]
    else:
        limits, truth = _mean(interval, sample, WINNER if kind == MEAN else ARM), truths[best]
    low, high = (np.take_along_axis(limit, best, axis=1) for limit in limits)
    covered = np.full(sample.shape, np.nan)
    covered[:, :1] = _covered(Limits(low, high), truth)
    return {"coverage": covered}


def _covered(limits: Limits, truths: Floats) -> Floats:
    known = ~np.isnan(limits.low)
    return np.where(known, (limits.low <= truths) & (truths <= limits.high), np.nan)


def _wins(sample: Sample) -> Floats:
    return np.rint(np.nan_to_num(sample.means * sample.pulls))


def _mean(interval: str, sample: Sample, below: float) -> Limits:
    if interval == "binary":
        return binary(sample.pulls, _wins(sample), LEVEL, below)
    return two_part(sample, LEVEL) if interval == "two-part" else Limits(*pooled_t(sample, LEVEL, below)[:2])


def _difference(interval: str, sample: Sample, control: Ints) -> Limits:
    if interval == "binary":
        return mover_difference(sample.means, _mean(interval, sample, ARM), control)
    return {"two-part": two_part_difference, "pooled-t": pooled_t_difference, "welch": welch}[interval](
        sample, control, LEVEL
    )


def _lift(interval: str, sample: Sample, control: Ints) -> Limits:
    centre = two_part_centre(sample) if interval == "two-part" else sample.means
    return mover_lift(centre, _mean(interval, sample, ARM), control)
