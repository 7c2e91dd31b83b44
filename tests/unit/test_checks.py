"""One wording for each kind of check."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

from debandit.checks import (
    check_fields,
    checked_choice,
    checked_flag,
    checked_number,
    checked_seed,
    checked_whole,
    checked_workers,
    choice,
    number,
    whole,
)
from debandit.errors import InputError


@dataclass(frozen=True)
class Record:
    share: float = number(0.5, low=0, high=1)
    count: int = whole(3, low=1)
    word: str = choice("one", "two")

    def __post_init__(self):
        check_fields(self, "record")


def test_numbers_become_python_s():
    for value in (2, 2.0, np.int8(2), np.float32(2), np.uint64(2)):
        found = checked_number("x", value)
        assert found == 2
        assert type(found) in (int, float)
    assert type(checked_whole("x", np.int32(5))) is int
    assert checked_seed(np.uint64(2**64 - 1)) == 2**64 - 1
    record = Record(np.float64(1), np.int64(2), "two")
    assert [type(value) for value in vars(record).values()] == [float, int, str]


@pytest.mark.parametrize("bad", [True, np.True_, "1", None, float("nan"), 1e71, 10**400, [1], np.ones(2), 1j])
def test_what_is_no_number_is_refused(bad):
    with pytest.raises(InputError, match=r"^x: x must be a number from -1e\+70 to 1e\+70, not "):
        checked_number("x", bad)
    with pytest.raises(InputError, match="a whole number from 1 to 100,000,000, not"):
        checked_whole("x", bad)


def test_whole_numbers():
    for bad in (2.0, 0, np.float64(3)):
        with pytest.raises(InputError, match="must be a whole number"):
            checked_whole("x", bad)
    with pytest.raises(InputError, match="seed must be a whole number from 0"):
        checked_seed(2**64)


def test_choices_and_flags():
    assert checked_choice("word", "one", ("one", "two")) == "one"
    with pytest.raises(InputError, match=r"word must be one, two or three, not 'tree'\n  Did you mean three\?"):
        checked_choice("word", "tree", ("one", "two", "three"))
    assert [checked_flag("x", value) for value in (True, False, np.True_, np.False_)] == [True, False] * 2
    for bad in (1, 0, "yes", None):
        with pytest.raises(InputError, match="x must be True or False"):
            checked_flag("x", bad)


def test_fields_say_where():
    for bad, message in (
        ({"share": 2}, "record: share must be a number from 0 to 1, not 2"),
        ({"count": 0}, "record: count must be a whole number from 1"),
        ({"word": "three"}, "record: word must be one or two"),
    ):
        with pytest.raises(InputError, match=message):
            Record(**bad)


def test_workers():
    assert checked_workers(None, None) is None
    assert checked_workers(np.int64(2), None) == 2
    with ThreadPoolExecutor(1) as pool:
        assert checked_workers(None, pool) is pool
    for bad in (0, 1.5, "all"):
        with pytest.raises(InputError, match="threads must be"):
            checked_workers(bad, None)
    with pytest.raises(InputError, match=r"Executor\n  For a Dask cluster"):
        checked_workers(None, object())
