"""Numbers and choices that users give: each kind is checked in one place and complained of in one wording.

Functions check a value that is at hand. `number`, `whole` and `choice` declare the limits of a dataclass's field, as in
`c: float = number(1.0, low=0)`, and `check_fields` applies them.
"""

import dataclasses
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from debandit.errors import InputError, quoted

LARGEST = 1e100  # beyond it squares overflow
MOST = 10**8  # rounds or pulls


def checked_number(
    name: str, value: object, low: float = -LARGEST, high: float = LARGEST, *, where: str = "", whole: bool = False
) -> Any:
    """The number as Python's own, if it lies within the limits; `where` is the name itself unless it is given."""
    plain = value.item() if isinstance(value, np.generic) else value
    kinds = (int,) if whole else (int, float)
    if isinstance(plain, kinds) and not isinstance(plain, bool) and low <= plain <= high:
        return plain
    kind = "a whole number" if whole else "a number"
    limits = f"from {_shown(low)} to {_shown(high)}"
    raise InputError(f"{name} must be {kind} {limits}, not {quoted(value)}", where=where or name)


def checked_whole(name: str, value: object, low: int = 1, high: int = MOST, *, where: str = "") -> int:
    """A whole number within limits."""
    return int(checked_number(name, value, low, high, where=where, whole=True))


def checked_seed(seed: object) -> int:
    """Random streams are keyed by 64 bits."""
    return checked_whole("seed", seed, 0, 2**64 - 1)


def checked_choice(name: str, value: object, choices: Sequence[str], *, where: str = "") -> str:
    """One of some words."""
    if isinstance(value, str) and value in choices:
        return value
    close = get_close_matches(value, choices, 1) if isinstance(value, str) else []
    remedy = f"Did you mean {close[0]}?" if close else ""
    listed = f"{', '.join(choices[:-1])} or {choices[-1]}"
    raise InputError(f"{name} must be {listed}, not {quoted(value)}", where=where or name, remedy=remedy)


def number(default: Any = dataclasses.MISSING, *, low: float = -LARGEST, high: float = LARGEST) -> Any:
    """A field that is a number within limits."""
    return dataclasses.field(default=default, metadata={"check": checked_number, "limits": (low, high)})


def whole(default: Any = dataclasses.MISSING, *, low: int = 0, high: int = MOST) -> Any:
    """A field that is a whole number within limits."""
    return dataclasses.field(default=default, metadata={"check": checked_whole, "limits": (low, high)})


def choice(default: str, *others: str) -> Any:
    """A field that is one of some words."""
    return dataclasses.field(default=default, metadata={"check": checked_choice, "limits": ((default, *others),)})


def check_fields(record: Any, where: str) -> None:
    """Check every declared field of a dataclass, a frozen one too; numpy's numbers become Python's."""
    for field in dataclasses.fields(record):
        if "check" in field.metadata:
            value = field.metadata["check"](
                field.name, getattr(record, field.name), *field.metadata["limits"], where=where
            )
            object.__setattr__(record, field.name, value)


def _shown(limit: float) -> str:
    return f"{limit:,}" if isinstance(limit, int) else f"{limit:g}"
