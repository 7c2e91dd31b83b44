"""Reading CSV files: good ones, and what is said of bad ones."""

import time

import pytest

import debandit as db

GOOD = "arm,reward\nA,1\nB,2.5\nA,3\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name="trial.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_columns_order_and_time(write):
    log = db.read_log(write(GOOD))
    assert (log.labels, log.rounds.rewards.tolist()) == (("A", "B"), [1, 2.5, 3])
    text = "when,drug,response\n2,B,1\n1,A,0\n10,A,1\n"
    log = db.read_log(write(text), arm="drug", reward="response", time="when")
    assert (log.labels, log.rounds.rewards.tolist()) == (("A", "B"), [0, 1, 1])
    dates = "t,arm,reward\n2026-02-01,B,1\n2026-01-31T12:00,A,0\n"
    assert db.read_log(write(dates), time="t").labels == ("A", "B")
    nanoseconds = "t,arm,reward\n1700000000000000001,B,1\n1700000000000000000,A,0\n"
    assert db.read_log(write(nanoseconds), time="t").labels == ("A", "B")
    assert db.read_log(write(GOOD), arms=["B", "C", "A"]).pulls.tolist() == [1, 0, 2]


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="POSIX time zones")
def test_times_do_not_depend_on_the_zone_of_the_machine(write, monkeypatch):
    """02:30 does not exist on that day in Berlin; as UTC it is before 03:10."""
    path = write("t,arm,reward\n2026-03-29T03:10,B,1\n2026-03-29T02:30,A,0\n")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        assert db.read_log(path, time="t").labels == ("A", "B")
    finally:
        monkeypatch.undo()
        time.tzset()


def test_unusual_but_sound_files(write):
    quoted = '\ufeff"arm", reward \r\n"A, large",1\r\n"say ""B""",2\r\n\r\n'
    assert db.read_log(write(quoted)).labels == ("A, large", 'say "B"')


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ("", {}, ["the file is empty", "header"]),
        ("arm,reward\n", {}, ["no rows"]),
        (
            "arm,rewrad\nA,1\n",
            {},
            [
                "no column is called reward, outcome, y or the like",
                "Did you mean --reward rewrad?",
                "The columns are: arm, rewrad",
            ],
        ),
        (GOOD, {"arm": "Arm"}, ["Did you mean --arm arm?"]),
        ("arm,arm,reward\nA,B,1\n", {}, ["'arm' appears 2 times"]),
        ("arm,reward\nA,1\nB,x\nA,y\n", {}, ["row 3", "'x', not a finite number", "2 such rows: row 3, 4"]),
        ("arm,reward\nA,1\nB,\n", {}, ["row 3", "is missing"]),
        ("arm,reward\nA,1\nB,inf\n", {}, ["row 3", "'inf'"]),
        ("arm,reward\nA,1\nB,nan\n", {}, ["row 3", "is missing"]),
        ("arm,reward\nA,1\nA,2\n", {}, ["fewer than two arms: A", "column 'arm'"]),
        ("arm,reward\nA,1\n,2\n", {}, ["row 3", "column 'arm' is missing"]),
        ("arm,reward\nA,1\nB\n", {}, ["row 3", "1 fields where the header has 2"]),
        ("arm;reward\nA;1,5\nB;1\n", {}, ["row 2", "decimal points instead of commas"]),
        ("arm,reward\nA,1_000\nB,1\n", {}, ["row 2", "'1_000'"]),
        (GOOD, {"arm": "reward"}, ["cannot be the same column"]),
        (GOOD, {"arms": ["A", "", "B"]}, ["an arm is missing"]),
        (GOOD, {"arms": ["A", "C"]}, ["'B' is in the log but not in the list"]),
        (GOOD, {"time": "when"}, ["no column 'when'", "--time"]),
        ("arm,reward,t\nA,1,1\nB,2,soon\n", {"time": "t"}, ["row 3", "'soon'", "neither a number nor an ISO date"]),
        (b"\x89PNG\r\n\x1a\n\x00\xff\xfe", {}, ["not a table in UTF-8"]),
        (b"arm,reward\nA,\x00\nB,1\n", {}, ["trial.csv"]),
        ("arm,reward\nA," + "9" * 200_000 + "\nB,1\n", {}, ["trial.csv"]),
    ],
)
def test_bad_files_are_explained(write, content, options, expected):
    with pytest.raises(db.InputError) as caught:
        db.read_log(write(content), **options)
    for part in expected:
        assert part in str(caught.value)
    assert "trial.csv" in str(caught.value) or "--" in str(caught.value)
    assert len(str(caught.value)) < 600


def test_no_such_file(write, tmp_path):
    write(GOOD)
    with pytest.raises(db.InputError, match=r"no such file\n.*Did you mean .*trial.csv"):
        db.read_log(tmp_path / "trail.csv")
    with pytest.raises(db.InputError, match="directory"):
        db.read_log(tmp_path)
