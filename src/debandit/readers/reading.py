"""From a table with one row per round to an `ExperimentLog`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.checks import checked_choice
from debandit.errors import InputError, shorten
from debandit.log import ExperimentLog
from debandit.readers.batchings import batchings
from debandit.readers.columns import METRIC, Roles, roles_of
from debandit.readers.counting import is_counted, left_out, no_table_of_batches, notes_on_counts, read_counts
from debandit.readers.doubts import confirm_order, lookalikes, repeated_users
from debandit.readers.pieces import NotNumbersError, Piece, Source
from debandit.readers.sources import source_of
from debandit.readers.totals import Columns, RowsNeededError, Totals
from debandit.readers.values import Labels, complain, dates, lacking, numbers, starts_of, times, with_gaps
from debandit.settings import AVAILABLE, MISSING, PERIODS

MANY_ROWS = 2**18  # of a longer log only totals are kept, if they are enough
_NUMBERS = {  # what is wanted, and advice
    "reward": ("a finite number", "Repair them."),
    "propensity": (
        "a probability above 0",
        "It is the probability of the arm that was pulled: more than 0, since it was pulled, and at most 1.",
    ),
}


class Reading(NamedTuple):
    """A log, and what of its notes should be a warning."""

    log: ExperimentLog
    doubts: list[str]
    guessed: Mapping[str, str] = MappingProxyType({})  # columns by their roles

    @classmethod
    def of(cls, log: ExperimentLog, roles: Roles, doubts: list[str]) -> "Reading":
        """The log with its notes: what was guessed, unless it is plain, and everything else."""
        doubts = [*roles.doubts, *doubts]
        line = [] if set(roles.guessed.values()) <= {"arm", "reward"} else [roles.line]
        object.__setattr__(log, "notes", (*line, *roles.notes, *doubts))
        object.__setattr__(log, "reward", roles.columns.get("successes", roles.columns.get("reward", "")))
        return cls(log, doubts, roles.guessed)


class _Wanted(NamedTuple):
    """What is to be read of which table."""

    source: Source
    roles: Roles
    drop: bool  # rows that lack a value
    arms: Sequence[str] | None
    period: str | None  # that becomes a batch


class _Rows(NamedTuple):
    """The columns of all rows by role, arms and batches as numbers of their names; or only totals of them."""

    labels: Labels
    batches: Labels
    columns: Columns
    dropped: int
    log: ExperimentLog | None = None  # of totals


def read(
    given: Any,
    *,
    arm: str | None = None,
    reward: str | None = None,
    time: str | None = None,
    arms: Sequence[str] | None = None,
    propensity: str | None = None,
    batch: str | None = None,
    missing: str = "refuse",
    batched: bool = False,
    batch_by: str | None = None,
    pulls: str | None = None,
    successes: str | None = None,
    mean: str | None = None,
    sd: str | None = None,
    sum: str | None = None,
    squares: str | None = None,
    available: Any = AVAILABLE[0],
    metrics: Sequence[str] = (),
    query: str | None = None,
    enough: Callable[[ExperimentLog], bool] | None = None,
    guess_batches: bool = False,
) -> Reading:
    """Read a file, several files, a data frame or the answer of a database, as `read_log` says.

    With `guess_batches` a log of rounds without batches also has its `batchings`: those in which it may have been.

    Of a log with batches and more than `MANY_ROWS` rows only the totals are kept if they are `enough`, which is asked
    with a log that has nothing else.
    """
    checked_choice("missing", missing, MISSING)
    metrics = [metrics] if isinstance(metrics, str) else metrics
    if isinstance(arms, str):
        raise InputError("arms is a text, not a list", where="arms", remedy="Write arms=['A', 'B'].")
    source = source_of(given, query)
    counts = {"pulls": pulls, "successes": successes, "mean": mean, "sd": sd, "sum": sum, "squares": squares}
    if is_counted(source, counts | {"arm": arm, "reward": reward}):
        of_rounds = {"reward": reward, "propensity": propensity, "time": time, "batch-by": batch_by}
        odd = [f"--{name}" for name, value in of_rounds.items() if value not in (None, "none")]
        if odd:
            what = "this option is for tables with one row per round, and these rows are counts"
            raise InputError(what, where=odd[0], remedy="Leave it out.")
        columns = counts | {"arm": arm, "batch": batch}
        drop = missing == "drop"
        batched = batched or guess_batches
        log, roles = read_counts(source, columns, arms, metrics, batched=batched, available=available, drop=drop)
        roles.notes.extend([*notes_on_counts(source, roles, log.labels), *log.absences])
        return Reading.of(log, roles, lookalikes(list(log.labels)))
    no_table_of_batches(available)
    options = {"arm": arm, "reward": reward, "time": None if time == "none" else time}
    options |= {"propensity": propensity, "batch": batch}
    if batch_by is not None:
        checked_choice("batch_by", batch_by, PERIODS)
        if batch is not None or time == "none":
            raise InputError("--batch-by needs a column of times, and no column of batches", where="--batch-by")
    wanted = ["batch"] if batched and batch_by is None else ["time"] if batch_by is not None else []
    roles = roles_of(source.columns, options, ("arm", "reward"), wanted, source.name, metrics)
    rows = _rows(_Wanted(source, roles, missing == "drop", arms, batch_by), None if propensity else enough)
    confirmed = []
    if batch_by is not None:
        roles.notes.append(f"the batches are the {batch_by}s of the column {shorten(roles.columns['time'])}, in UTC")
    elif time is None:
        confirmed = confirm_order(source, roles)
    notes = [left_out(rows.dropped)] * (rows.dropped > 0) + lookalikes(rows.labels.names) + repeated_users(source)
    moments = rows.columns.get("time")
    log = rows.log or _log(rows, roles, source, arms)
    if guess_batches and log.batch_sizes is None and not rows.dropped:
        object.__setattr__(log, "batchings", batchings(source, roles, moments, confirmed))
    return Reading.of(log, roles, notes)


def _rows(wanted: _Wanted, enough: Callable[[ExperimentLog], bool] | None) -> _Rows:
    """The rows, in order and with their batches; of a long log only totals, if they are enough."""
    try:
        try:
            rows = _collected_rounds(wanted, enough, numeric=True)
        except NotNumbersError:
            rows = _collected_rounds(wanted, enough, numeric=False)
    except RowsNeededError:
        return _rows(wanted, None)
    if rows.log is not None:
        return rows
    if "time" in rows.columns:
        rows = _in_order(rows, wanted.roles, wanted.source)
    return rows if wanted.period is None else _cut(rows, wanted.source, wanted.period)


def _log(rows: _Rows, roles: Roles, source: Source, arms: Sequence[str] | None) -> ExperimentLog:
    columns = rows.columns
    try:
        return ExperimentLog.of_codes(
            rows.labels.names,
            columns.pop("arm"),
            columns["reward"],
            labels=_order(rows.labels, arms),
            propensities=columns.get("propensity"),
            batches=(rows.batches.names, columns["batch"]) if "batch" in columns else None,
            metrics={name: columns[role] for role, name in roles.metrics.items()},
        )
    except InputError as error:
        role = {"batches": "batch", "rewards": "reward"}.get(error.where, "arm")
        column = roles.columns.get(role, role)
        raise InputError(error.what, where=f"{source.name}, column {shorten(column)!r}", remedy=error.remedy) from None


def _order(labels: Labels, arms: Sequence[str] | None) -> Sequence[str] | None:
    return labels.names if arms is None and labels.ordered else arms


def _collected_rounds(wanted: _Wanted, enough: Callable[[ExperimentLog], bool] | None, *, numeric: bool) -> _Rows:
    """All rows, or totals of them."""
    source, roles, drop, arms, period = wanted
    labels, batches, dropped, first_row = Labels(), Labels(), 0, 1
    rows: dict[str, _Growing] = {role: _Growing() for role in roles.columns}
    totals: Totals | None = None
    for piece in _pieces(source, roles.columns, numeric):
        first_row = first_row if len(rows["arm"]) else piece.first_row
        values, keep = _understood(piece, roles, labels, batches, drop, numeric)
        if not keep.all():
            dropped += int((~keep).sum())
            values = {role: part[keep] for role, part in values.items()}
        if totals is not None:
            totals.add(values)
            continue
        for role, part in values.items():
            rows[role].add(part)
        if enough is not None and len(rows["arm"]) >= MANY_ROWS:
            first, rest = _cut_at({role: each.whole() for role, each in rows.items()}, MANY_ROWS)
            totals = Totals(first, labels, batches, roles.metrics, period)
            if enough(totals.log(_order(labels, arms))):
                totals.add(rest)
                rows = {role: _Growing() for role in roles.columns}
            else:
                totals = enough = None
    if totals is not None and enough is not None:
        log = totals.log(_order(labels, arms))
        if not enough(log):
            raise RowsNeededError
        return _Rows(labels, batches, {}, dropped, log)
    if not len(rows["arm"]):
        raise InputError("there is a header but no rows", where=source.name, remedy="It needs one row per round.")
    whole = {role: each.whole() for role, each in rows.items()}
    if "time" in whole and whole["time"].dtype.kind == "O":
        whole["time"] = dates(whole["time"], roles.columns["time"], source.name, first_row)
    return _Rows(labels, batches, whole, dropped)


class _Growing:
    """A column that grows in place, so that a long one is never in memory twice."""

    def __init__(self) -> None:
        self._values: NDArray[Any] | None = None
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, part: NDArray[Any]) -> None:
        """Add rows; times of different kinds, such as numbers and dates, become text."""
        if self._values is None:
            self._values = np.empty(0, part.dtype)
        kinds = {part.dtype.kind, self._values.dtype.kind}
        if len(kinds) > 1 and kinds <= {"i", "u", "f"}:
            self._values = self._values.astype(np.float64)
        elif len(kinds) > 1:
            self._values, part = (_as_text(each) for each in (self.whole(), part))
        end = self._count + len(part)
        if end > len(self._values):
            self._values.resize(max(end, len(self._values) * 5 // 4), refcheck=False)
        self._values[self._count : end] = part
        self._count = end

    def whole(self) -> NDArray[Any]:
        """All rows."""
        if self._values is None:
            return np.empty(0)
        if self._count < len(self._values):
            self._values.resize(self._count, refcheck=False)
        return self._values


def _as_text(times: NDArray[Any]) -> NDArray[Any]:
    return times if times.dtype.kind == "O" else times.astype(str).astype(object)


def _cut_at(rows: Columns, count: int) -> tuple[Columns, Columns]:
    first, rest = ({role: part[these] for role, part in rows.items()} for these in (slice(count), slice(count, None)))
    return first, rest


def _pieces(source: Source, columns: dict[str, str], numeric: bool) -> Iterator[Piece]:
    typed = [column for role, column in columns.items() if _has_numbers(role)] if numeric else []
    return source.read(list(dict.fromkeys(columns.values())), list(dict.fromkeys(typed)))


def _understood(
    piece: Piece, roles: Roles, labels: Labels, batches: Labels, drop: bool, numeric: bool
) -> tuple[Columns, NDArray[np.bool_]]:
    """The values of a piece by role, and which rows are complete."""
    columns = roles.columns
    cells = {role: piece.columns.column(column) for role, column in columns.items()}
    values: Columns = {"arm": labels.codes(cells["arm"])}
    gone = {"arm": values["arm"] < 0}
    if "batch" in columns:
        values["batch"] = batches.codes(cells["batch"])
        gone["batch"] = values["batch"] < 0
    if "time" in columns:
        gone["time"] = np.asarray(with_gaps(cells["time"]).is_null())
        values["time"] = times(cells["time"])
    for role in filter(_has_numbers, columns):
        found, show = numbers(cells[role])
        bad = ~((found > 0) & (found <= 1)) if role == "propensity" else ~np.isfinite(found)
        if numeric and bad.any():
            raise NotNumbersError  # for the cell as it is written
        gone[role] = lacking(found, show)
        complain(piece, bad & ~gone[role], columns[role], show, *_NUMBERS.get(role, _NUMBERS["reward"]))
        values[role] = -found if role == "reward" and roles.negated else found
    for role, empty in gone.items():
        if not drop:
            complain(piece, empty, columns[role])
    return values, ~np.logical_or.reduce(list(gone.values()))


def _has_numbers(role: str) -> bool:
    return role in _NUMBERS or role.startswith(METRIC)


def _in_order(rows: _Rows, roles: Roles, source: Source) -> _Rows:
    """The rows in the order of time; a guessed time must find them so."""
    moments = rows.columns["time"]
    if (moments[1:] >= moments[:-1]).all():
        return rows
    if "time" in roles.guessed:
        column = roles.guessed["time"]
        raise InputError(
            f"the rows are not in the order of the column {shorten(column)!r}",
            where=source.name,
            remedy=f"Say --time {shorten(column)} to sort them by it, or --time none if they are in the order of time.",
        )
    order = np.argsort(moments, kind="stable")
    return rows._replace(columns={role: column[order] for role, column in rows.columns.items()})


def _cut(rows: _Rows, source: Source, period: str) -> _Rows:
    """The rows with a batch for each hour, day or week, which begins on a Monday."""
    moments = rows.columns.get("time")
    if moments is None or moments.dtype.kind != "M":
        what = "there is no column of dates to cut into batches"
        remedy = "Name one with --time, with dates like 2026-01-31T12:00:00. Numbers are not dates: write them so."
        raise InputError(what, where=source.name, remedy=remedy)
    names, places = np.unique(starts_of(moments, period), return_inverse=True)
    for name in names:
        rows.batches.place(str(name))
    return rows._replace(columns=rows.columns | {"batch": places.astype(np.int32)})
