"""Estimators that compare arms within batches only, so that drift between batches does no harm."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from debandit.checks import checked_number, checked_seed, checked_whole, did_you_mean
from debandit.engine.data import Floats, Ints
from debandit.errors import InputError, Refused, listed, quoted, shorten
from debandit.estimators.estimate import checked_log, for_each, rounds_of
from debandit.log import Batches, ExperimentLog
from debandit.log_parts import summarised
from debandit.policies import Policy


class _Cells(NamedTuple):
    """What each batch says of each arm (batches, arms)."""

    names: Sequence[str]  # of the batches
    pulls: Ints
    means: Floats
    squares: Floats  # sums of squared deviations from the cell's mean


class BatchWeighted(NamedTuple):
    """Each arm's estimate, its standard error and its limits; NaN for an arm without a pull in some batch."""

    value: Floats
    se: Floats
    low: Floats
    high: Floats


class BatchedDifferences(NamedTuple):
    """Each arm's difference to a control; NaN for the control itself, and for arms with too few pulls in some batch."""

    value: Floats
    se: Floats
    low: Floats
    high: Floats
    p_value: Floats


def batch_weighted(
    log: ExperimentLog | Sequence[ExperimentLog],
    policy: Policy | str | None = None,  # noqa: ARG001 (all estimators have one shape)
    *,
    alpha: float = 0.05,
) -> BatchWeighted:
    """sum_p w_p mean_kp, where w_p is the share of all users that batch p has, and mean_kp the arm's mean there.

    Post-stratification by batches. It assumes that the policy heard of rewards only between the log's batches and that
    every arm is pulled in every batch; an arm that is not has no estimate, and if no arm is, the log is refused. Then
    it is unbiased for what the mean would have been with all users in arm k, whatever the policy and however the means
    drift from batch to batch. It scatters more than the sample mean where an arm was starved. The se is that of
    independent cells, se^2 = sum_p w_p^2 s_kp^2 / n_kp; a single pull borrows the arm's variance within the other
    batches. The limits of level 1 - alpha are those of Student's t with Satterthwaite's degrees of freedom.
    """
    tail = checked_number("alpha", alpha, 1e-6, 0.5) / 2
    return for_each(log, lambda one: _batch_weighted(_cells(one, "batch_weighted"), one.labels, tail))


