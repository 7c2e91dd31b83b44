"""Jobs of the page: how far they are, how they end, and what is kept of how many."""

import asyncio
import io
import signal
import time
from types import SimpleNamespace

import pytest
from batch_tables import DAYS

from debandit.app.jobs import Job, Jobs, Worker
from debandit.app.sessions import Analyses, Analysis

ENDLESS = {"runs": 10**9}


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log"
    path.write_text(DAYS)
    return path


@pytest.fixture
def processes(monkeypatch):
    """The processes of all workers that are started."""
    found, started = [], Worker.started

    async def noted():
        worker = await started()
        found.append(worker._process)
        return worker

    monkeypatch.setattr(Worker, "started", noted)
    return found


def request(log, **options):
    """A correction of this log."""
    about = {"path": str(log), "name": "days.csv", "columns": {}, "folder": str(log.parent)}
    return {"task": "correct", "policy": "batched(beta_thompson)", "options": options, **about}


async def until(holds, seconds=240):
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


def test_progress_cancelling_and_the_next_job(log, processes):
    """A job that would never end tells of its runs, is cancelled at once, and its process is gone."""

    async def story():
        jobs = Jobs(at_once=1)
        endless, waits = jobs.start(request(log, **ENDLESS)), jobs.start(request(log, runs=100))
        await until(lambda: 0 < endless.done < endless.total)
        seen = endless.done
        await until(lambda: endless.done > seen)
        assert endless.stage == "Run the rule again in worlds built from the log"
        assert endless.total > 10**9
        assert waits.state == "waiting"
        begin = time.monotonic()
        await jobs.cancel(endless)
        assert time.monotonic() - begin < 20
        assert endless.state == "cancelled"
        assert processes[0].returncode == -signal.SIGKILL
        await jobs.wait(waits, 240)
        assert waits.state == "done"
        assert (log.parent / "report.html").exists()
        never = jobs.start(request(log))
        await jobs.cancel(never)
        assert never.state == "cancelled"
        await jobs.close()

    asyncio.run(story())
    assert None not in [process.returncode for process in processes]


def test_a_worker_that_is_killed_is_told_of(log, processes):
    async def story():
        jobs = Jobs()
        job = jobs.start(request(log, **ENDLESS))
        await until(lambda: job.done)
        processes[0].kill()
        await jobs.wait(job, 120)
        assert (job.state, job.error["what"]) == ("failed", "the process that did the work has ended")
        await jobs.close()

    asyncio.run(story())


def test_a_worker_that_is_killed_in_the_middle_of_a_line_is_told_of(log, monkeypatch):
    """It is no mistake of ours, which would be shown with its traceback."""

    async def story():
        stdout = asyncio.StreamReader()
        stdout.feed_data(b'{"stage": "Read the log"}\n{"answer": {"tit')
        stdout.feed_eof()
        ended = asyncio.sleep(0)
        process = SimpleNamespace(stdin=io.BytesIO(), stdout=stdout, wait=lambda: ended)
        job = Job(request(log))
        said = await Worker(process).do(job)
        assert (job.stage, said["error"]["what"]) == ("Read the log", "the process that did the work has ended")

    asyncio.run(story())


def test_time_is_bounded(log):
    async def story():
        jobs = Jobs(seconds=2)
        job = jobs.start(request(log, **ENDLESS))
        await jobs.wait(job, 120)
        assert (job.state, job.error["what"]) == ("failed", "this took longer than 2 seconds")
        await jobs.close()

    asyncio.run(story())


def test_analyses_are_bounded_and_expire(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async def story():
        kept = Analyses(Jobs(), most_bytes=100, most=3, seconds=60)

        async def add(name, size):
            with kept.folder_for_one() as folder:
                (folder / "log").write_text(name)
                await kept.add(Analysis("somebody", folder, name, folder / "log", size))

        for name in "abcd":
            await add(name, 1)
            if name == "c":
                first = next(each for each in kept.of("somebody") if each.name == "a")
                assert kept.find(first.key, "somebody") is first  # which makes b the oldest
        assert sorted(each.name for each in kept.of("somebody")) == ["a", "c", "d"]
        assert sorted(path.read_text() for path in kept.folder.glob("*/log")) == ["a", "c", "d"]
        assert kept.find(first.key, "somebody else") is None
        first.seen -= 61
        await kept.forget_old()
        assert sorted(each.name for each in kept.of("somebody")) == ["c", "d"]
        await add("e", 399)  # four times the largest file is room for it and one small one
        assert sorted(each.name for each in kept.of("somebody")) == ["d", "e"]
        kept.close()

    asyncio.run(story())
    assert not list(tmp_path.iterdir())
