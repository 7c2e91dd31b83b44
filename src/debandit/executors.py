"""Where work can be done besides this process's own threads. Anything else with `submit` works as well."""

import contextlib
import logging
import re
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

from debandit.checks import checked_whole
from debandit.engine.processes import process_pool
from debandit.errors import InputError, shorten


@contextlib.contextmanager
def processes(count: int) -> Iterator[Executor]:
    """This many processes of this machine, one thread each."""
    with process_pool(checked_whole("workers", count, 1, 256)) as pool:
        yield pool


@contextlib.contextmanager
def dask_cluster(address: str) -> Iterator[Executor]:
    """The workers of a running Dask cluster, by the address of its scheduler: tcp://host:port."""
    try:
        import distributed
    except ImportError:
        raise InputError(
            "Dask is not installed", where="cluster", remedy="Install it with: pip install 'debandit[cluster]'"
        ) from None
    remedy = "Give the address that `dask scheduler` printed, such as tcp://host:8786."
    if not re.fullmatch(r"(tcp|tls|ucx|ws|wss)://[^\s/]+:\d+", address):
        raise InputError("not the address of a cluster", where=shorten(address), remedy=remedy)
    connect: Any = distributed.Client  # Dask has no types
    with _quietly():
        try:
            client = connect(address, timeout=10, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"cannot reach the cluster ({error})", where=address, remedy=remedy) from None
        with client:
            if not client.scheduler_info()["workers"]:
                what = "the cluster has no workers"
                raise InputError(what, where=address, remedy=f"Start one: dask worker {address}")
            yield client.get_executor()


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Dask's loggers, each of which has a level, say nothing: our messages say what is wrong, without tracebacks."""
    names = [name for name in list(logging.root.manager.loggerDict) if name.startswith(("distributed", "tornado"))]
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado", "asyncio", *names)]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextlib.contextmanager
def chosen(workers: int | None, cluster: str | None) -> Iterator[Executor | None]:
    """The executor that the options --workers and --cluster ask for, if any."""
    if workers is not None and cluster is not None:
        raise InputError("give either --workers or --cluster, not both")
    if workers is None and cluster is None:
        yield None
        return
    with processes(workers) if workers is not None else dask_cluster(str(cluster)) as executor:
        yield executor
