"""Bad tables in every format that can carry them: what is wrong, in which file, row and column, and what to do."""

import datetime
import gzip
import io
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import debandit as db
from debandit.readers.reading import read
from debandit.readers.sources import source_of

GOOD = {"arm": ["A", "B", "A", "B"], "reward": [1.0, 2.5, 3.0, 0.5], "batch": [1, 1, 2, 2], "time": [1, 2, 3, 4]}
SEPARATED = (",", ";", "\t", "|")
PACKED = ("gzip", "zstd")
TYPED = ("parquet", "arrow", "stream", "feather")
FRAMES = ("pandas", "polars", "pyarrow", "dict")
FILES = (*SEPARATED, *PACKED, *TYPED, "json")
ALL = (*FILES, *FRAMES)


def arrow(columns):
    """An Arrow table; a column of several types becomes text."""
    arrays = {}
    for name, cells in columns.items():
        try:
            arrays[name] = pa.array(cells)
        except pa.ArrowException:
            arrays[name] = pa.array([None if cell is None else str(cell) for cell in cells])
    return pa.table(arrays)


def text(columns, separator=","):
    rows = [columns, *zip(*columns.values(), strict=True)]
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    return "".join(
        separator.join(f'"{c}"' if separator in c or not c.isprintable() else c for c in row) + "\n" for row in cells
    )


def saved(folder, columns, kind):
    """The table in a file of this kind, or as a frame."""
    path = folder / "table"
    if kind in SEPARATED:
        path.write_text(text(columns, kind), encoding="utf-8")
    elif kind in PACKED:
        with pa.CompressedOutputStream(str(path), kind) as file:
            file.write(text(columns).encode())
    elif kind == "json":
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows), encoding="utf-8")
    elif kind == "parquet":
        pa.parquet.write_table(arrow(columns), path)
    elif kind == "feather":
        pa.feather.write_feather(arrow(columns), path)
    elif kind in ("arrow", "stream"):
        table = arrow(columns)
        with (pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream)(path, table.schema) as writer:
            writer.write_table(table)
    else:
        frames = {"pandas": pd.DataFrame, "polars": lambda c: pl.from_arrow(arrow(c)), "pyarrow": arrow, "dict": dict}
        return frames[kind](columns)
    return path


def refused(given, **options):
    """The error of a table that cannot be read: short, printable, and with the name of the table."""
    with pytest.raises(db.InputError) as caught:
        read(given, **options)
    message = str(caught.value)
    assert len(message) < 2000
    assert message.replace("\n", "").isprintable()
    assert (str(given) if isinstance(given, Path) else "the table") in message
    return message


# --- cells -----------------------------------------------------------------------------------------------------------

CELLS = {
    "no arm": ("arm", None, "is missing", "Fill them in", ALL),
    "an empty arm": ("arm", "", "is missing", "Fill them in", ALL),
    "no reward": ("reward", None, "is missing", "--missing drop", ALL),
    "an empty reward": ("reward", "", "is missing", "--missing drop", (*SEPARATED, *PACKED, *TYPED, *FRAMES)),
    "NaN": ("reward", float("nan"), "is 'nan'", "Repair", (*SEPARATED, *PACKED, *TYPED)),
    "infinity": ("reward", float("inf"), "is 'inf'", "Repair", [kind for kind in ALL if kind != "json"]),
    "1e400": ("reward", "1e400", "is '1e400'", "Repair", [kind for kind in ALL if kind != "json"]),
    "text": ("reward", "x", "is 'x', not a finite number", "Repair", [kind for kind in ALL if kind != "json"]),
    "a formula": ("reward", "=1+1", "is '=1+1'", "Repair", [kind for kind in ALL if kind != "json"]),
    "a decimal comma": ("reward", "1,5", "is '1,5'", "decimal points", [kind for kind in ALL if kind != "json"]),
    "no batch": ("batch", None, "is missing", "Fill them in", ALL),
    "no time": ("time", None, "is missing", "Fill them in", ALL),
    "no date": ("time", "soon", "'soon'", "2026-01-31T12:00:00", [kind for kind in ALL if kind != "json"]),
    "colours": ("reward", "\x1b[31m\u202e", "is '\\x1b[31m\\u202e'", "Repair", [*SEPARATED, *TYPED]),
}


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, case in CELLS.items() for kind in case[4]])
def test_a_bad_cell(tmp_path, name, kind):
    column, cell, what, remedy, _ = CELLS[name]
    table = GOOD | {column: [*GOOD[column][:2], cell, GOOD[column][3]]}
    message = refused(saved(tmp_path, table, kind), batch="batch", time="time")
    row = 4 if kind in (*SEPARATED, *PACKED) else 3
    for part in (f"row {row}", f"column '{column}'", what, remedy):
        assert part in message


