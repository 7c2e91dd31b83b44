"""Spoiled files of every format: each gives a log, or an error that names the file."""

import csv
import datetime
import decimal
import functools
import gzip
import io
import json
import random

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import debandit as db
from debandit.readers.reading import read
from fuzz.properties import need

LONGEST_MESSAGE = 2000

# --- tables that are to be spoiled -----------------------------------------------------------------------------------

ROWS = 12
CELLS = {  # of each kind: sound ones, and ones that are not what they should be
    "arm": ["A", "B", "C", "Blue ", "ärm", "", None, "x" * 3000, "\x1b[31m", "\u202eB", "a\0b", '"', "A,B", "A\nB"],
    "reward": [0, 1, 2.5, -3e7, 1e-300, 1e200, 1e308, float("inf"), float("nan"), None, True, "1,5", "x", "", 10**25,
               "1e400", "٣", datetime.date(2026, 1, 31), decimal.Decimal("1.50"), b"\xff", [1], {"a": 1}],
    "time": [1, 2, 3, 10**18, -1, 2.5, None, "", "2026-01-31", "2026-01-31T12:00+02:00", "soon", float("nan"), 10**19,
             "9999-12-31T23:59-12:00", datetime.datetime(2026, 1, 31), datetime.date(1, 1, 1), [1]],
    "batch": [1, 2, "mon", "tue", None, "", float("nan"), datetime.date(2026, 1, 31), [1]],
    "pulls": [10, 20, 0, -1, 2.5, 1e300, None, "x", 2**62, float("nan")],
    "conversions": [1, 2, 0, -1, 2.5, None, "x", 2**62],
}  # fmt: skip
TYPES = (
    *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.null(), pa.bool_(), pa.int8(), pa.uint64()),
    *(pa.float16(), pa.float32(), pa.float64(), pa.decimal128(20, 3), pa.decimal256(60, 3), pa.date32(), pa.date64()),
    *(pa.timestamp("s"), pa.timestamp("ns", "Europe/Berlin"), pa.time64("ns"), pa.duration("us")),
    *(pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.float64()), pa.month_day_nano_interval()),
    *(pa.list_(pa.int64()), pa.struct({"a": pa.int64()}), pa.map_(pa.string(), pa.int64())),
)


def table(rng):
    """Columns of a log, mostly sound, as lists."""
    names = ["arm", "reward", *rng.sample(["time", "batch", "note"], rng.randrange(3))]
    if rng.random() < 0.1:
        names = ["arm", "pulls", "conversions", *rng.sample(["batch"], rng.randrange(2))]
    rows = rng.choice([0, 1, 2, ROWS, ROWS, ROWS, ROWS, 300])
    columns = {}
    for name in names:
        cells = CELLS.get(name, ["", "x"])
        sound = cells[: 3 if rng.random() < 0.8 else len(cells)]
        if rng.random() < 0.7:  # usually of one type
            sound = [cell for cell in sound if type(cell) is type(sound[0])]
        columns[name] = sorted(rng.choices(sound, k=rows), key=str) if name == "batch" else rng.choices(sound, k=rows)
        if rows and rng.random() < 0.1:
            columns[name][rng.randrange(rows)] = rng.choice(cells)
    return columns


def typed(columns, rng):
    """The columns as an Arrow table, of odd types now and then; what does not fit a type is text."""
    arrays = []
    for cells in columns.values():
        try:
            array = pa.array(cells)
        except (pa.ArrowException, OverflowError):
            array = pa.array([None if cell is None else str(cell).replace("\udcff", "?") for cell in cells])
        if rng.random() < 0.1:
            kind = rng.choice(TYPES)
            try:
                array = array.cast(kind)
            except (pa.ArrowException, NotImplementedError):
                array = pa.nulls(len(array), kind)
        arrays.append(array)
    names = list(columns)
    if rng.random() < 0.03:
        names[rng.randrange(len(names))] = names[0]
    return pa.table(arrays, names)


