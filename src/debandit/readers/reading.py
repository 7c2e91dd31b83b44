"""From a table with one row per round to an `ExperimentLog`."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.checks import checked_choice
from debandit.errors import InputError, listed, shorten
from debandit.log import ExperimentLog
from debandit.readers.columns import Roles, roles_of
from debandit.readers.counting import is_counted, no_table_of_batches, read_counts
from debandit.readers.sources import NotNumbersError, Piece, Source, source_of
from debandit.readers.values import Labels, complain, dates, numbers, times
from debandit.settings import AVAILABLE, MISSING, PERIODS

_NUMBERS = {  # what is wanted, and advice
    "reward": (
        "a finite number",
        "Repair them, or leave them out if the rule never saw these rewards either: --missing drop.",
    ),
    "propensity": (
        "a probability above 0",
        "It is the probability of the arm that was pulled: more than 0, since it was pulled, and at most 1.",
    ),
}


class Reading(NamedTuple):
    """A log, and what should be said about how it was read."""

    log: ExperimentLog
    notes: list[str]


class _Rows(NamedTuple):
    """The columns of all rows."""

    labels: Labels
    arms: NDArray[np.int32]
    rewards: NDArray[np.float64]
    propensities: NDArray[np.float64] | None
    times: NDArray[Any] | None
    batches: NDArray[np.int32] | None
    batch_names: list[str]
    dropped: int


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
) -> Reading:
    """Read a file, several files or a data frame by its column names; there is one row per round, or there are counts.

    What is not named is guessed from the names that people use. Rows are in the order of time unless `time` names a
    column to sort by (numbers or dates; equal times keep the order of the rows); a guessed one only confirms the order
    of the rows, and "none" says that it is right. `arms` gives the order of the arms and may name arms that never
    appear. `propensity` names the column with the probability that the arm of the round had of being chosen, `batch`
    one with the number or name of the batch: the rule heard of a batch's rewards when it was over. It is guessed only
    for a rule that is known to be `batched`; `batch_by` cuts the time into hours, days or weeks instead. Rows with a
    missing value are refused, or dropped if `missing` is "drop".

    A table of counts has one row per arm, or per batch and arm, with the number of `pulls` and the number of
    `successes`, or the `mean` and the standard deviation `sd` (divisor n - 1), or the `sum` and the sum of `squares`.
    Without `batch` the rows of an arm are added up; with it, `available` says in which batches there were which arms
    (see `ExperimentLog.from_batches`).
    """
    checked_choice("missing", missing, MISSING)
    source = source_of(given)
    counts = {"pulls": pulls, "successes": successes, "mean": mean, "sd": sd, "sum": sum, "squares": squares}
    if is_counted(source, counts | {"reward": reward}):
        of_rounds = {"reward": reward, "propensity": propensity, "time": time, "batch-by": batch_by}
        if missing != "refuse":
            of_rounds["missing"] = missing
        odd = [f"--{name}" for name, value in of_rounds.items() if value not in (None, "none")]
        if odd:
            what = "a table of counts has no rounds, so this option says nothing of it"
            raise InputError(what, where=odd[0], remedy="Leave it out.")
        columns = counts | {"arm": arm, "batch": batch}
        log, roles = read_counts(source, columns, arms, batched=batched, available=available)
        return Reading(log, [roles.line] * bool(roles.guessed) + _lookalikes(list(log.labels)) + log.absences)
    no_table_of_batches(available)
    options = {"arm": arm, "reward": reward, "time": None if time == "none" else time}
    options |= {"propensity": propensity, "batch": batch}
    if batch_by is not None:
        checked_choice("batch_by", batch_by, PERIODS)
        if batch is not None or time == "none":
            raise InputError("--batch-by needs a time, and no column of batches", where="--batch-by")
    wanted = ["batch"] * (batched and batch_by is None) + ["time"] * (time is None)
    roles = roles_of(source.columns, options, ("arm", "reward"), wanted, source.name)
    try:
        rows = _collected(source, roles, missing == "drop", numeric=True)
    except NotNumbersError:
        rows = _collected(source, roles, missing == "drop", numeric=False)
    if "time" in roles.columns:
        rows = _in_order(rows, roles, source)
    if batch_by is not None:
        rows = _cut(rows, source, batch_by)
        roles.notes.append(f"the batches are the {batch_by}s of {shorten(roles.columns['time'])} in UTC")
    notes = ([] if set(roles.guessed.values()) <= {"arm", "reward"} else [roles.line]) + roles.notes
    notes += [f"{rows.dropped:,} rows with missing values were left out"] * (rows.dropped > 0)
    notes += _lookalikes(rows.labels.names)
    try:
        log = ExperimentLog.of_codes(
            rows.labels.names,
            rows.arms,
            rows.rewards,
            labels=rows.labels.names if arms is None and rows.labels.ordered else arms,
            propensities=rows.propensities,
            batches=None if rows.batches is None else (rows.batch_names, rows.batches),
        )
    except InputError as error:
        role = {"batches": "batch", "rewards": "reward"}.get(error.where, "arm")
        column = roles.columns.get(role, role)
        raise InputError(error.what, where=f"{source.name}, column {shorten(column)!r}", remedy=error.remedy) from None
    return Reading(log, notes)


def _collected(source: Source, roles: Roles, drop: bool, numeric: bool) -> _Rows:
    columns = roles.columns
    typed = [columns[role] for role in ("reward", "propensity") if role in columns] if numeric else []
    labels, batches, dropped = Labels(), Labels(), 0
    parts: dict[str, list[NDArray[Any]]] = {role: [] for role in columns}
    first_row = 1
    for piece in source.read(list(columns.values()), typed):
        first_row = first_row if parts["arm"] else piece.first_row
        values, keep = _understood(piece, columns, labels, batches, drop, numeric)
        dropped += int((~keep).sum())
        for role, part in values.items():
            parts[role].append(part if keep.all() else part[keep])
    if not parts["arm"] or not sum(map(len, parts["arm"])):
        raise InputError("there is a header but no rows", where=source.name, remedy="It needs one row per round.")
    whole = {role: np.concatenate(each) for role, each in parts.items() if role != "time"}
    if "time" in parts:
        whole["time"] = _whole(parts["time"], columns["time"], source.name, first_row)
    if roles.negated:
        whole["reward"] = -whole["reward"]
    propensities, moments, named = (whole.get(role) for role in ("propensity", "time", "batch"))
    return _Rows(labels, whole["arm"], whole["reward"], propensities, moments, named, batches.names, dropped)


def _understood(
    piece: Piece, columns: dict[str, str], labels: Labels, batches: Labels, drop: bool, numeric: bool
) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_]]:
    """The values of a piece by role, and which rows are complete."""
    cells = {role: piece.columns.column(column) for role, column in columns.items()}
    values: dict[str, NDArray[Any]] = {"arm": labels.codes(cells["arm"])}
    lacking = values["arm"] < 0
    if not drop:
        complain(piece, np.flatnonzero(lacking), lambda _: "", columns["arm"], "an arm", "Fill them in.")
    for role in _NUMBERS.keys() & columns.keys():
        found, show = numbers(cells[role])
        bad = ~np.isfinite(found) if role == "reward" else ~((found > 0) & (found <= 1))
        if numeric and bad.any():
            raise NotNumbersError  # for the cell as it is written
        empty = np.zeros(len(found), bool)
        if drop and bad.any():
            empty[bad] = [not show(int(i)).strip() for i in np.flatnonzero(bad)]
        complain(piece, np.flatnonzero(bad & ~empty), show, columns[role], *_NUMBERS[role])
        values[role], lacking = found, lacking | empty
    if "batch" in columns:
        values["batch"] = batches.codes(cells["batch"])
        gone = values["batch"] < 0
        if not drop:
            complain(piece, np.flatnonzero(gone), lambda _: "", columns["batch"], "a batch", "Fill them in.")
        lacking = lacking | gone
    if "time" in columns:
        import pyarrow.compute as pc  # slow to load

        cell = cells["time"]
        gone = np.asarray(pc.is_null(cell, nan_is_null=True))
        if not drop:
            complain(piece, np.flatnonzero(gone), lambda _: "", columns["time"], "a time", "Fill them in.")
        values["time"] = times(pc.fill_null_backward(pc.fill_null_forward(cell)) if cell.null_count else cell)
        lacking = lacking | gone
    return values, ~lacking


def _whole(parts: list[NDArray[Any]], column: str, name: str, first_row: int) -> NDArray[Any]:
    """The times of all pieces: as dates if one of them is no number."""
    kinds = {part.dtype.kind for part in parts}
    if "O" in kinds or ("M" in kinds and len(kinds) > 1):
        texts = [part if part.dtype == object else part.astype(str).astype(object) for part in parts]
        return dates(np.concatenate(texts), column, name, first_row)
    return np.concatenate(parts)


def _in_order(rows: _Rows, roles: Roles, source: Source) -> _Rows:
    """The rows in the order of time; a guessed time must find them so."""
    assert rows.times is not None
    if (rows.times[1:] >= rows.times[:-1]).all():
        return rows
    if "time" in roles.guessed:
        column = roles.guessed["time"]
        raise InputError(
            f"the rows are not in the order of the column {shorten(column)!r}",
            where=source.name,
            remedy=f"Say --time {shorten(column)} to sort them by it, or --time none if they are in the order of time.",
        )
    order = np.argsort(rows.times, kind="stable")
    return rows._replace(
        arms=rows.arms[order],
        rewards=rows.rewards[order],
        propensities=None if rows.propensities is None else rows.propensities[order],
        batches=None if rows.batches is None else rows.batches[order],
        times=rows.times[order],
    )


def _cut(rows: _Rows, source: Source, period: str) -> _Rows:
    """The rows with a batch for each hour, day or week, which begins on a Monday."""
    if rows.times is None or not np.issubdtype(rows.times.dtype, np.datetime64):
        what = "there is no column of dates to cut into batches"
        raise InputError(what, where=source.name, remedy="Name one with --time, with dates like 2026-01-31T12:00:00.")
    starts = rows.times.astype("datetime64[h]" if period == "hour" else "datetime64[D]")
    if period == "week":
        monday = np.datetime64("1970-01-05")
        starts = monday + (starts - monday) // np.timedelta64(7, "D") * np.timedelta64(7, "D")
    names, batches = np.unique(starts, return_inverse=True)
    return rows._replace(batches=batches.astype(np.int32), batch_names=[str(name) for name in names])


def _lookalikes(names: list[str]) -> list[str]:
    """Arms that are probably the same."""
    plain: dict[str, list[str]] = {}
    for name in names:
        plain.setdefault("".join(name.lower().split()), []).append(name)
    return [f"these arms differ only in case or spaces: {listed(same)}" for same in plain.values() if len(same) > 1]
