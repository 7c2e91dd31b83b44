"""What `debias` says of simulated experiments, as methods of a study: are its limits and p-values right?

The interval in the name of such a method is the option `interval` of `debias`: auto or simulated.
"""

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from debandit.debiasing import debias_all
from debandit.engine.data import Floats
from debandit.intervals import Limits
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
)

if TYPE_CHECKING:
    from debandit.study.cell import Cell

OPTIONS = ("auto", "simulated")
POSITIVE = ("binary", "zero-inflated")  # families whose means are
INSIDE = {f"{value}, {place}": (value, place) for value in ("quoted", "corrected") for place in ("leader", "others")}
_printed: WeakKeyDictionary[Runs, dict[tuple[str, float], list[Debiased]]] = WeakKeyDictionary()


def printed_methods(option: str, family: str, level: float = LEVEL) -> tuple[str, ...]:
    """The methods that measure all that `debias` prints with this interval for rewards of a family."""
    lift = (LIFT,) if family in POSITIVE else ()
    return tuple(str(Asked(kind, option, level)) for kind in (ARM_MEAN, DIFFERENCE, *lift, MEAN, TEST, *INSIDE))


def is_printed(method: str) -> bool:
    """Whether a method is one of these."""
    return Asked.of(method).interval in OPTIONS


def measure_printed(method: str, experiments: Runs, cell: "Cell", seed: int, threads: int | None) -> dict[str, Floats]:
    """{quantity: values of shape (experiments, arms)}; what is said of one arm only stands in the first column."""
    asked, truths = Asked.of(method), experiments.world.means
    results = _results(asked, experiments, cell, seed, threads)
    if asked.kind == TEST:
        p = _compared(results, "p_value")
        return found_by_test(np.where(np.isnan(p), np.nan, p <= SIGNIFICANT), truths)
    if asked.kind in INSIDE:
        return {"coverage": _inside(results, *INSIDE[asked.kind])}
    if asked.kind == MEAN:
        limits = Limits(*(np.array([[getattr(result.winner, end)] for result in results]) for end in ("low", "high")))
        found = _measured(limits, truths[_leads(results).argmax(axis=1)][:, None], closed_limits(asked, experiments))
        return {
            name: np.pad(each, ((0, 0), (0, len(truths) - 1)), constant_values=np.nan) for name, each in found.items()
        }
    if asked.kind == ARM_MEAN:
        limits = Limits(*(np.stack([getattr(result, end) for result in results]) for end in ("low", "high")))
        return _measured(limits, truths, closed_limits(asked, experiments))
    ends = ("lift_low", "lift_high") if asked.kind == LIFT else ("low", "high")
    limits = Limits(*(_compared(results, end) for end in ends))
    truth = truths / truths[0] - 1 if asked.kind == LIFT else truths - truths[0]
    return _measured(limits, truth, closed_limits(asked, experiments))


def _results(asked: Asked, experiments: Runs, cell: "Cell", seed: int, threads: int | None) -> list[Debiased]:
    """The results of all experiments, worked out once for all methods; every arm is compared with the first."""
    known = _printed.setdefault(experiments, {})
    if (asked.interval, asked.level) not in known:
        known[asked.interval, asked.level] = debias_all(
            [experiments.log(i) for i in range(len(experiments.pulls))],
            experiments.policy,
            interval=asked.interval,
            level=asked.level,
            control="1",
            runs=cell.runs,
            seed=seed,
            unseen=(0.5, 0.5) if experiments.world.binary else None,
            force=True,
            threads=threads,
        )
    return known[asked.interval, asked.level]


def _compared(results: list[Debiased], name: str) -> Floats:
    """What is said of the differences, of shape (experiments, arms)."""
    return np.stack([getattr(result.differences, name) for result in results])


def _measured(limits: Limits, truths: Floats, closed: Limits) -> dict[str, Floats]:
    """Whether the limits cover the truth, and their width beside that in closed form, where both are bounded."""
    width, plain = limits.high - limits.low, closed.high - closed.low
    bounded = np.isfinite(width) & np.isfinite(plain) & (plain > 0)
    return {
        "coverage": covered(limits, truths),
        "width": np.where(bounded, width, np.nan),
        "plain_width": np.where(bounded, plain, np.nan),
    }


def _inside(results: list[Debiased], value: str, place: str) -> Floats:
    """Whether quoted or corrected means lie within the interval: that of the best-looking arm, or of the others."""
    values = np.stack([getattr(result, value) for result in results])
    limits = Limits(np.stack([result.low for result in results]), np.stack([result.high for result in results]))
    inside, leads = np.where(np.isnan(values), np.nan, covered(limits, values)), _leads(results)
    return np.where(leads if place == "leader" else ~leads, inside, np.nan)


def _leads(results: list[Debiased]) -> NDArray[np.bool_]:
    """Which arm looks best, of shape (experiments, arms)."""
    means = np.stack([result.naive for result in results])
    best: NDArray[np.bool_] = np.arange(means.shape[1]) == np.nanargmax(means, axis=1)[:, None]
    return best
