"""The printed answer: it fits the page, says what a person would say, and has nothing to hide in other formats."""

import csv
import io
import json
import os
import re
import sys
from contextlib import suppress

import numpy as np
import pytest
from commands import flat, run

import debandit as db
from debandit.words.values import Values

LABELS = [f"variant_number_{k:05d}" for k in range(10)]  # 20 characters each
SIZES = (20_000,) * 50
BAR = {"name", "low", "high"}  # of what is drawn


def widest(text):
    return max(map(len, text.splitlines()))


def binary_log(labels, batches=50, rates=None):
    """Counts of an even split over many batches, which `batched(uniform)` may have made."""
    count = len(labels)
    rates = rates if rates is not None else np.linspace(0.04, 0.05, count)
    pulls = np.random.default_rng(1).multinomial(20_000, np.full(count, 1 / count), batches)
    wins = np.random.default_rng(2).binomial(pulls, rates)
    days = [str(day) for day in range(batches) for _ in labels]
    return db.ExperimentLog.from_batches(
        days, list(labels) * batches, pulls.ravel(), (wins / pulls).ravel(), binary=True
    )


def normal_log(labels, rounds=400, **law):
    world = db.worlds.Normal(np.linspace(1000, 1500, len(labels)), np.full(len(labels), 800.0))
    log = db.simulate("uniform", world, horizon=rounds, runs=1, seed=3, paths=True).log(0)
    return db.ExperimentLog([labels[int(a)] for a in log.rounds.arms], log.rounds.rewards, labels=labels)


@pytest.fixture(scope="module")
def results():
    """Ten arms with long names, 0/1 in 50 batches and others, each with a control; the last is doubted."""
    binary = db.debias(binary_log(LABELS), "batched(uniform)", control=LABELS[0], adjust="batches", runs=50)
    normal = db.debias(normal_log(LABELS), "uniform", control=LABELS[0], runs=50)
    doubted = db.debias(normal_log(LABELS, 60), "ucb", control=LABELS[0], force=True, runs=50)
    assert any("forced" in warning for warning in doubted.warnings)
    return {"binary": binary, "normal": normal, "doubted": doubted}


@pytest.mark.parametrize("which", ["binary", "normal", "doubted"])
def test_no_line_is_wider_than_the_page(results, which):
    text = str(results[which])
    assert widest(text) <= 100
    assert text.count("variant_number_00003") >= 3  # its sentences, and its line in the table
    unwrapped = "\n".join(part.content for part in results[which].parts() if isinstance(part.content, str))
    assert widest(unwrapped) > 100  # control: it had to be wrapped


def test_tables_with_short_labels_fit_80_columns():
    for log, rule in ((binary_log("ABC", 3), "batched(uniform)"), (normal_log(["A", "B", "C"]), "uniform")):
        result = db.debias(log, rule, runs=50)
        table = next(part for part in result.parts() if part.kind == "table")
        assert widest(str(table)) <= 80
        assert "corrected" in str(table)


def test_sizes_of_batches_are_short(results):
    assert "size=(50 batches of 20,000)" in flat(str(results["binary"]))
    assert "20000, 20000" in results["binary"].settings.policy  # which must reproduce the result


def test_sentences_of_0_and_1(results):
    """Percentages for rates, points for differences; the numbers are those of the result."""
    result, text = results["binary"], flat(str(results["binary"]))
    best = int(np.argmax(result.naive))
    rate, low, high = 100 * result.quoted[best], 100 * result.winner.low, 100 * result.winner.high
    said = f"has a rate of {rate:.2f} % (95 % interval {low:.2f} to {high:.2f} %), given that it leads this experiment"
    assert text.startswith(f"{LABELS[best]} {said}; the raw rate is {100 * result.naive[best]:.2f} %.")
    found = result.differences
    above = f"{LABELS[best]} is {100 * found.quoted[best]:.2f} percentage points above {LABELS[0]}"
    assert f"{above} (95 % interval {100 * found.low[best]:.2f} to {100 * found.high[best]:.2f}), a lift of" in text
    assert "after adjusting for 9 comparisons" in text
    assert f"{LABELS[0]} (control) has a rate of" in text
    assert f"With each batch weighted by its users, {LABELS[best]} has a rate of" in text
    assert re.search(rf"^{LABELS[0]}  control ", str(result), re.MULTILINE)
    assert re.search(rf"^{LABELS[best]}  best ", str(result), re.MULTILINE)


def test_sentences_of_other_rewards(results):
    result, text = results["normal"], flat(str(results["normal"]))
    best = int(np.argmax(result.naive))
    assert text.startswith(f"{LABELS[best]} averages {result.quoted[best]:,.0f} (95 % interval ")
    assert f"the raw mean is {result.naive[best]:,.0f}." in text
    assert "percentage points" not in text


