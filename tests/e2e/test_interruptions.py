"""Studies that are killed, and the workers of studies that are killed: the numbers must not know of it."""

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import pytest
from faults.studies import STUDY, command, finished, kill_a_worker, kills, lines_kept, prepared, wait_for_lines

from debandit.engine.processes import process_pool
from debandit.errors import CacheWarning

KILLS = 4
INTERRUPTED = (130, -signal.SIGINT)  # Python itself may prefer the second, which is the same to a shell


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return finished(prepared(tmp_path_factory.mktemp("undisturbed")))


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
    prepared(tmp_path)
    progress = [0]
    for process in kills(tmp_path, random.Random(7), all_lines=6):
        progress = [0] if process.returncode == 0 else [*progress, lines_kept(tmp_path)]
        if len(progress) > KILLS:
            break
    assert progress == sorted(progress)  # what was finished stays
    assert finished(tmp_path) == undisturbed


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


def test_it_is_the_parent_that_says_that_nothing_can_be_kept(monkeypatch):
    """And not every worker, each in its own way."""
    asked = []
    monkeypatch.setattr("debandit.engine.processes.kept_directory", lambda: asked.append(True))
    with process_pool(1) as pool:
        action, _, category, *_ = pool.submit(eval, "__import__('warnings').filters[0]").result()
    assert (asked, action, category) == ([True], "ignore", CacheWarning)


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
    kill_a_worker(process)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"a worker ended before its work was done" in errors
    assert b"Traceback" not in errors
    done = subprocess.run(command(tmp_path, "--workers", "2"), check=True, capture_output=True)
    assert b"cell 6 of 6 done" in done.stderr
    for name, content in undisturbed.items():
        assert (tmp_path / "out" / name).read_bytes() == content, name
