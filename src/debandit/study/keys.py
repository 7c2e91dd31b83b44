"""The keys of a study's file, one by one: what each may hold."""

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

from debandit.checks import LARGEST, MOST_RUNS, checked_whole
from debandit.errors import InputError, quoted, shorten
from debandit.study.cell import Bins, Cell
from debandit.study.methods import known_methods
from debandit.worlds import Unseen

QUANTITIES = ("bias", "mean", "estimated_bias", "mse", "rmse", "median_squared_error")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def _horizons(value: Any) -> list[int]:
    several = value if isinstance(value, list) and value else [value]
    return [checked_whole("horizon", each) for each in several]


def _count(name: str) -> Callable[[Any], int]:
    return lambda value: checked_whole(name, value, 2, MOST_RUNS)


def _until_se(value: Any) -> float:
    if type(value) not in (int, float) or not 0 < value < LARGEST:
        raise InputError(f"must be a number above 0, not {quoted(value)}")
    return float(value)


def _unseen(value: Any) -> Unseen:
    return Unseen.of(value if isinstance(value, list) else None)


def _bins(value: Any) -> Bins:
    try:
        bins = Bins(**value)
        sound = all(type(edge) in (int, float) for edge in bins[:2]) and -LARGEST < bins.low < bins.high < LARGEST
    except TypeError:
        sound = False
    if not sound:
        raise InputError("must be written as {low = 0, high = 2, bins = 40}, from low to high")
    return Bins(float(bins.low), float(bins.high), checked_whole("bins", bins.bins, 1, 10_000))


def _methods(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
        remedy = f"The methods are {known_methods()}."
        raise InputError('must be a list of names, such as ["naive", "gaussian"]', remedy=remedy)
    return tuple(dict.fromkeys(value))


# settings that may stand at the top, for all cells, or in a cell
SHARED: dict[str, Callable[[Any], Any]] = {
    "horizon": _horizons,
    "experiments": _count("experiments"),
    "runs": _count("runs"),
    "methods": _methods,
    "until_se": _until_se,
    "most_experiments": _count("most_experiments"),
    "unseen": _unseen,
    "histogram": _bins,
}


def text_of(value: Any) -> str:
    """A text, not a number or a list."""
    if not isinstance(value, str):
        raise InputError(f"must be a text in quotes, not {quoted(value)}")
    return value


def grid_of(value: Any) -> dict[str, list[Any]]:
    """Lists of values, by name."""
    if not isinstance(value, dict) or not all(isinstance(values, list) and values for values in value.values()):
        raise InputError("must be lists of values with names, such as {c = [0.5, 1, 2]}")
    return value


def points(grid: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Every combination of the values."""
    return (dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values()))


def filled(text: str, point: dict[str, Any]) -> str:
    """{name} replaced by its value in the grid."""

    def value_of(found: re.Match[str]) -> str:
        if found[1] not in point:
            raise InputError(f"{{{shorten(found[1], 30)}}} is not in the grid of this cell")
        return shown(point[found[1]])

    return _PLACEHOLDER.sub(value_of, text)


def placeholders(*texts: Any) -> set[str]:
    """The names in braces."""
    return {name for text in texts if isinstance(text, str) for name in _PLACEHOLDER.findall(text)}


def shown(value: Any) -> str:
    """As it is written in a rule or a world."""
    return value if isinstance(value, str) else quoted(value, 1000)


def printed_values(table: Any, cell: Cell) -> dict[str, dict[str, list[float]]]:
    """{method: {quantity: one number for each arm}}."""
    if not isinstance(table, dict) or not all(isinstance(part, dict) for part in table.values()):
        raise InputError("printed values are written as paper.naive.bias = [...]")
    for method, quantities in table.items():
        if method not in cell.methods:
            raise InputError(f"{shorten(method)!r} is not among the methods of this cell")
        for quantity, values in quantities.items():
            if quantity not in QUANTITIES:
                what = f"there is no quantity {shorten(quantity)!r}"
                raise InputError(what, remedy=f"The quantities are {', '.join(QUANTITIES)}.")
            numbers = isinstance(values, list) and all(
                type(value) in (int, float) and abs(value) <= LARGEST for value in values
            )
            if not numbers or len(values) != cell.world.arm_count:
                what = f"{method}.{quantity} needs one number for each of the {cell.world.arm_count} arms"
                raise InputError(what)
    return table
