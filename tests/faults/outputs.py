"""Files that `debias` writes, and the process that is killed meanwhile: there is the old file, the new one, or none."""

import itertools
import subprocess
import sys
import time
from pathlib import Path

from faults import Setting, Tries, complaint, fault
from faults.studies import PIPES

ROWS = "arm,reward\n" + "A,1\nB,2\nA,3\nB,2.5\nA,1.5\n" * 40
WRITTEN = {"--json": "result.json", "--report": "report.html", "--plot": "picture.svg"}


def command(option: str, seed: int = 1) -> list[str]:
    words = ["debias", "log.csv", "--policy", "uniform", "--runs", "300", "--seed", str(seed)]
    return [sys.executable, "-m", "debandit", *words, option, WRITTEN[option]]


def prepared(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "log.csv").write_text(ROWS)
    return folder


def written(folder: Path, option: str, seed: int = 1) -> bytes:
    subprocess.run(command(option, seed), check=True, capture_output=True, cwd=folder)
    return (folder / WRITTEN[option]).read_bytes()


def strays(folder: Path) -> list[Path]:
    """New files that were not yet renamed."""
    return list(folder.glob(".debandit-*"))


def wait_for_the_moment(folder: Path, process: subprocess.Popen, known: int) -> None:
    """Until a new file is being written, or the process has ended."""
    while len(strays(folder)) == known and process.poll() is None:
        time.sleep(0.0002)


def killed(setting: Setting, option: str) -> Tries:
    """By turns at any moment and while the file is written; where there was an old file, and where there was none."""
    folder = prepared(setting.folder)
    old, start = written(folder, option, seed=2), time.monotonic()
    new = written(folder, option)
    seconds, target, kills = time.monotonic() - start, folder / WRITTEN[option], 0
    for turn in itertools.count():
        before = old if turn // 2 % 2 else None
        target.unlink() if before is None else target.write_bytes(before)
        process = subprocess.Popen(command(option), cwd=folder, **PIPES)
        if turn % 2:
            wait_for_the_moment(folder, process, len(strays(folder)))
        time.sleep(setting.chance.uniform(0, 0.002 if turn % 2 else seconds))
        process.kill()
        process.communicate()
        after = target.read_bytes() if target.exists() else None
        if process.returncode == 0:
            target.write_bytes(old)
            continue
        kills += 1
        left = strays(folder)
        again = written(folder, option) if kills % 5 == 0 or left else new
        yield complaint(the_file_is_whole=after in (before, new), the_next_run_is_right=again == new)
        target.write_bytes(old)
        if kills == setting.times:
            setting.notes.append(f"{len(left)} of the kills came while it was written")
            return


@fault("`kill -9` of `debias --json`", "the file is the old one, the new one or not there; the next run is right")
def killed_json(setting: Setting) -> Tries:
    return killed(setting, "--json")


@fault("`kill -9` of `debias --report`", "the same")
def killed_report(setting: Setting) -> Tries:
    return killed(setting, "--report")


@fault("`kill -9` of `debias --plot`", "the same")
def killed_plot(setting: Setting) -> Tries:
    return killed(setting, "--plot")


@fault("two `debias` with one `--json`", "the file is that of one of them, whole, and nothing else is left")
def two_results(setting: Setting) -> Tries:
    folder = prepared(setting.folder)
    wanted = {written(folder, "--json", seed) for seed in (1, 2)}
    for _ in range(setting.seldom):
        both = []
        for seed in (1, 2):
            both.append(subprocess.Popen(command("--json", seed), cwd=folder, **PIPES))
            time.sleep(setting.chance.uniform(0, 0.2))
        for process in both:
            process.communicate()
        yield complaint(
            both_end_well=all(process.returncode == 0 for process in both),
            the_file_is_whole=(folder / "result.json").read_bytes() in wanted,
            nothing_else_is_left=not strays(folder),
        )
