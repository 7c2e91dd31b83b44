"""A log in a CSV file: one row per round."""

import csv
import difflib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from debandit.errors import InputError, shorten
from debandit.log import ExperimentLog


def read_log(
    path: str | Path,
    *,
    arm: str = "arm",
    reward: str = "reward",
    time: str | None = None,
    arms: Sequence[str] | None = None,
) -> ExperimentLog:
    """Read a CSV file by its column names.

    Rows are in the order of time unless `time` names a column to sort by (numbers or ISO dates; equal times keep the
    order of the rows). `arms` gives the order of the arms and may name arms that never appear.
    """
    header, rows = _read_rows(Path(path))
    if arm == reward:
        raise InputError(f"arm and reward cannot be the same column {arm!r}", where="--arm, --reward")
    place = {name: _find_column(name, header, path, option) for name, option in ((arm, "--arm"), (reward, "--reward"))}
    labels = [row[place[arm]].strip() for _, row in rows]
    for (line, _), label in zip(rows, labels, strict=True):
        if not label:
            raise InputError(f"no arm in column {arm!r}", where=f"{path}, line {line}", remedy="Fill it in.")
    rewards = _numbers([(line, row[place[reward]]) for line, row in rows], reward, path)
    if time is not None:
        column = _find_column(time, header, path, "--time")
        times = _times([(line, row[column]) for line, row in rows], time, path)
        order = sorted(range(len(times)), key=times.__getitem__)
        labels, rewards = [labels[i] for i in order], rewards[order]
    try:
        return ExperimentLog(labels, rewards, labels=arms)
    except InputError as error:
        raise InputError(error.what, where=f"{path}, column {arm!r}", remedy=error.remedy) from None


def _read_rows(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header, and each row with the number of its line."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            rows = [(reader.line_num, row) for row in reader if row]
    except FileNotFoundError:
        near = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*")], 1)
        hint = f"Did you mean {path.with_name(near[0])}?" if near else "Check the name and the directory."
        raise InputError("no such file", where=str(path), remedy=hint) from None
    except (OSError, ValueError, csv.Error) as error:  # ValueError: not UTF-8, or a path with a NUL in it
        reason = error.strerror if isinstance(error, OSError) else f"not a CSV file in UTF-8 ({error})"
        raise InputError(str(reason), where=str(path), remedy="Save the log as a CSV file with a header.") from None
    if not rows:
        raise InputError("the file is empty", where=str(path), remedy="It needs a header and one row per round.")
    header, rows = [name.strip() for name in rows[0][1]], rows[1:]
    if len(header) == 1 and any(mark in header[0] for mark in ";\t|"):
        raise InputError(
            f"the header {shorten(header[0])!r} has no commas", where=str(path), remedy="Separate columns by commas."
        )
    if not rows:
        raise InputError("the file has a header but no rows", where=str(path), remedy="It needs one row per round.")
    for line, row in rows:
        if len(row) != len(header):
            raise InputError(
                f"{len(row)} fields where the header has {len(header)}",
                where=f"{path}, line {line}",
                remedy="Quote fields that contain commas, and fill in missing ones.",
            )
    return header, rows


def _find_column(name: str, header: list[str], path: str | Path, option: str) -> int:
    if header.count(name) == 1:
        return header.index(name)
    if name in header:
        raise InputError(f"the column {name!r} is there {header.count(name)} times", where=str(path))
    shown = ", ".join(shorten(column, 30) for column in header[:20])
    lowered = {column.lower(): column for column in reversed(header)}
    near = difflib.get_close_matches(name.lower(), lowered, 1, 0.5)
    hint = f"Did you mean {option} {lowered[near[0]]}? " if near else f"Name it with {option}. "
    raise InputError(f"no column {name!r}", where=str(path), remedy=f"{hint}The columns are: {shown}")


def _numbers(cells: list[tuple[int, str]], column: str, path: str | Path) -> np.ndarray:
    values = np.empty(len(cells))
    bad: list[tuple[int, str]] = []
    for i, (line, cell) in enumerate(cells):
        try:
            values[i] = np.nan if "_" in cell else float(cell)
        except ValueError:
            values[i] = np.nan
        if not np.isfinite(values[i]):
            bad.append((line, cell))
    if bad:
        line, cell = bad[0]
        what = "is missing" if not cell.strip() else f"is {shorten(cell, 30)!r}, not a finite number"
        lines = ", ".join(str(line) for line, _ in bad[:8]) + (", …" if len(bad) > 8 else "")
        raise InputError(
            f"the value in column {column!r} {what}",
            where=f"{path}, line {line}",
            remedy=f"{len(bad)} such {'row' if len(bad) == 1 else 'rows'}: line {lines}. Repair them, or leave them "
            "out if the rule never saw these rewards either.",
        )
    return values


def _times(cells: list[tuple[int, str]], column: str, path: str | Path) -> list[int] | list[float] | list[datetime]:
    """Sortable times: whole numbers or numbers if all are, else ISO dates; those without a zone count as UTC."""
    for kind in (int, float):
        try:
            times = [kind(cell) for _, cell in cells]
        except ValueError:
            continue
        if all(time == time for time in times):  # no NaN
            return times
    dates = []
    for line, cell in cells:
        try:
            date = datetime.fromisoformat(cell.strip())
        except ValueError:
            raise InputError(
                f"the time {shorten(cell, 30)!r} in column {column!r} is neither a number nor an ISO date",
                where=f"{path}, line {line}",
                remedy="Write times as numbers or like 2026-01-31T12:00:00.",
            ) from None
        dates.append(date if date.tzinfo else date.replace(tzinfo=UTC))
    return dates
