"""A sample of the hostile input of `fuzz`, what failed before, and what a trouble is; `make fuzz` tries very many."""

import json
import os
import time
import warnings

import pytest
from fuzz import campaign, logs, queries, rules
from fuzz.properties import judged, need_json, unlike

import debandit as db
from debandit.readers.reading import Reading

SAMPLE = {"logs": 2500, "rules": 3000, "results": 400, "queries": 800, "studies": 150, "words": 60, "answers": 25}
SAMPLE |= {"forms": 8, "commands": 3}
PART = 500  # of what one test does
PARTS = [(name, first) for name, count in SAMPLE.items() for first in range(0, count, PART)]


@pytest.mark.parametrize(("name", "first"), PARTS)
def test_hostile_input_is_accepted_or_refused(tmp_path, name, first):
    seeds = range(first, min(first + PART, SAMPLE[name]))
    assert list(campaign.troubles(name, seeds, tmp_path)) == []


def test_every_generator_has_a_sample():
    assert SAMPLE.keys() == {*campaign.SHARES, "commands"}


@pytest.mark.parametrize("path", sorted(campaign.CORPUS.glob("*.json")), ids=lambda path: path.stem)
def test_what_failed_before(tmp_path, path):
    kept = json.loads(path.read_text(encoding="ascii"))
    assert judged(campaign.generator(kept["generator"]), kept["input"], tmp_path)[0] in ("accepted", "refused")


def test_all_kinds_of_files_are_read_and_refused(tmp_path):
    """The files are worth their time: some of each kind are still logs, and more are not."""
    outcomes = set()
    for seed in range(1000):
        given = logs.made(seed)
        content = given["content"].encode("latin-1")
        kind = content[:4].strip() if content[:1] in b"PA\xff{\x1f(" else b"text"
        outcomes.add((kind, judged(logs, given, tmp_path)[0]))
    kinds = (b"PAR1", b"ARRO", b"\xff\xff\xff\xff", b'{"ar', b"(\xb5/\xfd", b"text")
    assert outcomes >= {(kind, read) for kind in kinds for read in ("accepted", "refused")}


@pytest.mark.parametrize("generator", [rules, queries])
def test_texts_are_accepted_and_refused(tmp_path, generator):
    outcomes = [judged(generator, generator.made(seed), tmp_path)[0] for seed in range(100)]
    assert 10 < outcomes.count("accepted") < 90


# --- what a trouble is -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (KeyError("arm"), "KeyError"),
        (db.InputError("no", where="elsewhere.csv"), "not named"),
        (db.InputError("x" * 1990, where="table.csv", remedy="y" * 100), "a message of"),
        (db.ExperimentLog(["A", "B"], [1, 0]), "2 rounds, but Python's csv module finds 3 rows"),
    ],
)
def test_a_file_that_is_read_wrongly(tmp_path, monkeypatch, answer, expected):
    def read(path, **options):
        if isinstance(answer, Exception):
            raise answer
        return Reading(answer, [])

    monkeypatch.setattr(logs, "read", read)
    outcome, what = judged(logs, {"content": "arm,reward\nA,1\nB,0\nA,1\n", "options": {}}, tmp_path)
    assert outcome == "trouble"
    assert expected in what


class Generator:
    """Does one thing, whatever is given."""

    def __init__(self, does):
        self.does = does

    def made(self, seed):
        return seed

    def tried(self, given, folder):
        return self.does(given)


def spend(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return True


TROUBLES = {
    "an exception": (lambda _: 1 / 0, "ZeroDivisionError"),
    "a warning": (lambda _: warnings.warn("overflow encountered", RuntimeWarning, stacklevel=1), "RuntimeWarning"),
    "a long message": (lambda _: _raised(db.InputError("a", remedy="x\n" * 9999)), "a text of"),
    "NaN": (lambda _: need_json({"a": float("nan")}), "ValueError"),
    "time": (lambda _: spend(1.5), "seconds"),
    "memory": (lambda _: bytearray(300_000_000), "bytes"),
}


def _raised(error):
    raise error


@pytest.mark.parametrize("name", TROUBLES)
def test_what_is_noticed(tmp_path, monkeypatch, name):
    monkeypatch.setattr("fuzz.properties.LONGEST_SECONDS", 1)
    monkeypatch.setattr("fuzz.properties.MOST_MEMORY", 100_000_000)
    does, expected = TROUBLES[name]
    outcome, what = judged(Generator(does), 0, tmp_path)
    assert outcome == "trouble"
    assert expected in what


def test_documents_are_compared_number_by_number():
    one = {"a": [1.0, "x", None], "b": 1}
    assert list(unlike(one, {"a": [1.0, "x", None], "b": 1})) == []
    assert list(unlike(one, {"a": [1.0 + 1e-12, "x", None], "b": 1}, near=1e-9)) == []
    for other in ({"a": [2.0, "x", None], "b": 1}, {"a": [1.0, "x"], "b": 1}, {"a": [1, "x", None], "b": 1}, {"b": 1}):
        assert len(list(unlike(one, other))) == 1


# --- the campaign ----------------------------------------------------------------------------------------------------


def test_a_campaign_goes_on_where_it_stopped(tmp_path, monkeypatch):
    """And its inputs are those of one that did not stop."""
    calls = []

    def block(name, first, last, kept):
        calls.append((name, first, last))
        return first + 10, {"tried": 10, "accepted": 4, "refused": 6, "troubles": 0}

    monkeypatch.setattr(campaign, "block", block)
    path, state = tmp_path / "state.json", {"seed": 100, "done": {}}
    campaign.run(state, path, {"rules": 20, "logs": 10})
    assert calls == [("rules", 100, 120), ("logs", 100, 110), ("rules", 110, 120)]
    again = json.loads(path.read_text())
    assert again == state
    campaign.run(again, path, {"rules": 30, "logs": 10})
    assert calls[3:] == [("rules", 120, 130)]
    assert "| rules | 30 | 12 | 18 | 0 |" in campaign.table(again["done"])


def test_the_death_of_a_process_is_a_trouble(tmp_path, monkeypatch):
    """The input that it was at is kept, and the next one comes after it."""
    monkeypatch.setattr(campaign, "work", die)
    following, counts = campaign.block("rules", 7, 20, tmp_path)
    assert (following, counts["troubles"]) == (10, 1)
    kept = json.loads((tmp_path / "rules-9.json").read_text())
    assert kept["input"] == rules.made(9)
    assert "the process ended with" in kept["what"]


def die(name, first, last, kept, shared):
    shared[0], shared[1], shared[5] = first + 2, 3, 0
    os._exit(9)
