"""Files of every format as tables. What a file is is found out by looking into it, not from its name."""

import atexit
import io
import json
import re
import shutil
import struct
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from debandit.errors import InputError, shorten
from debandit.readers.pieces import (
    GIVE,
    MOST_ROWS,
    PIECE_BYTES,
    TEXTS,
    NotNumbersError,
    Piece,
    Source,
    check_width,
    explained,
    place_of,
    too_long,
    typed_source,
)

_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_BINARY = {b"PAR1": "Parquet", b"ARROW1": "Arrow", b"\xff\xff\xff\xff": "Arrow"}  # the last is that of a stream
_SEPARATORS = ",;\t|"
_MOST_UNPACKED = 2**31  # bytes of a piece of an Arrow file that is compressed
_TEXT = pa.dictionary(pa.int32(), pa.string())


def file_source(path: Path) -> Source:
    """The table in a file, in standard input (-) or in a pipe."""
    name = "standard input" if str(path) == "-" else str(path)
    with explained(name, path):
        if str(path) == "-" or (path.exists() and not path.is_file() and not path.is_dir()):
            path = _spooled(path, name)
        head, packed = _opened(path).read(PIECE_BYTES), _compression(path) is not None
    if not head.strip():
        raise InputError("the file is empty", where=name, remedy="It needs a header and one row per round.")
    binary = next((kind for magic, kind in _BINARY.items() if head.startswith(magic)), None)
    if binary and packed:
        what = f"a file in the format {binary} that is compressed as a whole"
        raise InputError(what, where=name, remedy="Unpack it first: gzip -d or zstd -d.")
    if binary == "Parquet":
        return _parquet(path, name)
    if binary == "Arrow":
        return _arrow(path, name, stream=not head.startswith(b"ARROW1"))
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()  # the mark of UTF-8 that some programs write
    if start[:1] == b"[":
        remedy = "One object per line is needed: jq -c '.[]' FILE makes them."
        raise InputError("this is one list of JSON, not lines", where=name, remedy=remedy)
    if start[:1] == b"{":
        return _json(path, name, _keys(head, name))
    return _csv(path, name, _header(head, name))


def _spooled(path: Path, name: str) -> Path:
    """What comes through a pipe as a file, because it is read more than once."""
    folder = tempfile.TemporaryDirectory(prefix="debandit-")
    atexit.register(folder.cleanup)
    copy = Path(folder.name) / "log"
    with sys.stdin.buffer if str(path) == "-" else path.open("rb") as pipe, copy.open("wb") as file:
        head = pipe.read(PIECE_BYTES)
        if not head.startswith((*_BINARY, *_COMPRESSED)):
            _header(head, name)  # complains, before a device without end has filled the disk
            if b"\0" in head:
                raise _not_text(name)
        file.write(head)
        shutil.copyfileobj(pipe, file)
    return copy


def _not_text(name: str) -> InputError:
    return InputError("this is not a table in UTF-8", where=name, remedy=GIVE)


def _compression(path: Path) -> str | None:
    with path.open("rb") as file:
        mark = file.read(4)
    return next((kind for magic, kind in _COMPRESSED.items() if mark.startswith(magic)), None)


def _opened(path: Path) -> pa.NativeFile:
    """The file, without its compression.

    It is pyarrow's own and closed with its last user: a thread of pyarrow's that reads ahead may outlive an error, and
    when Python ends it must not need Python.
    """
    return pa.input_stream(str(path), compression=_compression(path))


def _header(head: bytes, name: str) -> bytes:
    """The first line of a text file."""
    text = head.lstrip(b"\r\n").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    first, end, _ = text.partition(b"\n")
    if not end and len(head) == PIECE_BYTES and b"\0" not in first:
        raise too_long(name)
    try:
        sound = "\0" not in first.decode("utf-8")
    except UnicodeDecodeError:
        sound = False
    if not sound:
        raise _not_text(name) from None
    return first


