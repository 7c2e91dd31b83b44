"""Which arms a rule could choose in which batch, if that had to be guessed from the rows of a table."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from debandit.engine.data import about_means
from debandit.engine.planning import expected_pulls
from debandit.errors import listed, shorten
from debandit.log import Batches, ExperimentLog
from debandit.log_parts import ENOUGH_PULLS
from debandit.settings import Absent

if TYPE_CHECKING:
    from debandit.policies.policy import Policy

Mask = NDArray[np.bool_]  # (batches, arms)


def believed(policy: "Policy", log: ExperimentLog, batches: Batches) -> Mask:
    """Which arms were available in which batch (batches, arms), given that this rule chose among them.

    What the rows suggest is believed only if the rule would have pulled the arm there, had it been available: many
    rules choose some arms rarely, or give arms up themselves.
    """
    if not batches.guessed:
        return batches.available
    there = np.logical_or.accumulate(batches.available, axis=0)
    if not policy.by_totals:
        return there
    for arm in np.flatnonzero(~there[0]).tolist():
        with_it = there.copy()
        with_it[:, arm] = True
        if not _would_pull(policy, log, batches, with_it, arm, range(np.argmax(there[:, arm]))):
            there = with_it
    left = np.argwhere(batches.available[:-1] & ~batches.available[1:])  # the last batch of each
    for last, arm in left.tolist() if policy.randomised else ():  # others give arms up all the time
        if _would_pull(policy, log, batches, there, arm, range(last + 1, last + 2)):
            there[last + 1 :, arm] = False
    return there


def _would_pull(policy: "Policy", log: ExperimentLog, batches: Batches, there: Mask, arm: int, where: range) -> bool:
    """Whether the rule would be expected to pull the arm often enough in these batches, taken together."""
    conditions, expected = policy.among(there).conditions(len(log.labels), log.horizon), 0.0
    pulls = batches.pulls.cumsum(axis=0) - batches.pulls  # before each batch
    sums, squares = (part.cumsum(axis=0) - part for part in (log.batch_sums, log.batch_squares))
    squares = about_means(pulls, sums - pulls * np.nan_to_num(log.means), squares)
    for batch in where:
        told = max(batch - conditions.late_batches, 0)
        spread = squares[told] if policy.core.needs_squares else None
        expected += expected_pulls(policy, conditions, batch, pulls[told], sums[told], spread, log.horizon)[arm]
        if expected >= ENOUGH_PULLS:
            return True
    return False


def absent_of(policy: "Policy", log: ExperimentLog, batches: Batches) -> Absent:
    """The batches in which arms were not available to the rule as it ran in this log, as the settings keep them."""
    available, absent = policy.conditions(len(log.labels), log.horizon).available, {}
    for label, there in zip(log.labels, available.T, strict=True) if len(available) else ():
        edges = np.flatnonzero(np.diff(np.concatenate([[True], there, [True]]).astype(np.int8))).reshape(-1, 2)
        if len(edges):
            absent[label] = [[batches.names[first], batches.names[end - 1]] for first, end in edges.tolist()]
    return absent


def doubted_absences(policy: "Policy", log: ExperimentLog, batches: Batches) -> list[str]:
    """What to say about arms that seem to be absent by the rows of the table, but not if this rule chose them."""
    used = policy.conditions(len(log.labels), log.horizon).available
    doubted = (~batches.available & (used if len(used) else True)).any(axis=0)
    arms = [shorten(log.labels[arm]) for arm in np.flatnonzero(doubted)]
    if not arms:
        return []
    return [
        f"{listed(arms, 5)}: treated as available in batches without a row, because this rule may simply not have "
        f"chosen {'it' if len(arms) == 1 else 'them'} there"
    ]
