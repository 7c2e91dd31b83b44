"""Estimators that compare arms within batches only, so that drift between batches does no harm."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from debandit.checks import checked_number, checked_seed, checked_whole, did_you_mean
from debandit.engine.data import Floats
from debandit.errors import InputError, Refused, listed, quoted, shorten
from debandit.estimators.estimate import Logs, checked_log, for_each, rounds_of
from debandit.log import ExperimentLog
from debandit.periods import BatchWeighted, Cells, Weighted, cells_of, cells_of_paths
from debandit.policies import Policy, as_policy
from debandit.simulation import Runs


class BatchedDifferences(NamedTuple):
    """Differences to a control; NaN for the control itself, and for arms with too few pulls in some batch.

    Attributes
    ----------
    value, se, low, high, p_value : array of float
        One value for each arm.
    """

    value: Floats
    se: Floats
    low: Floats
    high: Floats
    p_value: Floats


def batch_weighted(log: Logs, policy: Policy | str | None = None, *, alpha: float = 0.05) -> BatchWeighted:
    """Let each batch count by its users, whatever their arms: post-stratification by batches.

    The estimate is ``sum_p w_p mean_kp``, where w_p is the share of all users that batch p has, and mean_kp the arm's
    mean there. It assumes that the policy heard of rewards only between batches. If every arm is sure of pulls in
    every batch, it is unbiased for what the mean would have been with all users in arm k, whatever the policy and
    however the means drift from batch to batch. Where an arm has no pull in a batch, what it would have had there is
    fitted: an arm's level and a batch's add up (of 0/1 rewards their log-odds). It scatters more than the sample mean
    where an arm was starved.

    The se is that of independent cells, ``se^2 = sum_p w_p^2 s_kp^2 / n_kp``. The limits are Student's t with
    Satterthwaite's degrees of freedom. See docs/drift.md.

    Parameters
    ----------
    log : ExperimentLog, list of ExperimentLog, or Runs
        What happened.
    policy : Policy or str, optional
        The rule that chose the arms; its batches are taken if the log has none, as in ``batched(thompson, size=100)``.
    alpha : float, default 0.05
        The limits have the level 1 - alpha.

    Returns
    -------
    BatchWeighted
        Means, standard errors and limits.

    Examples
    --------
    >>> import debandit as db
    >>> log = db.ExperimentLog.from_batches(
    ...     batches=["Mon", "Mon", "Tue", "Tue"],
    ...     arms=["A", "B", "A", "B"],
    ...     pulls=[500, 500, 200, 800],
    ...     means=[0.04, 0.05, 0.04, 0.06],
    ...     binary=True,
    ... )
    >>> db.estimators.batch_weighted(log).value.round(3)
    array([0.04 , 0.055])
    """
    tail, method = checked_number("alpha", alpha, 1e-6, 0.5) / 2, "batch_weighted"
    if isinstance(log, Runs):
        found = [Weighted(cells, log.binary).estimate(tail) for cells in cells_of_runs(log, policy, method)]
        return BatchWeighted(*np.stack(found, axis=1))

    def one(log: ExperimentLog) -> BatchWeighted:
        cells, arms = _cells(log, policy, method), tuple(range(len(log.labels)))
        found = Weighted(cells, log.binary)
        if np.isnan(found.means).all() and (refusal := _starved(cells, log.labels, arms, 1, method)):
            raise refusal
        return found.estimate(tail)

    return for_each(log, one)


def batched_ols(
    log: ExperimentLog,
    policy: Policy | str | None = None,
    *,
    control: str,
    alpha: float = 0.05,
    draws: int = 20_000,
    seed: int = 0,
) -> BatchedDifferences:
    """Standardise the difference of each arm to a control batch by batch (Zhang, Janson and Murphy, 2020).

    In batch p, D_p is the difference of the two means, n and m their pulls, s_p^2 their pooled variance with n + m - 2
    degrees of freedom, and ``w_p = sqrt(n m / (n + m)) / s_p``. The estimate is ``sum_p w_p D_p / sum_p w_p``. If the
    difference is d in every batch, the sum of ``w_p (D_p - d)`` is one of independent t variables with n + m - 2
    degrees of freedom each; `draws` of such sums give the p-value of d = 0 and the interval of level 1 - alpha. The se
    is ``sqrt(batches) / sum_p w_p``, that for large batches.

    It assumes that the policy heard of rewards only between the log's batches, at least two pulls of both arms in each,
    normal rewards or large batches, and the same variance in both arms. The level may drift from batch to batch, the
    difference may not. An arm with too few pulls, or whose rewards do not vary, has no estimate; if no arm has one, the
    log is refused.

    Parameters
    ----------
    log : ExperimentLog
        What happened.
    policy : Policy or str, optional
        As in `estimators.batch_weighted`.
    control : str
        The arm to compare with. Name it before you see the log.
    alpha : float, default 0.05
        The limits have the level 1 - alpha.
    draws, seed : int, optional
        Of the sums of t variables.

    Returns
    -------
    BatchedDifferences
        Differences, standard errors, limits and p-values.

    Examples
    --------
    >>> import debandit as db
    >>> log = db.ExperimentLog.from_batches(
    ...     batches=["Mon", "Mon", "Tue", "Tue"],
    ...     arms=["A", "B", "A", "B"],
    ...     pulls=[500, 500, 200, 800],
    ...     means=[0.04, 0.05, 0.04, 0.06],
    ...     binary=True,
    ... )
    >>> found = db.estimators.batched_ols(log, control="A")
    >>> found.value.round(3), found.p_value.round(3)
    (array([  nan, 0.014]), array([  nan, 0.188]))
    """
    alpha = checked_number("alpha", alpha, 1e-6, 0.5)
    draws, cells = checked_whole("draws", draws, 100), _cells(log, policy, "batched_ols")
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
    cells: Cells, arm: int, control: int, alpha: float, draws: int, rng: np.random.Generator
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


def _spread(cells: Cells, arm: int, control: int) -> Floats:
    """The pooled standard deviation of the two arms in each batch."""
    freedom = cells.pulls[:, arm] + cells.pulls[:, control] - 2
    return np.sqrt((cells.squares[:, arm] + cells.squares[:, control]) / freedom)


def _without_spread(cells: Cells, arm: int, control: int) -> Refused | None:
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


def _starved(cells: Cells, labels: Sequence[str], arms: tuple[int, ...], least: int, method: str) -> Refused | None:
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
        remedy=f"{method} needs {'two pulls of an arm in every batch' if least > 1 else 'batches that arms share'}. "
        "Use debias.",
    )


def _cells(log: ExperimentLog, policy: Policy | str | None, method: str) -> Cells:
    """The cells of a log."""
    sizes = checked_log(log).batch_sizes or _sizes(policy, len(log.labels), log.horizon)
    if sizes is None:
        raise InputError(
            f"{method} needs a log that says what its batches were",
            where="log",
            remedy="Read it with its column of batches: read_log(..., batch=COLUMN).",
        )
    found = cells_of(log, sizes)
    if found is None:
        rounds_of(log, "a comparison within batches")  # which says that there are none
    assert found is not None
    return found


def cells_of_runs(runs: Runs, policy: Policy | str | None, method: str) -> list[Cells]:
    """The cells of simulated experiments, for a method whose name stands in the refusal of others."""
    sizes = _sizes(runs.policy if policy is None else policy, runs.world.arm_count, runs.horizon)
    if sizes is None:
        remedy = "Simulate one that hears of its rewards in batches: batched(thompson, size=100)."
        raise InputError(f"{method} needs a rule with batches", where="policy", remedy=remedy)
    arms, rewards = (each.reshape(-1, runs.horizon) for each in runs.paths())
    return cells_of_paths(arms, rewards, sizes, runs.world.arm_count)


def _sizes(policy: Policy | str | None, arm_count: int, horizon: int) -> tuple[int, ...] | None:
    """The sizes of the batches in which a rule hears of its rewards, if it says so."""
    rule = None if policy is None else as_policy(policy)
    return None if rule is None or rule.needs_batches else rule.batch_sizes(arm_count, horizon) or None
