"""docs/warnings.md has every warning and note that the code can print about a log or a result."""

import ast
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import debandit as db

SOURCE = Path(db.__file__).parent
PAGE = (SOURCE.parents[1] / "docs" / "warnings.md").read_text(encoding="utf-8")
MAKE = {  # the functions whose texts are warnings or notes; () for all of the module
    "checking/fit.py": ("reward_warnings", "_moving", "debias_warnings", "DOUBT"),
    "cli/options.py": ("say_what_runs",),
    "debiasing/inferring.py": ("_known_to_fail",),
    "debiasing/outliers.py": ("_said",),
    "debiasing/results.py": ("_from_walks", "_warnings"),
    "engine/keeping.py": ("or_without",),
    "engine/kernels.py": ("_said",),
    "intervals/interval.py": (
        "outside",
        "_limits",
        "_simulated_limits",
        "spread_warnings",
        "BORROWED",
        "_WITH_FACTORS",
    ),
    "log.py": ("absences",),
    "policies/availability.py": ("doubted_absences",),
    "policies/presets.py": ("_assumed",),
    "readers/columns.py": ("line", "roles_of"),
    "readers/counting.py": ("notes_on_counts", "left_out", "_of_batches", "_ADDED_UP"),
    "readers/doubts.py": ("confirm_order", "repeated_users", "lookalikes"),
    "readers/reading.py": ("read",),
    "settings.py": ("absence_notes",),
    "words/details.py": ("_unstable",),
}
PASS_ON = {  # modules that hand on what others make, or use these words for something else
    "checking/__init__.py",
    "cli/__init__.py",
    "cli/printing.py",
    "cli/simulations.py",
    "cli/streams.py",
    "comparing/comparison.py",
    "debiasing/cases.py",
    "describing.py",
    "engine/processes.py",
    "errors.py",
    "intervals/__init__.py",
    "readers/__init__.py",
    "periods/weighted.py",
    "plots/__init__.py",
    "policies/rulebook.py",
    "result.py",
    "words/answer.py",
}
OF_WARNINGS = re.compile(r"\b(warnings?|notes?|doubts?|\w*_warnings|\w+Warning|stderr|err=True)\b")
OUTSIDE = ("study/", "identification/", "theory/", "__main__.py", "report/", "app/")  # nothing about one log or result


def messages():
    """The messages on the page, with … for what differs."""
    return [line[2:] for line in PAGE.splitlines() if line.startswith("> ")]


def names_of(node):
    """What a statement at the top of a module, or in a class, defines."""
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return [node.name] if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else []


def texts(module, wanted):
    """The literal pieces of all texts in these functions and constants, but for docstrings and errors."""
    tree = ast.parse((SOURCE / module).read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if set(names_of(node)) & set(wanted)]
    assert {name for node in found for name in names_of(node)} >= set(wanted), module
    for node in found:
        errors = [
            part for part in ast.walk(node) if isinstance(part, ast.Raise) or {"what", "remedy"} & {*names_of(part)}
        ]
        skipped = {id(each) for part in errors for each in ast.walk(part)}
        skipped |= {id(part.body[0].value) for part in ast.walk(node) if isinstance(part, ast.FunctionDef)}
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and id(part) not in skipped:
                yield from re.split(r"\{.*?\}", part.value)


def is_said(text):
    """Whether a piece is a part of a sentence: it has two words, and no name of an option alone."""
    return len(re.findall(r"[A-Za-z]{2,}", text)) >= 2 and " " in text.strip() and "=COLUMN" not in text


@pytest.mark.parametrize("module", MAKE)
def test_every_text_is_on_the_page(module):
    page = " ".join(PAGE.split())
    pieces = {" ".join(text.split()) for text in texts(module, MAKE[module]) if is_said(text)}
    assert pieces, module
    assert sorted(piece for piece in pieces if piece not in page) == []


def test_nothing_else_makes_warnings():
    """The control: a module that has to do with warnings is in one of the lists, so that new texts are seen."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        code = re.sub(r"#[^\n]*|\"\"\".*?\"\"\"", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        if OF_WARNINGS.search(code) and not name.startswith(OUTSIDE):
            found.add(name)
    assert found - set(MAKE) - PASS_ON == set()
    assert found >= PASS_ON


def said(log, rule, **options):
    """All warnings and notes about a log and its result."""
    result = db.debias(log, rule, runs=200, threads=1, **options)
    parts = [
        str(part.content) for part in result.parts(with_details=True) if "warning" in part.kind or "note" in part.kind
    ]
    return [*log.notes, *(text.partition(": ")[2] for text in parts)]


def test_what_is_said_is_found_on_the_page():
    """By its words; … stands for anything."""
    patterns = [re.compile(re.escape(message).replace("…", ".+"), re.DOTALL) for message in messages()]
    table = {
        "arm": ["a", "b", "A"] * 7,
        "cost": np.r_[np.zeros(20), 1e6],
        "user": [1, 1, *range(19)],
        "time": ["?", *range(20)],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        odd = db.read_log(table)
    once = db.ExperimentLog(["a", "a", "b"] + ["a"] * 8, [1.0, 2.0, 5.0] + [1.5] * 8)
    days = [str(day) for day in range(20) for _ in "ab"]
    rates = np.repeat(np.where(np.arange(20) % 7 < 2, 0.5, 0.1), 2)
    drifting = db.ExperimentLog.from_batches(days, ["a", "b"] * 20, [500] * 40, rates, binary=True)
    told = [
        *said(odd, "ucb", force=True),
        *said(once, "greedy", force=True),
        *said(db.datasets.ecmo.log, "play_the_winner"),
        *said(drifting, "batched(uniform)"),
    ]
    assert len(told) >= 15
    assert [text for text in told if not any(pattern.match(text) for pattern in patterns)] == []
