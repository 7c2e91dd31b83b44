"""What a study can measure in each of its experiments."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from debandit import theory
from debandit.debiasing import estimated_biases
from debandit.engine.data import Floats
from debandit.errors import InputError
from debandit.intervals import Sample, binary, moderated_t, pooled_t, two_part, wald
from debandit.policies import ExploreThenCommit
from debandit.simulation import Runs
from debandit.study import rivals
from debandit.study.comparisons import (
    COMPARISONS,
    LEVEL,
    WEIGHTED_BY_PERIODS,
    measure_adjusted,
    measure_comparison,
    sample_of,
)
from debandit.study.rivals import FOUND, RIVALS
from debandit.study.rivals import WEIGHTED as WEIGHTED
from debandit.worlds import FITTED, Empirical, Normal, as_bootstrap

if TYPE_CHECKING:
    from debandit.study.cell import Cell

YARDSTICK = "moderated-t"
PULLS = (1, 2, 3, 6, 11)  # where the groups of numbers of pulls begin
LIMITS: dict[str, Callable[[Sample], tuple[Floats, Floats]]] = {
    "binary": lambda sample: binary(sample.pulls, np.rint(np.nan_to_num(sample.means * sample.pulls)), LEVEL),
    "two-part": lambda sample: two_part(sample, LEVEL),
    "pooled-t": lambda sample: pooled_t(sample, LEVEL)[:2],
    YARDSTICK: lambda sample: moderated_t(sample, LEVEL),
    "wald": lambda sample: wald(sample.pulls, sample.means, sample.squares, LEVEL),
}
THEOREMS = ("theorem1", "theorem2")
DEFAULT, CORRECTED = "auto", "corrected"  # the second is what `compare` calls the first
WITHOUT_RUNS = (*rivals.WITHOUT_RUNS, *THEOREMS, *LIMITS, *COMPARISONS, *WEIGHTED_BY_PERIODS)  # that simulate nothing


def known_methods() -> str:
    """The names of all methods, for messages."""
    return ", ".join(["naive", CORRECTED, *FITTED, *(name for name in FOUND if name != "naive"), *THEOREMS])


def check_method(method: str, cell: "Cell", where: str) -> str:
    """The method's full name, once it is known to make sense in the cell."""
    if method in FOUND:
        rivals.check_rival(method, cell, where)
        return method
    if method == CORRECTED:
        return DEFAULT
    if method in THEOREMS:
        _check_theorem(method, cell, where)
        return method
    try:
        return str(as_bootstrap(method, where))
    except InputError as error:
        raise InputError(error.what, where=where, remedy=f"The methods are {known_methods()}.") from None


def measure(method: str, experiments: Runs, cell: "Cell", seed: int, threads: int | None) -> dict[str, Floats]:
    """{quantity: values of shape (experiments, arms)}; NaN where there is none."""
    if method in THEOREMS:
        return {"ratio": _ratio(method, experiments, cell)}
    intervals = any(other in RIVALS for other in cell.methods)
    if method == "naive" and not intervals:
        return {"estimate": experiments.means}
    if method in FOUND:
        found = rivals.measured(method, rivals.Task(experiments, cell, seed, threads))
        return found if intervals else {"estimate": found["estimate"]}
    if method in LIMITS:
        return measure_interval(method, experiments)
    if method in COMPARISONS:
        return measure_comparison(method, experiments)
    if method in WEIGHTED_BY_PERIODS:
        return measure_adjusted(method, experiments)
    bias = estimated_biases(experiments, world=method, runs=cell.runs, seed=seed, unseen=cell.unseen, threads=threads)
    return {"estimate": experiments.means - bias, "estimated_bias": bias}


def limits(method: str, cell: "Cell") -> dict[str, float]:
    """What a theorem says of the ratio of arm 1."""
    if method == "theorem1":
        return {"limit": 1.0}
    if method == "theorem2":
        law = _law(cell)
        return {"limit": theory.theorem2_limit(law, cell.world.means[1]), "bound": theory.theorem2_bound(law)}
    return {}


def _ratio(method: str, experiments: Runs, cell: "Cell") -> Floats:
    means, variances = experiments.means, experiments.variances
    if method == "theorem1":
        return _theorem1(cell, means, variances)
    ratio, mu2 = np.full(means.shape, np.nan), cell.world.means[1]
    varied = variances[:, 0] > 0  # a sample without variance has no rate (eq:hat-LF)
    rate = (means[varied, 0] - mu2) ** 2 / (2 * variances[varied, 0])
    ratio[varied, 0] = rate / _law(cell).rate(mu2)
    return ratio


def _theorem1(cell: "Cell", means: Floats, variances: Floats) -> Floats:
    if not isinstance(cell.world, Normal) or not (cell.world.sds > 0).all():
        raise InputError("theorem1 is about two arms with normal rewards that vary", where="world")
    return theory.theorem1_ratio(
        means=cell.world.means,
        variances=cell.world.sds**2,
        sample_means=means,
        sample_variances=variances,
        pulls=cell.policy.opening,
        horizon=cell.horizon,
    )


def _check_theorem(method: str, cell: "Cell", where: str) -> None:
    if not isinstance(cell.policy, ExploreThenCommit) or cell.world.arm_count != 2:
        raise InputError(f"{method} is about explore-then-commit with two arms", where=where)
    if cell.horizon <= 2 * cell.policy.pulls:
        raise InputError(f"{method} needs a horizon of more than 2 x {cell.policy.pulls} rounds", where=where)
    limits(method, cell)
    if method == "theorem1":
        _theorem1(cell, cell.world.means, np.ones(2))


def _law(cell: "Cell") -> theory.Law:
    """The law of arm 1, where arm 2 never varies."""
    world = cell.world
    if isinstance(world, Normal) and world.sds[1] == 0:
        return theory.NormalLaw(world.means[0], world.sds[0])
    if isinstance(world, Empirical):
        first, second = world.options()["samples"]
        if len(set(second)) == 1:
            return theory.Discrete(first, np.full(len(first), 1 / len(first)))
    raise InputError(
        "theorem2 is about a first arm that varies and a second one that does not",
        where="world",
        remedy="For example empirical(samples=[[0, 0, 1], [0.6]]) or normal(means=[1, 2], sds=[1, 0]).",
    )


def measure_interval(method: str, experiments: Runs) -> dict[str, Floats]:
    """Whether the interval covers the truth, also by number of pulls, and its width beside a plain moderated t's."""
    sample, truths = sample_of(experiments), experiments.world.means
    (low, high), (plain_low, plain_high) = LIMITS[method](sample), LIMITS[YARDSTICK](sample)
    known = sample.pulls > 1 if method == "wald" else ~np.isnan(low)  # a textbook would print no width at all
    covered = np.where(known, (low <= truths) & (truths <= high), np.nan)
    group, width, plain = np.searchsorted(PULLS, sample.pulls, side="right"), high - low, plain_high - plain_low
    bounded = np.isfinite(width) & np.isfinite(plain)
    by_pulls = {f"coverage@{first}": np.where(group == g, covered, np.nan) for g, first in enumerate(PULLS, 1)}
    widths = {"width": np.where(bounded, width, np.nan), "plain_width": np.where(bounded, plain, np.nan)}
    return {"coverage": covered, **by_pulls, **widths}


def binomial_se(share: float, n: int) -> float:
    """The standard error of a share of n; not 0 at the ends, since half a hit and half a miss are added."""
    share = (share * n + 0.5) / (n + 1)
    return math.sqrt(share * (1 - share) / n)
