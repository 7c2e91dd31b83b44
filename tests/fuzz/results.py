"""Files of results: real ones with something strange in them are refused, or are what they say."""

import copy
import functools
import json
import random

import numpy as np

import debandit as db
from debandit.report import report_of
from fuzz.properties import need_json, need_printable, need_same

STRANGE = [
    *(None, True, False, 0, 1, -1, 1.5, -0.0, 2**63, 2**70, 1e308, 5e-324, 1e-300),
    *(float("nan"), float("inf"), float("-inf"), "", "x", "5", "NaN", "\ud800", "\x1b[31m", "\0", "\u202e", "<b>"),
    *("A" * 100_000, [], {}, [1], [[]], [None], {"a": 1}, [[1.0, 2.0]], [1] * 1000, "A\nB", " A", "ärm"),
]
REPORTED = 0.01  # the share of the accepted ones of which a report is made, which takes longer


@functools.cache
def documents():
    """Results of every kind."""
    rng = np.random.default_rng(20260501)
    arms, days = list("ABC") * 20, [str(i // 20) for i in range(60)]
    normal = db.ExperimentLog(arms, rng.normal(size=60), metrics={"m": rng.normal(size=60)})
    binary = db.ExperimentLog(arms, rng.random(60) < 0.4, batches=days)
    counts = db.ExperimentLog.from_summaries("AB", [100, 300], [0.25, 0.3], binary=True)
    ucb = db.simulate("ucb", db.worlds.Normal([1, 1.5], [1, 1]), horizon=30, runs=1, seed=2, paths=True).log(0)
    found = [
        db.debias(normal, "uniform", runs=80, control="A"),
        db.debias(binary, "batched(uniform)", runs=80, adjust="batches"),
        db.debias(counts, "beta_thompson", runs=80, interval="none", control_variates=False),
        db.debias(ucb, "ucb", method="rao-blackwell"),
    ]
    return [json.dumps(each.document()) for each in found]


def spots(part):
    """Every (container, key) in a document."""
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        yield part, key
        if isinstance(value, (dict, list)):
            yield from spots(value)


def change(document, rng):
    """Put something else somewhere."""
    part, key = rng.choice(list(spots(document)))
    how, value = rng.randrange(8), part[key]
    if how == 0:
        del part[key]
    elif how == 1:
        other, elsewhere = rng.choice(list(spots(document)))
        part[key] = copy.deepcopy(other[elsewhere])
    elif how == 2 and isinstance(part, list):
        part.insert(key, copy.deepcopy(value))
    elif how == 3 and isinstance(part, dict):
        part[rng.choice(["new", "", "\ud800", key.upper()])] = part.pop(key)
    elif isinstance(value, (int, float)) and how < 6:
        part[key] = rng.choice(
            [value + 1, -value, str(value), [value], value * 1e9, float(value), int(value), not value]
        )
    else:
        part[key] = copy.deepcopy(rng.choice(STRANGE))  # which the next change may change


def made(seed):
    rng = random.Random(f"results {seed}")
    document = json.loads(rng.choice(documents()))
    for _ in range(rng.choice([0, 1, 1, 1, 1, 2, 3])):
        change(document, rng)
    text = json.dumps(document)
    if rng.random() < 0.15:
        at = rng.randrange(len(text))
        text = (
            text[:at]
            + rng.choice(["", "\0", '"', "{", "]", "NaN", "1e999", "9" * 5000, "[" * 5000, "\ufeff"])
            + text[at + 1 :]
        )
    return {"text": text, "report": rng.random() < REPORTED}


def tried(given, folder):
    path = folder / "result.json"
    path.write_bytes(given["text"].encode("utf-8", "surrogatepass"))
    result = db.Debiased.from_json(path)
    for text in (str(result), result.details()):
        need_printable(text)
    written = need_json(result.document())
    result.to_json(path)
    need_same(need_json(db.Debiased.from_json(path).document()), written, "read again it is another result")
    if given["report"]:
        need_printable(report_of(result))
    return True