def _csv(path: Path, name: str, first: bytes) -> Source:
    from pyarrow import csv

    outside = b"".join(first.split(b'"')[::2]).decode()
    mark = max(_SEPARATORS, key=outside.count)
    check_width(outside.count(mark) + 1, name)

    def opened(wanted: dict[str, pa.DataType], threads: bool) -> Any:
        return csv.open_csv(
            _opened(path),
            csv.ReadOptions(block_size=PIECE_BYTES, use_threads=threads),
            csv.ParseOptions(delimiter=mark, newlines_in_values=True),
            csv.ConvertOptions(
                include_columns=list(wanted), column_types=wanted, null_values=[""], strings_can_be_null=True
            ),
        )

    with explained(name, path):
        alone, parse = csv.ReadOptions(use_threads=False), csv.ParseOptions(delimiter=mark)
        names = csv.read_csv(io.BytesIO(first + b"\n"), alone, parse).column_names

    def read(columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Piece]:
        wanted = {names[place_of(c, shown, name)]: pa.float64() if c in numbers else _TEXT for c in columns}
        with explained(name, path):
            row = 2
            try:
                for batch in opened(wanted, threads=True):
                    yield Piece(name, row, batch.rename_columns(list(columns)))
                    row += len(batch)
            except pa.ArrowInvalid as error:
                if "conversion error to double" in str(error):
                    raise NotNumbersError from None
                if "columns, got" in str(error) or "invalid UTF8" in str(error):
                    raise located(wanted) from None
                raise

    def located(wanted: dict[str, pa.DataType]) -> InputError:
        """What is wrong in which row: found by reading once more, by one thread, which counts them."""
        text = ""
        try:
            for _ in opened(wanted, threads=False):
                pass
        except pa.ArrowInvalid as error:
            text = str(error)
        row = re.search(r"Row #(\d+)", text)
        where = f"{name}, row {row[1]}" if row else name
        fields = re.search(r"Expected (\d+) columns, got (\d+)", text)
        if fields is None:
            return InputError("this row is not text in UTF-8", where=where, remedy="Save the table in UTF-8.")
        return InputError(
            f"{fields[2]} fields where the header has {fields[1]}",
            where=where,
            remedy="Quote fields that contain the separator, and fill in missing ones.",
        )

    shown = [each.strip() for each in names]
    return Source(name, shown, read)


def _parquet(path: Path, name: str) -> Source:
    from pyarrow import parquet

    with explained(name, path), parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
    texts = [field.name for field in schema if any(known(field.type) for known in TEXTS)]

    def batches(columns: Sequence[str], _: Sequence[str]) -> Iterator[pa.RecordBatch]:
        # a long text is in memory once, not in every row; and of the file a buffer, not all that was read
        options = {"read_dictionary": texts, "page_checksum_verification": True, "buffer_size": PIECE_BYTES}
        with parquet.ParquetFile(path, pre_buffer=False, **options) as file:
            left = file.metadata.num_rows
            for batch in file.iter_batches(MOST_ROWS, columns=list(columns)):
                left -= len(batch)
                yield batch
            if left:
                raise ValueError(f"{left:,} of {file.metadata.num_rows:,} rows are missing")

    return typed_source(name, path, schema, batches)


def _arrow(path: Path, name: str, stream: bool) -> Source:
    """An Arrow file is a stream with a table of contents behind it, which is not relied on but must be there."""

    @contextmanager
    def opened() -> Iterator[pa.NativeFile]:
        with pa.memory_map(str(path)) as file:
            file.seek(0 if stream else 8)
            yield file

    with explained(name, path):
        with opened() as file:
            schema = pa.ipc.open_stream(file).schema
        with opened() as file:
            count = _check_messages(file, name)
        with pa.memory_map(str(path)) as file:
            if stream:
                whole = file.read_at(len(_END), file.size() - len(_END)) == _END
            else:
                whole = pa.ipc.open_file(file).num_record_batches == count
    if not whole:
        raise InputError("the end of the file is missing", where=name, remedy="Copy or write it again.")

    def batches(columns: Sequence[str], _: Sequence[str]) -> Iterator[pa.RecordBatch]:
        places = [schema.get_field_index(column) for column in columns]
        options = pa.ipc.IpcReadOptions(included_fields=places, ensure_alignment=pa.ipc.Alignment.DataTypeSpecific)
        with opened() as file:
            yield from pa.ipc.open_stream(file, options=options)

    return typed_source(name, path, schema, batches)