def as_csv(columns, rng, separator=None):
    text = io.StringIO(newline="")
    rows = csv.writer(
        text,
        delimiter=separator or rng.choice(",;\t|"),
        lineterminator=rng.choice(["\n", "\r\n"]),
        quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    )
    rows.writerows([columns, *zip(*columns.values(), strict=True)])
    return text.getvalue().encode("utf-8", "surrogatepass")


def as_json(columns, rng):
    names = list(columns)
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return "".join(json.dumps(row, default=str) + "\n" for row in rows).encode()


def as_parquet(columns, rng):
    file = io.BytesIO()
    whole = typed(columns, rng)
    options = {
        "compression": rng.choice(["none", "snappy", "gzip", "zstd", "lz4", "brotli"]),
        "use_dictionary": rng.random() < 0.5,
        "data_page_version": rng.choice(["1.0", "2.0"]),
        "row_group_size": rng.choice([3, 1000]),
        "write_page_checksum": rng.random() < 0.3,
        "store_schema": rng.random() < 0.7,
    }
    try:
        pa.parquet.write_table(whole, file, **options)
    except (pa.ArrowException, NotImplementedError):
        file = io.BytesIO()
        pa.parquet.write_table(pa.table({n: pa.array([str(c) for c in cells]) for n, cells in columns.items()}), file)
    return file.getvalue()


def as_arrow(columns, rng):
    file, whole = io.BytesIO(), typed(columns, rng)
    opened = rng.choice([pa.ipc.new_file, pa.ipc.new_stream])
    try:
        options = pa.ipc.IpcWriteOptions(compression=rng.choice([None, None, "lz4", "zstd"]))
        with opened(file, whole.schema, options=options) as writer:
            writer.write_table(whole, max_chunksize=rng.choice([3, 1000]))
    except pa.ArrowInvalid:  # several dictionaries in one file
        file = io.BytesIO()
        with opened(file, whole.schema) as writer:
            writer.write_table(whole)
    return file.getvalue()


FORMATS = (as_csv, as_csv, as_json, as_parquet, as_parquet, as_arrow, as_arrow)


# --- how they are spoiled --------------------------------------------------------------------------------------------


def place(content, rng):
    """Somewhere in a file, often near one of its ends, where headers and footers are."""
    near = rng.choice([None, 64, 600])
    if near is None or near >= len(content):
        return rng.randrange(len(content) + 1)
    return rng.randrange(near) if rng.random() < 0.5 else len(content) - rng.randrange(near)


def cut(content, rng):
    return content[: place(content, rng)] if rng.random() < 0.7 else content[place(content, rng) :]


def flip(content, rng):
    spoiled = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 5, 40]) if spoiled else 0):
        at = min(place(content, rng), len(spoiled) - 1)
        spoiled[at] = rng.choice([spoiled[at] ^ (1 << rng.randrange(8)), rng.randrange(256), 0, 0xFF, 0x7F, 0x80])
    return bytes(spoiled)


def overwrite(content, rng):
    """Lengths and offsets are mostly little-endian integers."""
    at, width = place(content, rng) // 4 * 4, rng.choice([2, 4, 8])
    number = rng.choice([0, 1, -1, 2**31 - 1, 2**31, 2**40, -(2**31), 2**62, len(content), rng.getrandbits(20), 10**9])
    return content[:at] + (number % 2 ** (8 * width)).to_bytes(width, "little") + content[at + width :]


def insert(content, rng):
    at = place(content, rng)
    new = rng.choice([rng.randbytes(rng.choice([1, 4, 50])), b"\0" * rng.choice([1, 8, 1000]), *INSERTED])
    return content[:at] + new + content[at:]