MIXED = {
    "text after numbers": [1, "x"],
    "numbers after text": ["x", 1],
    "a list": [1, [2]],
    "an object": [1, {"a": 2}],
    "true among numbers": [1, True],
}


@pytest.mark.parametrize("name", MIXED)
def test_json_lines_of_several_types(tmp_path, name):
    table = {"arm": ["A", "B"], "reward": MIXED[name]}
    message = refused(saved(tmp_path, table, "json"))
    assert "row 2: the column 'reward' changed from" in message
    assert "values of one type" in message


@pytest.mark.parametrize("number", ["1e400", "-1e400", "NaN", "Infinity", "01", "0x1", "1,5", "'1'"])
def test_json_lines_with_odd_numbers(tmp_path, number):
    (tmp_path / "table").write_text(f'{{"arm": "A", "reward": 1}}\n{{"arm": "B", "reward": {number}}}\n')
    assert "row 2" in refused(tmp_path / "table") or number in ("NaN", "Infinity")


# --- columns ---------------------------------------------------------------------------------------------------------

COLUMNS = {
    "no such column": ({"arm": ["A", "B"], "rewrad": [1.0, 2.0]}, ["no column 'reward'", "--reward rewrad"], ALL),
    "one arm": ({"arm": ["A", "A"], "reward": [1.0, 2.0]}, ["fewer than two arms: A", "column 'arm'"], ALL),
    "no rows": ({"arm": [], "reward": []}, ["no rows"], (*SEPARATED, *PACKED)),
    "huge": ({"arm": ["A", "B"], "reward": [1.0, 1e200]}, ["cannot be squared", "column 'reward'"], ALL),
    "10,001 columns": ({f"c{i}": [1] for i in range(10_001)}, ["10,001 columns"], ALL),
    "all empty": ({"arm": ["A", "B"], "reward": [None, None]}, ["'reward'"], ALL),
}


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, case in COLUMNS.items() for kind in case[2]])
def test_bad_columns(tmp_path, name, kind):
    table, expected, _ = COLUMNS[name]
    message = refused(saved(tmp_path, table, kind))
    for part in expected:
        assert part in message


@pytest.mark.parametrize("kind", (*TYPED, *FRAMES))
def test_typed_tables_without_rows_or_columns(tmp_path, kind):
    empty = {"arm": np.array([], str), "reward": np.array([], float)}
    assert "no rows" in refused(saved(tmp_path, empty, kind))
    assert "no column 'arm'" in refused(saved(tmp_path, {}, kind))


def test_json_lines_without_rows_or_columns(tmp_path):
    for content, expected in ((b"{}\n", "no column 'arm'"), (b" \n", "empty"), (b"{", "table"), (b"{]", "table")):
        (tmp_path / "table").write_bytes(content)
        assert expected in refused(tmp_path / "table")


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream", "pyarrow"])
def test_names_that_appear_twice(tmp_path, kind, monkeypatch):
    twice = pa.table([["A", "B"], ["A", "B"], [1.0, 2.0]], ["arm", "arm", "reward"])
    monkeypatch.setitem(globals(), "arrow", lambda columns: twice)
    assert "'arm' appears 2 times" in refused(saved(tmp_path, {}, kind))


NESTED = {
    "lists": pa.array([[1], [2]]),
    "structs": pa.array([{"a": 1}, {"a": 2}]),
    "maps": pa.array([[("a", 1)], [("b", 2)]], pa.map_(pa.string(), pa.int64())),
    "durations": pa.array([1, 2], pa.duration("s")),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int32()), pa.array([1.0, 2.0])),
}


@pytest.mark.parametrize("column", ["arm", "reward", "time", "batch"])
@pytest.mark.parametrize("name", NESTED)
def test_cells_that_are_no_single_values(tmp_path, monkeypatch, name, column):
    sound = {"arm": ["A", "B"], "reward": [1.0, 2.0], "time": [1, 2], "batch": [1, 2]}
    monkeypatch.setitem(globals(), "arrow", lambda columns: pa.table(sound | {column: NESTED[name]}))
    for kind in ("arrow", "stream", "pyarrow", *["parquet"] * (name != "runs")):
        message = refused(saved(tmp_path, {}, kind), time="time", batch="batch")
        kept = kind == "parquet" and name == "durations" and column != "reward"  # which Parquet keeps as whole numbers
        assert f"the column '{column}' holds values of the type" in message or kept


