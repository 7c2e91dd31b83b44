"""Bad tables in every format that can carry them: what is wrong, in which file, row and column, and what to do."""

import datetime
import gzip
import json
import os
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
    "NaN": ("reward", float("nan"), "is missing", "--missing drop", (*SEPARATED, *PACKED, *TYPED)),
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
    "no such column": (
        {"arm": ["A", "B"], "rewrad": [1.0, 2.0]},
        ["no column is called reward, outcome, y or the like", "--reward rewrad"],
        ALL,
    ),
    "one arm": ({"arm": ["A", "A"], "reward": [1.0, 2.0]}, ["fewer than two arms: A", "column 'arm'"], ALL),
    "no rows": ({"arm": [], "reward": []}, ["no rows"], (*SEPARATED, *PACKED)),
    "huge": ({"arm": ["A", "B"], "reward": [1.0, 1e200]}, ["too large to compute with", "column 'reward'"], ALL),
    "10,001 columns": ({f"c{i}": [1] for i in range(10_001)}, ["10,001 columns"], ALL),
    "all empty": ({"arm": ["A", "B"], "reward": [None, None]}, ["'reward'"], ALL),
}


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, case in COLUMNS.items() for kind in case[2]])
def test_bad_columns(tmp_path, name, kind):
    table, expected, _ = COLUMNS[name]
    message = refused(saved(tmp_path, table, kind))
    for part in expected:
        assert part in message


@pytest.mark.parametrize("kind", [*TYPED, *FRAMES])
def test_typed_tables_without_rows_or_columns(tmp_path, kind):
    empty = {"arm": np.array([], str), "reward": np.array([], float)}
    message = refused(saved(tmp_path, empty, kind))
    assert "no rows" in message or "the column 'arm' is empty" in message  # pandas 2 has no types then
    assert "no column is called arm, action, variant or the like" in refused(saved(tmp_path, {}, kind))


def test_json_lines_without_rows_or_columns(tmp_path):
    for content, expected in (
        (b"{}\n", "no column is called arm, action, variant or the like"),
        (b" \n", "empty"),
        (b"{", "table"),
        (b"{]", "table"),
    ):
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
    "a long line": (b"arm,reward\nA," + b"1" * 10_000_000, "a line of more than 1,000,000 bytes"),
    "a long line of JSON": (b'{"arm": "' + b"A" * 5_000_000, "a line of more than 1,000,000 bytes"),
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
    """The types of JSON lines are those of the first MB; after whole numbers there may be others."""
    lines = '{"arm": "A", "reward": 1}\n{"arm": "B", "reward": 0}\n' * 90_000 + '{"arm": "B", "reward": 2.5}\n'
    (tmp_path / "table").write_text(lines)
    assert read(tmp_path / "table").log.rounds.rewards[-1] == 2.5
    (tmp_path / "table").write_text(lines + '{"arm": "B", "reward": "x"}\n')
    assert "row 180002: the column 'reward' changed from number to string" in refused(tmp_path / "table")


# --- small files that are large in memory ----------------------------------------------------------------------------

MEMORY = 3_000_000_000  # bytes of address space for a command, which should take far less
BOMBS = {  # what comes first, what is repeated, and how often: 4 GB
    "a line without end": (b"arm,reward\nA,", b"1" * 2**20, 4000, "a line of more than"),
    "a quote without end": (b'arm,reward\nA,"', b"1\n" * 2**19, 4000, "a line of more than"),
    "NULs": (b"arm,reward\n", b"\0" * 2**20, 4000, "a line of more than"),
    "NULs alone": (b"", b"\0" * 2**20, 4000, "not a table in UTF-8"),
    "JSON without end": (b'{"arm": "A", "reward": 1}\n{"arm": "', b"A" * 2**20, 4000, "a line of more than"),
    "keys without end": (b"{", b'"a": {' * 2**17, 5000, "a line of more than"),
}


def exploding(path, kind, first, then, times):
    """Parts that are compressed on their own, one behind the other, are unpacked as one file."""
    compress = {"gzip": gzip.compress, "zstd": lambda each: pa.compress(each, "zstd", asbytes=True)}[kind]
    path.write_bytes(compress(first) + times * compress(then))


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def command(path):
    """The errors of the installed command, which must refuse the file, take little memory and end calmly."""
    arguments = [sys.executable, "-m", "debandit", "describe", str(path)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, preexec_fn=limited)
    assert done.returncode == 2, done.stderr  # pyarrow's threads would abort if they needed Python when it has ended
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: {path}")
    return done.stderr


@pytest.mark.parametrize("name", BOMBS)
def test_what_grows_without_end(tmp_path, name):
    first, then, times, expected = BOMBS[name]
    kind = PACKED[list(BOMBS).index(name) % 2]
    exploding(tmp_path / "table", kind, first, then, times)
    assert expected in command(tmp_path / "table")


@pytest.mark.parametrize("kind", PACKED)
def test_very_many_rows_are_read_in_pieces(tmp_path, kind):
    """30 million bytes of rows from 30 thousand, of which a few million are in memory at a time."""
    exploding(tmp_path / "table", kind, b"arm,reward\n", b"A,1\nB,0\n" * 2**16, 60)
    assert pieces_of(tmp_path / "table") == 60 * 2**17


