"""What went wrong, where, and what to do about it."""

import contextlib
import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from debandit.version import __version__

_LONGEST = 2000  # characters of a part of a message
_SIZES = re.compile(r"size=\((\d+(?:, \d+){6,})\)")
_OBEYED = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class DebanditError(Exception):
    """An error that a user can act on. The command line prints it and ends with its exit code."""

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what, self.where = (printable(shorten(text, _LONGEST)) for text in (with_few_sizes(what), where))
        self.remedy = with_few_sizes(remedy)
        place = f"{self.where}: " if where else ""
        advice = "".join(f"\n  {printable(line)}" for line in self.remedy.splitlines())
        super().__init__(f"{place}{self.what}{advice}")

    def __reduce__(self) -> tuple[Any, ...]:  # errors come back from other processes
        return functools.partial(type(self), where=self.where, remedy=self.remedy), (self.what,)


class InputError(DebanditError):
    """The data or an option cannot be used as they are."""


class Refused(DebanditError):  # noqa: N818 (it says what happened, not that something failed)
    """The input is sound, but the answer would not be."""

    exit_code = 1


class WorkerLost(DebanditError):  # noqa: N818 (it says what happened, like Refused)
    """A process that was to do a part of the work has ended; what a study had finished by then is kept."""

    exit_code = 1


@contextlib.contextmanager
def work_elsewhere() -> Iterator[None]:
    """The context for asking another process for its result: what it did not finish is an error of ours."""
    try:
        yield
    except (DebanditError, TimeoutError):
        raise
    except Exception as error:
        from concurrent.futures import BrokenExecutor, CancelledError

        reason = f"{type(error).__name__}: {shorten(str(error), 200)}"
        if isinstance(error, (BrokenExecutor, CancelledError)) or type(error).__name__ == "KilledWorker":
            remedy = "Was it killed, or was memory short? A study keeps what was finished: run it again to go on."
            lost = "the cluster" if isinstance(error, CancelledError) else "a worker"
            raise WorkerLost(f"{lost} ended before its work was done ({reason})", remedy=remedy) from error
        remedy = f"Every worker needs debandit {__version__}, and must be able to import the rule and the world."
        raise WorkerLost(f"another process could not do the work ({reason})", remedy=remedy) from error


class CacheWarning(UserWarning):
    """Compiled kernels cannot be kept."""


class LogWarning(UserWarning):
    """What one should know about how a log was read."""


class PresetWarning(UserWarning):
    """What is assumed where a platform does not say what its rule is."""


def printable(text: str) -> str:
    """One line of text without anything that a terminal would obey or an encoder refuse."""
    return _OBEYED.sub("\N{REPLACEMENT CHARACTER}", text)


def with_few_sizes(text: str) -> str:
    """The text for people to read: where a rule has more than six sizes of batches, only how many and how large."""

    def in_short(found: re.Match[str]) -> str:
        sizes = [int(size) for size in found[1].split(", ")]
        return f"size=({len(sizes):,} batches of {between(sizes)})"

    return _SIZES.sub(in_short, text)


def between(sizes: Sequence[int]) -> str:
    """The lowest and the highest of some numbers."""
    low, high = min(sizes), max(sizes)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def quoted(value: object, length: int = 60) -> str:
    """A value as it was written, for messages; whatever it is."""
    try:
        return shorten(repr(value), length)
    except (ValueError, RecursionError):  # a number of thousands of digits
        return f"a {type(value).__name__}"


def shorten(text: str, length: int = 60) -> str:
    """The text cut for messages: hostile input must not fill the screen."""
    return text if len(text) <= length else text[: length - 1] + "…"


def listed(names: list[str], most: int = 10) -> str:
    """The names with commas, or the first of very many and how many more there are."""
    shown = ", ".join(shorten(name, 40) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
