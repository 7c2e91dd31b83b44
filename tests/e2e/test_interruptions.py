"""Studies that are killed, and the workers of studies that are killed: the numbers must not know of it."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

STUDY = """
horizon = [40, 50]
experiments = 1200
runs = 400
methods = ["naive", "gaussian", "efron", "ipw"]
histogram = {low = 0, high = 1, bins = 10}
[[cell]]
policy = "epsilon_greedy(epsilon={epsilon})"
world = "bernoulli(means=[0.3, 0.6])"
grid.epsilon = [0.05, 0.1, 0.2]
"""
KILLS = 24
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


def test_kill_9_at_random_moments(tmp_path, undisturbed):
    (tmp_path / "my.toml").write_text(STUDY)
    chance, killed, progress = random.Random(7), 0, []
    while killed < KILLS:
        process = subprocess.Popen(command(tmp_path, "-q"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            process.communicate(timeout=chance.uniform(0.3, 2.0))
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        progress.append(lines_kept(tmp_path) if (tmp_path / "out" / "cells").exists() else 0)
    assert progress == sorted(progress)  # what was finished stays
    assert len(set(progress)) > 3  # the kills came in the middle of the work, not only before it
    subprocess.run(command(tmp_path, "-q"), check=True, capture_output=True)
    for name, content in undisturbed.items():
        assert (tmp_path / "out" / name).read_bytes() == content, name


def test_ctrl_c_ends_at_once_and_keeps_what_was_done(tmp_path, undisturbed):
    (tmp_path / "my.toml").write_text(STUDY)
    process = subprocess.Popen(command(tmp_path, "--workers", "2"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not ((tmp_path / "out" / "cells").exists() and lines_kept(tmp_path) >= 2):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"interrupted" in errors
    assert b"Traceback" not in errors
    done = subprocess.run(command(tmp_path), check=True, capture_output=True)
    assert b"cells were done before" in done.stderr
    for name, content in undisturbed.items():
        assert (tmp_path / "out" / name).read_bytes() == content, name


def test_workers_give_the_same_bits(tmp_path, undisturbed):
    (tmp_path / "my.toml").write_text(STUDY)
    done = subprocess.run(command(tmp_path, "--workers", "2"), check=True, capture_output=True)
    assert b"cell 6 of 6 done" in done.stderr
    for name, content in undisturbed.items():
        assert (tmp_path / "out" / name).read_bytes() == content, name


def test_a_killed_worker_process_is_an_error_that_loses_nothing(tmp_path, undisturbed):
    (tmp_path / "my.toml").write_text(STUDY)
    process = subprocess.Popen(command(tmp_path, "--workers", "2"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not ((tmp_path / "out" / "cells").exists() and lines_kept(tmp_path)):
        time.sleep(0.02)
    found = subprocess.run(["pgrep", "-P", str(process.pid), "-f", "spawn_main"], capture_output=True, text=True)
    os.kill(int(found.stdout.split()[0]), signal.SIGKILL)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"a worker ended before its work was done" in errors
    assert b"Traceback" not in errors
    subprocess.run(command(tmp_path, "-q"), check=True, capture_output=True)
    for name, content in undisturbed.items():
        assert (tmp_path / "out" / name).read_bytes() == content, name
