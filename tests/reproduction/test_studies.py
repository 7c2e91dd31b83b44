"""The paper's tables as studies: against the printed values, the reference values, and themselves."""

import csv
import dataclasses
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from catalogue import Z, z_scores
from test_reference import REFERENCE

import debandit as db
from debandit.study import shipped_names

# (algorithm in reference.csv, quantity there) of the studies' cells and rows
ALGORITHMS = {"ETC": "ETC", "UCB": "UCB", "EG": "EG", "TS, sample-centred": "TSraw", "TS, conjugate": "TSconj"}
QUANTITIES = {
    ("real", "bias"): "bias",
    ("gaussian", "bias"): "estMB",
    ("gaussian", "corrected"): "corMB",
    ("efron", "bias"): "estEB",
    ("efron", "corrected"): "corEB",
}


@pytest.fixture(scope="module", params=["table1", "table2"])
def found(request):
    study = dataclasses.replace(db.Study.shipped(request.param), runs=200)
    return study.run()


def test_the_tables_are_shipped():
    assert {"table1", "table2"} <= set(shipped_names())


def test_every_unmarked_number_of_the_paper_is_reproduced(found):
    compared = [row for row in found.rows if row["z"] is not None and not row["remark"]]
    assert len(compared) >= 36
    assert max(abs(row["z"]) for row in compared) < Z


def test_marked_cells_do_not_all_match(found):
    """Control: the comparison is able to fail, and does where the remarks say so."""
    assert max(abs(row["z"]) for row in found.rows if row["z"] is not None and row["remark"]) > 2 * Z


def test_what_should_agree_in_marked_cells_does(found):
    """A mark excuses only what its remark is about: one number of UCB in table 1, nothing of ETC with sds (2,1,1,2)."""
    rows = [row for row in found.rows if row["z"] is not None]
    good = [row for row in rows if row["setting"] in ("UCB, Normal", "ETC, Normal sd 2,1,1,2")]
    lone = ("UCB, Normal", "gaussian", "bias", 1)
    apart = [row for row in good if (row["setting"], row["method"], row["quantity"], row["arm"]) != lone]
    assert len(apart) in (2 * 4 - 1, 4 * 6)  # arms x printed quantities
    assert max(abs(row["z"]) for row in apart) < Z


def test_rows_agree_with_the_reference(found):
    cells = {cell.label: cell for cell in found.study.cells}
    checked = 0
    for row in found.rows:
        cell, name = cells[row["setting"]], QUANTITIES.get((row["method"], row["quantity"]))
        algorithm = ALGORITHMS[row["setting"].rpartition(", ")[0]] if "sd" not in row["setting"] else None
        algorithm = algorithm or ALGORITHMS[row["setting"].partition(", Normal")[0]]
        if name is None or (algorithm == "TSconj" and cell.world.name == "normal" and cell.world.arm_count == 4):
            continue  # E[naive] is the bias plus a constant; for the other see GATED in test_reference
        values = cell.world.means
        means = " ".join(f"{mean:g}" for mean in values)
        sds = " ".join(f"{sd:g}" for sd in cell.world.sds) if cell.world.name == "normal" else ""
        value, error = (pair[row["arm"] - 1] for pair in REFERENCE[algorithm, cell.world.name, means, sds][name])
        assert abs(z_scores(row["value"] - value, row["se"], error)) < Z, row
        checked += 1
    assert checked >= 100


def test_rows_do_not_depend_on_threads():
    study = dataclasses.replace(db.Study.shipped("table1"), experiments=30, runs=100)
    assert study.run(threads=1).rows == study.run(threads=2).rows
    assert study.run().rows != dataclasses.replace(study, seed=2).run().rows


def test_cells_share_no_stream():
    study = db.Study.shipped("table1")
    twice = dataclasses.replace(study, cells=(study.cells[0], study.cells[0]), experiments=20, runs=20)
    rows = twice.run().rows
    half = len(rows) // 2
    assert all(one["value"] != two["value"] for one, two in zip(rows[:half], rows[half:], strict=True))


