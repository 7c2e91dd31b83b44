"""Where compiled code is kept. What is in there is run, so nothing damaged, foreign or forged may be used.

All that belongs to this version of the package, its libraries and this processor lies in one folder, which nobody else
can write to. A seal vouches for every file; what it does not vouch for is removed before anything is read.
Where nothing can be kept, as on a full disk, every process compiles what it needs; that is said once.
"""

import contextlib
import functools
import hashlib
import os
import platform
import secrets
import stat
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from debandit.errors import CacheWarning

PACKAGE = Path(__file__).parents[1]
_SEAL, _LOCK = "seal.sha256", "lock"
_INDEX = ".nbi"  # what numba changes when it adds something
_failures: list[OSError] = []  # of this process
Sound = dict[Path, str]  # files and what the seal says of each


def cache_directory() -> Path:
    """DEBANDIT_CACHE_DIR, or the place where this system keeps a user's caches."""
    if chosen := os.environ.get("DEBANDIT_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local") / "debandit" / "cache"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "debandit"
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "debandit"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # of a user whom the system does not know, as in many containers
        raise FileNotFoundError("this user has no home directory") from None


def kept_directory() -> Path | None:
    """The folder of this version's compiled code; None, with a warning, where nothing can be kept."""
    return None if _failures else _made_directory()


@functools.cache
def _made_directory() -> Path | None:
    with or_without():
        folder = cache_directory() / "kernels" / _version()
        folder.parents[1].parent.mkdir(parents=True, exist_ok=True)
        _check_way(folder.parents[1].resolve())
        for each in (folder.parents[1], folder.parent, folder):  # each for us alone, whatever others may be by default
            each.mkdir(mode=0o700, exist_ok=True)
            _check_private(each)
        return folder
    return None


@contextlib.contextmanager
def or_without() -> Iterator[None]:
    """Around what is done with files: if that fails nothing is kept any more, nor read, which is said once."""
    try:
        yield
    except OSError as error:
        if not _failures:
            warnings.warn(
                f"compiled code cannot be kept ({error}), so every process compiles it anew. "
                "Set DEBANDIT_CACHE_DIR to a directory that you alone can write to.",
                CacheWarning,
                stacklevel=2,
            )
        _failures.append(error)


def _check_private(folder: Path) -> None:
    status = folder.stat()
    if hasattr(os, "getuid"):
        if status.st_uid not in (os.getuid(), 0):
            raise PermissionError(f"{folder} belongs to another user")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(f"others can write to {folder}")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder} is not writable")


def _check_way(folder: Path) -> None:
    """Not everybody may be able to put another folder in the place of this one, or of one above it."""
    for above in folder.parents if hasattr(os, "getuid") else ():
        mode = above.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:  # as in /tmp, where nobody renames what others have
            raise PermissionError(f"others can write to {above}")


def _remove_doubtful(folder: Path) -> Sound:
    """Leave only what is as it was when it was sealed: not what is damaged, or a crashed process left, for example."""
    try:
        vouched = set((folder / _SEAL).read_text(encoding="utf-8").splitlines())
    except (FileNotFoundError, ValueError):
        vouched = set()
    sound = {}
    for file in _files(folder):
        line = _line(folder, file)
        if line in vouched:
            sound[file] = line
        else:
            file.unlink(missing_ok=True)
    return sound


def seal(sound: Sound) -> None:
    """Vouch for what was sound before, and for what was added to it."""
    folder = kept_directory()
    if folder is None:
        return
    with or_without():
        known = {file: line for file, line in sound.items() if file.suffix != _INDEX}
        write_at_once(folder / _SEAL, "\n".join(known.get(file) or _line(folder, file) for file in _files(folder)))


@contextlib.contextmanager
def one_at_a_time() -> Iterator[Sound]:
    """Around compiling and loading: what is there is sound. Another process that wants the same waits, and finds it."""
    with contextlib.ExitStack() as stack:
        sound: Sound = {}
        folder = kept_directory()
        if folder is not None:
            with or_without():
                stack.enter_context(_locked(folder))
                sound = _remove_doubtful(folder)
        yield sound


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with (folder / _LOCK).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed, by the end of the process at the latest
        yield


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and file.name not in (_SEAL, _LOCK))


def _line(folder: Path, file: Path) -> str:
    try:
        return f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(folder)}"
    except FileNotFoundError:  # another process has just removed or renamed it
        return ""


def write_at_once(path: Path, text: str) -> None:
    """Write a file by renaming a new one, because several processes may do so at once."""
    new = path.with_name(f"{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        new.write_text(text, encoding="utf-8")
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _version() -> str:
    """A name that changes with any source of the package, with the versions and with the processor."""
    import llvmlite.binding as llvm
    import numba
    import numpy

    parts = [source.read_text(encoding="utf-8") for source in sorted(PACKAGE.rglob("*.py"))]
    parts += [numba.__version__, numpy.__version__, platform.python_version(), llvm.get_host_cpu_name()]
    parts += [llvm.get_host_cpu_features().flatten()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]
