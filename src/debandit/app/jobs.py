"""Jobs: tasks that worker processes do, one process each, so many at a time, and for so long at most."""

import asyncio
import json
import os
import sys
import traceback
from dataclasses import dataclass, field
from typing import Any, Literal

AT_ONCE = 2
SECONDS = 3600.0  # that a job may take
_TASKS_PER_WORKER = 20  # then memory is given back
_LONGEST_LINE = 2**26  # bytes of an answer
_OURS = {"where": "", "refused": False}


@dataclass(eq=False)
class Job:
    """A task, and how far it is."""

    request: dict[str, Any]
    state: Literal["waiting", "running", "done", "failed", "cancelled"] = "waiting"
    stage: str = ""
    done: int = 0
    total: int = 0
    answer: dict[str, Any] = field(default_factory=dict)
    error: dict[str, Any] = field(default_factory=dict)
    work: "asyncio.Task[None] | None" = None

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def progress(self) -> dict[str, Any]:
        """What the page shows while one waits."""
        return {name: getattr(self, name) for name in ("state", "stage", "done", "total", "finished")}


class Worker:
    """A process that does tasks."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process, self.tasks = process, 0

    @classmethod
    async def started(cls) -> "Worker":
        """A new one, which gets ready while nobody waits for it. Ctrl-C on our terminal is not for it."""
        paths = os.pathsep.join(filter(None, sys.path))  # it imports what we would
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "debandit.app.worker"),
            env=os.environ | {"PYTHONPATH": paths},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LONGEST_LINE,
            start_new_session=True,
        )
        return cls(process)

    @property
    def alive(self) -> bool:
        """Whether its process has not ended."""
        return self._process.returncode is None

    async def do(self, job: Job) -> dict[str, Any]:
        """The last thing that is said of the job."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.tasks += 1
        self._process.stdin.write(json.dumps(job.request).encode() + b"\n")
        async for line in self._process.stdout:
            if not line.endswith(b"\n"):  # cut off with its process
                break
            said: dict[str, Any] = json.loads(line)
            if "answer" in said or "error" in said:
                return said
            for name, value in said.items():
                setattr(job, name, value)
        await self._process.wait()
        what = "the process that did the work has ended"
        return {"error": {**_OURS, "what": what, "remedy": "Was it killed, or was memory short? Try it again."}}

    async def end(self) -> None:
        """End it, whatever it does."""
        if self.alive:
            self._process.kill()
        await self._process.wait()


class Jobs:
    """All jobs; of the workers that have nothing to do one is kept, because a new one needs a second to get ready."""

    def __init__(self, at_once: int = AT_ONCE, seconds: float = SECONDS) -> None:
        self._places, self._seconds = asyncio.Semaphore(at_once), seconds
        self._idle: list[Worker] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, request: dict[str, Any]) -> Job:
        """Do this as soon as there is a place."""
        job = Job(request)
        job.work = self._later(self._run(job))
        return job

    def get_ready(self) -> None:
        """Have a worker wait for the next task."""
        if not self._idle:
            self._later(self._add_idle())

    async def wait(self, job: Job, seconds: float) -> bool:
        """Whether the job is finished within this time."""
        if job.work is not None:
            await asyncio.wait({job.work}, timeout=seconds)
        return job.finished

    async def cancel(self, job: Job) -> None:
        """End it, if it is not finished; its process is gone after that."""
        if job.work is not None and not job.finished:
            job.work.cancel()
            await asyncio.wait({job.work})
            job.state = "cancelled"  # also if it had not begun

    async def close(self) -> None:
        """End all jobs and workers."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(worker.end() for worker in self._idle))
        self._idle.clear()

    def _later(self, work: Any) -> "asyncio.Task[None]":
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _add_idle(self) -> None:
        worker = await Worker.started()
        self._idle.append(worker)

    async def _run(self, job: Job) -> None:
        try:
            async with self._places:
                job.state = "running"
                said = await self._worked(job)
            job.answer, job.error = said.get("answer", {}), said.get("error", {})
            job.state = "failed" if job.error else "done"
        except asyncio.CancelledError:
            job.state = "cancelled"
        except Exception as error:  # no process could be started, say
            traceback.print_exc()
            what = f"the work could not be done ({type(error).__name__}: {error})"
            job.error, job.state = {**_OURS, "what": what, "remedy": "Try it again."}, "failed"

    async def _worked(self, job: Job) -> dict[str, Any]:
        self._idle = [worker for worker in self._idle if worker.alive]
        worker, again = self._idle.pop() if self._idle else await Worker.started(), False
        try:
            async with asyncio.timeout(self._seconds):
                said = await worker.do(job)
            again = worker.tasks < _TASKS_PER_WORKER and worker.alive
        except TimeoutError:
            what, remedy = f"this took longer than {self._seconds:,.0f} seconds", "Ask for fewer runs."
            said = {"error": {**_OURS, "what": what, "remedy": remedy}}
        finally:  # also if it was cancelled
            if again and not self._idle:
                self._idle.append(worker)
            else:
                await worker.end()
                self.get_ready()
        return said
