"""Accuracy over a population: what is computed from the rows, and that nothing but the seed decides them."""

import math

import numpy as np
import pytest

from debandit.errors import InputError
from debandit.study.accuracy import Accuracy, accuracy_study, bias_index, rmse_ratio, score
from debandit.study.measured import Average

TINY = {"settings": 4, "experiments": 20, "runs": 10, "seed": 3}


def rows(setting, biases, errors, mses, world="t5(means=[0.0, 1.0], sds=[1.0, 1.0])"):
    """Of a setting with two arms: {method: a value for each arm}."""
    common = {"setting": setting, "world": world, "rule": "ucb(c=1.0)", "experiments": 100, "runs": 10, "seed": 0}
    return [
        common | {"method": method, "quantity": quantity, "arm": arm, "value": value, "se": se}
        for method in biases
        for arm in (1, 2)
        for quantity, value, se in (
            ("bias", biases[method][arm - 1], errors[method][arm - 1]),
            ("mse", mses[method][arm - 1], 0.1),
        )
    ]


def example(setting="t5 1: 2 arms, 60 rounds", left=0.1):
    return rows(
        setting,
        {"naive": (-0.5, 0.2), "gaussian": (-0.2, 0.1), "auto": (left, -left)},
        {"naive": (0.1, 0.1), "gaussian": (0.1, 0.1), "auto": (0.2, 0.1)},
        {"naive": (1.0, 0.25), "gaussian": (4.0, 0.25), "auto": (1.0, 1.0)},
    )


def test_the_formulas_by_hand():
    """|−0.5|/2 and 0.3/0.5; sqrt(4/1) and sqrt(1/4)."""
    assert bias_index(np.array([-0.5, 0.3]), np.array([4.0, 0.25])) == pytest.approx((0.25 + 0.6) / 2)
    assert rmse_ratio(np.array([4.0, 1.0]), np.array([1.0, 4.0])) == pytest.approx((2 + 0.5) / 2)


def test_a_setting_by_hand():
    found = score(example())
    assert (found.family, found.rule, found.arms) == ("t5", "ucb", 2)
    assert found.index == pytest.approx({"naive": 0.45, "gaussian": 0.2, "auto": 0.15})
    # E|N(0, s^2)| = s sqrt(2/pi); s = 0.2 and 0.1, in units of RMSEs of 1 and 0.5
    assert found.by_chance["auto"] == pytest.approx(0.2 * math.sqrt(2 / math.pi))
    assert found.rmse["gaussian", "naive"] == pytest.approx(1.5)
    assert found.rmse["auto", "naive"] == pytest.approx(1.5)
    assert found.rmse["auto", "gaussian"] == pytest.approx((0.5 + 2) / 2)


def test_differences_are_those_of_settings():
    """0.15 and 0.45 minus MB's 0.2 in both: mean 0.1, standard error 0.3/sqrt(2)/sqrt(2)."""
    found = Accuracy(accuracy_study(settings=1), (*example(), *example("t5 2: 2 arms, 60 rounds", left=0.3)))
    group = found.group("t5")
    assert group.difference() == pytest.approx((0.1, 0.15))
    assert group.row()["less_bias"] == 0.5
    assert group.row()["z"] is None  # of two settings
    assert not found.group("t5", rule="etc").scores
    assert not found.group("t5", arms=8).scores
    assert found.what_was_done().startswith("2 random settings of each family, 100 experiments in each")


def test_an_average_says_what_it_does_not_know():
    assert str(Average.of([])) == "–"
    assert str(Average.of([1.0])) == "1.000"
    assert str(Average.of([1.0, 2.0])) == "1.500 ± 0.500"


@pytest.fixture(scope="module")
def tiny():
    return accuracy_study(**TINY)


@pytest.fixture(scope="module")
def found(tiny):
    return tiny.run(threads=1, progress="none")


def test_the_seed_alone_decides(tiny, found, tmp_path):
    again = tiny.run(tmp_path, threads=2, progress="none")
    assert repr(again.rows) == repr(found.rows)
    for journal in sorted((tmp_path / "cells").iterdir())[::2]:  # as if interrupted
        journal.write_bytes(journal.read_bytes()[:-5])
    assert repr(tiny.run(tmp_path, threads=1, progress="none").rows) == repr(found.rows)
    other = accuracy_study(**TINY | {"seed": 4, "settings": 1}).run(threads=1, progress="none")
    assert {row["seed"] for row in other.rows} == {4}
    assert other.scores[0] != found.scores[0]


def test_more_settings_only_add(tiny):
    more = accuracy_study(**TINY | {"settings": 5})
    kept = {cell.key(3) for cell in more.cells}
    assert {cell.key(3) for cell in tiny.cells} < kept
    assert len(kept) == 5 * 8 + 1  # one with Beta Thompson sampling


def test_tables_files_and_picture(tiny, found, tmp_path):
    text = found.to_markdown()
    for part in (
        "first five families",
        "t5, 8 arms",
        "zero-inflated, etc",
        "ucb, binary",
        "a fixed arm",
        "--settings 4",
        "--seed 3",
    ):
        assert part in text
    assert {path.name for path in found.save(tmp_path)} == {"table.md", "rows.csv", "rows.parquet"}
    loaded = tiny.found.load(tiny, tmp_path)
    assert str(loaded) == str(found)
    assert {path.suffix for path in loaded.draw(tmp_path)} == {".svg", ".png", ".pdf"}
    assert "RMSE / RMSE of the naive mean" in (tmp_path / "figure.svg").read_text()


@pytest.mark.parametrize("option", [{"settings": 0}, {"experiments": 1}, {"runs": 1}, {"seed": -1}, {"runs": 2.5}])
def test_bad_options(option):
    with pytest.raises(InputError, match=next(iter(option))):
        accuracy_study(**{"settings": 1} | option)
