"""Whatever is in a file or an option, it is read as text: a clear error or a plain table, and nothing else happens."""

import csv
import gzip
import json
import random
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import commands
import pytest

import debandit as db
from debandit.spec import parse

COMPILING = re.compile(r"debandit: compiling .*, once\n")  # the first to need a kernel says so
OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")  # by a terminal; not \n
PLAIN = "arm,reward\nA,1\nB,2\nA,3\nB,2.5\n"
MEMORY = 3_000_000_000  # bytes of address space for commands that should take far less


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def apart(*arguments, cwd, stdin=None):
    """In a process of its own that has little memory, for what may be large."""
    command = [sys.executable, "-m", "debandit", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, cwd=cwd, timeout=300, preexec_fn=limited, stdin=stdin)
    done.stdout, done.stderr = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    return done


def run(cwd, *arguments, how=commands.run, **options):
    """The exit code, the output and the errors of a command that must end soon, calmly, and print only text."""
    before = {path.name for path in cwd.iterdir()}
    done = how(*arguments, cwd=cwd, **options)
    shown = [done.stdout, done.stderr]
    for text in shown:
        text.encode("utf-8")
        assert "Traceback" not in text
        assert not OBEYED.search(text), text[:500]
    assert {path.name for path in cwd.iterdir()} - before <= {"result.json"}
    shown[1] = COMPILING.sub("", shown[1])
    return done.returncode, *shown


def refused(cwd, *arguments, code=2, **options):
    """The error of a command that must not go on."""
    ended, output, errors = run(cwd, *arguments, **options)
    assert (ended, output) == (code, ""), errors[:500]
    assert len(errors) < 5000
    return errors


@pytest.fixture
def plain(tmp_path):
    (tmp_path / "log.csv").write_text(PLAIN)
    return tmp_path


# --- rules and other options -----------------------------------------------------------------------------------------

SPELLS = [
    "__import__('os').system('touch pwned')",
    "ucb(c=__import__('os').system('touch pwned'))",
    "ucb(c=[open('pwned', 'w') for _ in (1,)][0])",
    "ucb(**{'c': 1})",
    "ucb.__class__",
    "ucb\x1b[31m\u202e(c=1)",
    "ucb(c=" + 30_000 * "(" + "1" + 30_000 * ")" + ")",
    "ucb(c=" + 60_000 * "-" + "1)",
    "ucb(c=" + 100_000 * "9" + ")",
    "ucb(c=1e999)",
    "ucb(c={[]:1})",
    "ucb(c='\\d')",
    100_000 * "x",
    "",
]


@pytest.mark.parametrize("spell", SPELLS, ids=lambda spell: spell[:20].encode("unicode_escape").decode())
def test_a_rule_is_never_run(plain, spell):
    assert "--policy" in refused(plain, "check", "log.csv", "--policy", spell) or spell.startswith("ucb(c=")


def test_other_commands_read_rules_and_worlds_the_same_way(plain):
    spell = SPELLS[1]
    world = "bernoulli(means=[__import__('os').system('touch pwned')])"
    refused(plain, "debias", "log.csv", "--policy", spell)
    refused(plain, "debias", "log.csv", "--policy", "ucb", "--world", spell)
    refused(plain, "simulate", "--policy", spell, "--world", "bernoulli(means=[0.1,0.2])", "--horizon", 9)
    refused(plain, "simulate", "--policy", "ucb", "--world", world, "--horizon", 9)
    (plain / "my.toml").write_text(f'horizon = 9\n[[cell]]\npolicy = "{spell}"\nworld = "{world}"\n')
    assert "cannot read" in refused(plain, "study", "my.toml", "-o", "out")


def test_a_megabyte_of_text_as_a_rule():
    assert parse(1_000_000 * "x") == (1_000_000 * "x", {})
    hexadecimal = "0x" + 5000 * "f"  # has too many digits to be printed
    for text in (
        *(1_000_000 * "(", 1_000_000 * "-" + "1", "ucb(c=" + 1_000_000 * "9" + ")"),
        *(f"batched(ucb, size=[{hexadecimal}, 1])", f"batched(ucb, size={hexadecimal})", f"ucb(c={hexadecimal})"),
    ):
        with pytest.raises(db.InputError) as error:
            db.check(db.datasets.ecmo.log, text)
        assert len(str(error.value)) < 3000