@pytest.mark.parametrize("kind", [*TYPED, "pandas", "polars", "pyarrow"])
def test_dates_are_no_rewards(tmp_path, kind):
    table = {"arm": ["A", "B"], "reward": [datetime.date(2026, 1, 31), datetime.date(2026, 2, 1)]}
    message = refused(saved(tmp_path, table, kind))
    assert "row 1: the value in column 'reward' is '2026-01-31', not a finite number" in message


def test_times_out_of_reach(tmp_path):
    far = {"s": 2**62, "ns": -(2**62)}
    for unit, moment in far.items():
        table = pa.table({"arm": ["A", "B"], "reward": [1.0, 2.0], "time": pa.array([moment, 1], pa.timestamp(unit))})
        if unit == "s":
            assert "in column 'time' is" in refused(table, time="time")
        else:
            assert read(table, time="time").log.labels == ("A", "B")
    (tmp_path / "table").write_text("arm,reward,time\nA,1,2026-01-01T00:00+01:00\nB,2,0001-01-01\n")
    assert "row 3: the time '0001-01-01' in column 'time' is not in the years" in refused(
        tmp_path / "table", time="time"
    )


def test_odd_types_that_are_fine():
    """Arms and batches may be dates that Python does not know, of zones that do not exist, or views of strings."""
    odd = {
        "far": pa.array([2**62, 1], pa.timestamp("s")),
        "nowhere": pa.array([2, 1], pa.timestamp("ns", "No/Where")),
        "views": pa.array(["A", "B"], pa.string_view()),
        "bytes": pa.array([b"A", b"\xff"]),
        "decimals": pa.array([1, 2]).cast(pa.decimal128(30, 2)),
    }
    for name, arms in odd.items():
        assert len(read(pa.table({"arm": arms, "reward": [1.0, 2.0]})).log.labels) == 2, name
    views = pa.array(["2026-01-02", None, "2026-01-01"], pa.string_view())
    table = pa.table({"arm": ["A", "B", "C"], "reward": [1.0, 2.0, 3.0], "time": views})
    assert "row 2: the value in column 'time' is missing" in refused(table, time="time")
    assert read(table, time="time", missing="drop").log.labels == ("C", "A")


def test_a_note_of_several_types_does_no_harm():
    kinds = pd.CategoricalDtype(["B", "A"], ordered=True)
    frame = pd.DataFrame({"arm": ["A", "B"], "reward": [1, 2], "note": [1, "x"]}).astype({"arm": kinds})
    assert read(frame).log.labels == ("B", "A")


# --- bytes -----------------------------------------------------------------------------------------------------------

PLAIN = text(GOOD)
BYTES = {
    "an empty file": (b"", "the file is empty"),
    "blank lines": (b"\n\r\n  \n", "the file is empty"),
    "UTF-16": (PLAIN.encode("utf-16"), "not a table in UTF-8"),
    "UTF-16 without a mark": (PLAIN.encode("utf-16-le"), "not a table in UTF-8"),
    "UTF-32": (PLAIN.encode("utf-32"), "not a table in UTF-8"),
    "Latin-1 in the header": ("arm,reward,größe\nA,1,2\n".encode("latin-1"), "not a table in UTF-8"),
    "Latin-1 in a row": ("arm,reward\nA,1\nBär,2\n".encode("latin-1"), "row 3: this row is not text in UTF-8"),
    "Latin-1 in a reward": ("arm,reward\nA,1\nB,ä\n".encode("latin-1"), "row 3: this row is not text in UTF-8"),
    "NULs": (b"arm,reward\0\nA,1\nB,2\n", "not a table in UTF-8"),
    "a NUL as a reward": (b"arm,reward\nA,1\nB,\0\n", "row 3: the value in column 'reward' is '\\x00'"),
    "too many fields": (b"arm,reward\nA,1\nB,2,3\n", "row 3: 3 fields where the header has 2"),
    "too few, in Latin-1": (b"arm,reward\nA,1\n\xe4\n", "row 3: 1 fields where the header has 2"),
    "a zip": (b"PK\x03\x04\x14\0", "not a table in UTF-8"),
    "a long line": (b"arm,reward\nA," + b"1" * 10_000_000, "a line of more than 4,000,000 bytes"),
    "a long line of JSON": (b'{"arm": "' + b"A" * 5_000_000, "a line of more than 4,000,000 bytes"),
    "decimal commas": (b"arm;reward\nA;1,5\nB;2,5\n", "Write decimal points instead of commas"),
}


@pytest.mark.parametrize("kind", ["plain", "gzip", "zstd"])
@pytest.mark.parametrize("name", BYTES)
def test_bad_bytes(tmp_path, name, kind):
    content, expected = BYTES[name]
    compress = {"plain": bytes, "gzip": gzip.compress, "zstd": lambda each: pa.compress(each, "zstd", asbytes=True)}
    (tmp_path / "table").write_bytes(compress[kind](content))
    assert expected in refused(tmp_path / "table")


