"""What each period of an experiment says of each arm."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.log import ExperimentLog
from debandit.log_parts import Floats, Ints, summarised

SLICES = 10  # of the time of a log without batches


class Cells(NamedTuple):
    """Pulls, means and squares of shape (periods, arms)."""

    names: Sequence[str]  # of the periods
    pulls: Ints
    means: Floats  # NaN without a pull
    squares: Floats  # sums of squared deviations from the cell's mean

    @property
    def weights(self) -> Floats:
        """The share of all users that each period has (periods, 1)."""
        shares: Floats = self.pulls.sum(axis=1, keepdims=True) / self.pulls.sum()
        return shares


def cells_of(log: ExperimentLog, sizes: Sequence[int] | None = None) -> Cells | None:
    """The cells of a log's batches, or of periods with these `sizes`; None if it has neither."""
    table, rounds = log.batches, log.rounds
    if table is not None:
        return Cells(table.names, table.pulls, table.means, np.nan_to_num(table.variances * table.pulls))
    sizes = log.batch_sizes or sizes
    if rounds is None or not sizes:
        return None
    return cells_of_paths(rounds.arms[None], rounds.rewards[None], sizes, len(log.labels))[0]


def slices_of(log: ExperimentLog) -> tuple[int, ...]:
    """The sizes of as good as equal slices of time."""
    ends = np.linspace(0, log.horizon, SLICES + 1).round().astype(np.int64)
    return tuple(np.diff(ends).tolist())


def cells_of_paths(arms: NDArray[Any], rewards: Floats, sizes: Sequence[int], arm_count: int) -> list[Cells]:
    """The cells of logs of equal length, whose arms and rewards have the shape (logs, T)."""
    shape, names = (len(arms), len(sizes), arm_count), [str(i + 1) for i in range(len(sizes))]
    period = np.arange(len(arms))[:, None] * len(sizes) + np.repeat(np.arange(len(sizes)), sizes)
    told = summarised((period * arm_count + arms).ravel(), rewards.ravel(), int(np.prod(shape)))
    pulls, means, variances = (part.reshape(shape) for part in told)
    counts, squares = pulls.astype(np.int64), np.nan_to_num(variances * pulls)
    return [Cells(names, *parts) for parts in zip(counts, means, squares, strict=True)]