def test_long_and_coloured_options_are_cut_and_plain(plain):
    long = 100_000 * "L" + "\x1b[31m"
    for option in ("--arm", "--reward", "--time", "--arms", "--seed", "--unseen", f"--{long}"):
        refused(plain, "debias", "log.csv", "--policy", "ucb", option, long)
    refused(plain, long)
    refused(plain, "datasets", long)
    refused(plain, "debias", "log.csv", "--policy", "ucb", "--runs", 5000 * "9")
    refused(
        plain, "debias", "log.csv", "--policy", "ucb", "--arms", "A,B,\udcff", "--unseen", "1,1", "--json", "r.json"
    )
    for arguments in (("debias", "log.csv", "--json", long), ("debias", long), ("study", long)):
        more = ("--policy", "ucb") if arguments[0] == "debias" else ()
        refused(plain, *arguments, *more, how=apart)  # an error of the system closes the output


# --- labels ----------------------------------------------------------------------------------------------------------

LABELS = [
    "<script>alert(1)</script>",
    '=HYPERLINK("http://example.org","x")',
    "@SUM(A1:A9)",
    "+1+cmd|' /C calc'!A0",
    "\x1b[31mred\x1b]0;title\x07",
    "two\nlines\r",
    "nul\0",
    "\u202egpj.exe\u2066",
    "L" * 100_000,
    "%s{0}${HOME}`id`",
]


