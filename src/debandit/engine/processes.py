"""A pool of processes of this machine, and what others' pools say of themselves."""

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, InvalidStateError, ProcessPoolExecutor
from typing import Any, TypeVar

from debandit.engine.keeping import kept_directory
from debandit.errors import CacheWarning, InputError
from debandit.version import __version__

Answer = TypeVar("Answer")


@contextlib.contextmanager
def process_pool(count: int, *, know_main: bool = True) -> Iterator[Executor]:
    """So many processes, one thread each. They import the script that was started, unless they need not `know_main`."""
    pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), initializer=_prepare)
    try:
        with _interrupts_held_back(), contextlib.nullcontext() if know_main else _main_hidden():
            for _ in range(count):
                pool.submit(time.sleep, 0.05)
        kept_directory()  # or every worker would say that nothing can be kept
        yield pool
    except BaseException:
        with _cancelled_quietly():
            for process in list((pool._processes or {}).values()):  # their chunks are computed again
                process.terminate()
            pool.shutdown(cancel_futures=True)
        raise
    finally:
        with _cancelled_quietly():
            pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _cancelled_quietly() -> Iterator[None]:
    """In Python 3.11 the pool's own thread fails, and says so, if work was cancelled whose process has ended."""
    before = threading.excepthook

    def hear(failure: threading.ExceptHookArgs) -> None:
        if failure.exc_type is not InvalidStateError:
            before(failure)

    threading.excepthook = hear
    try:
        yield
    finally:
        threading.excepthook = before


def may_start_processes() -> bool:
    """Those of multiprocessing.Pool may not."""
    return not multiprocessing.current_process().daemon


@contextlib.contextmanager
def _main_hidden() -> Iterator[None]:
    """A user who did not ask for processes need not have written `if __name__ == "__main__"` into the script."""
    main = sys.modules["__main__"]
    kept: dict[str, Any] = {name: vars(main)[name] for name in ("__file__", "__spec__") if name in vars(main)}
    vars(main).update(dict.fromkeys(kept))
    try:
        yield
    finally:
        vars(main).update(kept)


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Children inherit that: Ctrl-C is for the parent, which then ends them. The parent hears of it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare() -> None:
    warnings.simplefilter("ignore", CacheWarning)
    _end_with_the_parent()


def _end_with_the_parent() -> None:
    """A worker must not outlive a parent that was killed."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            multiprocessing.connection.wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def elsewhere(version: str, work: Callable[..., Answer], *arguments: Any) -> Answer:
    """Do what the sender of this version wants done in another process. Numbers of two versions must not be mixed."""
    if version != __version__:
        what = f"this worker has debandit {__version__}, and the work comes from {version}"
        raise InputError(what, where="worker", remedy="Install the same version everywhere.")
    return work(*arguments)


def can_be_sent(policy: object) -> bool:
    """Whether another process would find the class of the rule, without running the user's script once more."""
    if type(getattr(policy, "core", policy)).__module__ == "__main__":
        return False
    try:
        return type(pickle.loads(pickle.dumps(policy))) is type(policy)
    except Exception:  # whatever a class of the user may do
        return False


def width_of(executor: Executor) -> int:
    """How many workers an executor has, as far as it says."""
    if hasattr(executor, "_client"):  # Dask's
        return max(1, int(sum(executor._client.nthreads().values())))
    return int(getattr(executor, "_max_workers", None) or 8)
