"""Where compiled code is kept. What is in there is run, so nothing damaged, foreign or forged may be used.

All that belongs to this version of the package, its libraries and this processor lies in one folder, which nobody else
can write to. A seal vouches for every file; what it does not vouch for is removed before anything is read.
"""

import contextlib
import functools
import hashlib
import os
import platform
import stat
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

from debandit.errors import CacheWarning

PACKAGE = Path(__file__).parents[1]
_SEAL, _LOCK = "seal.sha256", "lock"


def cache_directory() -> Path:
    """DEBANDIT_CACHE_DIR, or the place where this system keeps a user's caches."""
    if chosen := os.environ.get("DEBANDIT_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "debandit" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "debandit"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "debandit"


@functools.cache
def kept_directory() -> Path | None:
    """The folder of this version's compiled code, with nothing doubtful in it; None, with a warning, without one."""
    try:
        folder = cache_directory() / "kernels" / _version()
        folder.parents[1].parent.mkdir(parents=True, exist_ok=True)
        _check_way(folder.parents[1].resolve())
        for each in (folder.parents[1], folder.parent, folder):  # each for us alone, whatever others may be by default
            each.mkdir(mode=0o700, exist_ok=True)
            _check_private(each)
        with _locked(folder):
            _remove_doubtful(folder)
        return folder
    except OSError as error:
        warnings.warn(
            f"compiled code cannot be kept ({error}), so every process compiles it anew. "
            "Set DEBANDIT_CACHE_DIR to a directory that you alone can write to.",
            CacheWarning,
            stacklevel=2,
        )
        return None


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


def _remove_doubtful(folder: Path) -> None:
    """Files that are not as they were when they were sealed, or never were; those of a crashed process, for example."""
    try:
        vouched = set((folder / _SEAL).read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError):
        vouched = set()
    for file in _files(folder):
        if _line(folder, file) not in vouched:
            file.unlink(missing_ok=True)


def seal() -> None:
    """Vouch for everything that has been kept, when something was added."""
    folder = kept_directory()
    if folder is not None:
        write_at_once(folder / _SEAL, "\n".join(_line(folder, file) for file in _files(folder)))


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Around compiling: another process that wants the same waits, and then finds it."""
    folder = kept_directory()
    with contextlib.nullcontext() if folder is None else _locked(folder):
        yield


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
    with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False, encoding="utf-8") as file:
        file.write(text)
    Path(file.name).replace(path)


def _version() -> str:
    """A name that changes with any source of the package, with the versions and with the processor."""
    import llvmlite.binding as llvm
    import numba
    import numpy

    parts = [source.read_text(encoding="utf-8") for source in sorted(PACKAGE.rglob("*.py"))]
    parts += [numba.__version__, numpy.__version__, platform.python_version(), llvm.get_host_cpu_name()]
    parts += [llvm.get_host_cpu_features().flatten()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]
