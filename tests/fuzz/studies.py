"""TOML files of studies: read or refused with the lines of what is wrong; small ones are played."""

import json
import random

import debandit as db
from fuzz import grammar
from fuzz.properties import need_json, need_printable

METHODS = (
    *("naive", "gaussian", "efron", "multiplier(weights=rademacher)", "ipw", "aipw", "quoted"),
    *("corrected", "aw_aipw", "w_decorrelation", "batch_weighted", "smoothed", "jeffreys"),
    *("simulated", "no", ""),
)
VALUES = {
    "title": ['"T"', '"\\u001b[31m"', "5"],
    "seed": ["1", "0", "-1", "18446744073709551616", '"x"', "1.0"],
    "figure": ['"biases"', '"methods"', '"histograms"', '"squared errors"', '"no"', "[]"],
    "x": ['"horizon"', '"c"', '"no"', "1"],
    "horizon": ["10", "[10, 20]", "0", "[]", "1e3", "100000001", '"x"', "nan", "[10, [20]]"],
    "experiments": ["3", "2", "1", "1_000_000_001", "true"],
    "runs": ["5", "20", "0", "-3", "inf"],
    "until_se": ["1.0", "0", "nan", "-1", '"a"'],
    "most_experiments": ["5", "1", "true"],
    "unseen": ["[0, 1]", "[0]", "[0, -1]", "[nan, 1]", "5"],
    "histogram": [
        "{low = 0, high = 2, bins = 4}",
        "{low = 2, high = 0, bins = 4}",
        "{}",
        "{low = 0, high = inf, bins = 4}",
    ],
    "paper": ["{naive = {bias = [1, 2]}}", "{naive = {bias = [1]}}", "{no = 1}", "[]"],
    "remark": ['"r"', "[]"],
    "source": ['"s"', "1979-05-27"],
    "nothing": ["1"],
    "cell": ["[]", "{}", "[1]"],
}
PIECES = (
    *("[[cell]]", "[cell]", "[[cell]]\n" * 300, "[cell.grid]", '"""', "'''", "= ", "a.b.c = 1"),
    *("[" * 500, "{x}", "{c}", "\0", "\ufeff", "nan", "1979-05-27T07:32:00Z", "0x" + "f" * 5000),
    *("'" * 3, "\\u0000", "\r", "#", '"\\ud800"'),
)
GRIDS = ("[1]", "[]", "[[1]]", "1", "[" + "1," * 3000 + "]", "[nan]", "['\\d', 1]", "[-1, 1]")
PLAYED_ROUNDS = 4000  # experiments × runs × rounds of what is played


def setting(name, rng, odd=0.05):
    """A line of a file; the first value of each is sound."""
    return f"{name} = {rng.choice(VALUES[name]) if rng.random() < odd else VALUES[name][0]}\n"


def made(seed):
    rng = random.Random(f"studies {seed}")
    text = "".join(
        setting(name, rng) for name in rng.sample(["title", "seed", "figure", "x", "source"], rng.randrange(3))
    )
    text += "".join(setting(name, rng) for name in ("horizon", "experiments", "runs") if rng.random() < 0.95)
    if rng.random() < 0.1:
        text += setting(rng.choice(list(VALUES)), rng, 0.7)
    for i in range(rng.choice([1, 1, 1, 2, 3])):
        rule, world = grammar.rule(rng, 1) if rng.random() < 0.3 else "ucb(c={c})", grammar.world(rng, 2)
        if rng.random() < 0.15:
            rule, world = (grammar.spoiled(each, rng) for each in (rule, world))
        text += f"[[cell]]\npolicy = {json.dumps(rule)}\nworld = {json.dumps(world)}\n"
        if "{c}" in rule or rng.random() < 0.05:
            text += f"grid.c = {rng.choice(GRIDS) if rng.random() < 0.15 else '[0.5, 1]'}\n"
        if rng.random() < 0.5:
            text += f"methods = {json.dumps(rng.sample(METHODS[: rng.choice([4, 4, 9, 16])], rng.randrange(1, 4)))}\n"
        if rng.random() < 0.3:
            text += f'label = "{i}"\n' + setting(
                rng.choice(["unseen", "histogram", "paper", "remark", "until_se"]), rng
            )
    for _ in range(rng.choice([0, 0, 0, 0, 0, 1, 2])):
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice([*PIECES, "", ""]) + text[at + rng.choice([0, 1, 5]) :]
    return {"text": text}


def tried(given, folder):
    path = folder / "my.toml"
    path.write_bytes(given["text"].encode("utf-8", "surrogatepass"))
    study = db.Study.from_toml(path)
    need_printable(str(study.title).replace("\x1b", ""))
    work = sum(cell.experiments * cell.runs * cell.horizon for cell in study.cells)
    if work <= PLAYED_ROUNDS and all(cell.until_se is None for cell in study.cells):
        found = study.run(progress="none", threads=1)
        need_printable(str(found))
        need_json(found.to_frame().astype(object).where(found.to_frame().notna(), None).to_dict("list"))
    return True