def test_nothing_technical_is_said_before_it_is_asked_for(results):
    for result in results.values():
        text, behind = str(result), flat(result.details())
        for word in ("MC s.e.", "seed", "control variates", "overage", "the winner"):
            assert word not in text
            assert word in behind
        assert "unbiased" not in text + behind
        assert "--details" in text
        whole = db.tables.plain(result.parts(with_details=True))
        assert behind in flat(whole)
        assert "--details" not in whole


def test_of_many_arms_only_some_have_a_sentence():
    labels = [f"page{k}" for k in range(14)]
    result = db.debias(binary_log(labels, 2), "batched(uniform)", control="page0", runs=50)
    text = str(result)
    assert text.count("has a rate of") == 5  # four, and the control
    assert "9 more arms are in the table." in text
    assert text.count("page") >= 14
    assert widest(text) <= 100


def test_arms_of_which_little_is_known():
    log = db.ExperimentLog(["a", "a", "b", "b"], [1, 1, 0, 1], labels=["a", "b", "c"])
    text = str(db.debias(log, "uniform", runs=200, unseen=(0.5, 0.5)))
    assert "Arm c was never pulled, so the log says nothing about it." in text
    alike = db.ExperimentLog(["one", "two"] * 6, [1, 0] * 6)
    result = db.debias(alike, "ucb", runs=200, force=True)
    assert "one has a rate of 100 % (95 % interval" in str(result)  # and no more, whatever is taken off


def test_the_picture_has_the_limits_of_the_sentences(results):
    """Those of the best-looking arm know that it was selected; the others are those of any arm."""
    result = results["normal"]
    best = int(np.argmax(result.naive))
    drawn = [row for rows in result.plot().to_dict()["datasets"].values() for row in rows if set(row) == BAR]
    assert [(row["low"], row["high"]) for row in drawn] == [*zip(*result.limits, strict=True)]
    assert drawn[best]["low"] == result.winner.low != result.low[best]


def test_a_limit_just_below_zero_does_not_look_like_zero():
    said = Values(percents=True, decimals=2, level=0.95)
    assert said.difference_limits(-0.0037, 1.0) == " (95 % interval 0 to 100)"
    assert said.finer(-0.0037, 1.0).difference_limits(-0.0037, 1.0) == " (95 % interval -0.4 to 100.0)"
    assert said.finer(0.0, 0.5) == said


COLUMNS = ("--arm", "drug", "--reward", "response")
COMMANDS = {
    "debias": ("--policy", "ucb", "--runs", 200),
    "check": ("--policy", "ucb"),
    "identify": (),
    "compare": ("--policy", "ucb", "--runs", 200),
    "describe": (),
}


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    path = tmp_path_factory.mktemp("trial") / "trial.csv"
    assert run("demo", "--save", path).returncode == 0
    return path


@pytest.mark.parametrize("name", COMMANDS)
def test_formats(trial, name):
    """Standard output has nothing but what was asked for, and the file is the same as --format json."""
    words = (name, trial, *COLUMNS, *COMMANDS[name])
    shown = {form: run(*words, "--format", form) for form in ("table", "markdown", "csv", "json")}
    assert {done.returncode for done in shown.values()} == {0}
    document = json.loads(shown["json"].stdout)
    assert document["schema"].startswith("debandit.")
    rows = list(csv.DictReader(io.StringIO(shown["csv"].stdout)))
    assert len(rows) >= 2
    assert len({len(row) for row in rows}) == 1
    assert None not in rows[0]
    assert "| ---" in shown["markdown"].stdout
    assert widest(shown["table"].stdout.partition("\nNext")[0]) <= 100  # a command to type is one line
    assert shown["table"].stdout == run(*words).stdout
    target = trial.parent / f"{name}.json"
    done = run(*words, "--json", target)
    assert done.stdout == shown["table"].stdout
    assert target.read_text(encoding="utf-8") == shown["json"].stdout


