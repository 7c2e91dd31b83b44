"""What a table is to the readers: pieces of Arrow columns, one at a time in memory."""

import difflib
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from debandit.errors import InputError, shorten

PIECE_BYTES = 1_000_000  # of a piece of a text file, of which 32 may wait in memory; no line may be longer
MOST_ROWS = 2**16  # of a piece
_MOST_COLUMNS = 10_000
TEXTS = (
    *(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
    *(pa.types.is_binary, pa.types.is_large_binary),
)
_CELLS = (
    *(pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal),
    *TEXTS,
    *(pa.types.is_date, pa.types.is_time, pa.types.is_timestamp),
)
GIVE = "Give a table as CSV in UTF-8, Parquet, Arrow or JSON lines."


class Piece(NamedTuple):
    """Some rows of a table."""

    source: str
    first_row: int  # as people count them: the header of a CSV file is row 1
    columns: pa.RecordBatch


class Source(NamedTuple):
    """A table that can be read again and again, piece after piece."""

    name: str
    columns: list[str]
    read: Callable[[Sequence[str], Sequence[str]], Iterator[Piece]]  # of the columns wanted, and which are numbers


class NotNumbersError(Exception):
    """A column of a text file that was to hold numbers holds something else: read it as text."""


def typed_source(
    name: str,
    path: Path,
    schema: pa.Schema,
    batches: Callable[[Sequence[str], Sequence[str]], Iterator[pa.RecordBatch]],
) -> Source:
    """A table whose columns have types. What it says of itself is checked: where a file lies, Arrow reads anywhere."""
    with explained(name, path):
        names = list(schema.names)
    check_width(len(names), name)

    def read(columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Piece]:
        for column in columns:
            _check_type(schema.field(place_of(column, names, name)), name)
        with explained(name, path):
            row = 1
            for batch in batches(columns, numbers):
                for start in range(0, len(batch), MOST_ROWS):
                    piece = batch.select(list(columns)).slice(start, MOST_ROWS)
                    piece.validate(full=True)
                    yield Piece(name, row, _without_views(piece))
                    row += len(piece)

    return Source(name, names, read)


def _without_views(piece: pa.RecordBatch) -> pa.RecordBatch:
    """Views of strings as strings: not all of pyarrow's functions know them."""
    if not any(pa.types.is_string_view(kind) for kind in piece.schema.types):
        return piece
    plain = [pa.string() if pa.types.is_string_view(kind) else kind for kind in piece.schema.types]
    return piece.cast(pa.schema(zip(piece.schema.names, plain, strict=True)))


def _check_type(field: pa.Field, name: str) -> None:
    """Complain of a column without cells, or whose cells are not single values."""
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if any(known(kind) for known in _CELLS):
        return
    if pa.types.is_null(kind):
        what = f"the column {shorten(field.name)!r} is empty"
        raise InputError(what, where=name, remedy="Fill it in, or name another one.")
    what = f"the column {shorten(field.name)!r} holds values of the type {shorten(str(kind))}"
    raise InputError(what, where=name, remedy="It needs text, numbers, true and false, or dates, one in each row.")


def place_of(column: str, columns: list[str], name: str) -> int:
    """Where a column stands that must be there once."""
    if columns.count(column) != 1:
        raise InputError(f"the column {shorten(column)!r} appears {columns.count(column)} times", where=name)
    return columns.index(column)


def check_width(columns: int, name: str) -> None:
    """Complain of more columns than any log has."""
    if columns > _MOST_COLUMNS:
        raise InputError(f"{columns:,} columns", where=name, remedy="A log has a column of arms and one of rewards.")


@contextmanager
def explained(name: str, path: Path) -> Iterator[None]:
    """What goes wrong with a file, in words."""
    try:
        yield
    except FileNotFoundError:
        near = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*")], 1)
        hint = f"Did you mean {path.with_name(near[0])}?" if near else "Check the name and the directory."
        raise InputError("no such file", where=name, remedy=hint) from None
    except (OSError, ValueError, struct.error, pa.ArrowException) as error:
        text = " ".join(str(error).split())
        if "straddling" in text:
            raise too_long(name) from None
        if isinstance(error, OSError) and error.strerror:
            what, remedy = error.strerror, "Check the file."
        else:
            what, remedy = f"cannot be read ({shorten(text, 200)})", GIVE
        raise InputError(what, where=name, remedy=remedy) from None


def too_long(name: str) -> InputError:
    """The complaint about a line that no table has."""
    return InputError(
        f"a line of more than {PIECE_BYTES:,} bytes", where=name, remedy="Is this a table with one row per line?"
    )
