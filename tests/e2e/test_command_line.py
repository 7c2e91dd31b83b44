"""The installed command, as a user meets it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from commands import fails, flat, run

import debandit
from debandit.study import Bins, Cell

DEMO = Path(debandit.__file__).parent / "data" / "two_drugs.csv"


def started(*arguments, cwd=None, **environment):
    """A process of its own, as a shell starts it; most of what is printed is tested in this one."""
    command = [sys.executable, "-m", "debandit", *map(str, arguments)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        cwd=cwd,
        env={**os.environ, **environment},
        timeout=300,
    )


@pytest.fixture
def trial(tmp_path):
    return Path(shutil.copy(DEMO, tmp_path / "trial.csv"))


def test_debias(trial):
    columns = ("--arm", "drug", "--reward", "response")
    result = started("debias", trial, *columns, "--policy", "ucb(c=1)", "--seed", 1, "--details")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""  # no progress bar where there is no terminal
    lines, text = result.stdout.splitlines(), flat(result.stdout)
    assert lines[0].startswith("Arm A averages 1.48 (95 % interval 1.2")  # the raw means are those of the file
    assert "given that it comes second; the raw mean is 0.71." in text
    titles = lines.index("2 arms, 100 rounds; rule ucb(c=1):") + 2
    assert lines[titles].split() == ["arm", "pulls", "raw", "mean", "quoted", "95", "%", "interval", "corrected"]
    shown = [["A", "best", "91", "1.479"], ["B", "9", "0.706"]]
    assert [line.split()[: len(row)] for line, row in zip(lines[titles + 2 :], shown, strict=False)] == shown
    assert "world smoothed (auto: the rewards are not just 0 and 1)" in text
    assert "seed 1" in text
    assert "pooled-t, centred on the observed mean (auto: " in text


def test_intervals(trial):
    columns = ("--arm", "drug", "--reward", "response", "--policy", "ucb(c=1)", "--runs", 100)
    assert (
        "90 % intervals of the kind wald"
        in run("debias", trial, *columns, "--interval", "wald", "--level", 0.9, "--details").stdout
    )
    assert "interval" not in run("debias", trial, *columns, "--interval", "none").stdout
    assert "'--interval'" in fails(2, "debias", trial, *columns, "--interval", "magic")
    assert "between 0.5 and 0.999" in fails(2, "debias", trial, *columns, "--level", "95")
    assert "0/1 rewards" in fails(2, "debias", trial, *columns, "--interval", "binary")


def test_study_coverage(tmp_path):
    options = ("--settings", 1, "--experiments", 20, "--seed", 3, "-o", tmp_path / "out")
    result = run("study", "coverage", *options)
    assert result.returncode == 0, result.stderr
    assert "Mean coverage by number of pulls" in result.stdout
    assert (tmp_path / "out" / "rows.parquet").is_file()
    assert (tmp_path / "out" / "figure.svg").is_file()
    assert "coverage" in run("study", "list").stdout


def test_study_accuracy(tmp_path):
    options = ("study", "accuracy", "--settings", 1, "--experiments", 20, "--runs", 5, "-o", tmp_path / "out")
    result = run(*options, "--seed", 3)
    assert result.returncode == 0, result.stderr
    assert "By rewards and arms" in result.stdout
    assert "--seed 3`" in result.stdout
    names = {"cells", "table.md", "rows.csv", "rows.parquet", "figure.svg", "figure.png", "figure.pdf"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    rows = (tmp_path / "out" / "rows.csv").read_bytes()
    assert started(*options, "--seed", 3, "--workers", 2, "-q").returncode == 0
    assert (tmp_path / "out" / "rows.csv").read_bytes() == rows
    assert "accuracy" in run("study", "list").stdout


def test_studies_refuse_options_of_others(tmp_path):
    assert "--settings is only for accuracy" in fails(2, "study", "table1", "--settings", 3, "-o", tmp_path)
    assert "--runs" in fails(2, "study", "coverage", "--runs", 3, "-o", tmp_path)
    assert "'--settings'" in fails(2, "study", "accuracy", "--settings", 0, "-o", tmp_path)
    options = ("--settings", 1, "--experiments", 2, "-q", "-o", tmp_path)
    assert run("study", "coverage", *options).returncode == 0
    assert "the rows have no bias_index" in fails(2, "study", "accuracy", "--draw-only", "-o", tmp_path)
    assert not list(tmp_path.glob("*.tmp"))


def test_methods_and_controls(trial):
    options = ("debias", trial, "--arm", "drug", "--reward", "response", "--runs", 2000)
    compared = run(*options, "--policy", "ucb(c=1)", "--control", "A", "--details").stdout
    assert "Differences to A:" in compared
    assert "corrected as the winner, arm A has" in flat(compared)
    assert "The arms are A, B" in fails(2, *options, "--policy", "ucb(c=1)", "--control", "drug")
    assert "accepted" in run(*options, "--policy", "ucb(c=1)", "--method", "rao-blackwell", "--details").stdout
    assert "without randomness" in fails(1, *options, "--policy", "thompson", "--method", "rao-blackwell")


def test_debias_to_json_matches_the_library(trial):
    columns = ("--arm", "drug", "--reward", "response")
    options = ("--policy", "ucb", "--world", "efron", "--runs", 2000, "--json", "r.json", "--threads", 1)
    result = started("debias", "trial.csv", *columns, *options, cwd=trial.parent)
    assert result.returncode == 0, result.stderr
    written = debandit.Debiased.from_json(trial.parent / "r.json")
    log = debandit.read_log(trial, arm="drug", reward="response")
    assert str(written) == str(debandit.debias(log, debandit.UCB(), world="efron", runs=2000)) == result.stdout.rstrip()


def test_compare(trial):
    folder = trial.parent
    options = ("--arm", "drug", "--reward", "response", "--policy", "uniform", "--runs", 100, "--seed", 2)
    more = ("--support=-9,9", "--control", "B", "--json", "c.json", "--plot", "c.svg")
    result = run("compare", "trial.csv", *options, *more, cwd=folder)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "2 arms, 100 rounds; rule uniform"
    assert lines[4].split() == ["method", "estimate", "s.e.", "95", "%", "interval"]
    assert "A minus B" in lines
    assert "Not possible here:" in lines
    log = debandit.read_log(trial, arm="drug", reward="response")
    ours = debandit.compare(log, "uniform", runs=100, seed=2, support=(-9, 9), control="B")
    assert result.stdout.rstrip("\n") == str(ours)
    assert json.loads((folder / "c.json").read_text())["rows"] == ours.rows()
    assert "confidence sequence" in (folder / "c.svg").read_text()


def test_simulate():
    setting = ("--policy", "epsilon_greedy(epsilon=0.05)", "--world", "normal(means=[1,1.5], sds=[1,1])")
    result = started("simulate", *setting, "--horizon", 100, "--runs", 20_000)
    assert result.returncode == 0, result.stderr
    first = result.stdout.splitlines()[4].split()
    assert first[:2] == ["1", "1.0000"]
    bias, error = float(first[4]), float(first[5])
    assert abs(bias + 0.167073) < 4.5 * np.hypot(error, 0.000411)  # by an independent implementation, EG, table 1


def test_study(tmp_path):
    assert "figure3" in run("study", "list").stdout
    small = ("--experiments", 20, "--runs", 20)
    result = started("study", "figure2", *small, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "cell 2 of 2 done, 20 experiments" in result.stderr  # a plain line, for this is no terminal
    assert "wrote debandit-out/figure2/figure.pdf" in result.stdout
    folder = tmp_path / "debandit-out" / "figure2"
    names = {"cells", "table.md", "rows.csv", "rows.parquet", "figure.svg", "figure.png", "figure.pdf"}
    assert {path.name for path in folder.iterdir()} == names
    picture = (folder / "figure.svg").read_bytes()
    (folder / "figure.svg").unlink()
    again = run("study", "figure2", "--draw-only", cwd=tmp_path)
    assert (again.stderr, again.stdout.count("wrote")) == ("", 3)
    assert (folder / "figure.svg").read_bytes() == picture
    quiet = run("study", "figure2", *small, "-q", "-o", "other", cwd=tmp_path)
    assert quiet.stderr == ""
    assert all(line.startswith("wrote other/") for line in quiet.stdout.splitlines())
    assert (tmp_path / "other" / "rows.csv").read_bytes() == (folder / "rows.csv").read_bytes()


def test_study_mistakes(tmp_path):
    assert "there is no study 'tabel1'" in fails(2, "study", "tabel1")
    assert "cannot read the file" in fails(2, "study", "none.toml", cwd=tmp_path)
    assert "there are no rows to draw" in fails(2, "study", "table1", "--draw-only", cwd=tmp_path)
    assert "A file is named after `new` only" in fails(2, "study", "new", cwd=tmp_path)
    assert "A file is named after `new` only" in fails(2, "study", "table1", "table2", cwd=tmp_path)
    assert run("study", "new", "my.toml", cwd=tmp_path).stdout.startswith("wrote my.toml")
    assert "would be overwritten" in fails(2, "study", "new", "my.toml", cwd=tmp_path)
    assert "not both" in fails(2, "study", "table1", "--workers", 2, "--cluster", "tcp://127.0.0.1:1", cwd=tmp_path)
    (tmp_path / "file").write_text("")
    assert "cannot make the directory" in fails(2, "study", "table1", "-o", "file", cwd=tmp_path)


def test_a_study_s_memory_does_not_grow():
    """Beyond a first chunk of work, more experiments take less than half of what keeping their estimates would.

    What numpy and Python hold is counted, not what the allocator has from the system, which varies by megabytes.
    """

    def peak(experiments):
        methods, world = ("naive", "gaussian", "ipw"), debandit.worlds.Normal([1, 1.5], [1, 1])
        options = {"runs": 5, "experiments": experiments, "histogram": Bins(0, 2, 20)}
        cell = Cell("x", debandit.EpsilonGreedy(0.1), world, 20, methods, **options)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        debandit.Study("memory", (cell,)).run(threads=1, progress="none")
        return tracemalloc.get_traced_memory()[1] - before

    tracemalloc.start()
    try:
        few, many = peak(20_000), peak(80_000)
    finally:
        tracemalloc.stop()
    kept = 60_000 * 3 * 2 * 8  # bytes: the estimates of three methods for two arms
    assert many < few + kept / 2
    assert many < 300_000_000


def test_the_embedded_trial_is_a_log_of_ucb():
    import oracle

    log = debandit.read_log(DEMO, arm="drug", reward="response")
    chosen = oracle.replay(oracle.ucb(), 2, log.rounds.arms, log.rounds.rewards)
    assert (chosen == log.rounds.arms).all()


def test_help_and_version():
    assert started("--version").stdout.strip() == f"debandit, version {debandit.__version__}"
    text = run("debias", "--help").stdout
    for part in (
        "--unseen",
        "thompson(prior_mean=0.0",
        "multiplier(weights='gaussian')",
        "auto chooses the one",
        "default: auto",
    ):
        assert part in text
    assert "bernoulli(means=...)" in run("simulate", "--help").stdout


def test_help_loads_no_numba():
    code = "import sys, debandit.cli as c; c.main(['--help']); print({'numba', 'numpy', 'pandas'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert result.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["debias", "none.csv", "--policy", "ucb"], 2, ["none.csv", "no such file"]),
        (
            ["debias", "trial.csv", "--policy", "ucb"],
            2,
            ["no column is called arm, action, variant or the like", "--arm", "patient, drug, response"],
        ),
        (["debias", "trial.csv"], 2, ["Missing option '--policy'"]),
        (["debias", "trial.csv", "--policy", "ubc"], 2, ["--policy", "Did you mean ucb?", "ucb(c=1.0, ", "etc, "]),
        (["debias", "trial.csv", "--policy", "ucb(c=-1)"], 2, ["c must be a number from 0 to 1e+70, not -1"]),
        (["debias", "trial.csv", "--policy", "ucb", "--world", "efrom"], 2, ["--world", "Did you mean efron?"]),
        (["debias", "trial.csv", "--policy", "ucb", "--runs", "lots"], 2, ["--runs", "'lots'", "auto"]),
        (["debias", "trial.csv", "--policy", "ucb", "--runs", "1"], 2, ["runs must be"]),
        (["debias", "trial.csv", "--policy", "ucb", "--unseen", "1"], 2, ["--unseen", "two numbers"]),
        (["debias", "trial.csv", "--policy", "ucb", "--seed", "x"], 2, ["--seed"]),
        (["debias", "trial.csv", "--policy", "ucb", "--arms", "A,B,C"], 1, ["no reward was logged for C", "--unseen"]),
        (["debias", "trial.csv", "--policy", "ucb", "--arms", "A,D"], 2, ["'B' is in the log but not in the list"]),
        (["debias", "trial.csv", "--policy", "etc(pulls=51)"], 2, ["102 initial pulls"]),
        (["debias", "trial.csv", "--policy", "beta_thompson"], 2, ["0/1 rewards"]),
        (["debias", "trial.csv", "--policy", "ucb", "--json", "no/such/r.json"], 2, ["cannot write", "no/such/r.json"]),
        (["debias", "trial.csv", "--policy", "ucb", "--json", "."], 2, ["cannot write", "directory"]),
        (["debias", "trial.csv", "--policy", "ucb", "--json", "trial.csv"], 2, ["this file is read"]),
        (["debias", "trial.csv", "--policy", "ucb(2, 3)"], 2, ["cannot read", "It is written ucb(c=1.0, "]),
        (["debias", "trial.csv", "--policy", "ucb", "--arms", "A,B\nC"], 2, ["--arms"]),
        (["debias", "trial.csv", "--policy", "ucb", "--arms", "A,\x1b[31mB"], 2, ["'B' is in the log"]),
        (["debias", "trial.csv", "--policy", "ucb", "--runs", "1000000000000"], 2, ["1,000,000,000"]),
        (["debias", ".", "--policy", "ucb"], 2, ["directory"]),
        (["compare", "trial.csv"], 2, ["Missing option '--policy'"]),
        (["compare", "none.csv", "--policy", "ucb"], 2, ["none.csv", "no such file"]),
        (["compare", "trial.csv", "--policy", "ucb", "--support", "1"], 2, ["--support", "two numbers"]),
        (["compare", "trial.csv", "--policy", "ucb", "--support", "5,1"], 2, ["support", "(0, 100)"]),
        (["compare", "trial.csv", "--policy", "ucb", "--plot", "c.txt"], 2, ["--plot", "'c.txt'", ".svg, .png, .pdf"]),
        (["compare", "trial.csv", "--policy", "ucb", "--plot", "no/c.svg"], 2, ["cannot write", "no/c.svg"]),
        (["compare", "trial.csv", "--policy", "ucb", "--json", "trial.csv"], 2, ["--json", "this file is read"]),
        (["compare", "trial.csv", "--policy", "ucb", "--control", "C"], 2, ["there is no arm 'C'"]),
        (["compare", "trial.csv", "--policy", "etc(pulls=20)"], 1, ["etc(pulls=20)", "round"]),
        (["demo", "--save", "trial.csv"], 2, ["would be overwritten"]),
        (["simulate", "--policy", "ucb", "--world", "normal", "--horizon", "9"], 2, ["normal needs means, sds"]),
        (["simulate", "--policy", "ucb", "--world", "gaussian", "--horizon", "9"], 2, ["bernoulli(means=...)"]),
        (["nonsense"], 2, ["No such command 'nonsense'"]),
    ],
)
def test_mistakes_are_explained(trial, arguments, code, expected):
    columns = ["--arm", "drug", "--reward", "response"]
    plain = arguments in (["debias", "none.csv", "--policy", "ucb"], ["debias", "trial.csv", "--policy", "ucb"])
    extra = [] if plain or arguments[0] not in ("debias", "compare") else columns
    text = fails(code, *arguments, *extra, cwd=trial.parent)
    for part in expected:
        assert part in text
    assert "\x1b" not in text
    assert len(text) < 2000
    assert trial.read_bytes() == DEMO.read_bytes()


def test_output_that_cannot_be_written(trial):
    arguments = ["debias", trial, "--arm", "drug", "--reward", "response", "--policy", "ucb", "--runs", 100]
    assert "Traceback" not in started(*arguments, PYTHONIOENCODING="cp1252").stderr
    assert started(*arguments, PYTHONIOENCODING="ascii").returncode == 0
    if Path("/dev/full").exists():
        with Path("/dev/full").open("w") as full:
            command = [sys.executable, "-m", "debandit", *map(str, arguments)]
            result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        assert result.returncode == 2
        assert "Traceback" not in result.stderr


def test_a_link_is_followed_and_a_mode_kept(trial):
    options = ("trial.csv", "--arm", "drug", "--reward", "response", "--policy", "ucb", "--json")
    assert run("debias", *options, "real.json", "--runs", 50, cwd=trial.parent).returncode == 0
    (trial.parent / "real.json").chmod(0o600)
    (trial.parent / "link.json").symlink_to("real.json")
    assert run("debias", *options, "link.json", "--runs", 100, cwd=trial.parent).returncode == 0
    assert (trial.parent / "link.json").is_symlink()
    assert json.loads((trial.parent / "real.json").read_text())["runs"] == 100
    assert (trial.parent / "real.json").stat().st_mode & 0o777 == 0o600


def test_labels_are_shown_as_text(tmp_path):
    (tmp_path / "x.csv").write_text(
        'arm,reward\n"=HYPERLINK(""x"")",1\n<script>,2\n"=HYPERLINK(""x"")",2\n<script>,0\n'
    )
    result = run("debias", "x.csv", "--policy", "uniform", "--runs", 100, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert '=HYPERLINK("x")' in result.stdout
    assert "<script>" in result.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_answers_at_once():
    """Half a second after the loop was entered, which has hours to go."""
    code = (
        "import os, signal, sys, threading, debandit.engine.rounds as rounds, debandit.__main__ as command\n"
        "plain, interrupt = rounds._run, threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))\n"
        "def run(*arguments):\n"
        "    if not interrupt.is_alive() and not interrupt.finished.is_set(): interrupt.start()\n"
        "    return plain(*arguments)\n"
        "rounds._run = run\n"
        "command.entry()"
    )
    setting = ("--world", "bernoulli(means=[0.3,0.6])", "--horizon", "1000000", "--runs", "100000", "--threads", "1")
    command = [sys.executable, "-c", code, "simulate", "--policy", "ucb", *setting]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode in (130, -signal.SIGINT), done.stdout) == (True, "")
    assert done.stderr.strip() == "interrupted"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX terminals")
def test_a_progress_bar_appears_on_a_terminal():
    import fcntl
    import pty
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 100, 0, 0))
    command = [sys.executable, "-m", "debandit", "simulate", "--policy", "thompson", "--horizon", "1000",
               "--runs", "100000", "--threads", "1", "--world", "normal(means=[1,2,3,4], sds=[1,1,1,1])"]  # fmt: skip
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=follower, timeout=300, check=True)
    os.close(follower)
    shown = b""
    try:
        while chunk := os.read(leader, 65536):
            shown += chunk
    except OSError:  # how Linux says that nobody writes to the terminal any more
        pass
    os.close(leader)
    assert b"simulating" in shown
    assert b"runs/s" in shown


def test_describe_and_what_to_type_next(trial, tmp_path):
    found = run("describe", trial, "--arm", "drug", "--reward", "response")
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("2 arms, 100 rounds; rewards are numbers")
    assert f'debandit debias {trial} --arm drug --reward response --policy "RULE"' in found.stdout
    said = fails(2, "debias", trial, "--arm", "drug", "--reward", "response")
    assert "debandit describe LOG" in said
    assert "debandit identify LOG" in said
    (tmp_path / "days.csv").write_text("day,variant,users,conversions\nx,a,50,5\nx,b,50,9\ny,a,20,1\ny,b,80,12\n")
    found = run("describe", tmp_path / "days.csv")
    assert found.stderr.strip() == "reading arm = variant, pulls = users, successes = conversions, batch = day"
    assert '--policy "batched(RULE)"' in found.stdout
    assert f"debandit identify {tmp_path / 'days.csv'}\n" in found.stdout
    (tmp_path / "gaps.csv").write_text("arm,reward\nA,1\nB,\nB,3\nA,2\n")
    found = run("describe", tmp_path / "gaps.csv", "--arms", "B,A", "--missing", "drop")
    assert f"debandit identify {tmp_path / 'gaps.csv'} --missing drop --arms B,A\n" in found.stdout


def test_a_newcomer_s_table_needs_no_options_but_the_rule(tmp_path):
    rows = "".join(f"{variant},{converted}\n" for variant, converted in zip("abab" * 10, "1001" * 10, strict=True))
    (tmp_path / "log.csv").write_text(f"variant,converted\n{rows}")
    found = run("debias", tmp_path / "log.csv", "--policy", "uniform", "--runs", 100)
    assert found.returncode == 0
    assert found.stderr.strip() == "reading arm = variant, reward = converted"


def test_help_says_which_tables_are_read():
    text = " ".join(run("debias", "--help").stdout.split())
    for part in (
        "one row per arm or one per batch and arm",
        "--db and --query read from a database",
        "none: they are in order",
    ):
        assert part in text


def test_presets():
    assert run("presets").stdout.startswith("preset:growthbook ")
    assert run("presets", "preset:braze").stdout == run("presets", "braze").stdout
    assert "Did you mean braze?" in fails(2, "presets", "brase")
    world = ("--world", "bernoulli(means=[0.3,0.6])", "--horizon", 100, "--runs", 2)
    error = fails(2, "simulate", "--policy", "preset:braze(50)", *world)
    assert "preset:braze needs most" in error
    result = run("simulate", "--policy", "preset:braze(50, most=100)", *world)
    assert result.returncode == 0
    assert "warning: preset:braze is only as right as the platform's documentation" in result.stderr
