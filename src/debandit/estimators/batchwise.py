"""Estimators that compare arms within batches only, so that drift between batches does no harm."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from debandit.checks import checked_number, checked_seed, checked_whole, did_you_mean
from debandit.engine.data import Floats, Ints
from debandit.errors import InputError, Refused, listed, quoted, shorten
from debandit.estimators.estimate import Estimate, checked_log, for_each, rounds_of
from debandit.log import Batches, ExperimentLog
from debandit.log_parts import summarised
from debandit.policies import Policy


class _Cells(NamedTuple):
    """What each batch says of each arm (batches, arms)."""

    names: Sequence[str]  # of the batches
    pulls: Ints
    means: Floats
    squares: Floats  # sums of squared deviations from the cell's mean


class Comparison(NamedTuple):
    """Each arm's difference to a control; NaN for the control itself."""

    value: Floats
    se: Floats
    low: Floats
    high: Floats
    p_value: Floats


def batch_weighted(
    log: ExperimentLog | Sequence[ExperimentLog],
    policy: Policy | str | None = None,  # noqa: ARG001 (all estimators have one shape)
) -> Estimate:
    """sum_p w_p mean_kp, where w_p is the share of all users that batch p has, and mean_kp the arm's mean there.

    Post-stratification by batches. It assumes that the policy heard of rewards only between the log's batches and that
    every arm is pulled in every batch; a log with an empty cell is refused. Then it is unbiased for what the mean would
    have been with all users in arm k, whatever the policy and however the means drift from batch to batch. It scatters
    more than the sample mean where an arm was starved. The se is that of independent cells,
    se^2 = sum_p w_p^2 s_kp^2 / n_kp; a single pull borrows the arm's variance within the other batches.
    """
    return for_each(log, lambda one: _batch_weighted(_cells(one, "batch_weighted", 1)))


def _batch_weighted(cells: _Cells) -> Estimate:
    weights = (cells.pulls.sum(axis=1) / cells.pulls.sum())[:, None]
    freedom = cells.pulls - 1
    with np.errstate(invalid="ignore"):
        pooled = cells.squares.sum(axis=0) / freedom.sum(axis=0)  # NaN if an arm has one pull in every batch
        variances = np.where(freedom > 0, cells.squares / np.maximum(freedom, 1), pooled)
    se = np.sqrt((weights**2 * variances / cells.pulls).sum(axis=0))
    return Estimate((weights * cells.means).sum(axis=0), se)


def batched_ols(
    log: ExperimentLog, *, control: str, alpha: float = 0.05, draws: int = 20_000, seed: int = 0
) -> Comparison:
    """Each arm's difference to `control`, standardised batch by batch (Zhang, Janson and Murphy, 2020).

    In batch p, D_p is the difference of the two means, n and m their pulls, s_p^2 their pooled variance with n + m - 2
    degrees of freedom, and w_p = sqrt(n m / (n + m)) / s_p. The estimate is sum_p w_p D_p / sum_p w_p. If the
    difference is d in every batch, the sum of w_p (D_p - d) is one of independent t variables with n + m - 2 degrees of
    freedom each; `draws` of such sums give the p-value of d = 0 and the interval of level 1 - alpha. The se is
    sqrt(batches) / sum_p w_p, that for large batches.

    It assumes that the policy heard of rewards only between the log's batches, at least two pulls of both arms in each,
    normal rewards or large batches, and the same variance in both arms. The level may drift from batch to batch, the
    difference may not. Name the control before you see the log.
    """
    alpha = checked_number("alpha", alpha, 1e-6, 0.5)
    draws, cells = checked_whole("draws", draws, 100), _cells(log, "batched_ols", 2)
    if control not in log.labels:
        remedy = did_you_mean(control, log.labels) or f"The arms are {listed(list(log.labels))}."
        raise InputError(f"there is no arm {quoted(control)} to compare with", where="control", remedy=remedy)
    against, table = log.labels.index(control), np.full((5, len(log.labels)), np.nan)
    seeds = np.random.SeedSequence(checked_seed(seed)).spawn(len(log.labels))
    for arm, own in enumerate(seeds):
        if arm != against:
            table[:, arm] = _compared(cells, arm, against, alpha, draws, np.random.default_rng(own))
    return Comparison(*table)


def _compared(
    cells: _Cells, arm: int, control: int, alpha: float, draws: int, rng: np.random.Generator
) -> tuple[float, float, float, float, float]:
    """The fields of a `Comparison`, for one arm."""
    n, m = cells.pulls[:, arm], cells.pulls[:, control]
    freedom = n + m - 2
    spread = np.sqrt((cells.squares[:, arm] + cells.squares[:, control]) / freedom)
    if not spread.all():
        batch = cells.names[np.flatnonzero(spread == 0)[0]]
        raise Refused(
            "the rewards of an arm and of the control do not vary, so their difference has no standard error",
            where=f"batch {shorten(batch)!r}",
            remedy="Merge batches in which the policy's probabilities were the same, or use batch_weighted.",
        )
    weights = np.sqrt(n * m / (n + m)) / spread
    statistic, total = weights @ (cells.means[:, arm] - cells.means[:, control]), weights.sum()
    sums = np.zeros(draws)
    for degrees in freedom:  # batch by batch: memory does not grow with their number
        sums += rng.standard_t(degrees, draws)
    far = np.abs(sums)  # their law is symmetric
    half = np.quantile(far, 1 - alpha) / total
    value, p_value = statistic / total, (1 + (far >= abs(statistic)).sum()) / (1 + draws)
    return value, np.sqrt(len(freedom)) / total, value - half, value + half, p_value


def _cells(log: ExperimentLog, method: str, least: int) -> _Cells:
    """The cells of a log, each with at least this many pulls."""
    sizes = checked_log(log).batch_sizes
    if sizes is None:
        raise InputError(
            f"{method} needs a log that says what its batches were",
            where="log",
            remedy="Read it with its column of batches: read_log(..., batch=COLUMN).",
        )
    cells = _of_rounds(log, sizes) if log.batches is None else _of_table(log.batches)
    few = np.argwhere(cells.pulls < least)
    if len(few):
        batch, arm = few[0]
        had = ("no pull", "only one pull")[cells.pulls[batch, arm]]
        raise Refused(
            f"the arm {shorten(log.labels[arm])!r} has {had} in the batch {shorten(cells.names[batch])!r}"
            + (f" ({len(few)} such cells)" if len(few) > 1 else ""),
            where="log",
            remedy=f"{method} needs {('a pull', 'two pulls')[least - 1]} of every arm in every batch. Use debias.",
        )
    return cells


def _of_table(table: Batches) -> _Cells:
    return _Cells(table.names, table.pulls, table.means, table.variances * table.pulls)


def _of_rounds(log: ExperimentLog, sizes: Sequence[int]) -> _Cells:
    rounds, shape = rounds_of(log, "a comparison within batches"), (len(sizes), len(log.labels))
    place = np.repeat(np.arange(len(sizes)), sizes) * shape[1] + rounds.arms
    pulls, means, variances = (part.reshape(shape) for part in summarised(place, rounds.rewards, shape[0] * shape[1]))
    return _Cells([str(i + 1) for i in range(len(sizes))], pulls.astype(np.int64), means, variances * pulls)