def _batch_weighted(cells: _Cells, labels: Sequence[str], tail: float) -> BatchWeighted:
    from debandit.special import stdtrit

    starved = (cells.pulls == 0).any(axis=0)
    if starved.all() and (refusal := _starved(cells, labels, tuple(range(len(labels))), 1, "batch_weighted")):
        raise refusal
    weights = (cells.pulls.sum(axis=1) / cells.pulls.sum())[:, None]
    alone, freedom = cells.pulls == 1, np.maximum(cells.pulls - 1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        pooled = cells.squares.sum(axis=0) / freedom.sum(axis=0)  # NaN if an arm has one pull in every batch
        parts = weights**2 * np.where(alone, pooled, cells.squares / freedom) / cells.pulls  # of the variance
        own = np.where(alone, 0.0, parts)
        lent = (parts - own).sum(axis=0)
        se = np.sqrt(parts.sum(axis=0))
        doubts = np.nansum(own**2 / freedom, axis=0) + lent**2 / freedom.sum(axis=0)
        half = stdtrit(se**4 / doubts, 1 - tail) * se
        value = (weights * cells.means).sum(axis=0)
    known = np.where(starved, np.nan, 1.0)
    return BatchWeighted(*(known * each for each in (value, se, value - half, value + half)))


def batched_ols(
    log: ExperimentLog, *, control: str, alpha: float = 0.05, draws: int = 20_000, seed: int = 0
) -> BatchedDifferences:
    """Each arm's difference to `control`, standardised batch by batch (Zhang, Janson and Murphy, 2020).

    In batch p, D_p is the difference of the two means, n and m their pulls, s_p^2 their pooled variance with n + m - 2
    degrees of freedom, and w_p = sqrt(n m / (n + m)) / s_p. The estimate is sum_p w_p D_p / sum_p w_p. If the
    difference is d in every batch, the sum of w_p (D_p - d) is one of independent t variables with n + m - 2 degrees of
    freedom each; `draws` of such sums give the p-value of d = 0 and the interval of level 1 - alpha. The se is
    sqrt(batches) / sum_p w_p, that for large batches.

    It assumes that the policy heard of rewards only between the log's batches, at least two pulls of both arms in each,
    normal rewards or large batches, and the same variance in both arms. The level may drift from batch to batch, the
    difference may not. Name the control before you see the log. An arm with too few pulls, or whose rewards do not
    vary, has no estimate; if no arm has one, the log is refused.
    """
    alpha = checked_number("alpha", alpha, 1e-6, 0.5)
    draws, cells = checked_whole("draws", draws, 100), _cells(log, "batched_ols")
    if control not in log.labels:
        remedy = did_you_mean(control, log.labels) or f"The arms are {listed(list(log.labels))}."
        raise InputError(f"there is no arm {quoted(control)} to compare with", where="control", remedy=remedy)
    against, table = log.labels.index(control), np.full((5, len(log.labels)), np.nan)
    seeds = np.random.SeedSequence(checked_seed(seed)).spawn(len(log.labels))
    refusals = []
    for arm, own in enumerate(seeds):
        if arm == against:
            continue
        refusal = _starved(cells, log.labels, (arm, against), 2, "batched_ols") or _without_spread(cells, arm, against)
        if refusal:
            refusals.append(refusal)
        else:
            table[:, arm] = _compared(cells, arm, against, alpha, draws, np.random.default_rng(own))
    if len(refusals) == len(log.labels) - 1:
        raise refusals[0]
    return BatchedDifferences(*table)


def _compared(
    cells: _Cells, arm: int, control: int, alpha: float, draws: int, rng: np.random.Generator
) -> tuple[float, float, float, float, float]:
    """The fields of `BatchedDifferences`, for one arm."""
    n, m = cells.pulls[:, arm], cells.pulls[:, control]
    freedom = n + m - 2
    spread = _spread(cells, arm, control)
    weights = np.sqrt(n * m / (n + m)) / spread
    statistic, total = weights @ (cells.means[:, arm] - cells.means[:, control]), weights.sum()
    sums = np.zeros(draws)
    for degrees in freedom:  # batch by batch: memory does not grow with their number
        sums += rng.standard_t(degrees, draws)
    far = np.abs(sums)  # their law is symmetric
    half = np.quantile(far, 1 - alpha) / total
    value, p_value = statistic / total, (1 + (far >= abs(statistic)).sum()) / (1 + draws)
    return value, np.sqrt(len(freedom)) / total, value - half, value + half, p_value


def _spread(cells: _Cells, arm: int, control: int) -> Floats:
    """The pooled standard deviation of the two arms in each batch."""
    freedom = cells.pulls[:, arm] + cells.pulls[:, control] - 2
    return np.sqrt((cells.squares[:, arm] + cells.squares[:, control]) / freedom)


def _without_spread(cells: _Cells, arm: int, control: int) -> Refused | None:
    """The refusal of a pair that does not vary in some batch."""
    still = np.flatnonzero(_spread(cells, arm, control) == 0)
    return (
        Refused(
            "the rewards of an arm and of the control do not vary, so their difference has no standard error",
            where=f"batch {shorten(cells.names[still[0]])!r}",
            remedy="Merge batches in which the policy's probabilities were the same, or use batch_weighted.",
        )
        if len(still)
        else None
    )


def _starved(cells: _Cells, labels: Sequence[str], arms: tuple[int, ...], least: int, method: str) -> Refused | None:
    """The refusal of arms of which one has fewer pulls than that in some batch."""
    few = np.argwhere(cells.pulls[:, arms] < least)
    if not len(few):
        return None
    batch, place = few[0]
    arm = arms[place]
    had = ("no pull", "only one pull")[cells.pulls[batch, arm]]
    return Refused(
        f"the arm {shorten(labels[arm])!r} has {had} in the batch {shorten(cells.names[batch])!r}"
        + (f" ({len(few)} such cells)" if len(few) > 1 else ""),
        where="log",
        remedy=f"{method} needs {('a pull', 'two pulls')[least - 1]} of an arm in every batch. Use debias.",
    )


def _cells(log: ExperimentLog, method: str) -> _Cells:
    """The cells of a log."""
    sizes = checked_log(log).batch_sizes
    if sizes is None:
        raise InputError(
            f"{method} needs a log that says what its batches were",
            where="log",
            remedy="Read it with its column of batches: read_log(..., batch=COLUMN).",
        )
    return _of_rounds(log, sizes) if log.batches is None else _of_table(log.batches)


def _of_table(table: Batches) -> _Cells:
    return _Cells(table.names, table.pulls, table.means, table.variances * table.pulls)


def _of_rounds(log: ExperimentLog, sizes: Sequence[int]) -> _Cells:
    rounds, shape = rounds_of(log, "a comparison within batches"), (len(sizes), len(log.labels))
    place = np.repeat(np.arange(len(sizes)), sizes) * shape[1] + rounds.arms
    pulls, means, variances = (part.reshape(shape) for part in summarised(place, rounds.rewards, shape[0] * shape[1]))
    return _Cells([str(i + 1) for i in range(len(sizes))], pulls.astype(np.int64), means, variances * pulls)
