"""Disks that are full or must not be written to: small ones that root may mount, or else limits and modes."""

import contextlib
import functools
import os
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from faults import Setting, Tries, caches, complaint, fault, outputs, studies

SIZE = 2_000_000  # bytes of a small disk
NO_HOME = {"HOME": "/dev/null", "PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", "")}


def _done(*words: object) -> bool:
    """Whether the system does it."""
    return subprocess.run([*map(str, words)], capture_output=True).returncode == 0


@functools.cache
def may_mount() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        return _done("mount", "-t", "tmpfs", "tmpfs", folder) and _done("umount", folder)


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk of its own where one may mount it."""
    folder.mkdir()
    if may_mount():
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        if may_mount():
            subprocess.run(["umount", "-l", folder], check=True)


def with_room(disk: Path, room: int) -> dict[str, Any]:
    """Leave so many bytes on the disk; options of the process that shall not write more."""
    if not may_mount():
        return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))}
    free = os.statvfs(disk)
    with contextlib.suppress(OSError), (disk / "filler").open("wb") as filler:
        filler.write(bytes(max(0, free.f_bavail * free.f_frsize - room)))
    return {}


def make_room(disk: Path) -> None:
    (disk / "filler").unlink(missing_ok=True)


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[Path]:
    """A disk that must not be written to, or a directory, whose mode does not mind root."""
    with small_disk(folder):
        (folder / "log.csv").write_text(outputs.ROWS)
        studies.prepared(folder)
        if may_mount():
            subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        else:
            folder.chmod(0o555)
        yield folder
        if not may_mount():
            folder.chmod(0o755)


def _note(setting: Setting, mounted: str, otherwise: str) -> None:
    setting.notes.append(mounted if may_mount() else otherwise)


@fault(
    "a full disk under `debias --json`, `--report`, `--plot`",
    "the file is the old or the new one, and whole; the answer is printed; an error says why; nothing else is left",
)
def full_outputs(setting: Setting) -> Tries:
    _note(setting, "a tmpfs that is filled", "RLIMIT_FSIZE")
    with small_disk(setting.folder / "disk") as disk:
        outputs.prepared(disk)
        for number in range(setting.times):
            option = list(outputs.WRITTEN)[number % 3]
            old = outputs.written(disk, option, seed=2)
            new, target = outputs.written(disk, option), disk / outputs.WRITTEN[option]
            target.write_bytes(old)
            limits = with_room(disk, setting.chance.randrange(2 * len(new)))
            done = subprocess.run(outputs.command(option), cwd=disk, capture_output=True, **limits)
            after = target.read_bytes()
            make_room(disk)
            yield complaint(
                the_file_is_whole=after in (old, new),
                the_answer_is_printed=b"raw mean" in done.stdout,
                an_error_says_why=(done.returncode, b"cannot write the file" in done.stderr)
                == ((0, False) if after == new else (2, True)),
                no_traceback=b"Traceback" not in done.stderr,
                nothing_else_is_left=not outputs.strays(disk),
            )


@fault("a full disk under a study", "an error says so; what is finished stays; with room again the bytes are the same")
def full_studies(setting: Setting) -> Tries:
    wanted = studies.finished(studies.prepared(setting.folder / "untouched"))
    for number in range(setting.seldom):
        with small_disk(setting.folder / str(number)) as disk:
            limits = with_room(studies.prepared(disk), setting.chance.randrange(40_000))
            done = subprocess.run(studies.command(disk, "-q"), capture_output=True, **limits)
            before = studies.journals(disk)
            make_room(disk)
            again = studies.finished(disk)
            yield complaint(
                an_error_says_so=done.returncode in (0, 2)
                and done.stderr.startswith(b"error: " * bool(done.returncode)),
                no_traceback=b"Traceback" not in done.stderr,
                what_is_finished_stays=all(
                    studies.journals(disk)[name].startswith(kept) for name, kept in before.items()
                ),
                same_bytes=again == wanted,
            )


@fault("a full disk under the cache", "it is said once, the output is the same, and with room again all is kept")
def full_caches(setting: Setting) -> Tries:
    wanted = caches.run(setting.folder / "cache").stdout
    for number in range(setting.seldom):
        with small_disk(setting.folder / str(number)) as disk:
            limits = with_room(disk, setting.chance.randrange(1_000_000))
            full = caches.run(disk / "cache", **limits)
            make_room(disk)
            after, last = caches.run(disk / "cache"), caches.run(disk / "cache")
            yield complaint(
                said_once=full.stderr.count("warning:") <= 1,
                no_traceback="Traceback" not in full.stderr,
                same_output=full.stdout == after.stdout == last.stdout == wanted,
                all_is_kept=last.stderr == "",
            )


@fault("a directory that must not be written to, under each output", "an error names it before any work is done")
def read_only_outputs(setting: Setting) -> Tries:
    _note(setting, "a tmpfs, mounted read-only", "its mode")
    with read_only(setting.folder / "disk") as disk:
        for option in outputs.WRITTEN:
            done = subprocess.run(outputs.command(option), cwd=disk, capture_output=True)
            refused = done.stderr.startswith(b"error: ") and outputs.WRITTEN[option].encode() in done.stderr
            yield complaint(refused=done.returncode == 2 and refused, no_work=done.stdout == b"")
        done = subprocess.run(studies.command(disk, "-q"), capture_output=True)
        yield complaint(refused=done.returncode == 2 and done.stderr.startswith(b"error: "), no_work=done.stdout == b"")


@fault("a home and a cache that cannot be written to", "said once, also with `--workers 2`; the output is the same")
def unwritable_homes(setting: Setting) -> Tries:
    wanted = caches.run(setting.folder / "cache")
    with read_only(setting.folder / "disk") as disk:
        for more in ({}, {"XDG_CACHE_HOME": str(disk)}, {"DEBANDIT_CACHE_DIR": str(disk / "cache")}):
            for options in ([], ["--workers", "2"]):
                words = [*caches.command(), *options]
                done = subprocess.run(words, capture_output=True, text=True, env={**NO_HOME, **more})
                yield complaint(
                    said_once=done.stderr.count("compiled code cannot be kept") == 1,
                    same_output=(done.returncode, done.stdout) == (0, wanted.stdout),
                )
