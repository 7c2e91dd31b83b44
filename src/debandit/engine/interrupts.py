"""Ctrl-C where it would be lost."""

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

_AGAIN_AFTER = 0.1  # seconds


@contextlib.contextmanager
def interrupts_repeated() -> Iterator[None]:
    """Raise Ctrl-C until it is heard: LLVM calls back to Python while it compiles, and what is raised there is lost."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    timers: list[threading.Timer] = []
    say = sys.unraisablehook

    def interrupt(*_: Any) -> None:
        timers.append(threading.Timer(_AGAIN_AFTER, _thread.interrupt_main))
        timers[-1].daemon = True
        timers[-1].start()
        raise KeyboardInterrupt

    def say_nothing_of_it(lost: Any) -> None:
        if not isinstance(lost.exc_value, KeyboardInterrupt):
            say(lost)

    signal.signal(signal.SIGINT, interrupt)
    sys.unraisablehook = say_nothing_of_it
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = say
    if timers:
        raise KeyboardInterrupt
