"""What people have asked for so far: an analysis each, with a folder for its files; all of it is gone when it ends."""

import contextlib
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from debandit.app.jobs import Job, Jobs

MOST = 20  # analyses at once; a further one takes the place of the one that was not looked at for longest ...
MOST_FULL = 4  # ... and so it is if their files have more bytes than this many of the largest size
SECONDS = 8 * 3600.0  # after which one that nobody looks at is forgotten
_PREFIX = "debandit-app-"
_LOCK = "lock"  # is held as long as its folder is in use


@dataclass(eq=False)
class Analysis:
    """A log, and what its owner has said and asked of it."""

    owner: str
    folder: Path
    name: str  # of the file as it was sent, or of the data set
    path: Path | None  # None: a data set
    size: int = 0  # bytes of the file
    columns: dict[str, Any] = field(default_factory=dict)
    policy: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    typed: dict[str, dict[str, str]] = field(default_factory=dict)  # what stands in the fields of each form
    jobs: dict[str, Job] = field(default_factory=dict)  # the last one of each task
    seen: float = field(default_factory=time.monotonic)
    key: str = field(default_factory=lambda: secrets.token_urlsafe(12))

    def request(self, task: str) -> dict[str, Any]:
        """What a worker has to know for a task; a task that asks for the same as before is not done again."""
        log = {"path": None if self.path is None else str(self.path), "name": self.name, "columns": self.columns}
        more: dict[str, dict[str, Any]] = {
            "check": {"policy": self.policy, "options": {k: v for k, v in self.options.items() if k == "unseen"}},
            "correct": {"policy": self.policy, "options": self.options, "folder": str(self.folder)},
        }
        return {"task": task, **log, **more.get(task, {})}

    @property
    def checked(self) -> bool:
        """Whether the rule was checked, or could not be with these options."""
        job = self.last("check")
        return job is not None and (job.state == "done" or job.error.get("refused", False))

    @property
    def reported(self) -> bool:
        """Whether there is a report of what was said last."""
        job = self.last("correct")
        return job is not None and job.state == "done"

    def last(self, task: str) -> Job | None:
        """The last job of this kind, if it is what would be asked for now."""
        job = self.jobs.get(task)
        return job if job is not None and job.request == self.request(task) else None


class Analyses:
    """All analyses, and the folder that has theirs."""

    def __init__(self, jobs: Jobs, most_bytes: int, most: int = MOST, seconds: float = SECONDS) -> None:
        self._jobs, self._most_bytes, self._most, self._seconds = jobs, MOST_FULL * most_bytes, most, seconds
        self._kept: dict[str, Analysis] = {}
        remove_left_over()
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = _hold(self.folder / _LOCK)

    def find(self, key: str, owner: str) -> Analysis | None:
        """The analysis, if it is this owner's."""
        found = self._kept.get(key)
        if found is None or found.owner != owner:
            return None
        found.seen = time.monotonic()
        return found

    def of(self, owner: str) -> list[Analysis]:
        """All of an owner, the latest first."""
        return [each for each in reversed(self._kept.values()) if each.owner == owner]

    @contextlib.contextmanager
    def folder_for_one(self) -> Iterator[Path]:
        """A new folder, which goes again if something goes wrong."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        try:
            yield folder
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    async def add(self, analysis: Analysis) -> None:
        """Keep it."""
        while self._kept and not self._has_room(analysis):
            await self.forget(min(self._kept.values(), key=lambda each: each.seen))
        self._kept[analysis.key] = analysis

    def _has_room(self, analysis: Analysis) -> bool:
        sizes = [each.size for each in self._kept.values()]
        return len(sizes) < self._most and sum(sizes) + analysis.size <= self._most_bytes

    async def ask(self, analysis: Analysis, task: str, *, again: bool = False) -> Job:
        """The job that does this; what the owner waited for before is of no use any more. `again`: if it failed."""
        useless = ("failed", "cancelled") if again else ("cancelled",)
        job, before = analysis.last(task), analysis.jobs.get(task)
        if job is not None and job.state not in useless:
            return job
        for other in list(analysis.jobs.values()):
            await self._jobs.cancel(other)
        if analysis.jobs.get(task) is before:  # and nobody has asked meanwhile
            analysis.jobs[task] = self._jobs.start(analysis.request(task))
        return analysis.jobs[task]

    async def forget(self, analysis: Analysis) -> None:
        """End its jobs and remove its files."""
        self._kept.pop(analysis.key, None)
        for job in analysis.jobs.values():
            await self._jobs.cancel(job)
        shutil.rmtree(analysis.folder, ignore_errors=True)

    async def forget_old(self) -> None:
        """Forget those that nobody has looked at for long."""
        now = time.monotonic()
        for each in [each for each in self._kept.values() if now - each.seen > self._seconds]:
            await self.forget(each)

    def close(self) -> None:
        """Remove all files."""
        self._kept.clear()
        os.close(self._lock)
        shutil.rmtree(self.folder, ignore_errors=True)


def _hold(path: Path) -> int:
    """A file that is locked until it is closed, or its process has ended in whatever way."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # on Windows, where what is left over stays until somebody empties the folder
        pass
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def remove_left_over() -> None:
    """Remove what an app that was killed could not: our own folders that nobody holds."""
    if not hasattr(os, "getuid"):
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            status = folder.lstat()
            if status.st_uid != os.getuid() or folder.is_symlink() or not (folder / _LOCK).exists():
                continue
            os.close(_hold(folder / _LOCK))
            shutil.rmtree(folder, ignore_errors=True)
