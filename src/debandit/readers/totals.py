"""A long log of which only totals are needed: its rows are added up as they come, and not kept in memory.

Everything is added up row after row, so that not a bit depends on the pieces in which a file was read. The fingerprint
of the rows wants them once more, all arms before all rewards, so they wait for it in temporary files.
"""

import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from debandit.log import ExperimentLog, fingerprint
from debandit.log_parts import Floats, in_pieces
from debandit.readers.values import Labels, starts_of

Columns = dict[str, NDArray[Any]]  # of some rows: arm and batch by number, the reward, and metrics

_PULLS, _SUM, _SQUARES, _PRODUCTS = range(4)  # squares, and products with the reward, about the centres


class RowsNeededError(Exception):
    """The rows cannot be added up as they come: all of them must be looked at together."""


class Totals:
    """The totals of each batch and arm.

    The first rows say about which centre the squares of a column are added up, so that nothing is lost by rounding.
    """

    def __init__(
        self, first: Columns, labels: Labels, batches: Labels, metrics: Mapping[str, str], period: str | None
    ) -> None:
        if "batch" not in first and period is None:
            raise RowsNeededError
        self._labels, self._batches, self._metrics, self._period = labels, batches, metrics, period
        self._values = ["reward", *metrics]
        self._centers = {name: float(first[name].mean()) for name in self._values}
        self._totals = {name: np.zeros((4, 0, 0)) for name in self._values}  # (_, batches, arms)
        self._range = np.zeros((2, 0, 0))  # of the rewards
        self._binary, self._last_batch = True, 0
        self._last_time: Any = first["time"][0] if "time" in first else None
        self._rows = {name: _waiting() for name in ("arm", *self._values)}
        weakref.finalize(self, _close, list(self._rows.values()))
        self.add(first)

    def add(self, rows: Columns) -> None:
        """Add rows, which must be in the order of time, and their batches one after the other."""
        if not len(rows["arm"]):
            return
        self._follow(rows.get("time"))
        if self._period is not None:
            names, places = np.unique(starts_of(rows["time"], self._period), return_inverse=True)
            rows = rows | {"batch": np.array([self._batches.place(str(name)) for name in names])[places]}
        if (np.diff(rows["batch"], prepend=self._last_batch) < 0).any():
            raise RowsNeededError
        self._last_batch = int(rows["batch"][-1])
        size = len(self._batches.names), len(self._labels.names)
        self._range = _grown(self._range, *size, np.array([np.inf, -np.inf]))
        self._totals = {name: _grown(each, *size, np.zeros(4)) for name, each in self._totals.items()}
        for name, file in self._rows.items():
            np.ascontiguousarray(rows[name]).tofile(file)
        for piece in in_pieces(len(rows["arm"])):
            self._add({name: values[piece] for name, values in rows.items()}, size[1])

    def _follow(self, moments: NDArray[Any] | None) -> None:
        """See that the rows go on in the order of time."""
        if moments is None:
            return
        kind = moments.dtype
        if kind.kind == "O" or kind != self._last_time.dtype or (self._period is not None and kind.kind != "M"):
            raise RowsNeededError
        if moments[0] < self._last_time or (moments[1:] < moments[:-1]).any():
            raise RowsNeededError
        self._last_time = moments[-1]

    def _add(self, rows: Columns, arm_count: int) -> None:
        cells = rows["batch"].astype(np.int64) * arm_count + rows["arm"]
        reward = rows["reward"]
        self._binary = self._binary and bool(((reward == 0) | (reward == 1)).all())
        np.minimum.at(self._range[0].reshape(-1), cells, reward)
        np.maximum.at(self._range[1].reshape(-1), cells, reward)
        for name, totals in self._totals.items():
            value, apart = rows[name], rows[name] - self._centers[name]
            from_center = reward - self._centers["reward"]
            for kind, added in ((_PULLS, 1.0), (_SUM, value), (_SQUARES, apart**2), (_PRODUCTS, apart * from_center)):
                np.add.at(totals[kind].reshape(-1), cells, added)

    def log(self, order: Sequence[str] | None) -> ExperimentLog:
        """The log of all rows so far, with their fingerprint; `order` is that of the arms, if it is given."""
        arms, batches = self._labels.names, self._batches.names
        cells = np.nonzero(self._totals["reward"][_PULLS])
        values = {name: self._moments(name, cells) for name in self._values}
        pulls, (means, variances, _) = self._totals["reward"][_PULLS][cells], values.pop("reward")
        constant = self._range[0][cells] == self._range[1][cells]
        log = ExperimentLog.from_batches(
            [batches[int(i)] for i in cells[0]],
            [arms[int(k)] for k in cells[1]],
            pulls,
            np.where(constant, self._range[0][cells], means),
            None if self._binary else np.where(constant, 0.0, variances),
            labels=order,
            binary=self._binary,
            metrics={self._metrics[name]: each for name, each in values.items()},
            available="all",
        )
        place = {label: i for i, label in enumerate(log.labels)}
        index = np.array([place.get(name, -1) for name in arms], np.int64)
        columns = {name: self._again(name) for name in self._values}
        indices = (index[codes] for codes in self._again("arm"))
        found = fingerprint(
            log.labels,
            [indices, columns.pop("reward")],
            log.batch_sizes,
            {self._metrics[name]: [each] for name, each in columns.items()},
        )
        vars(log)["sha256"] = found
        return log

    def _moments(self, name: str, cells: tuple[NDArray[Any], ...]) -> tuple[Floats, Floats, Floats]:
        """The means, the variances and the covariances with the reward."""
        pulls, sums, squares, products = self._totals[name][:, cells[0], cells[1]]
        reward_means = self._totals["reward"][_SUM][cells] / pulls
        means = sums / pulls
        apart, from_center = means - self._centers[name], reward_means - self._centers["reward"]
        return means, np.maximum(squares / pulls - apart**2, 0.0), products / pulls - apart * from_center

    def _again(self, name: str) -> Iterator[NDArray[Any]]:
        file = self._rows[name]
        file.seek(0)
        kind = np.int32 if name == "arm" else np.float64
        while len(piece := np.fromfile(file, kind, 2**16)):
            yield piece
        file.seek(0, 2)


def _waiting() -> IO[bytes]:
    return tempfile.TemporaryFile(prefix="debandit-")


def _close(files: list[IO[bytes]]) -> None:
    for file in files:
        file.close()


def _grown(totals: Floats, batch_count: int, arm_count: int, empty: Floats) -> Floats:
    """The table with room for this many batches and arms."""
    kinds, batches, arms = totals.shape
    if (batches, arms) == (batch_count, arm_count):
        return totals
    grown = np.empty((kinds, batch_count, arm_count))
    grown[:] = empty[:, None, None]
    grown[:, :batches, :arms] = totals
    return grown