def test_labels_are_text(tmp_path):
    import csv

    with (tmp_path / "log.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["arm", "reward"])
        rows.writerows([label, (3 * i + j) % 5] for j in range(3) for i, label in enumerate(LABELS))
    code, output, errors = run(
        tmp_path, "debias", "log.csv", "--policy", "uniform", "--runs", 100, "--json", "result.json"
    )
    assert (code, errors) == (0, "")
    assert len(output) < 10_000
    for label in (*LABELS[:4], LABELS[-1]):
        assert label in output
    document = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert [arm["arm"] for arm in document["arms"]] == [label.strip() for label in LABELS]
    assert db.Debiased.from_json(tmp_path / "result.json").labels == tuple(label.strip() for label in LABELS)
    for arguments, expected in ((["check", "log.csv", "--policy", "greedy"], 1), (["identify", "log.csv"], 0)):
        code, output, errors = run(tmp_path, *arguments)
        assert (code, errors) == (expected, "")
        assert len(output) < 10_000
    refused(tmp_path, "debias", "log.csv", "--policy", "greedy", code=1)
    refused(tmp_path, "debias", "log.csv", "--policy", "uniform", "--arms", "a,b")


# --- many arms -------------------------------------------------------------------------------------------------------


def test_ten_thousand_arms(tmp_path):
    rng = random.Random(1)
    rows = [f"a{i},{rng.random():.3f}\n" for i in range(10_000)]
    (tmp_path / "log.csv").write_text("arm,reward\n" + "".join(rows))
    debias = ("debias", "log.csv", "--policy", "ucb", "--runs", 10)
    assert "smoothed(sd=...)" in refused(tmp_path, *debias, code=1)  # each is pulled once
    code, output, errors = run(tmp_path, *debias, "--world", "smoothed(sd=0.3)", how=apart)
    assert (code, errors) == (0, "")
    assert len(output.splitlines()) > 10_000
    assert len(output.splitlines()[-1]) < 300  # a warning about all of them names a few
    assert "10,000 rounds of 10,000 arms are too many" in refused(tmp_path, "identify", "log.csv")


# --- files -----------------------------------------------------------------------------------------------------------

FILES = {
    "a field of 100 MB": (lambda: b"arm,reward\n" + 100_000_000 * b"A" + b",1\n", "a line of more than 1,000,000"),
    "100 MB of commas": (lambda: 100_000_000 * b",", "a line of more than 1,000,000"),
    "a quote without end": (
        lambda: b'arm,reward\nA,"' + 100_000 * b"x\n",
        "column 'reward' is 'x",
    ),
    "many columns": (lambda: 400_000 * b"a," + b"b\n" + 400_000 * b"1," + b"1\n", "400,001 columns"),
    "garbage": (lambda: random.Random(1).randbytes(1_000_000), "not a table in UTF-8"),
    "NULs": (lambda: 2_000_000 * b"\0", "not a table in UTF-8"),
    "UTF-16": (lambda: PLAIN.encode("utf-16"), "not a table in UTF-8"),
    "gzip of garbage": (lambda: gzip.compress(random.Random(1).randbytes(1_000_000)), "not a table in UTF-8"),
    "broken gzip": (lambda: gzip.compress(50_000 * PLAIN.encode())[:-20], "log.csv: "),
    "a gzip bomb": (lambda: gzip.compress(300_000_000 * b"A"), "a line of more than 1,000,000"),
    "1e400": (lambda: PLAIN.replace("2.5", "1e400").encode(), "is '1e400', not a finite number"),
    "nan": (lambda: PLAIN.replace("2.5", "nan").encode(), "is missing"),
    "1e200": (lambda: PLAIN.replace("2.5", "1e200").encode(), "too large to compute with"),
    "many digits": (lambda: PLAIN.replace("2.5", 100_000 * "9").encode(), "not a finite number"),
    "a formula": (lambda: PLAIN.replace("2.5", "=1+1").encode(), "is '=1+1', not a finite number"),
}


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_log(tmp_path, name):
    content, message = FILES[name]
    size = (tmp_path / "log.csv").write_bytes(content())
    how = apart if size > 100_000 else commands.run
    assert message in refused(tmp_path, "debias", "log.csv", "--policy", "ucb", "--json", "result.json", how=how)


def test_every_command_reads_logs_the_same_way(tmp_path):
    (tmp_path / "log.csv").write_bytes(FILES["garbage"][0]())
    refused(tmp_path, "check", "log.csv", "--policy", "ucb")
    refused(tmp_path, "identify", "log.csv")


def test_odd_numbers_are_numbers(tmp_path):
    (tmp_path / "log.csv").write_text("arm,reward\nA,١٢\nB,-0.0\nC, 12 \nA,١٢\nB,-0\nC,+1.2e1\n", encoding="utf-8")
    code, output, _ = run(tmp_path, "debias", "log.csv", "--policy", "uniform", "--runs", 100, "--format", "csv")
    assert code == 0
    assert [float(row["naive"]) for row in csv.DictReader(output.splitlines())] == [12, 0, 12]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no devices")
def test_what_has_no_end(tmp_path):
    assert "not a table in UTF-8" in refused(tmp_path, "debias", "/dev/zero", "--policy", "ucb", how=apart)
    (tmp_path / "my.toml").symlink_to("/dev/zero")
    assert "which no study needs" in refused(tmp_path, "study", "my.toml", how=apart)
    refused(tmp_path, "check", "/dev/urandom", "--policy", "ucb", how=apart)
    refused(tmp_path, "check", tmp_path, "--policy", "ucb")


def test_a_pipe_is_a_file(plain):
    with (plain / "log.csv").open("rb") as file, subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) as cat:
        code, output, errors = run(plain, "check", "/dev/stdin", "--policy", "uniform", how=apart, stdin=cat.stdout)
    assert (code, errors) == (0, "")
    assert output.startswith("fits")


def test_hostile_studies(tmp_path):
    cell = '[[cell]]\nlabel = "\\u001b[31m\\u202e<script>"\npolicy = "uniform"\nworld = "bernoulli(means=[0.1,0.2])"\n'
    (tmp_path / "my.toml").write_text(f'title = "\\u001b[31m=1+1"\nhorizon = 5\nexperiments = 10\nruns = 10\n{cell}')
    (tmp_path / "out").mkdir()
    assert run(tmp_path, "study", "my.toml", "-o", "out")[0] == 0
    (tmp_path / "bin.toml").write_bytes(random.Random(1).randbytes(10_000))
    assert "not a TOML file" in refused(tmp_path, "study", "bin.toml", "-o", "out")
    (tmp_path / "deep.toml").write_text("a = " + 100_000 * "[")
    assert "not a TOML file" in refused(tmp_path, "study", "deep.toml", "-o", "out")


# --- what a study writes and runs ------------------------------------------------------------------------------------

STUDY = """
horizon = 20
experiments = 40
runs = 20
[[cell]]
policy = "{policy}"
world = "bernoulli(means=[0.3, 0.6])"
"""
RULE = """
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from debandit.rules import ScoreRule
Path("ran").write_text("")

@dataclass(frozen=True)
class Mine(ScoreRule):
    name: ClassVar[str] = "mine"
    randomised: ClassVar[bool] = False

    @staticmethod
    def score(mean):
        return mean
"""