def pieces_of(path):
    """The number of rows; each piece is small."""
    rows = 0
    for piece in source_of(path).read(["arm", "reward"], ["reward"]):
        assert piece.columns.get_total_buffer_size() < 100_000_000
        assert len(piece.columns) <= 2**20
        rows += len(piece.columns)
    return rows


def test_very_many_rows_of_typed_files(tmp_path):
    count = 3_000_000
    arms = pa.DictionaryArray.from_arrays(pa.array(np.arange(count) % 2, pa.int8()), ["A", "B"])
    table = pa.table({"arm": arms, "reward": np.zeros(count)})
    pa.parquet.write_table(table, tmp_path / "table", row_group_size=count)
    assert (tmp_path / "table").stat().st_size < 100_000
    assert pieces_of(tmp_path / "table") == count
    with pa.ipc.new_file(tmp_path / "table", table.schema) as writer:
        writer.write_table(table)
    assert pieces_of(tmp_path / "table") == count


@pytest.mark.parametrize("opened", [pa.ipc.new_file, pa.ipc.new_stream])
@pytest.mark.parametrize("compression", ["zstd", "lz4"])
def test_arrow_files_say_how_large_they_will_be(tmp_path, monkeypatch, opened, compression):
    """The sizes are found before anything is unpacked: 8 bytes for each of two numbers in each of 100,000 rows."""
    table = pa.table({"arm": np.arange(100_000) % 2 + 0.0, "reward": np.zeros(100_000)})
    with opened(tmp_path / "table", table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    monkeypatch.setattr("debandit.readers.formats._MOST_UNPACKED", 1_600_000)
    assert read(tmp_path / "table").log.horizon == 100_000
    monkeypatch.setattr("debandit.readers.formats._MOST_UNPACKED", 1_599_999)
    message = refused(tmp_path / "table")
    assert "a piece of 1,600,000 bytes when unpacked" in message
    assert "smaller pieces" in message


def test_nested_without_end(tmp_path):
    lists = b"[" * 100_000 + b"]" * 100_000
    (tmp_path / "table").write_bytes(b'{"arm": "A", "reward": 1}\n{"arm": "B", "reward": ' + lists + b"}\n")
    assert "row 2: cannot be read as JSON" in command(tmp_path / "table")
    (tmp_path / "table").write_bytes(b"".join(b'{"c%d": 1}\n' % i for i in range(100_000)))
    assert "10,001 columns" in command(tmp_path / "table")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no devices")
def test_devices_without_end():
    assert "not a table in UTF-8" in command(Path("/dev/zero"))


# --- files that lie --------------------------------------------------------------------------------------------------


def test_offsets_that_point_elsewhere(tmp_path):
    """Without a look at them, pyarrow reads where the second offset says, and the process dies."""
    table = pa.table({"arm": ["A", "B"], "reward": [1.0, 2.0]})
    for name, opened in (("file", pa.ipc.new_file), ("stream", pa.ipc.new_stream)):
        with opened(tmp_path / name, table.schema) as writer:
            writer.write_table(table)
        content = (tmp_path / name).read_bytes()
        offsets = np.array([0, 1, 2], np.int32).tobytes()
        assert content.count(offsets) == 1
        for lie in ([0, 2**30, 2**30 + 1], [0, -(2**30), 2], [2, 1, 0], [0, 1, 2**31 - 1]):
            (tmp_path / name).write_bytes(content.replace(offsets, np.array(lie, np.int32).tobytes()))
            assert "cannot be read" in refused(tmp_path / name)


@pytest.mark.parametrize(
    ("count", "expected"), [(10**9, "999,998,766 of 1,000,000,000 rows are missing"), (0, "no rows"), (-1, "corrupt")]
)
def test_parquet_that_declares_other_numbers_of_rows(tmp_path, count, expected):
    """The number of rows stands in the footer as a zigzag varint: of the file, its row group and both columns."""
    table = pa.table({"arm": ["A", "B"] * 617, "reward": np.arange(1234.0)})
    pa.parquet.write_table(table, tmp_path / "table")
    content = (tmp_path / "table").read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    assert content[footer:].count(varint(1234)) >= 4
    changed = content[footer:-8].replace(varint(1234), varint(count))
    (tmp_path / "table").write_bytes(content[:footer] + changed + len(changed).to_bytes(4, "little") + b"PAR1")
    assert expected in refused(tmp_path / "table")


def varint(number):
    zigzag, found = (number << 1) ^ (number >> 63), b""
    while zigzag > 127:
        found, zigzag = found + bytes([zigzag & 127 | 128]), zigzag >> 7
    return found + bytes([zigzag])


def test_pages_with_a_wrong_checksum(tmp_path):
    table = pa.table({"arm": ["A", "B"] * 50, "reward": np.random.default_rng(1).normal(size=100)})
    options = {"write_page_checksum": True, "use_dictionary": False, "compression": "none"}
    pa.parquet.write_table(table, tmp_path / "table", **options)
    content = (tmp_path / "table").read_bytes()
    cell = np.float64(table["reward"][50].as_py()).tobytes()
    assert content.count(cell) == 1
    (tmp_path / "table").write_bytes(content.replace(cell, np.float64(7).tobytes()))
    assert "checksum" in refused(tmp_path / "table")
