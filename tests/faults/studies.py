"""Studies that are killed, that share a directory, and whose journals are damaged: the numbers must not know of it."""

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import debandit as db
from faults import Setting, Tries, complaint, fault

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
FILES = ("rows.csv", "rows.parquet", "table.md", "figure.svg")
PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def command(folder, *options):
    return [sys.executable, "-m", "debandit", "study", str(folder / "my.toml"), "-o", str(folder / "out"), *options]


def prepared(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "my.toml").write_text(STUDY)
    return folder


def finished(folder: Path, *options: str) -> dict[str, bytes]:
    """What the study has written when it went on to its end."""
    subprocess.run(command(folder, "-q", *options), check=True, capture_output=True)
    return {name: (folder / "out" / name).read_bytes() for name in FILES}


def journals(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (folder / "out" / "cells").glob("*.jsonl")}


def lines_kept(folder):
    return sum(content.count(b"\n") for content in journals(folder).values())


def wait_for_lines(folder, process, least):
    """Until so many chunks are kept, or the process has ended."""
    while lines_kept(folder) < least and process.poll() is None:
        time.sleep(0.01)


def kills(folder: Path, chance: random.Random, all_lines: int) -> Iterator[subprocess.Popen]:
    """The study, killed again and again; it begins anew if it was finished before the blow.

    By turns a moment after the start, when nothing or much may have been done; in the middle of the work; and at its
    end, when the results are written.
    """
    for turn in itertools.count():
        process = subprocess.Popen(command(folder, "-q"), **PIPES)
        if turn % 3:
            wait_for_lines(folder, process, min(all_lines, lines_kept(folder) + 1) if turn % 3 == 1 else all_lines)
        time.sleep(chance.uniform(0, (1.5, 0.2, 0.6)[turn % 3]))
        process.kill()
        process.communicate()
        yield process
        if process.returncode == 0:
            shutil.rmtree(folder / "out")


def kill_a_worker(process: subprocess.Popen) -> None:
    """Kill one of its processes."""
    found = subprocess.run(["pgrep", "-P", str(process.pid), "-f", "spawn_main"], capture_output=True, text=True)
    os.kill(int(found.stdout.split()[0]), signal.SIGKILL)


@fault("`kill -9` of a study", "finished chunks stay; no output is partial; the run that goes on gives the same bytes")
def killed_studies(setting: Setting) -> Tries:
    untouched, folder = prepared(setting.folder / "untouched"), prepared(setting.folder / "killed")
    wanted, before, done = finished(untouched), {}, 0
    for process in kills(folder, setting.chance, lines_kept(untouched)):
        done += process.returncode == -signal.SIGKILL
        now, written = journals(folder), folder / "out"
        whole = {name: (written / name).read_bytes() == wanted[name] for name in FILES if (written / name).exists()}
        last = done == setting.times
        if process.returncode == -signal.SIGKILL:
            yield complaint(
                what_was_finished_stays=all(now.get(name, b"").startswith(kept) for name, kept in before.items()),
                files_are_whole=all(whole.values()),
                it_ends_with_the_same_bytes=bool(done % 5 and not last) or finished(folder) == wanted,
            )
        if last:
            return
        before = {} if process.returncode == 0 else journals(folder)


@fault("two studies with one `-o`", "both end well, and the files have the same bytes as those of one")
def two_studies(setting: Setting) -> Tries:
    wanted = finished(prepared(setting.folder / "one"))
    for number in range(setting.seldom):
        folder = prepared(setting.folder / str(number))
        both = [subprocess.Popen(command(folder, "-q"), **PIPES)]
        time.sleep(setting.chance.uniform(0, 2))
        both.append(subprocess.Popen(command(folder, "-q"), **PIPES))
        errors = [process.communicate()[1] for process in both]
        yield complaint(
            both_end_well=[process.returncode for process in both] == [0, 0] and errors == [b"", b""],
            same_bytes={name: (folder / "out" / name).read_bytes() for name in FILES} == wanted,
            no_temporary_files=not list((folder / "out").rglob(".debandit-*")),
        )


@fault("a killed process of `--workers 2`", "one line says so, and the run that goes on gives the same bytes")
def killed_workers(setting: Setting) -> Tries:
    untouched = prepared(setting.folder / "untouched")
    wanted, all_lines = finished(untouched), lines_kept(untouched)
    for number in range(setting.seldom):
        folder = prepared(setting.folder / str(number))
        process = subprocess.Popen(command(folder, "-q", "--workers", "2"), **PIPES)
        wait_for_lines(folder, process, setting.chance.randint(1, all_lines // 2))
        kill_a_worker(process)
        errors = process.communicate(timeout=120)[1]
        yield complaint(
            it_is_said=process.returncode == 1 and errors.startswith(b"error: a worker ended"),
            no_traceback=b"Traceback" not in errors,
            same_bytes=finished(folder, "--workers", "2") == wanted,
        )


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Bits flipped, cut off, zeroed, doubled, or moved, anywhere."""
    place, end = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    lines = content.splitlines(keepends=True)
    chance.shuffle(lines)
    return chance.choice(
        [
            content[:place]
            + bytes([content[place % len(content)] ^ (1 << chance.randrange(8))])
            + content[place + 1 :],
            content[:place],
            content[place:],
            content[:place] + bytes(end - place) + content[end:],
            content[:end] + content[place:],
            content[:place] + content[end:],
            b"".join(lines),
            content.replace(b"9", b"8", 1),
        ]
    )


@fault("a damaged journal", "what is damaged is computed again: the rows are the same")
def damaged_journals(setting: Setting) -> Tries:
    folder = prepared(setting.folder)
    study = db.Study.from_toml(folder / "my.toml")
    wanted = list(map(repr, study.run(folder / "out").rows))
    for _ in range(4 * setting.times):
        files = sorted((folder / "out" / "cells").glob("*.jsonl"))
        file = setting.chance.choice(files)
        content = setting.chance.choice(files).read_bytes() if setting.chance.random() < 0.1 else file.read_bytes()
        file.write_bytes(damaged(content, setting.chance))
        yield complaint(same_rows=list(map(repr, study.run(folder / "out").rows)) == wanted)
