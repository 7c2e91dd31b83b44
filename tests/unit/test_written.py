"""What was said about columns, as one types it and in Python: both read the same log again."""

import shlex

import pytest
from commands import run

import debandit as db
from debandit.readers.written import as_code, as_options

TABLE = 'arm,y,other,when\n"a,1",1,5,3\n"b ""2""",0,6,1\n"a,1",0,7,2\n'


@pytest.mark.parametrize(
    ("columns", "typed"),
    [
        ({}, ""),
        ({"missing": "refuse", "available": "auto", "arms": None}, ""),
        ({"metrics": ["other"]}, "--metric other"),
        ({"arms": ['b "2"', "a,1"]}, """--arms '"b ""2""\","a,1"'"""),
    ],
)
def test_the_same_log_is_read_again(tmp_path, monkeypatch, columns, typed):
    monkeypatch.chdir(tmp_path)
    columns = {"reward": "y", "time": "when"} | columns
    (tmp_path / "log.csv").write_text(TABLE)
    log = db.read_log("log.csv", **columns)
    assert shlex.join(as_options(columns)) == f"--reward y --time when {typed}".rstrip()
    assert eval(as_code("log.csv", columns, batched=False), {"db": db}).sha256 == log.sha256
    answer = run("debias", "log.csv", *as_options(columns), "--policy", "uniform", "--runs", "20", "--format", "json")
    assert log.sha256 in answer.stdout
