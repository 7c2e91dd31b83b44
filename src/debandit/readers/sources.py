"""Where rows come from: files, standard input and data frames, all as pieces of Arrow columns.

What a file is is found out by looking into it, not from its name. A piece at a time is in memory.
"""

import atexit
import contextlib
import difflib
import glob
import io
import itertools
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa

from debandit.errors import InputError, shorten

_PIECE = 4_000_000  # bytes of a text file; no line may be longer
_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_SEPARATORS = ",;\t|"
_MOST_COLUMNS = 10_000
_TEXT = pa.dictionary(pa.int32(), pa.string())


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


def source_of(given: Any) -> Source:
    """A path, a pattern such as logs/*.parquet, `-` for standard input, a list of paths, or a data frame."""
    if isinstance(given, (str, Path)):
        return _joined([_file(path) for path in _paths(str(given))])
    if isinstance(given, (list, tuple)) and given and all(isinstance(each, (str, Path)) for each in given):
        return _joined([_file(path) for each in given for path in _paths(str(each))])
    return _frame(given)


def _paths(name: str) -> list[Path]:
    if name == "-" or not glob.has_magic(name) or Path(name).exists():
        return [Path(name)]
    found = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - the pattern may be absolute
    if not found:
        raise InputError("no file has such a name", where=name, remedy="Check the pattern and the directory.")
    return [Path(each) for each in found]


def _joined(sources: list[Source]) -> Source:
    """Several files, one after the other."""
    if len(sources) == 1:
        return sources[0]
    first = sources[0]
    for other in sources[1:]:
        if set(other.columns) != set(first.columns):
            odd = sorted(set(other.columns) ^ set(first.columns))[0]
            what = f"the column {shorten(odd)!r} is in only one of {first.name} and {other.name}"
            raise InputError(what, where=other.name, remedy="All files need the same columns.")
    name = f"{first.name} and {len(sources) - 1} more"
    return Source(name, first.columns, lambda *wanted: itertools.chain.from_iterable(s.read(*wanted) for s in sources))


# --- files -----------------------------------------------------------------------------------------------------------


def _file(path: Path) -> Source:
    name = "standard input" if str(path) == "-" else str(path)
    with _explained(name, path):
        if str(path) == "-" or (path.exists() and not path.is_file() and not path.is_dir()):
            path = _spooled(path, name)
        with _opened(path) as file:
            head = file.read(_PIECE)
    if not head.strip():
        raise InputError("the file is empty", where=name, remedy="It needs a header and one row per round.")
    if head[:4] == b"PAR1":
        return _parquet(path, name)
    if head[:6] == b"ARROW1" or head[:4] == b"\xff\xff\xff\xff":
        return _arrow(path, name, stream=head[:6] != b"ARROW1")
    if head.lstrip()[:1] == b"{":
        return _json(path, name)
    return _csv(path, name, _header(head, name))