def _keys(head: bytes, name: str) -> pa.Schema:
    """The keys of the first lines of JSON, with the types of their values.

    pyarrow could tell, too, but takes minutes over very many keys and crashes where lists are nested very deeply.
    """
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if len(head) == PIECE_BYTES and len(lines) == 1:
        raise too_long(name)
    kinds: dict[str, pa.DataType] = {}
    for row, line in enumerate(lines[: -1 if len(head) == PIECE_BYTES else None], 1):
        if not line.strip():
            continue
        try:
            cells = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            what = f"cannot be read as JSON ({shorten(str(error), 200)})"
            raise InputError(what, where=f"{name}, row {row}", remedy=_LINES) from None
        if not isinstance(cells, dict):
            raise InputError("is not an object of JSON", where=f"{name}, row {row}", remedy=_LINES)
        for key, cell in cells.items():
            kind = _KINDS.get(type(cell), _NESTED)
            if kinds.get(key, pa.null()) == pa.null() or (kinds[key], kind) == (pa.int64(), pa.float64()):
                kinds[key] = kind
        check_width(len(kinds), name)
    return pa.schema(kinds)


_LINES = "Every line is an object with the same keys, and a key has values of one type."
_KINDS = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string(), type(None): pa.null()}
_NESTED = pa.struct([])


def _json(path: Path, name: str, schema: pa.Schema) -> Source:
    from pyarrow.json import ParseOptions, ReadOptions, open_json

    def batches(columns: Sequence[str], numbers: Sequence[str]) -> Iterator[pa.RecordBatch]:
        kinds = {column: schema.field(column).type for column in columns}
        whole = {column: pa.float64() for column in numbers if kinds[column] == pa.int64()}  # others may follow
        parse = ParseOptions(explicit_schema=pa.schema(kinds | whole), unexpected_field_behavior="ignore")
        row = 1
        try:
            for batch in open_json(_opened(path), ReadOptions(block_size=PIECE_BYTES), parse):
                yield batch
                row += len(batch)
        except pa.ArrowInvalid as error:
            raise _bad_line(error, name, row) from None

    return typed_source(name, path, schema, batches)


def _bad_line(error: Exception, name: str, first_row: int) -> Exception:
    """The error with the row in which it is, if it says so."""
    place = re.search(r"(.*) in row (\d+)", str(error), re.DOTALL)
    if place is None:
        return error
    column = re.search(r"Column\(/(.*)\) (.*)", place[1], re.DOTALL)
    what = f"the column {shorten(column[1])!r} {column[2]}" if column else f"cannot be read ({place[1]})"
    return InputError(shorten(what, 300), where=f"{name}, row {first_row + int(place[2])}", remedy=_LINES)


_END = b"\xff\xff\xff\xff\0\0\0\0"


def _check_messages(file: pa.NativeFile, name: str) -> int:
    """The number of record batches; complain of one that is small in the file and vast in memory."""
    count = 0
    for message in pa.ipc.MessageReader.open_stream(file):
        size = _unpacked(message)
        if size > _MOST_UNPACKED:
            what = f"a piece of {size:,} bytes when unpacked"
            raise InputError(what, where=name, remedy="Write it in smaller pieces, or without compression.")
        count += message.type == "record batch"
    return count


def _unpacked(message: pa.Message) -> int:
    """The bytes that the buffers of a message say they will take: the first word of each, if they are compressed.

    Where the buffers are stands in the message's head, a flatbuffer that pyarrow has checked and does not show.
    """
    head = message.metadata.to_pybytes()

    def field(table: int, number: int) -> int | None:
        """Where a field of a table stands."""
        index = table - struct.unpack_from("<i", head, table)[0]
        if 4 + 2 * number >= struct.unpack_from("<H", head, index)[0]:
            return None
        offset = struct.unpack_from("<H", head, index + 4 + 2 * number)[0]
        return table + offset if offset else None

    def target(place: int | None) -> int | None:
        return None if place is None else place + int(struct.unpack_from("<I", head, place)[0])

    table = target(field(struct.unpack_from("<I", head)[0], 2))
    if table is not None and message.type == "dictionary":
        table = target(field(table, 1))
    buffers = None if table is None or field(table, 3) is None else target(field(table, 2))
    if buffers is None:
        return 0  # nothing is compressed
    (count,) = struct.unpack_from("<I", head, buffers)
    body = memoryview(message.body or b"")
    places = struct.iter_unpack("<qq", head[buffers + 4 :][: 16 * count])
    words = [bytes(body[start : start + 8]) for start, length in places if length >= 8]
    return sum(max(0, int.from_bytes(word, "little", signed=True)) for word in words if len(word) == 8)