@pytest.mark.parametrize("kind", ["plain", "gzip", "zstd"])
def test_a_mark_of_utf8_and_several_members_are_fine(tmp_path, kind):
    parts = [("\ufeff" + PLAIN[:20]).encode(), PLAIN[20:].encode()]
    compress = {"plain": bytes, "gzip": gzip.compress, "zstd": lambda each: pa.compress(each, "zstd", asbytes=True)}
    (tmp_path / "table").write_bytes(b"".join(map(compress[kind], parts)))
    assert read(tmp_path / "table").log.horizon == 4


@pytest.mark.parametrize("kind", [*PACKED, *TYPED])
def test_truncated_files(tmp_path, kind):
    """Cut anywhere, also between two pieces of a stream: fewer rows would be another experiment."""
    rows = {"arm": ["A", "B"] * 300, "reward": np.random.default_rng(1).normal(size=600).tolist()}
    path = saved(tmp_path, rows, kind)
    if kind == "stream":
        table = arrow(rows)
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=100)
    whole = path.read_bytes()
    assert read(path).log.horizon == 600
    for length in [*range(5, 40), *range(40, len(whole) - 100, 97), *range(len(whole) - 100, len(whole))]:
        path.write_bytes(whole[:length])
        refused(path)


@pytest.mark.parametrize("kind", FILES)
def test_names_of_other_formats_do_not_matter(tmp_path, kind):
    for name in ("table.csv", "table.parquet", "table.json.gz"):
        assert read(saved(tmp_path, GOOD, kind).rename(tmp_path / name)).log.horizon == 4


@pytest.mark.parametrize("kind", TYPED)
def test_compressed_as_a_whole(tmp_path, kind):
    path = saved(tmp_path, GOOD, kind)
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert "Unpack it first" in refused(path)


# --- places ----------------------------------------------------------------------------------------------------------


def test_places_without_a_table(tmp_path):
    assert "directory" in refused(tmp_path)
    assert "no such file" in refused(tmp_path / "missing.parquet")
    locked = saved(tmp_path, GOOD, ",")
    locked.chmod(0)
    if os.geteuid():
        assert "Permission denied" in refused(locked)


def test_several_files_that_differ(tmp_path):
    (tmp_path / "1.csv").write_text("arm,reward\nA,1\nB,2\n")
    (tmp_path / "2.csv").write_text("arm,reward,note\nA,1,x\n")
    with pytest.raises(db.InputError, match=r"2\.csv: the column 'note' is in only one of"):
        read([tmp_path / "1.csv", tmp_path / "2.csv"])
    for number, rewards in enumerate([[1, 0], [0.5, 2.0], [True, False], ["3", "x"]]):
        pa.parquet.write_table(pa.table({"arm": ["A", "B"], "reward": rewards}), tmp_path / f"{number}.parquet")
    log = read([tmp_path / f"{number}.parquet" for number in (0, 1, 2)]).log
    assert log.rounds.rewards.tolist() == [1, 0, 0.5, 2, 1, 0]
    with pytest.raises(db.InputError, match=r"3\.parquet, row 2: .* 'x', not a finite number"):
        read(str(tmp_path / "?.parquet"))
    times = ([1, 2], ["2026-01-01", "2026-01-02"], [datetime.date(2026, 1, 3)] * 2)
    for number, column in enumerate(times):
        table = pa.table({"arm": ["A", "B"], "reward": [1, 2], "time": column})
        pa.parquet.write_table(table, tmp_path / f"time-{number}.parquet")
    with pytest.raises(db.InputError, match="the time '1' in column 'time' is a number, and others are dates"):
        read(str(tmp_path / "time-*.parquet"), time="time")
    assert read([tmp_path / "time-1.parquet", tmp_path / "time-2.parquet"], time="time").log.horizon == 4


def test_whole_numbers_and_then_others(tmp_path):
    """The types of JSON lines are those of the first 4 MB; after whole numbers there may be others."""
    lines = '{"arm": "A", "reward": 1}\n{"arm": "B", "reward": 0}\n' * 90_000 + '{"arm": "B", "reward": 2.5}\n'
    (tmp_path / "table").write_text(lines)
    assert read(tmp_path / "table").log.rounds.rewards[-1] == 2.5
    (tmp_path / "table").write_text(lines + '{"arm": "B", "reward": "x"}\n')
    assert "row 180002: the column 'reward' changed from number to string" in refused(tmp_path / "table")
