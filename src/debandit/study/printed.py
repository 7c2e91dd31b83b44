"""What `debias` says of simulated experiments, as methods of a study: are its limits and p-values right?

The interval in the name of such a method is the option `interval` of `debias`: auto or simulated.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from debandit.debiasing import Asked as Simulated
from debandit.debiasing import Inference, debias_all, inferences
from debandit.engine.data import Floats
from debandit.intervals import Interval, Limits
from debandit.result import Debiased
from debandit.simulation import Runs
from debandit.study.comparisons import (
    ARM_MEAN,
    DIFFERENCE,
    LEVEL,
    LIFT,
    MEAN,
    SIGNIFICANT,
    TEST,
    Asked,
    closed_limits,
    covered,
    found_by_test,
    judged,
)

if TYPE_CHECKING:
    from debandit.study.cell import Cell

OPTIONS = ("auto", "simulated")
POSITIVE = ("binary", "zero-inflated")  # families whose means are
INSIDE = {f"{value}, {place}": (value, place) for value in ("quoted", "corrected") for place in ("leader", "others")}
KINDS = (ARM_MEAN, DIFFERENCE, LIFT, MEAN, TEST, *INSIDE)  # all that is said
_said: WeakKeyDictionary[Runs, dict[tuple[str, float], list[Inference]]] = WeakKeyDictionary()
_estimated: WeakKeyDictionary[Runs, list[Debiased]] = WeakKeyDictionary()


def printed_methods(option: str, family: str, level: float = LEVEL, kinds: tuple[str, ...] = KINDS) -> tuple[str, ...]:
    """The methods that measure what `debias` prints with this interval for rewards of a family."""
    return tuple(str(Asked(kind, option, level)) for kind in kinds if kind != LIFT or family in POSITIVE)


def is_printed(method: str) -> bool:
    """Whether a method is one of these."""
    return Asked.of(method).interval in OPTIONS


def measure_printed(method: str, experiments: Runs, cell: "Cell", seed: int, threads: int | None) -> dict[str, Floats]:
    """{quantity: values of shape (experiments, arms)}; what is said of one arm only stands in the first column."""
    asked, truths = Asked.of(method), experiments.world.means
    said = _inferences(asked, experiments, cell, seed, threads)
    if asked.kind == TEST:
        p = np.stack([each.p_value for each in said])
        return found_by_test(np.where(np.isnan(p), np.nan, p <= SIGNIFICANT), truths)
    of_arms = _stacked([each.interval for each in said])
    leads = np.arange(len(truths)) == np.nanargmax(experiments.means, axis=1)[:, None]
    if asked.kind in INSIDE:
        value, place = INSIDE[asked.kind]
        values = np.stack([getattr(each, value) for each in _estimates(experiments, cell, seed, threads)])
        inside = np.where(np.isnan(values), np.nan, covered(of_arms, values))
        return {"coverage": np.where(leads if place == "leader" else ~leads, inside, np.nan)}
    closed = closed_limits(asked, experiments)
    if asked.kind == MEAN:
        best = Limits(*(limit[leads][:, None] for limit in _stacked([each.compared.winner for each in said])))
        found = judged(best, truths[leads.argmax(axis=1)][:, None], closed)
        return {
            name: np.pad(each, ((0, 0), (0, len(truths) - 1)), constant_values=np.nan) for name, each in found.items()
        }
    if asked.kind == ARM_MEAN:
        return judged(of_arms, truths, closed)
    if asked.kind == LIFT:
        return judged(_stacked([each.compared.lift for each in said]), truths / truths[0] - 1, closed)
    return judged(_stacked([each.compared.difference for each in said]), truths - truths[0], closed)


def _inferences(asked: Asked, experiments: Runs, cell: "Cell", seed: int, threads: int | None) -> list[Inference]:
    """What is said of all experiments, worked out once for all methods of the cell, and only what these look at.

    Every arm is compared with the first; but of large batches, which take long, only the last one.
    """
    known, kinds = _said.setdefault(experiments, {}), {Asked.of(each).kind for each in cell.methods if is_printed(each)}
    if (asked.interval, asked.level) not in known:
        last = (len(experiments.world.means) - 1,) if cell.counts_only else None
        known[asked.interval, asked.level] = inferences(
            [experiments.log(i) for i in range(len(experiments.pulls))],
            experiments.policy,
            Simulated(limits=kinds != {TEST}, tests=TEST in kinds, arms=last),
            interval=asked.interval,
            level=asked.level,
            **_options(experiments, cell, seed, threads),
        )
    return known[asked.interval, asked.level]


def _estimates(experiments: Runs, cell: "Cell", seed: int, threads: int | None) -> list[Debiased]:
    """The estimates of all experiments, worked out once; they do not depend on the interval."""
    if experiments not in _estimated:
        logs = [experiments.log(i) for i in range(len(experiments.pulls))]
        options = _options(experiments, cell, seed, threads)
        _estimated[experiments] = debias_all(logs, experiments.policy, interval="none", force=True, **options)
    return _estimated[experiments]


def _options(experiments: Runs, cell: "Cell", seed: int, threads: int | None) -> dict[str, Any]:
    unseen = (0.5, 0.5) if experiments.world.binary else None
    return {"control": "1", "runs": cell.runs, "seed": seed, "unseen": unseen, "threads": threads}


def _stacked(several: Sequence[Interval | Limits]) -> Limits:
    """Limits of shape (experiments, arms)."""
    return Limits(np.stack([each.low for each in several]), np.stack([each.high for each in several]))
