"""Studies that are killed, and the workers of studies that are killed: the numbers must not know of it."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import pytest

from debandit.engine.processes import process_pool

STUDY = """
horizon = [40, 50]
experiments = 2000
runs = 80
methods = ["naive", "gaussian", "efron", "ipw"]
histogram = {low = 0, high = 1, bins = 10}
[[cell]]
policy = "epsilon_greedy(epsilon={epsilon})"
world = "bernoulli(means=[0.3, 0.6])"
grid.epsilon = [0.05, 0.1, 0.2]
"""
KILLS = 4
INTERRUPTED = (130, -signal.SIGINT)  # Python itself may prefer the second, which is the same to a shell
FILES = ("rows.csv", "rows.parquet", "table.md", "figure.svg")


def command(folder, *options):
    return [sys.executable, "-m", "debandit", "study", str(folder / "my.toml"), "-o", str(folder / "out"), *options]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "my.toml").write_text(STUDY)
    subprocess.run(command(folder, "-q"), check=True, capture_output=True)
    return {name: (folder / "out" / name).read_bytes() for name in FILES}


def lines_kept(folder):
    return sum(file.read_bytes().count(b"\n") for file in (folder / "out" / "cells").glob("*.jsonl"))


def wait_for_lines(folder, process, least):
    """Until so many chunks are kept, or the process has ended."""
    while lines_kept(folder) < least and process.poll() is None:
        time.sleep(0.01)


def members(process):
    """How many are in the process's group."""
    return len(subprocess.run(["pgrep", "-g", str(process.pid)], capture_output=True).stdout.split())


def all_gone(process):
    """Whether soon nobody of the process's group is left."""
    deadline = time.monotonic() + 60
    while members(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def test_kill_9_at_random_moments(tmp_path, undisturbed):
    """By turns a moment after the start, when nothing or much may have been done, and in the middle of the work."""
    (tmp_path / "my.toml").write_text(STUDY)
    chance, killed, progress = random.Random(7), 0, [0]
    while killed < KILLS:
        process = subprocess.Popen(command(tmp_path, "-q"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if killed % 2:
            wait_for_lines(tmp_path, process, progress[-1] + 1)
        time.sleep(chance.uniform(0, 0.2 if killed % 2 else 1.5))
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        progress.append(lines_kept(tmp_path))
        if process.returncode == 0:  # finished before the blow: from the start again
            shutil.rmtree(tmp_path / "out")
            progress = [0]
    assert progress == sorted(progress)  # what was finished stays
    subprocess.run(command(tmp_path, "-q"), check=True, capture_output=True)
    for name, content in undisturbed.items():
        assert (tmp_path / "out" / name).read_bytes() == content, name


def test_ctrl_c_ends_at_once_and_keeps_what_was_done(tmp_path, undisturbed):
    (tmp_path / "my.toml").write_text(STUDY)
    process = subprocess.Popen(command(tmp_path, "--workers", "2"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for_lines(tmp_path, process, 2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode in INTERRUPTED
    assert b"interrupted" in errors
    assert b"Traceback" not in errors
    done = subprocess.run(command(tmp_path), check=True, capture_output=True)
    assert b"cells were done before" in done.stderr
    for name, content in undisturbed.items():
        assert (tmp_path / "out" / name).read_bytes() == content, name


@pytest.mark.parametrize("after", [0.4, 1.2, 2.7])
def test_ctrl_c_of_a_terminal_reaches_all_processes(tmp_path, after):
    """At any moment, with workers starting, compiling or at work: one line, no tracebacks, and nobody stays behind."""
    (tmp_path / "my.toml").write_text(STUDY.replace("runs = 80", "runs = 200_000"))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    start = time.monotonic()
    subprocess.run([sys.executable, "-m", "debandit", "--version"], check=True, capture_output=True)
    start_up = time.monotonic() - start  # before that the interrupt is Python's own affair
    process = subprocess.Popen(command(tmp_path, "--workers", "2"), start_new_session=True, **pipes)
    time.sleep(start_up + after)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)  # although a chunk would take longer
    assert process.returncode in INTERRUPTED
    assert b"Traceback" not in errors, errors.decode()
    assert all_gone(process)


def test_ctrl_c_is_heard_while_workers_are_started(monkeypatch):
    """They must not hear it themselves, so it is held back meanwhile, but it must not be lost."""
    submit = ProcessPoolExecutor.submit

    def interrupted(self, *arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return submit(self, *arguments)

    monkeypatch.setattr(ProcessPoolExecutor, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt), process_pool(2):
        pytest.fail("the interrupt was lost")


def test_workers_do_not_outlive_a_killed_parent(tmp_path):
    (tmp_path / "my.toml").write_text(STUDY.replace("runs = 80", "runs = 200_000"))
    process = subprocess.Popen(command(tmp_path, "--workers", "2", "-q"), start_new_session=True)
    while members(process) < 3:  # the command and its workers, however busy the machine is
        assert process.poll() is None
        time.sleep(0.1)
    process.kill()
    process.wait()
    assert all_gone(process)


def test_a_killed_worker_process_is_an_error_that_loses_nothing(tmp_path, undisturbed):
    """Before and after it workers compute every cell, and give the same bits."""
    (tmp_path / "my.toml").write_text(STUDY)
    process = subprocess.Popen(command(tmp_path, "--workers", "2"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for_lines(tmp_path, process, 1)
    found = subprocess.run(["pgrep", "-P", str(process.pid), "-f", "spawn_main"], capture_output=True, text=True)
    os.kill(int(found.stdout.split()[0]), signal.SIGKILL)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"a worker ended before its work was done" in errors
    assert b"Traceback" not in errors
    done = subprocess.run(command(tmp_path, "--workers", "2"), check=True, capture_output=True)
    assert b"cell 6 of 6 done" in done.stderr
    for name, content in undisturbed.items():
        assert (tmp_path / "out" / name).read_bytes() == content, name
