"""Reads spoiled files: each must give a log, or an error that names the file and can be printed.

`tests/unit/test_fuzzed_files.py` reads the first 2,500 of them; as a command this reads any number. A file depends on
its seed alone. What fails is kept, and what was wrong with it is printed:

    python tests/fuzz_files.py --files 1000000 --seed 7
"""

import argparse
import csv
import datetime
import decimal
import functools
import gzip
import io
import json
import multiprocessing
import random
import re
import resource
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import debandit as db
from debandit.readers.reading import read

LONGEST_MESSAGE, LONGEST_SECONDS, MOST_MEMORY = 2000, 10, 1_000_000_000
OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")  # not \n

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


def spoiled(seed):
    """The file with this seed, and how it is read."""
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
    return content, {name: value for name, value in options.items() if value}


# --- what must not happen --------------------------------------------------------------------------------------------


def trouble(path, content, options):
    """What is wrong with how this file is read, or nothing."""
    path.write_bytes(content)
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            log = read(path, **options).log
    except (db.InputError, db.Refused) as error:
        found = wrong_message(str(error), path)
    except Exception as error:
        found = f"{type(error).__name__}: {str(error)[:300]}"
    else:
        found = wrong_log(log, content, options)
    if time.perf_counter() - started > LONGEST_SECONDS:
        found = f"it took {time.perf_counter() - started:.0f} seconds"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    return f"it took {grown:,} bytes" if grown > MOST_MEMORY else found


def wrong_message(text, path):
    if len(text) > LONGEST_MESSAGE:
        return f"a message of {len(text)} characters: {text[:300]}"
    if OBEYED.search(text):
        return f"a message that cannot be printed: {text!r}"
    return None if str(path) in text or text.startswith("--") else f"the file is not named: {text}"


def wrong_log(log, content, options):
    if len(log.labels) < 2 or not all(label and label == label.strip() for label in log.labels):
        return f"arms {log.labels}"
    pulled = log.pulls > 0
    if log.pulls.min() < 0 or not np.isfinite([log.means[pulled], log.variances[pulled]]).all():
        return "means that are none"
    rows = None if log.rounds is None or "missing" in options else lines(content)
    return None if rows in (None, log.horizon) else f"{log.horizon} rounds, but Python's csv module finds {rows} rows"


def lines(content):
    """The rows of a CSV file as Python counts them, where that is simple; empty lines are none."""
    if content[:1] in (b"{", b"P", b"\xff", b"\x1f", b"(") or content[:6] == b"ARROW1" or b"\0" in content:
        return None
    text = content.removeprefix(b"\xef\xbb\xbf").decode()
    mark = max(",;\t|", key=text.lstrip("\r\n").splitlines()[0].count)
    return sum(1 for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if row) - 1


def troubles(seeds, folder, notify=lambda seed: None):
    """The seeds of files that are not read as they should be, and why."""
    path = folder / "spoiled.table"
    for seed in seeds:
        notify(seed)
        content, options = spoiled(seed)
        what = trouble(path, content, options)
        if what is not None:
            (folder / f"{seed}.table").write_bytes(content)
            yield seed, options, what


# --- very many of them -----------------------------------------------------------------------------------------------

AT_ONCE = 20_000  # files that one process reads


def work(seeds, folder, now):
    """Read these files; the parent sees which one it is."""

    def notify(seed):
        now.value = seed

    for seed, options, what in troubles(seeds, folder, notify):
        print(f"seed {seed}, {options}: {what}", flush=True)


def survived(seeds, folder):
    """The seed of the file at which a process died or slept, or none."""
    context = multiprocessing.get_context("spawn")
    now = context.Value("q", seeds[0])
    child = context.Process(target=work, args=(seeds, folder, now))
    child.start()
    while child.is_alive():
        seen = now.value
        child.join(3 * LONGEST_SECONDS)
        if child.is_alive() and now.value == seen:
            child.kill()
            child.join()
    return None if child.exitcode == 0 else (now.value, child.exitcode)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first file")
    parser.add_argument("--folder", type=Path, default=Path("spoiled-files"), help="where failing files are kept")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    started, first, end = time.perf_counter(), chosen.seed, chosen.seed + chosen.files
    while first < end:
        stopped = survived(range(first, min(first + AT_ONCE, end)), chosen.folder)
        if stopped is None:
            first = min(first + AT_ONCE, end)
        else:
            seed, code = stopped
            (chosen.folder / f"{seed}.table").write_bytes(spoiled(seed)[0])
            print(f"seed {seed}, {spoiled(seed)[1]}: the process ended with {code}", flush=True)
            first = seed + 1
    print(f"{chosen.files:,} files, {chosen.files / (time.perf_counter() - started):.0f} a second")
    (chosen.folder / "spoiled.table").unlink(missing_ok=True)
    failed = len(list(chosen.folder.glob("*.table")))
    print(f"{failed} of them failed and are in {chosen.folder}" if failed else "all of them were read or refused")
    return failed > 0


if __name__ == "__main__":
    raise SystemExit(main())
