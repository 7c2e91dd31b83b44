"""What the README, the docs and the examples tell people to type works, and prints what they show."""

import contextlib
import io
import json
import os
import re
import runpy
import shutil
import subprocess
import unicodedata

import pytest
from notebooks import NOTEBOOK, cells_of, executed
from pages import BLOCK, PAGES, ROOT, mentioned, mistakes, played, prepare, text_of

from debandit.study.reading import CELL_KEYS, STUDY_KEYS
from debandit.study.rows import FIELDS

README = text_of("README.md")
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_shows_is_what_is_printed(name, tmp_path):
    """`python tests/refresh_pages.py` writes it."""
    prepare(tmp_path)
    assert played(name, tmp_path) == text_of(name)


@pytest.mark.parametrize("name", PAGES)
def test_commands_that_are_not_run_exist(name):
    commands = list(mentioned(text_of(name)))
    assert {command: wrong for command in commands if (wrong := mistakes(command))} == {}


def test_mistakes_are_found():
    """The control of the test above."""
    page = "Type `debandit debais x.csv`.\n\n```sh\ndebandit check x.csv \\\n  --polcy ucb | less\n```\n"
    assert [mistakes(command) for command in mentioned(page)] == [["--polcy"], ["debais"]]
    assert mistakes("debandit debias --no-control-variates --help") == []


def test_enough_is_run():
    """Most blocks of the pages are commands or code, so that nothing can go out of date unseen."""
    kinds = [kind for name in PAGES for kind, _ in BLOCK.findall(text_of(name))]
    assert kinds.count("console") >= 30
    assert kinds.count("python") >= 15
    assert {kind for kind in kinds if kind} <= {"console", "python", "text", "toml", "sh"}


def slug(heading):
    """What GitHub, and the site, call a heading in links."""
    kept = [c for c in unicodedata.normalize("NFC", heading.lower()) if c.isalnum() or c in " -_"]
    return "".join(kept).strip().replace(" ", "-")


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    for link in LINK.findall(BLOCK.sub("", text_of(name))):
        if re.match(r"https?:", link):
            continue
        target, _, part = link.partition("#")
        file = (ROOT / name).parent / target if target else ROOT / name
        assert file.exists(), link
        if part:
            headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", file.read_text(encoding="utf-8")), re.MULTILINE)
            assert part in map(slug, headings), link


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 80


@pytest.fixture
def examples(tmp_path):
    """A copy of the examples, which write files."""
    return shutil.copytree(ROOT / "examples", tmp_path / "examples")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_examples_run(script, examples):
    with contextlib.chdir(examples), contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_path(str(examples / script.name), run_name="__main__")
    assert "Arm" in out.getvalue() or "quoted" in out.getvalue()
    assert f"[{script.name}]({script.name})" in text_of("examples/README.md")


def test_the_notebook_shows_what_its_cells_give(tmp_path):
    """Of pictures only that there are as many."""
    prepare(tmp_path)
    shown, now = (json.loads(text) for text in (text_of(NOTEBOOK), executed(tmp_path)))
    for cell in (*cells_of(shown), *cells_of(now)):
        for output in cell["outputs"]:
            if "image/png" in output.get("data", {}):
                output["data"]["image/png"] = "a picture"
    assert now == shown
    assert str(shown).count("'image/png': 'a picture'") == 1


def test_the_page_on_studies():
    """Its tables name every setting and every column."""
    page = text_of("docs/studies.md")
    table = set(re.findall(r"`([a-z_]+)", page))
    assert {key for key in (*STUDY_KEYS, *CELL_KEYS) if key != "cell"} <= table
    columns = page[page.index("`setting, rule") :].partition("`.")[0].strip("`")
    assert [name.strip() for name in columns.replace("\n", " ").split(",")] == list(FIELDS)


def test_the_page_on_accuracy():
    """What is claimed there holds in its tables: first those of all settings, under two seeds."""
    page = text_of("docs/accuracy.md")
    assert "1,000 experiments in each" in page
    tables = re.findall(r"^## By rewards(?:, seed 2)?\n\n<details>.*?\n\n(.*?)\n\n", page, re.DOTALL | re.MULTILINE)
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
    done = subprocess.run(["make", "--silent", "demo"], capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "91 got drug A and 9 got drug B" in done.stdout
    assert "debandit debias trial.csv" in done.stdout  # the next step
    assert re.search(r"^test:", (ROOT / "Makefile").read_text(), re.MULTILINE)  # it is what runs this


def test_ci_calls_the_test_command():
    assert "make test" in (ROOT / ".ci" / "run").read_text()
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
