"""What is doubtful about a table that can be read: the order of its rows, users with several, arms that look alike."""

from typing import Any

import pyarrow as pa

from debandit.errors import InputError, listed, shorten
from debandit.readers.columns import Roles, candidates
from debandit.readers.pieces import Source
from debandit.readers.values import dates, times, with_gaps

_USERS_SEEN = 2**17  # rows in which the same user is looked for


def confirm_order(source: Source, roles: Roles) -> list[str]:
    """See that the rows are in the order of the columns with the name of a time; those that can tell are returned."""
    columns = [column for column in candidates("time", source.columns)[0] if column not in roles.columns.values()]
    rising = {column: _are_rising(source, column) for column in columns}
    wrong = next((column for column in columns if rising[column] is False), None)
    if wrong is not None:
        raise InputError(
            f"the rows are not in the order of the column {shorten(wrong)!r}",
            where=source.name,
            remedy=f"Say {' or '.join(f'--time {shorten(column)}' for column in columns)} to sort them by it, "
            "or --time none if they are in the order of time.",
        )
    confirming = [column for column in columns if rising[column]]
    if confirming:
        roles.guessed["time"] = " and ".join(map(shorten, confirming))
    reason = "it has gaps, or values other than numbers and ISO dates"
    unknown = [shorten(column) for column in columns if rising[column] is None]
    roles.doubts.extend(
        f"the column {column} cannot confirm that the rows are in the order of time: {reason}" for column in unknown
    )
    return confirming


def _are_rising(source: Source, column: str) -> bool | None:
    """Whether the times in a column are; None if it has gaps or other things."""
    last: Any = None
    for piece in source.read([column], []):
        cells = with_gaps(piece.columns.column(column))
        if cells.null_count:
            return None
        moments = times(cells)
        if moments.dtype.kind == "O":
            try:
                moments = dates(moments, column, source.name, piece.first_row)
            except InputError:
                return None
        if last is not None and (last.dtype.kind == "M") != (moments.dtype.kind == "M"):
            return None
        if (moments[1:] < moments[:-1]).any() or (last is not None and len(moments) and moments[0] < last):
            return False
        last = moments[-1] if len(moments) else last
    return True


def repeated_users(source: Source) -> list[str]:
    """A warning if some user has several of the first rows."""
    for column in candidates("user", source.columns)[0]:
        if _is_repeated(source, column):
            return [
                f"some users have several rows (column {shorten(column)}), and rewards of one user are not "
                "independent: corrections and intervals may be off. Keep one row per user if you can"
            ]
    return []


def _is_repeated(source: Source, column: str) -> bool:
    """Whether something is twice in the first rows of a column."""
    seen: set[Any] = set()
    rows = 0
    for piece in source.read([column], []):
        users = piece.columns.column(column)
        users = users.dictionary_encode() if not isinstance(users, pa.DictionaryArray) else users
        found = {user for user in users.dictionary.to_pylist() if user is not None}
        if len(found) < len(users) - users.null_count or seen & found:
            return True
        seen |= found
        rows += len(users)
        if rows > _USERS_SEEN:
            break
    return False


def lookalikes(names: list[str]) -> list[str]:
    """Arms that are probably the same."""
    plain: dict[str, list[str]] = {}
    for name in names:
        plain.setdefault("".join(name.lower().split()), []).append(name)
    return [f"these arms differ only in case or spaces: {listed(same)}" for same in plain.values() if len(same) > 1]
