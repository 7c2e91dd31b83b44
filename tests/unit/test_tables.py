"""Tables are aligned and rounded to what is known."""

import pytest

from debandit.tables import Column, decimals_for, render


def test_a_table():
    rows = [
        {"arm": "long name", "pulls": 1234, "mean": -0.12345, "share": 0.5},
        {"arm": "b\n\x1b[31m", "pulls": 7, "mean": None, "share": float("nan")},
    ]
    columns = [
        Column("arm", "arm", "text"),
        Column("pulls", "pulls", "count"),
        Column("mean", "mean", "number"),
        Column("share", "share", "share"),
    ]
    assert render(rows, columns, 3).splitlines() == [
        "arm        pulls    mean   share",
        "--------------------------------",
        "long name  1,234  -0.123  50.0 %",
        "b��[31m        7       –       –",
    ]


def test_wide_letters_are_aligned():
    text = render(
        [{"a": "药物甲", "n": 1}, {"a": "abc", "n": 2}], [Column("a", "a", "text"), Column("n", "n", "count")], 0
    )
    assert text.splitlines()[2:] == ["药物甲  1", "abc     2"]


@pytest.mark.parametrize(
    ("errors", "decimals"),
    [
        ([0.0074, 0.5], 3),
        ([0.0021], 4),
        ([0.03], 2),
        ([0.029], 3),
        ([12.0], 0),
        ([1e12], 0),
        ([0.0, float("nan")], 4),
        ([], 4),
    ],
)
def test_decimals_follow_the_smallest_error(errors, decimals):
    assert decimals_for(errors) == decimals


def test_tiny_numbers_keep_their_digits():
    text = render([{"x": 1.2345e-12}], [Column("x", "x", "number")], decimals_for([1e-14]))
    assert text.endswith("1.2345e-12")
