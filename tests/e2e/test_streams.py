"""What was computed gets out in every way that is left, whoever reads the terminal or does not."""

import errno
import io
import json
import subprocess
import sys
from pathlib import Path

import commands
import pytest

import debandit as db
from debandit.cli import main
from debandit.cli.streams import Forgiving

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no devices")

DEBIAS = "debias log.csv --policy uniform --runs 100 --json result.json --plot result.svg --report result.html"
STUDY = """
horizon = 20
experiments = 40
runs = 20
[[cell]]
policy = "ucb"
world = "bernoulli(means=[0.3, 0.6])"
"""
FULL = b"error: cannot write the output (No space left on device)\n"


@pytest.fixture
def folder(tmp_path):
    return filled(tmp_path)


def filled(folder):
    (folder / "log.csv").write_text("arm,reward\nA,1\nB,2\nA,3\nB,2.5\n")
    (folder / "my.toml").write_text(STUDY)
    return folder


def shell(folder, command, redirected):
    """A command of debandit in a shell, whose exit code is that of debandit and not of what comes behind a pipe."""
    line = f"set -o pipefail; {sys.executable} -m debandit {command} {redirected}"
    return subprocess.run(["bash", "-c", line], capture_output=True, cwd=folder, timeout=300)


@pytest.fixture(scope="module")
def wanted(tmp_path_factory):
    """What is written and printed where nothing is wrong."""
    folder = filled(tmp_path_factory.mktemp("whole"))
    done = commands.run(*DEBIAS.split(), cwd=folder)
    assert done.returncode == 0
    return {name: (folder / name).read_bytes() for name in ("result.json", "result.svg")}, done.stdout.encode()


@pytest.mark.parametrize(
    ("redirected", "code", "errors"),
    [(">/dev/full", 2, FULL), ("| true", 0, b""), (">&- 2>&- <&-", 0, b""), ("2>/dev/full", 0, b"")],
)
def test_results_are_written_though_nobody_reads(folder, wanted, redirected, code, errors):
    done = shell(folder, DEBIAS, redirected)
    assert (done.returncode, done.stderr) == (code, errors)
    files, output = wanted
    assert {name: (folder / name).read_bytes() for name in files} == files
    assert (folder / "result.html").read_bytes().endswith(b"</html>")
    assert done.stdout == (output if redirected.startswith("2") else b"")


def test_the_verdict_is_in_the_exit_code_though_nobody_reads(folder):
    for redirected, errors in ((">/dev/full", FULL), ("| true", b""), (">&-", b"")):
        done = shell(folder, "check log.csv --policy greedy", redirected)
        assert (done.returncode, done.stderr) == (1, errors)
    for redirected in ("2>/dev/full", "2>&-"):
        assert shell(folder, "check nothing.csv --policy greedy", redirected).returncode == 2


@pytest.mark.parametrize("redirected", ["2>&-", ">/dev/full 2>&1"])
def test_studies_do_not_need_anybody_to_watch(folder, redirected):
    done = shell(folder, "study my.toml -o out", redirected)
    assert done.returncode == (2 if "1" in redirected else 0)
    assert {"rows.csv", "rows.parquet", "table.md", "figure.svg"} <= {path.name for path in (folder / "out").iterdir()}
    assert (folder / "out" / "rows.csv").read_text().count("\n") > 10


def test_no_input_at_all(folder):
    done = shell(folder, "check - --policy ucb", "<&-")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"the file is empty" in done.stderr


def test_a_file_that_cannot_be_written_loses_nothing_else(folder, monkeypatch):
    """The picture fails in the end, although it looked possible; the report and the answer are there."""
    monkeypatch.setattr(db.Debiased, "plot", lambda *_: (_ for _ in ()).throw(db.InputError("no room", where="--plot")))
    done = commands.run(*DEBIAS.split(), cwd=folder)
    assert (done.returncode, done.stderr) == (2, "error: --plot: no room\n")
    assert "raw mean" in done.stdout
    assert (folder / "result.html").exists()
    assert len(json.loads((folder / "result.json").read_text())["arms"]) == 2
    monkeypatch.setattr("debandit.files.os.replace", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    done = commands.run(*DEBIAS.split(), cwd=folder)
    assert done.returncode == 2
    assert all(f"{name}: cannot write the file (full)" in done.stderr for name in ("result.json", "result.html"))
    assert "raw mean" in done.stdout


class Pipe:
    """A pipe that takes three bytes at a time, every other time, until it breaks."""

    def __init__(self, most):
        self.taken, self.most, self.waiting = b"", most, False

    def write(self, data):
        if len(self.taken) >= self.most:
            raise BrokenPipeError
        self.waiting = not self.waiting
        if self.waiting:
            return None
        self.taken += bytes(data[:3])
        return len(data[:3])


def test_what_a_forgiving_stream_takes():
    for most, wanted in ((100, b"abcdefgh"), (6, b"abcdef")):
        pipe = Pipe(most)
        stream = Forgiving(pipe)
        buffer = io.BufferedWriter(stream)
        buffer.write(b"abcdefgh")
        buffer.flush()
        buffer.write(b"" if most > 6 else b"and more")
        buffer.flush()
        assert pipe.taken == wanted
        assert isinstance(stream.failure, BrokenPipeError) == (most == 6)


EXITING = """
import sys
from dataclasses import dataclass
from typing import ClassVar
from debandit.policies.object_rules import ObjectRule
{at_import}
class Player:
    def choose(self):
        {in_choose}
        return 0
    def learn(self, arm, reward):
        pass

@dataclass(frozen=True)
class Mine(ObjectRule):
    name: ClassVar[str] = "mine"
    randomised: ClassVar[bool] = False
    def __post_init__(self):
        {at_start}
    def make(self, arm_count, horizon, seed):
        return Player()
"""


@pytest.mark.parametrize("place", ["at_import", "in_choose", "at_start"])
@pytest.mark.parametrize("arguments", ["", " --workers 2"])
def test_a_rule_must_not_end_the_program(folder, place, arguments):
    """It would look as if all had gone well."""
    places = dict.fromkeys(("at_import", "in_choose", "at_start"), "pass") | {place: "sys.exit(0)"}
    (folder / f"{place}.py").write_text(EXITING.format(**places))
    simulate = f"simulate --policy {place}.py:Mine --world bernoulli(means=[0.3,0.6]) --horizon 9 --runs 20{arguments}"
    done = commands.run(*simulate.split(), cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "SystemExit" in done.stderr or "must not call sys.exit()" in done.stderr
    assert main(["check", str(folder / "log.csv"), "--policy", f"{folder / place}.py:Mine"]) == 2


@pytest.mark.parametrize("place", ["at_import", "in_choose"])
def test_whatever_a_rule_raises_is_told_in_a_line(folder, place):
    """Also what is no error of the usual kind."""
    places = dict.fromkeys(("at_import", "in_choose", "at_start"), "pass") | {place: "raise GeneratorExit"}
    (folder / "odd.py").write_text(EXITING.format(**places))
    done = commands.run("check", "log.csv", "--policy", "odd.py:Mine", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "(GeneratorExit: )" in done.stderr