def _spooled(path: Path, name: str) -> Path:
    """What comes through a pipe as a file, because it is read more than once."""
    folder = tempfile.TemporaryDirectory(prefix="debandit-")
    atexit.register(folder.cleanup)
    copy = Path(folder.name) / "log"
    with sys.stdin.buffer if str(path) == "-" else path.open("rb") as pipe, copy.open("wb") as file:
        head = pipe.read(_PIECE)
        if not head.startswith((b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", *_COMPRESSED)):
            _header(head, name)  # complains, before a device without end has filled the disk
        file.write(head)
        shutil.copyfileobj(pipe, file)
    return copy


def _too_long(name: str) -> InputError:
    return InputError(
        f"a line of more than {_PIECE:,} bytes", where=name, remedy="Is this a table with one row per line?"
    )


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The file, without its compression."""
    with path.open("rb") as file:
        mark = file.peek(4)[:4]
        kind = next((kind for magic, kind in _COMPRESSED.items() if mark.startswith(magic)), None)
        yield file if kind is None else pa.CompressedInputStream(file, kind)


@contextmanager
def _explained(name: str, path: Path) -> Iterator[None]:
    """What goes wrong with a file, in words."""
    try:
        yield
    except FileNotFoundError:
        near = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*")], 1)
        hint = f"Did you mean {path.with_name(near[0])}?" if near else "Check the name and the directory."
        raise InputError("no such file", where=name, remedy=hint) from None
    except (OSError, ValueError, pa.ArrowException) as error:
        text = " ".join(str(error).split())
        if "CSV conversion error" in text:
            raise NotNumbersError from None
        if "straddling" in text:
            raise _too_long(name) from None
        if isinstance(error, OSError) and error.strerror:
            what, remedy = error.strerror, "Check the file."
        else:
            what = f"cannot be read ({shorten(text, 200)})"
            remedy = "Give a table as CSV in UTF-8, Parquet, Arrow or JSON lines."
        raise InputError(what, where=name, remedy=remedy) from None


def _header(head: bytes, name: str) -> bytes:
    """The first line of a text file."""
    text = head.lstrip(b"\r\n").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    first, end, _ = text.partition(b"\n")
    if not end and len(head) == _PIECE:
        raise _too_long(name)
    try:
        sound = "\0" not in first.decode("utf-8")
    except UnicodeDecodeError:
        sound = False
    if not sound:
        remedy = "Give a table as CSV in UTF-8, Parquet, Arrow or JSON lines."
        raise InputError("this is not a table in UTF-8", where=name, remedy=remedy) from None
    return first


def _csv(path: Path, name: str, first: bytes) -> Source:
    from pyarrow import csv

    outside = b"".join(first.split(b'"')[::2]).decode()
    mark = max(_SEPARATORS, key=outside.count)
    if outside.count(mark) >= _MOST_COLUMNS:
        raise InputError(f"{outside.count(mark) + 1:,} columns", where=name, remedy="A log has a column of arms.")

    def opened(file: IO[bytes], wanted: dict[str, pa.DataType], bad: Callable[[Any], str] | None) -> Any:
        return csv.open_csv(
            file,
            csv.ReadOptions(block_size=_PIECE, use_threads=bad is None),
            csv.ParseOptions(delimiter=mark, newlines_in_values=True, invalid_row_handler=bad),
            csv.ConvertOptions(include_columns=list(wanted), column_types=wanted, null_values=[""]),
        )

    with _explained(name, path):
        alone, parse = csv.ReadOptions(use_threads=False), csv.ParseOptions(delimiter=mark)
        names = csv.read_csv(io.BytesIO(first + b"\n"), alone, parse).column_names

    def read(columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Piece]:
        wanted = {names[place_of(c, shown, name)]: pa.float64() if c in numbers else _TEXT for c in columns}
        with _explained(name, path), _opened(path) as file:
            row = 2
            try:
                for batch in opened(file, wanted, None):
                    yield Piece(name, row, batch.rename_columns(list(columns)))
                    row += len(batch)
            except pa.ArrowInvalid as error:
                if "columns, got" in str(error):
                    raise ragged(wanted) from None
                raise

    def ragged(wanted: dict[str, pa.DataType]) -> InputError:
        """Which row has not as many fields as the header: found by reading once more, row by row."""
        found: list[Any] = []

        def note(row: Any) -> str:
            found.append(row)
            return "error"

        with contextlib.suppress(pa.ArrowInvalid), _opened(path) as file:
            list(opened(file, wanted, note))
        row = found[0]
        return InputError(
            f"{row.actual_columns} fields where the header has {row.expected_columns}",
            where=f"{name}, row {row.number}",
            remedy="Quote fields that contain the separator, and fill in missing ones.",
        )

    shown = [each.strip() for each in names]
    return Source(name, shown, read)


def place_of(column: str, columns: list[str], name: str) -> int:
    """Where a column stands that must be there once."""
    if columns.count(column) != 1:
        raise InputError(f"the column {shorten(column)!r} appears {columns.count(column)} times", where=name)
    return columns.index(column)


def _parquet(path: Path, name: str) -> Source:
    from pyarrow import parquet

    with _explained(name, path):
        schema = parquet.ParquetFile(path).schema_arrow
        texts = [
            field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        ]

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with parquet.ParquetFile(path, read_dictionary=texts) as file:
            yield from file.iter_batches(columns=list(columns))

    return _of_batches(name, path, schema.names, batches)


def _arrow(path: Path, name: str, stream: bool) -> Source:
    def batches(_: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with _opened(path) as file:
            if stream:
                yield from pa.ipc.open_stream(file)
                return
        with pa.memory_map(str(path)) as mapped:
            reader = pa.ipc.open_file(mapped)
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i)

    with _explained(name, path):
        first = next(batches([]), None)
    return _of_batches(name, path, [] if first is None else first.schema.names, batches)


def _json(path: Path, name: str) -> Source:
    from pyarrow import json

    def batches(_: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with _opened(path) as file:
            yield from json.open_json(file, json.ReadOptions(block_size=_PIECE))

    with _explained(name, path), _opened(path) as file:
        names = json.open_json(file, json.ReadOptions(block_size=_PIECE)).schema.names
    return _of_batches(name, path, names, batches)


def _of_batches(
    name: str, path: Path, names: list[str], batches: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
) -> Source:
    """A file whose columns have types."""

    def read(columns: Sequence[str], _: Sequence[str]) -> Iterator[Piece]:
        for column in columns:
            place_of(column, names, name)
        with _explained(name, path):
            row = 1
            for batch in batches(columns):
                yield Piece(name, row, batch.select(list(columns)))
                row += len(batch)

    return Source(name, names, read)


# --- data frames -----------------------------------------------------------------------------------------------------


def _frame(given: Any) -> Source:
    """Whatever speaks the Arrow C stream interface, or is a mapping of columns."""
    table = _table(given)

    def read(columns: Sequence[str], _: Sequence[str]) -> Iterator[Piece]:
        row = 1
        for batch in table.select(list(columns)).to_batches():
            yield Piece("the table", row, batch)
            row += len(batch)

    return Source("the table", table.column_names, read)


def _table(given: Any) -> pa.Table:
    try:
        if isinstance(given, Mapping):
            columns = {str(key): np.asarray(value) for key, value in given.items() if np.ndim(value) == 1}
            longest = max((len(each) for each in columns.values()), default=0)
            return pa.table({key: each for key, each in columns.items() if len(each) == longest})
        if hasattr(given, "__arrow_c_stream__"):
            return pa.table(given)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"cannot be read as a table ({shorten(str(error), 200)})", where="log") from None
    raise InputError(
        f"{shorten(type(given).__name__)} is not a log",
        where="log",
        remedy="Give an ExperimentLog, a data frame, a mapping of columns, or the path of a file.",
    )
