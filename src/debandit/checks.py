"""Numbers and choices that users give: each kind is checked in one place and complained of in one wording.

Functions check a value that is at hand. `number`, `whole` and `choice` declare the limits of a dataclass's field, as in
`c: float = number(1.0, low=0)`, and `check_fields` applies them; `option` declares a field with any other check.
Nothing slow is imported here: the command line shows its help from such declarations, and that must not take long.
"""

import dataclasses
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from debandit.errors import InputError, quoted, shorten

if TYPE_CHECKING:
    from concurrent.futures import Executor

LARGEST = 1e70  # of rewards and of numbers in their unit: fourth powers of larger ones overflow
SMALLEST = 1 / LARGEST  # of positive ones
MOST = 10**8  # rounds or pulls
TINY = 1e-3  # a number may be this near to 0 where it must not be 0
MOST_RUNS = 10**9


def checked_number(
    name: str, value: Any, low: float = -LARGEST, high: float = LARGEST, *, where: str = "", whole: bool = False
) -> Any:
    """The number as Python's own, if it lies within the limits; `where` is the name itself unless it is given."""
    if isinstance(value, Integral if whole else Real) and not isinstance(value, bool):
        plain = int(value) if isinstance(value, Integral) else float(value)
        if low <= plain <= high:
            return plain if whole or abs(plain) < 2**53 else float(plain)  # numpy knows no larger whole numbers
    kind = "a whole number" if whole else "a number"
    limits = f"from {_shown(low)} to {_shown(high)}"
    raise InputError(f"{name} must be {kind} {limits}, not {quoted(value)}", where=where or name)


def checked_whole(name: str, value: object, low: int = 1, high: int = MOST, *, where: str = "") -> int:
    """A whole number within limits."""
    return int(checked_number(name, value, low, high, where=where, whole=True))


def checked_seed(seed: object) -> int:
    """The seed, for which random streams have 64 bits."""
    return checked_whole("seed", seed, 0, 2**64 - 1)


def checked_choice(name: str, value: object, choices: Sequence[str], *, where: str = "") -> str:
    """One of some words."""
    if isinstance(value, str) and value in choices:
        return value
    remedy = did_you_mean(value, choices)
    listed = f"{', '.join(choices[:-1])} or {choices[-1]}"
    raise InputError(f"{name} must be {listed}, not {quoted(value)}", where=where or name, remedy=remedy)


def checked_flag(name: str, value: object, *, where: str = "") -> bool:
    """True or False, also numpy's."""
    if str(value) in ("True", "False"):
        return str(value) == "True"
    raise InputError(f"{name} must be True or False, not {quoted(value)}", where=where or name)


def checked_workers(threads: int | None, executor: "Executor | None") -> "Executor | int | None":
    """The executor, if there is one, else the number of threads; None stands for all cores."""
    if executor is None:
        return None if threads is None else checked_whole("threads", threads, 1, 10_000)
    from concurrent.futures import Executor

    if not isinstance(executor, Executor):
        what = f"{quoted(executor)} is not a concurrent.futures.Executor"
        raise InputError(what, where="executor", remedy="For a Dask cluster give client.get_executor().")
    return executor


def did_you_mean(value: object, choices: Sequence[str]) -> str:
    """The nearest of the choices, as a question; empty if none is near."""
    close = get_close_matches(value, choices, 1) if isinstance(value, str) else []
    return f"Did you mean {shorten(close[0])}?" if close else ""


def number(default: Any = dataclasses.MISSING, *, low: float = -LARGEST, high: float = LARGEST, text: str = "") -> Any:
    """A field that is a number within limits; `text` says what it is for."""
    return option(default, checked_number, low, high, text=text)


def whole(default: Any = dataclasses.MISSING, *, low: int = 0, high: int = MOST, text: str = "") -> Any:
    """A field that is a whole number within limits."""
    return option(default, checked_whole, low, high, text=text)


def choice(default: str, *others: str, text: str = "") -> Any:
    """A field that is one of some words."""
    return option(default, checked_choice, (default, *others), text=text)


def option(default: Any, check: Callable[..., Any] | None = None, *limits: Any, text: str = "") -> Any:
    """A field whose value becomes check(name, value, *limits, where=...)."""
    return dataclasses.field(default=default, metadata={"check": check, "limits": limits, "text": text})


def limits_text(field: "dataclasses.Field[Any]") -> str:
    """What a declared number or choice may be, in words; empty if its check is another one."""
    check, limits = field.metadata.get("check"), field.metadata.get("limits", ())
    if check is checked_choice:
        *others, last = limits[0]
        return f"{', '.join(others)} or {last}"
    if check not in (checked_number, checked_whole):
        return ""
    (low, high), kind = limits, "whole, " if check is checked_whole else ""
    least = "above 0" if 0 < low < TINY else _shown(low)
    if high < (MOST if check is checked_whole else LARGEST):
        return f"{kind}{least} to {_shown(high)}"
    return "any number" if low == -LARGEST else f"{kind}{least}" + " or more" * (least != "above 0")


def check_fields(record: Any, where: str = "") -> None:
    """Check every declared field of a dataclass, a frozen one too; numpy's numbers become Python's.

    Where None is the default, None is right.
    """
    for field in dataclasses.fields(record):
        check, value = field.metadata.get("check"), getattr(record, field.name)
        if check and not (value is None and field.default is None):
            object.__setattr__(record, field.name, check(field.name, value, *field.metadata["limits"], where=where))


def _shown(limit: float) -> str:
    return f"{limit:,}" if isinstance(limit, int) else f"{limit:g}"