@pytest.mark.parametrize("name", ["rows.csv", "figure.svg", "table.md"])
def test_a_study_replaces_no_file_of_others(tmp_path, name):
    (tmp_path / "my.toml").write_text(STUDY.format(policy="ucb"))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("mine")
    errors = refused(tmp_path, "study", "my.toml", "-o", "out")
    assert f"out: there is a file {name} of something else" in errors
    assert [path.name for path in (tmp_path / "out").iterdir()] == [name]
    assert (tmp_path / "out" / name).read_text() == "mine"


@pytest.mark.parametrize("name", ["rows.csv", "figure.svg"])
def test_a_study_follows_no_links(tmp_path, name):
    """Not even in a directory of its own, where all is done but for the picture."""
    (tmp_path / "my.toml").write_text(STUDY.format(policy="ucb"))
    (tmp_path / "important").write_text("mine")
    (tmp_path / "out").mkdir()
    assert run(tmp_path, "study", "my.toml", "-o", "out", "-q")[0] == 0
    (tmp_path / "out" / name).unlink()
    (tmp_path / "out" / name).symlink_to("../important")
    for options in ([], ["--draw-only"]):
        assert f"out/{name}: this is a link" in refused(tmp_path, "study", "my.toml", "-o", "out", *options)
    assert (tmp_path / "important").read_text() == "mine"


@pytest.mark.parametrize("option", ["--json", "--report"])
def test_a_result_replaces_no_table(plain, option):
    """A slip of the fingers must not cost another log; a result of the same kind is replaced, as always."""
    (plain / "other.csv").write_text(PLAIN)
    (plain / "link").symlink_to("other.csv")
    for name in ("other.csv", "link"):
        arguments = ("debias", "log.csv", "--policy", "uniform", "--runs", 20, option, name)
        assert "exists and is something else" in refused(plain, *arguments)
    (plain / "result.json").write_text("")
    for _ in range(2):
        assert run(plain, *arguments[:-1], "result.json")[0] == 0
    (plain / "result.json").unlink()
    run(plain, *arguments[:-2], "--json", "result.json")
    assert "exists and is something else" in refused(plain, "report", "result.json", "-o", "other.csv")
    assert (plain / "other.csv").read_text() == PLAIN


def test_a_study_that_was_stopped_goes_on_in_its_directory(tmp_path):
    """Also if it was stopped between the writing of two files."""
    (tmp_path / "my.toml").write_text(STUDY.format(policy="ucb"))
    (tmp_path / "out").mkdir()
    assert run(tmp_path, "study", "my.toml", "-o", "out", "-q")[0] == 0
    (tmp_path / "out" / "rows.csv").unlink()
    assert run(tmp_path, "study", "my.toml", "-o", "out", "-q")[0] == 0
    shutil.rmtree(tmp_path / "out" / "cells")
    assert run(tmp_path, "study", "my.toml", "-o", "out", "-q")[0] == 0


@pytest.mark.parametrize("name", ["...toml", "..toml", ".toml"])
def test_a_study_does_not_write_into_the_current_directory(tmp_path, name):
    (tmp_path / name).write_text(STUDY.format(policy="ucb"))
    assert "Say with -o" in refused(tmp_path, "study", name)


def test_a_study_says_which_files_it_runs_and_runs_none_in_vain(tmp_path):
    (tmp_path / "mine.py").write_text(RULE)
    text = STUDY.format(policy="mine.py:Mine")
    for wrong in (text.replace("runs =", "run ="), text.replace("0.6]", "1.6]"), text + '[[cell]]\npolicy = "ucb"\n'):
        (tmp_path / "my.toml").write_text(wrong)
        assert "runs the file" not in refused(tmp_path, "study", "my.toml", "-o", "out")
    (tmp_path / "my.toml").write_text(text)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "rows.csv").write_text("mine")
    assert "runs the file" not in refused(tmp_path, "study", "my.toml", "-o", "out")
    (tmp_path / "out" / "rows.csv").unlink()
    done = commands.run("study", "my.toml", "-o", "out", "-q", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith("debandit runs the file mine.py for its rule\n")
    assert done.stderr.count("runs the file") == 1
    assert (tmp_path / "ran").exists()
