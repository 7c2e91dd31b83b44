"""What the README and the docs tell people to type works, and prints what it shows."""

import contextlib
import io
import os
import re
import shlex
import sqlite3
import subprocess
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from commands import run

from debandit.demo import save_log
from debandit.study.reading import CELL_KEYS, STUDY_KEYS
from debandit.study.rows import FIELDS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def done(result):
    """What a command has printed, which must have ended well."""
    assert result.returncode == 0, result.stderr
    return result.stdout


def printed(code, cwd):
    """What a script prints."""
    with contextlib.chdir(cwd), contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, "script", "exec"), {"__name__": "__main__"})
    return out.getvalue()


CONSOLE = {  # pages with commands, and the least number of blocks of them
    "README.md": 2,
    "docs/studies.md": 1,
    "docs/own-rules.md": 1,
    "docs/identify.md": 1,
    "docs/datasets.md": 3,
    "docs/wrappers.md": 1,
    "docs/logs.md": 2,
    "docs/intervals.md": 1,
    "docs/worlds.md": 1,
    "docs/compare.md": 2,
    "docs/presets.md": 3,
    "docs/drift.md": 1,
}
SHOWN = {"docs/datasets.md": 3, "docs/metrics.md": 1, "docs/drift.md": 1}  # scripts whose output is shown


def prepare(folder, page=""):
    """The README's log, which other pages use, too, and the files that a page shows; each page starts from nothing."""
    if not (folder / "trial.csv").exists():
        save_log(folder / "trial.csv")
        rounds = pd.read_csv(folder / "trial.csv").rename_axis("id").reset_index()
        with contextlib.closing(sqlite3.connect(folder / "trial.db")) as connection:
            rounds.to_sql("rounds", connection)
        with duckdb.connect(folder / "trial.duckdb") as connection:
            connection.execute("CREATE TABLE rounds AS FROM rounds")
        drift = (ROOT / "docs" / "drift.md").read_text(encoding="utf-8")
        for name, text in (("days.csv", README), ("week.csv", drift)):
            (folder / name).write_text(re.search(r"```text\n(day,.*?)```", text, re.DOTALL)[1])
    blocks = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    for made in re.findall(r"(?:--save|study new) (\S+)", "".join(blocks)):
        (folder / made).unlink(missing_ok=True)
    for name, code in re.findall(r"```python\n# (my_\w+.py)\n(.*?)```", page, re.DOTALL):
        (folder / name).write_text(code)
    return blocks


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Each worker of the tests has its own."""
    folder = tmp_path_factory.mktemp("readme")
    prepare(folder)
    return folder


@pytest.mark.parametrize(("name", "least"), CONSOLE.items())
def test_console_blocks(directory, name, least):
    blocks = prepare(directory, (ROOT / name).read_text(encoding="utf-8"))
    assert len(blocks) >= least
    for block in blocks:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            words = shlex.split(command)
            assert words[0] == "debandit"
            told = done(run(*words[1:], cwd=directory))
            if shown.strip():
                assert told.rstrip() == shown.rstrip()


def test_python_blocks(directory):
    for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        assert "given that it leads" in printed(block, directory)


@pytest.mark.parametrize(("name", "count"), SHOWN.items())
def test_python_prints_what_is_shown(directory, name, count):
    """On the page on datasets, for every one of which only counts are known."""
    page = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == count
    for code, shown in blocks:
        assert printed(code, directory).rstrip() == shown.rstrip()


def test_the_page_on_studies(directory):
    """Its TOML file is one, its Python runs, and its tables name every setting and every column."""
    page = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    (file,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (directory / "my.toml").write_text(file.replace("= 1000", "= 10").replace("= 500", "= 10"))
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    rows = int(printed(code + "print(len(found.rows))", directory))
    assert rows == 12 * 2 * (5 + 6 + 6 + 5 + 5)  # cells, arms, quantities of the five methods
    table = set(re.findall(r"`([a-z_]+)", page))
    assert {key for key in (*STUDY_KEYS, *CELL_KEYS) if key != "cell"} <= table
    columns = page[page.index("`setting, rule") :].partition("`.")[0].strip("`")
    assert [name.strip() for name in columns.replace("\n", " ").split(",")] == list(FIELDS)


def test_the_page_on_accuracy():
    """What is claimed there holds in its tables: first those of all settings, under two seeds."""
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    assert "1,000 experiments in each" in page
    tables = re.findall(r"^## By rewards(?:, seed 2)?\n\n(.*?)\n(?:\n|$)", page, re.DOTALL | re.MULTILINE)
    assert len(tables) == 2
    for table in tables:
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
        titles, rows = lines[0], {line[0]: line for line in lines[2:]}
        five, binary = (dict(zip(titles, rows[name], strict=True)) for name in ("first five families", "binary"))
        value = {title: float(five[title].split()[0]) for title in titles[1:]}
        assert value["settings"] >= 200
        assert value["z"] <= -3
        assert value["default/MB"] <= 0.95
        assert value["default/naive (largest)"] <= 1.03
        assert float(binary["default"].split()[0]) < float(binary["MB"].split()[0])
        assert float(binary["default/naive (largest)"].split()[0]) < float(binary["RMSE: MB/naive"].split()[0])


def test_make_targets():
    targets = re.findall(r"^make (\w+)", README, re.MULTILINE)
    assert targets == ["demo", "test"]
    told = done(subprocess.run(["make", "--silent", "demo"], capture_output=True, text=True, cwd=ROOT, timeout=300))
    assert "91 got drug A and 9 got drug B" in told
    assert "debandit debias trial.csv" in told  # the next step
    assert re.search(r"^test:", (ROOT / "Makefile").read_text(), re.MULTILINE)  # it is what runs this


def test_ci_calls_the_test_command():
    assert "make test" in (ROOT / ".ci" / "run").read_text()
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