INSERTED = (
    *(b'"', b'""', b"'", b",", b",,,,,,,,", b";", b"\t", b"|", b"\n", b"\r", b"\r\n", b"\n\n", b"{", b"}", b"[["),
    *(b"\xff\xfe", b"\xe9", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x1b[31m", b"\\"),
    *(b"1e400", b"9" * 5000, b"-0x1p4", b"NaN", b"null"),
    *(b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"\x1f\x8b\x08", b"(\xb5/\xfd"),
)


def delete(content, rng):
    at = place(content, rng)
    return content[:at] + content[at + rng.choice([1, 1, 4, 8, 100]) :]


def repeat(content, rng):
    at, length = place(content, rng), rng.choice([1, 8, 64, 500])
    return content[: at + length] + content[at : at + length] * rng.choice([1, 1, 20]) + content[at + length :]


def splice(content, rng):
    other = original(rng.randrange(ORIGINALS))
    return content[: place(content, rng)] + other[place(other, rng) :]


def exchange(content, rng):
    """Separators, quotes and line ends."""
    old, new = rng.choices([b",", b";", b"\t", b"|", b"\n", b"\r", b"\r\n", b'"', b".", b":", b" "], k=2)
    return content.replace(old, new, rng.choice([-1, -1, 1, 3]))


def encode(content, rng):
    text = content.decode("utf-8", "replace")
    return text.encode(
        rng.choice(["utf-8-sig", "utf-16", "utf-16-le", "latin-1", "utf-32", "cp037", "utf-7"]), "replace"
    )


def compress(content, rng):
    packed = gzip.compress(content, 1) if rng.random() < 0.5 else pa.compress(content, "zstd", asbytes=True)
    return packed * rng.choice([1, 1, 2])


OFTEN = (flip, flip, overwrite, insert)
SPOILERS = (cut, flip, overwrite, insert, delete, repeat, splice, exchange, encode, compress, *OFTEN)
ORIGINALS = 400


@functools.cache
def original(number):
    """A file that is as sound as its table."""
    rng = random.Random(f"original {number}")
    return FORMATS[number % len(FORMATS)](table(rng), rng)


def made(seed):
    """The file with this seed, one character for each byte, and how it is read."""
    rng = random.Random(f"file {seed}")
    content = original(rng.randrange(ORIGINALS))
    for _ in range(rng.choice([0, 1, 1, 1, 1, 2, 3])):
        content = rng.choice(SPOILERS)(content, rng)
    options = {
        "batched": rng.random() < 0.5,
        "missing": rng.choice(["refuse", "refuse", "drop"]),
        "time": rng.choice([None, None, "none", "time"]),
        "batch_by": rng.choice([None, None, None, "day"]),
    }
    return {"content": content.decode("latin-1"), "options": {k: value for k, value in options.items() if value}}


# --- what must be true -----------------------------------------------------------------------------------------------


def tried(given, folder):
    path, content, options = folder / "spoiled.table", given["content"].encode("latin-1"), given["options"]
    path.write_bytes(content)
    try:
        log = read(path, **options).log
    except (db.InputError, db.Refused) as error:
        need(len(str(error)) < LONGEST_MESSAGE, f"a message of {len(str(error))} characters: {str(error)[:300]}")
        need(str(path) in str(error) or str(error).startswith("--"), f"the file is not named: {error}")
        raise
    need_log(log)
    rows = None if log.rounds is None or "missing" in options else lines(content)
    need(rows in (None, log.horizon), f"{log.horizon} rounds, but Python's csv module finds {rows} rows")
    return True


def need_log(log):
    """Arms that have names, and means that are numbers."""
    need(len(log.labels) >= 2 and all(label and label == label.strip() for label in log.labels), f"arms {log.labels}")
    pulled = log.pulls > 0
    sound = log.pulls.min() >= 0 and np.isfinite([log.means[pulled], log.variances[pulled]]).all()
    need(sound, "means that are none")


def lines(content):
    """The rows of a CSV file as Python counts them, where that is simple; empty lines are none."""
    if content[:1] in (b"{", b"P", b"\xff", b"\x1f", b"(") or content[:6] == b"ARROW1" or b"\0" in content:
        return None
    text = content.removeprefix(b"\xef\xbb\xbf").decode()
    mark = max(",;\t|", key=text.lstrip("\r\n").splitlines()[0].count)
    return sum(1 for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if row) - 1
