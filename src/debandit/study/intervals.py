"""What a study measures of an interval: does it cover the truth, and how wide is it."""

import math
from collections.abc import Callable

import numpy as np

from debandit.engine.data import Floats
from debandit.intervals import Sample, binary, moderated_t, pooled_t, two_part, wald
from debandit.simulation import Runs

LEVEL = 0.95
YARDSTICK = "moderated-t"
PULLS = (1, 2, 3, 6, 11)  # where the groups of numbers of pulls begin
LIMITS: dict[str, Callable[[Sample], tuple[Floats, Floats]]] = {
    "binary": lambda sample: binary(sample.pulls, np.rint(np.nan_to_num(sample.means * sample.pulls)), LEVEL),
    "two-part": lambda sample: two_part(sample, LEVEL),
    "pooled-t": lambda sample: pooled_t(sample, LEVEL)[:2],
    YARDSTICK: lambda sample: moderated_t(sample, LEVEL),
    "wald": lambda sample: wald(sample.pulls, sample.means, sample.squares, LEVEL),
}


def measure_interval(method: str, experiments: Runs) -> dict[str, Floats]:
    """Coverage, in all and by pulls from so many on, and width beside that of a plain moderated t."""
    truths = experiments.world.means
    sample = Sample(*experiments.paths(), len(truths))
    (low, high), (plain_low, plain_high) = LIMITS[method](sample), LIMITS[YARDSTICK](sample)
    known = sample.pulls > 1 if method == "wald" else ~np.isnan(low)  # a textbook would print no width at all
    covered = np.where(known, (low <= truths) & (truths <= high), np.nan)
    group, width, plain = np.searchsorted(PULLS, sample.pulls, side="right"), high - low, plain_high - plain_low
    bounded = np.isfinite(width) & np.isfinite(plain)
    by_pulls = {f"coverage@{first}": np.where(group == g, covered, np.nan) for g, first in enumerate(PULLS, 1)}
    widths = {"width": np.where(bounded, width, np.nan), "plain_width": np.where(bounded, plain, np.nan)}
    return {"coverage": covered, **by_pulls, **widths}


def binomial_se(share: float, n: int) -> float:
    """Of a share of n; not 0 at the ends, since half a hit and half a miss are added."""
    share = (share * n + 0.5) / (n + 1)
    return math.sqrt(share * (1 - share) / n)