RATES = ", ".join(f"{rate:.3f}" for rate in np.linspace(0.1, 0.2, 10))
PLANS = ("batched(beta_thompson, size=100)", "floor(batched(beta_thompson, size=100), probability=0.01)")
WIDE = {  # commands and their options; LOG is a table with a row for each round
    "describe": ("LOG", "--batch", "day"),
    "check, rounds": ("LOG", "--policy", "ucb"),
    "check, batches": ("LOG", "--policy", "batched(ucb)", "--batch", "day"),
    "identify": ("LOG",),
    "debias": ("LOG", "--policy", "uniform", "--runs", 50, "--control", LABELS[0], "--metric", "revenue", "--details"),
    "compare": ("LOG", "--policy", "uniform", "--runs", 50, "--control", LABELS[0]),
    "plan": (
        *(word for rule in PLANS for word in ("--policy", rule)),
        *("--world", f"bernoulli([{RATES}])", "--horizon", 500, "--experiments", 2, "--runs", 10),
    ),
    "simulate": (
        *("--policy", f"batched(ucb, size=[{', '.join(['7'] * 30)}])", "--world", f"bernoulli([{RATES}])"),
        *("--horizon", 210, "--runs", 50),
    ),
    "datasets": (),
    "presets": ("growthbook",),
    "rules": (),
}


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Ten arms with names of 20 characters, in rounds and in days."""
    log = normal_log(LABELS).rounds
    rows = [f"2026-01-{1 + i // 100:02d},{LABELS[arm]},{log.rewards[i]},{i}" for i, arm in enumerate(log.arms)]
    path = tmp_path_factory.mktemp("wide") / "wide.csv"
    path.write_text("\n".join(["day,arm,reward,revenue", *rows]))
    return path


@pytest.mark.parametrize("name", WIDE)
def test_no_command_prints_a_line_wider_than_the_page(wide, name):
    """Commands to type may be longer, or they could not be copied."""
    done = run(name.partition(",")[0], *(wide if word == "LOG" else word for word in WIDE[name]))
    assert done.returncode in (0, 1), done.stderr
    assert len(done.stdout.splitlines()) > 5 or name == "datasets"
    assert widest(done.stdout.partition("\nNext")[0]) <= 100


def test_csv_has_the_numbers_of_the_result(trial):
    rows = list(
        csv.DictReader(io.StringIO(run("debias", trial, *COLUMNS, *COMMANDS["debias"], "--format", "csv").stdout))
    )
    result = db.debias(db.read_log(trial, arm="drug", reward="response"), "ucb", runs=200)
    assert [float(row["quoted"]) for row in rows] == result.quoted.tolist()
    assert [row["arm"] for row in rows] == ["A", "B"]


def test_averages_of_simulations(tmp_path):
    words = ("simulate", "--policy", "ucb", "--world", "bernoulli(means=[0.3, 0.6])", "--horizon", 20, "--runs", 100)
    rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv").stdout)))
    assert [float(row["truth"]) for row in rows] == [0.3, 0.6]
    assert sum(float(row["pulls"]) for row in rows) == pytest.approx(20)
    assert run(*words, "--json", tmp_path / "s.json").returncode == 0
    assert json.loads((tmp_path / "s.json").read_text())["arms"][0]["bias"] == float(rows[0]["bias"])


def test_check_writes_what_does_not_fit(trial):
    done = run("check", trial, *COLUMNS, "--policy", "greedy", "--format", "json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert (document["verdict"], document["fits"]) == ("impossible", False)
    assert document["situation"]


def test_the_log_is_not_replaced(trial):
    for name, options in COMMANDS.items():
        done = run(name, trial, *COLUMNS, *options, "--json", trial)
        assert done.returncode == 2
        assert "this file is read" in done.stderr


@pytest.mark.parametrize(("no_color", "expected"), [("", True), ("1", False)])
def test_colours(trial, monkeypatch, no_color, expected):
    """Only where somebody sees them: on a terminal without NO_COLOR."""
    from debandit.cli import printing

    fit = db.check(db.read_log(trial, arm="drug", reward="response"), "ucb")
    monkeypatch.setenv("NO_COLOR", no_color)
    written = []
    monkeypatch.setattr(printing.click, "echo", lambda text, color=None: written.append((text, color)))
    printing.show(fit, "table", None)
    ((text, color),) = written
    assert "\x1b[1m" in text
    assert (color is None) == expected  # None: click looks whether it is a terminal, and else takes them out
    assert "\x1b" not in run("check", trial, *COLUMNS, "--policy", "ucb").stdout


@pytest.mark.parametrize(("wide", "boxed"), [("100", True), ("60", False)])
def test_tables_stand_in_boxes_where_there_is_room(trial, wide, boxed):
    """On a real terminal; in a pipe, which the other tests read, there are none."""
    child, master = os.forkpty()
    if child == 0:  # pragma: no cover
        os.environ |= {"COLUMNS": wide, "NO_COLOR": "1", "PYTHONUTF8": "1"}
        os.execv(sys.executable, [sys.executable, "-m", "debandit", "check", str(trial), *COLUMNS, "--policy", "ucb"])
    printed = b""
    with suppress(OSError):  # the other end is closed
        while piece := os.read(master, 65536):
            printed += piece
    assert os.waitpid(child, 0)[1] == 0
    lines = printed.decode().replace("\r\n", "\n").split("\n")
    frame = [line for line in lines if line[:1] in "╭│├╰" and line]
    assert bool(frame) == boxed
    assert len({len(line) for line in frame}) <= 1
    pipe = run("check", trial, *COLUMNS, "--policy", "ucb").stdout
    assert "│" not in pipe
    assert "\n".join(lines).count("choices") == pipe.count("choices")


@pytest.mark.parametrize(
    ("column", "does"),
    [
        *[(name, "converts at") for name in ("conversions", "sign_ups", "SignUp", "n_orders", "firstOrder", "CLICKS")],
        *[(name, "has a rate of") for name in ("disorder", "border", "recorder", "survived", "", "orde_r")],
    ],
)
def test_only_conversions_convert(column, does):
    log = db.read_log({"arm": ["A", "B", "A", "B"], column or "reward": [1, 0, 1, 1]}, reward=column or "reward")
    assert does in str(db.debias(log, "uniform", runs=64))
