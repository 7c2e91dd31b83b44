"""Every public name is explained, with its parameters, and with examples that print what they show."""

import doctest
import inspect

import pytest
from numpydoc.docscrape import FunctionDoc
from public_names import EXPLAINED, FUNCTIONS

from debandit.readers.reading import read

SHORT = {"worlds.as_bootstrap", "worlds.as_world"}  # they read the texts of worlds, and have a line for that
FORMULAS = {name for name in FUNCTIONS if name.startswith("theory.")}  # which explain their letters
OURS = {"enough", "guess_batches"}  # options of `read` that nobody else needs


@pytest.mark.parametrize("name", EXPLAINED)
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner, told = doctest.DocTestRunner(), []
    for each in doctest.DocTestFinder().find(EXPLAINED[name], name, globs={}):
        runner.run(each, out=told.append)
    assert not runner.failures, "".join(told)
    assert runner.tries or name not in FUNCTIONS or name in SHORT


@pytest.mark.parametrize("name", EXPLAINED)
def test_the_first_line_stands_alone(name):
    lines = inspect.getdoc(EXPLAINED[name]).splitlines()
    assert lines[0].endswith(".")
    assert lines[1:2] in ([], [""])


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - SHORT - FORMULAS))
def test_all_parameters_are_explained(name):
    told = FunctionDoc(FUNCTIONS[name])
    names = [part for each in told["Parameters"] for part in each.name.replace("*", "").split(", ")]
    asked = inspect.signature(read if name == "read_log" else FUNCTIONS[name]).parameters
    assert sorted(names) == sorted(set(asked) - OURS)
    assert told["Returns"]
