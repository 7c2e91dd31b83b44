"""A log in a CSV file: one row per round."""

import contextlib
import csv
import difflib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import numpy as np

from debandit.errors import InputError, shorten
from debandit.log import ExperimentLog

LONGEST_LINE = 1_000_000  # characters; what has longer ones is no log, and may be endless


def read_log(
    path: str | Path,
    *,
    arm: str = "arm",
    reward: str = "reward",
    time: str | None = None,
    arms: Sequence[str] | None = None,
    propensity: str | None = None,
    batch: str | None = None,
) -> ExperimentLog:
    """Read a CSV file by its column names.

    Rows are in the order of time unless `time` names a column to sort by (numbers or ISO dates; equal times keep the
    order of the rows). `arms` gives the order of the arms and may name arms that never appear.
    `propensity` names the column with the probability that the arm of the round had of being chosen, `batch` one with
    the number or name of the batch: the rule heard of a batch's rewards when it was over.
    """
    header, rows = _read_rows(Path(path))
    if arm == reward:
        raise InputError(f"arm and reward cannot be the same column {shorten(arm)!r}", where="--arm, --reward")
    place = {name: _find_column(name, header, path, option) for name, option in ((arm, "--arm"), (reward, "--reward"))}
    labels = [row[place[arm]].strip() for _, row in rows]
    for (line, _), label in zip(rows, labels, strict=True):
        if not label:
            raise InputError(f"no arm in column {shorten(arm)!r}", where=f"{path}, line {line}", remedy="Fill it in.")
    rewards = _numbers([(line, row[place[reward]]) for line, row in rows], reward, path)
    recorded = None
    if propensity is not None:
        if propensity in (arm, reward):
            raise InputError(f"propensity cannot be the column {shorten(propensity)!r} as well", where="propensity")
        column = _find_column(propensity, header, path, "propensity =")
        recorded = _probabilities([(line, row[column]) for line, row in rows], propensity, path)
    if time is not None:
        column = _find_column(time, header, path, "--time")
        times = _times([(line, row[column]) for line, row in rows], time, path)
        order = sorted(range(len(times)), key=times.__getitem__)
        rows, labels, rewards = [rows[i] for i in order], [labels[i] for i in order], rewards[order]
        recorded = None if recorded is None else recorded[order]
    batches = None
    if batch is not None:
        column = _find_column(batch, header, path, "--batch")
        batches = [row[column].strip() for _, row in rows]
    try:
        return ExperimentLog(labels, rewards, labels=arms, propensities=recorded, batches=batches)
    except InputError as error:
        column_name = batch if batch is not None and error.where == "batches" else arm
        raise InputError(error.what, where=f"{path}, column {shorten(column_name)!r}", remedy=error.remedy) from None


def _read_rows(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header, and each row with the number of its line."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(_lines(file, path))
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


def _lines(file: TextIO, path: Path) -> Iterator[str]:
    """The lines of a file: never more than one in memory, and none that is absurdly long."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise InputError(
                f"a line of more than {LONGEST_LINE:,} characters",
                where=f"{path}, line {number}",
                remedy="Is this a CSV file with one row per round?",
            )
        yield line


def _find_column(name: str, header: list[str], path: str | Path, option: str) -> int:
    if header.count(name) == 1:
        return header.index(name)
    if name in header:
        raise InputError(f"the column {shorten(name)!r} appears {header.count(name)} times", where=str(path))
    shown = ", ".join(shorten(column, 30) for column in header[:20])
    lowered = {column.lower(): column for column in reversed(header[:1000])}
    near = difflib.get_close_matches(name.lower(), lowered, 1, 0.5)
    hint = f"Did you mean {option} {shorten(lowered[near[0]])}? " if near else f"Name it with {option}. "
    raise InputError(f"no column {shorten(name)!r}", where=str(path), remedy=f"{hint}The columns are: {shown}")


def _numbers(cells: list[tuple[int, str]], column: str, path: str | Path) -> np.ndarray:
    values = _parsed(cells)
    advice = "Repair them, or leave them out if the rule never saw these rewards either."
    _complain([cells[i] for i in np.flatnonzero(~np.isfinite(values))], column, path, "a finite number", advice)
    return values


def _probabilities(cells: list[tuple[int, str]], column: str, path: str | Path) -> np.ndarray:
    values = _parsed(cells)
    advice = "It is the probability of the arm that was pulled: more than 0, since it was pulled, and at most 1."
    bad = [cells[i] for i in np.flatnonzero(~((values > 0) & (values <= 1)))]
    _complain(bad, column, path, "a probability above 0", advice)
    return values


def _parsed(cells: list[tuple[int, str]]) -> np.ndarray:
    """The cells as numbers, NaN where they are none."""
    values = np.full(len(cells), np.nan)
    for i, (_, cell) in enumerate(cells):
        with contextlib.suppress(ValueError):
            values[i] = np.nan if "_" in cell else float(cell)
    return values


def _complain(bad: list[tuple[int, str]], column: str, path: str | Path, wanted: str, advice: str) -> None:
    """Complain about the first bad cell, and say where the others are."""
    if not bad:
        return
    line, cell = bad[0]
    what = "is missing" if not cell.strip() else f"is {shorten(cell, 30)!r}, not {wanted}"
    lines = ", ".join(str(line) for line, _ in bad[:8]) + (", …" if len(bad) > 8 else "")
    raise InputError(
        f"the value in column {shorten(column)!r} {what}",
        where=f"{path}, line {line}",
        remedy=f"{len(bad)} such {'row' if len(bad) == 1 else 'rows'}: line {lines}. {advice}",
    )


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
                f"the time {shorten(cell, 30)!r} in column {shorten(column)!r} is neither a number nor an ISO date",
                where=f"{path}, line {line}",
                remedy="Write times as numbers or like 2026-01-31T12:00:00.",
            ) from None
        dates.append(date if date.tzinfo else date.replace(tzinfo=UTC))
    return dates
