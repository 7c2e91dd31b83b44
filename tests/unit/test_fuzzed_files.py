"""2,500 spoiled files: each gives a log, or an error that names it; `tests/fuzz_files.py` reads more."""

import fuzz_files
import pytest

import debandit as db
from debandit.readers.reading import Reading

SLICES, FILES = 5, 500


@pytest.mark.parametrize("part", range(SLICES))
def test_spoiled_files_are_read_or_refused(tmp_path, part):
    seeds = range(part * FILES, (part + 1) * FILES)
    assert list(fuzz_files.troubles(seeds, tmp_path)) == []


def test_all_kinds_of_files_are_read_and_refused(tmp_path):
    """The files are worth their time: some of each kind are still logs, and more are not."""
    outcomes = set()
    for seed in range(1000):
        content, options = fuzz_files.spoiled(seed)
        (tmp_path / "table").write_bytes(content)
        try:
            read = bool(fuzz_files.read(tmp_path / "table", **options))
        except db.InputError:
            read = False
        outcomes.add((content[:4].strip() if content[:1] in b"PA\xff{\x1f(" else b"text", read))
    kinds = (b"PAR1", b"ARRO", b"\xff\xff\xff\xff", b'{"ar', b"(\xb5/\xfd", b"text")
    assert outcomes >= {(kind, read) for kind in kinds for read in (True, False)}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (KeyError("arm"), "KeyError"),
        (db.InputError("no", where="elsewhere.csv"), "not named"),
        (db.InputError("x" * 1990, where="table.csv", remedy="y" * 100), "a message of"),
        (db.ExperimentLog(["A", "B"], [1, 0]), "2 rounds, but Python's csv module finds 3 rows"),
    ],
)
def test_what_is_wrong_is_noticed(tmp_path, monkeypatch, answer, expected):
    def read(path, **options):
        if isinstance(answer, Exception):
            raise answer
        return Reading(answer, [])

    monkeypatch.setattr(fuzz_files, "read", read)
    assert expected in fuzz_files.trouble(tmp_path / "table.csv", b"arm,reward\nA,1\nB,0\nA,1\n", {})