def test_files(tmp_path):
    study = dataclasses.replace(db.Study.shipped("table1"), experiments=20, runs=20)
    found = study.run()
    names = [path.name for path in found.save(tmp_path / "out")]
    assert names == ["table.md", "rows.csv", "rows.parquet"]
    import pandas as pd

    frame = pd.read_parquet(tmp_path / "out" / "rows.parquet")
    pd.testing.assert_frame_equal(frame, found.to_frame())
    np.testing.assert_allclose(pd.read_csv(tmp_path / "out" / "rows.csv")["value"], frame["value"])
    assert "| ETC, Normal | real | bias | 1 |" in (tmp_path / "out" / "table.md").read_text()


OWN = """
horizon = 20
experiments = 5
runs = 10
[[cell]]
policy = "ucb"
world = "bernoulli(means=[0.3, 0.6])"
"""


def test_a_study_of_one_s_own(tmp_path):
    path = tmp_path / "my.toml"
    path.write_text(OWN)
    rows = db.Study.from_toml(path).run().rows
    assert {row["method"] for row in rows} == {"real", "gaussian"}
    assert all(row["paper"] is None and row["z"] is None for row in rows)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("horizon = 20", "", "no horizon"),
        ("runs = 10", "rnus = 10", "unknown key 'rnus'"),
        ("runs = 10", "runs = 1", "runs must be"),
        ('"ucb"', '"ubc"', "cell 1, policy: there is no rule"),
        ("bernoulli", "bernouli", "Did you mean bernoulli"),
        ("[[cell]]", "[[cell]", "not a TOML file"),
        ('0.6])"', '0.6])"\nunseen = [1]', "not a mean and a standard deviation"),
        ('0.6])"', '0.6])"\npaper.bias = [1]', "paper.bias: needs one number for each of the 2 arms"),
        ('0.6])"', '0.6])"\npaper = 5', "printed values"),
        ("[0.3, 0.6]", "[[0.3, 0.6]]", "one world for each cell"),
        ("horizon = 20", "horizon = 20\nbootstraps = 5", "list of names"),
        ("[[cell]]", "[[sell]]", r"no \[\[cell\]\]"),
        ("horizon = 20", "horizon = 20\nbootstraps = ['efrom']", "Did you mean efron"),
    ],
)
def test_mistakes_are_explained(tmp_path, old, new, message):
    path = tmp_path / "my.toml"
    path.write_text(OWN.replace(old, new))
    with pytest.raises(db.InputError, match=message):
        db.Study.from_toml(path)


def read_mse():
    """{(algorithm, reward, horizon, quantity): (values, errors)} of figures 3 and 4: 4,000 experiments, 200 runs."""
    table = defaultdict(list)
    with Path(__file__).with_name("reference_mse.csv").open() as file:
        for row in csv.DictReader(file):
            key = row["algorithm"], row["reward"], int(row["T"]), row["quantity"]
            table[key].append((float(row["value"]), float(row["se"])))
    return {key: np.array(pairs).T for key, pairs in table.items()}


MSE = read_mse()


@pytest.mark.parametrize("horizon", [25, 50, 75, 100])
@pytest.mark.parametrize("algorithm", ["EG", "TSconj", "TSraw"])
def test_mean_squared_errors(algorithm, horizon):
    """Naive, MB and EB; IPW and AIPW are in laws/test_unbiased.py."""
    labels = {"EG": "EG", "TSconj": "TS, conjugate", "TSraw": "TS, sample-centred"}
    table1 = db.Study.shipped("table1")
    cells = tuple(cell for cell in table1.cells if cell.label.startswith(f"{labels[algorithm]}, "))
    study = dataclasses.replace(table1, cells=cells, horizon=horizon, experiments=2000, runs=200, seed=7)
    rows = [row for row in study.run().rows if row["quantity"] == "mse"]
    assert len(rows) == 2 * 3 * 2  # rewards, methods, arms
    names = {"real": "MSE_naive", "gaussian": "MSE_MB", "efron": "MSE_EB"}
    for row in rows:
        value, error = (part[row["arm"] - 1] for part in MSE[algorithm, row["world"], horizon, names[row["method"]]])
        assert abs(z_scores(row["value"] - value, row["se"], error)) < Z, row
