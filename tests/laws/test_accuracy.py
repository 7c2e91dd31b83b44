"""The default leaves less bias than the paper's multiplier bootstrap, at less error: docs/accuracy.md has more."""

import dataclasses

import pytest

from debandit.study.accuracy import DEFAULT, FIVE, MB, NAIVE, accuracy_study

FAMILIES = (*FIVE, "binary")


@pytest.fixture(scope="module")
def found():
    return accuracy_study(settings=12, experiments=120, runs=50, seed=11, families=FAMILIES).run(progress="none")


def exchanged(found, one, two):
    """The same rows under other names."""
    names = {one: two, two: one}
    rows = tuple(row | {"method": names.get(row["method"], row["method"])} for row in found.rows)
    return dataclasses.replace(found, rows=rows)


def clearly_less_bias(found):
    """The paired difference, default minus MB. With 200 settings it must be 3 standard errors, and is 6 and more."""
    difference = found.group(*FIVE).difference()
    return difference.value <= -2 * difference.se


def small_errors(found):
    """Mean RMSE / MB's and / naive's."""
    group = found.group(*FIVE)
    return group.rmse(DEFAULT, MB).value <= 0.95, group.rmse(DEFAULT, NAIVE).value <= 1.03


def test_less_bias_than_mb(found):
    assert clearly_less_bias(found)
    assert not clearly_less_bias(exchanged(found, DEFAULT, MB))  # controls
    assert not clearly_less_bias(exchanged(found, DEFAULT, NAIVE))


def test_less_error_than_mb_and_hardly_more_than_naive(found):
    assert small_errors(found) == (True, True)
    assert small_errors(exchanged(found, DEFAULT, MB)) == (False, False)  # control


def test_binary_rewards(found):
    group = found.group("binary")
    assert group.index(DEFAULT).value < group.index(MB).value < group.index(NAIVE).value
    assert group.rmse(DEFAULT, NAIVE).value < group.rmse(MB, NAIVE).value
    assert group.rmse(DEFAULT, MB).value < 1
