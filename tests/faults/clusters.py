"""A Dask cluster of processes of our own, so that its parts can be killed."""

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import debandit as db
from faults import Setting, Tries, complaint, fault
from faults.studies import PIPES, command, prepared, wait_for_lines

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@contextlib.contextmanager
def started(folder: Path, workers: int = 1) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """A scheduler and its workers: the address, and the processes, of which the first is the scheduler."""
    import distributed

    file = folder / "scheduler.json"
    here = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", file]

    def start(what: str, *options: str) -> subprocess.Popen:
        return subprocess.Popen([sys.executable, "-m", f"distributed.cli.dask_{what}", *here, *options], **QUIET)

    processes = [start("scheduler", "--port", "0")]
    # without a nanny, which would start another worker under another number
    processes += [start("worker", "--nthreads", "1", "--no-nanny") for _ in range(workers)]
    try:
        while not (file.exists() and file.read_text().endswith("}")):
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(workers)
        yield address, processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def disturbed(setting: Setting, workers: int, victim: int) -> Iterator[tuple[subprocess.Popen, bytes, bool]]:
    """Studies on clusters of which one process is killed: each with its errors, and whether it can go on rightly."""
    if importlib.util.find_spec("distributed") is None:
        setting.notes.append("not tried: Dask is not installed")
        return
    study = db.Study.from_toml(prepared(setting.folder) / "my.toml")
    wanted = list(map(repr, study.run().rows))
    for number in range(setting.seldom):
        folder = prepared(setting.folder / str(number))
        with started(folder, workers) as (address, processes):
            process = subprocess.Popen(command(folder, "-q", "--cluster", address), **PIPES)
            wait_for_lines(folder, process, setting.chance.randint(1, 2))
            os.kill(processes[victim].pid, signal.SIGKILL)
            errors = process.communicate(timeout=300)[1]
        yield process, errors, list(map(repr, study.run(folder / "out").rows)) == wanted


@fault("a killed Dask worker", "the others do its work, and the rows are the same")
def killed_dask_workers(setting: Setting) -> Tries:
    for process, _, same in disturbed(setting, workers=2, victim=1):
        yield complaint(it_ends_well=process.returncode == 0, same_rows=same)


@fault("a killed Dask scheduler", "two lines say so, and the run that goes on gives the same rows")
def killed_dask_schedulers(setting: Setting) -> Tries:
    for process, errors, same in disturbed(setting, workers=1, victim=0):
        said = errors.startswith(b"error: the cluster ended before its work was done") and errors.count(b"\n") == 2
        yield complaint(it_is_said=process.returncode == 1 and said, same_rows=same)
