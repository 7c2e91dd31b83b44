"""How far the runs are, for a person who waits."""

import contextlib
import contextvars
import threading
from collections.abc import Iterator
from typing import Any

from tqdm import tqdm

_silent: contextvars.ContextVar[bool] = contextvars.ContextVar("silent", default=False)


@contextlib.contextmanager
def without_progress() -> Iterator[None]:
    """For callers that show progress of their own."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def progress_bar(runs: int) -> "tqdm[Any]":
    """Shown after a second, and only to a person: on a terminal and for the main thread."""
    hidden = _silent.get() or threading.current_thread() is not threading.main_thread()
    return tqdm(total=runs, desc="simulating", unit=" runs", unit_scale=True, delay=1, disable=hidden or None)
