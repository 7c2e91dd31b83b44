"""What is read from result.json is what was written there, or it is refused: no number is made of something else."""

import copy
import json
import random

import numpy as np
import pytest

import debandit as db
from debandit.report import report_of

_rng = np.random.default_rng(20260401)
ARMS, DAYS = list("ABC") * 20, [str(i // 20) for i in range(60)]
NORMAL = db.ExperimentLog(ARMS, _rng.normal(size=60), metrics={"m": _rng.normal(size=60)})
BINARY = db.ExperimentLog(ARMS, _rng.random(60) < 0.4, batches=DAYS)
UCB = db.simulate("ucb", db.worlds.Normal([1, 1.5], [1, 1]), horizon=30, runs=1, seed=2, paths=True).log(0)
RESULTS = {
    "rewards on a scale, metrics": lambda: db.debias(NORMAL, "uniform", runs=80, control="A"),
    "0/1, batches": lambda: db.debias(BINARY, "batched(uniform)", runs=80, adjust="batches"),
    "rao-blackwell": lambda: db.debias(UCB, "ucb", method="rao-blackwell"),
}
WEIRD = [
    *(None, True, False, 0, 1, -1, 1.5, -0.0, 2**70, 1e308, float("nan"), float("inf"), float("-inf")),
    *("", "x", "5", "\ud800", "<b>", "A" * 1000, [], {}, [1], [[]], [None], {"a": 1}),
]


@pytest.fixture(scope="module")
def documents():
    return {name: json.loads(json.dumps(make().document())) for name, make in RESULTS.items()}


def places(document, above=()):
    """Every key and every index."""
    if isinstance(document, (dict, list)):
        for key, value in document.items() if isinstance(document, dict) else enumerate(document):
            yield (*above, key)
            yield from places(value, (*above, key))


def changed(document, place, change):
    """The document with something else at one place."""
    whole = copy.deepcopy(document)
    part = whole
    for key in place[:-1]:
        part = part[key]
    change(part, place[-1])
    return whole


def read(document, folder):
    path = folder / "result.json"
    path.write_text(json.dumps(document))
    return db.Debiased.from_json(path)


def delete(part, key):
    del part[key]


def put(value):
    def change(part, key):
        part[key] = value

    return change


@pytest.mark.parametrize("name", RESULTS)
def test_what_is_read_is_what_was_written(documents, name, tmp_path):
    document = documents[name]
    assert json.loads(json.dumps(read(document, tmp_path).document())) == document


WRONG = [
    (("runs",), "80"),
    (("runs",), True),
    (("runs",), -1),
    (("schema_version",), True),
    (("warnings",), "a word"),
    (("warnings",), [5]),
    (("stopped_because",), 5),
    (("settings", "policy"), 5),
    (("settings", "world"), {"a": 1}),
    (("settings", "binary"), 1),
    (("settings", "reward"), None),
    (("settings", "level"), float("nan")),
    (("settings", "control"), "D"),
    (("settings", "absent"), {"A": [["1"]]}),
    (("settings", "new"), 1),
    (("interval", "name"), "exact"),
    (("arms", 0, "arm"), "B"),
    (("arms", 0, "arm"), ["A"]),
    (("arms", 0, "pulls"), "20"),
    (("arms", 0, "pulls"), 20.5),
    (("arms", 0, "pulls"), -20),
    (("arms", 0, "pulls"), 1e308),
    (("arms", 0, "naive"), "0.5"),
    (("arms", 0, "naive"), True),
    (("arms", 0, "naive"), float("nan")),
    (("arms", 0, "naive"), float("inf")),
    (("arms", 0, "naive"), 1e308),
    (("arms", 0, "naive"), [0.5]),
    (("arms", 0, "compared_with"), "D"),
    (("arms", 0, "histogram", "low"), float("-inf")),
    (("arms", 0, "histogram", "high"), -1e9),
    (("arms", 0, "histogram", "counts"), [[1]]),
    (("arms", 0, "histogram", "counts"), [-1]),
    (("arms", 0, "histogram", "counts"), ["1"]),
    (("path", "rounds"), [1]),
    (("path", "means", 0, 0), "1"),
    (("winner", "arm"), "D"),
    (("winner", "bias"), "0"),
    (("metrics", "m", "slope"), [1.0]),
    (("metrics", "m", "slope", 0), "1"),
]


@pytest.mark.parametrize(("place", "value"), WRONG, ids=str)
def test_what_was_never_written_is_refused(documents, place, value, tmp_path):
    document = documents["rewards on a scale, metrics"]
    with pytest.raises(db.InputError, match=r"not a result of debandit|not a JSON file|schema"):
        read(changed(document, place, put(value)), tmp_path)


@pytest.mark.parametrize("name", RESULTS)
def test_whatever_is_read_can_be_shown(documents, name, tmp_path):
    """Any one value is replaced by something strange, or left out."""
    document, chance = documents[name], random.Random(20260402)
    everywhere, shown = list(places(document)), 0
    for _ in range(150):
        place, change = chance.choice(everywhere), chance.choice([delete, *map(put, WEIRD)])
        try:
            result = read(changed(document, place, change), tmp_path)
        except db.InputError:
            continue
        shown += 1
        assert str(result)
        assert result.details()
        assert result._repr_html_()
        assert len(result.to_frame()) == len(document["arms"])
        json.dumps(result.document(), allow_nan=False)
        if shown == 10:
            assert report_of(result).endswith("</html>")
    assert 10 <= shown < 100
