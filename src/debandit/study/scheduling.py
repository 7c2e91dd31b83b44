"""Running a study: every cell, chunk by chunk, on threads or on an executor, each chunk kept as it is finished."""

import contextlib
import itertools
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from pathlib import Path
from typing import Any, Literal

from tqdm import tqdm

from debandit.engine.processes import elsewhere, width_of
from debandit.errors import printable, shorten, work_elsewhere
from debandit.files import made_directory
from debandit.study.cell import Cell, Chunk, run_chunk
from debandit.study.journal import Journal
from debandit.study.summary import Summary
from debandit.version import __version__

Progress = Literal["bar", "lines", "none"]
_AHEAD = 3  # chunks handed to each worker of an executor


class CellRun:
    """A cell on its way: what is finished, and what comes next."""

    def __init__(self, cell: Cell, seed: int, journal: Journal) -> None:
        self.cell, self._seed, self._journal = cell, seed, journal
        self._most = cell.experiments if cell.until_se is None else cell.most_experiments
        self._folded = self._handed_out = 0
        self.total: Summary | None = None
        self.fold()

    @property
    def experiments(self) -> int:
        """How many are finished, counted without a gap from the first."""
        return 0 if self.total is None else self.total.experiments

    @property
    def finished(self) -> bool:
        """As many experiments as asked for, or as the standard error needs."""
        if self.experiments >= self._most:
            return True
        target = self.cell.until_se
        return target is not None and self.experiments >= self.cell.experiments and self.worst_se() <= target

    def worst_se(self) -> float:
        """The largest standard error of a mean estimate among all methods and arms."""
        if self.total is None:
            return float("inf")
        quantities = [q.get("error") or q["ratio"] for q in self.total.series.values()]
        return max((arm.se if arm.n > 1 else float("inf") for arms in quantities for arm in arms if arm.n), default=0.0)

    def chunks(self) -> Iterator[Chunk]:
        """What is still to be done, as far as is known when it is asked for."""
        self.fold()  # a like cell may have done some of it
        while not self.finished and self._handed_out * self.cell.chunk_size < self._most:
            index, experiments = self._place(self._handed_out)
            self._handed_out += 1
            if (index, experiments) not in self._journal:
                yield Chunk(self.cell, self._seed, index, experiments)

    def keep(self, chunk: Chunk, summary: Summary) -> None:
        """Keep what a chunk found."""
        self._journal.add((chunk.index, chunk.experiments), summary)
        self.fold()

    def _place(self, index: int) -> tuple[int, int]:
        size = self.cell.chunk_size
        return index, min(size, self._most - index * size)

    def fold(self) -> None:
        """Add up in the order of the chunks, in whatever order they were finished."""
        while not self.finished and (place := self._place(self._folded)) in self._journal:
            done = self._journal.read(place)
            bins = 0 if self.cell.histogram is None else self.cell.histogram.bins
            kind = self.cell.methods, self.cell.world.arm_count, bins
            if not done.suits(place[1], *kind) or not (self.total is None or done.has_all_of(self.total)):
                raise self._journal.not_ours()
            self.total = done if self.total is None else self.total + done
            self._folded += 1


def run_cells(
    cells: Iterable[Cell],
    seed: int,
    directory: Path | None,
    *,
    executor: Executor | None,
    threads: int | None,
    progress: Progress,
    title: str,
) -> list[CellRun]:
    """All cells, finished; without a directory nothing outlives the call."""
    with contextlib.ExitStack() as stack:
        if directory is None:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="debandit-")))
        folder = made_directory(directory / "cells")
        journals: dict[str, Journal] = {}
        runs = []
        for cell in cells:  # cells that differ in the number of experiments alone have one journal
            key = cell.key(seed)
            journal = journals.setdefault(key, Journal(folder / f"{key}.jsonl"))
            runs.append(CellRun(cell, seed, journal))
        report = stack.enter_context(_Report(runs, title, progress))
        todo = ((run, chunk) for run in runs for chunk in run.chunks())
        for run, chunk, summary in _computed(todo, executor, threads):
            run.keep(chunk, summary)
            report.update(run)
        for run in runs:  # cells whose chunks were computed for a like one
            run.fold()
            report.update(run)
    return runs


def _computed(
    todo: Iterator[tuple[CellRun, Chunk]], executor: Executor | None, threads: int | None
) -> Iterator[tuple[CellRun, Chunk, Summary]]:
    """The chunks with their results, in the order in which they are finished."""
    if executor is None:
        for run, chunk in todo:
            yield run, chunk, run_chunk(chunk, threads)
        return
    width = _AHEAD * width_of(executor)
    waiting: dict[Future[Summary], tuple[CellRun, Chunk]] = {}
    try:
        while True:
            for run, chunk in itertools.islice(todo, width - len(waiting)):
                with work_elsewhere():
                    waiting[executor.submit(elsewhere, __version__, run_chunk, chunk)] = run, chunk
            if not waiting:
                return
            done = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED).done
            for future in sorted(done, key=_failed):  # what is finished is kept before an error ends it all
                run, chunk = waiting.pop(future)
                with work_elsewhere():
                    summary = future.result()
                yield run, chunk, summary
    finally:
        for future in waiting:
            future.cancel()


def _failed(future: Future[Summary]) -> bool:
    return future.cancelled() or future.exception() is not None


class _Report(contextlib.AbstractContextManager["_Report"]):
    """How far a study is: a bar for a person at a terminal, or a line for each cell."""

    def __init__(self, runs: list[CellRun], title: str, progress: Progress) -> None:
        self._runs, self._lines, self._start = runs, progress == "lines", time.monotonic()
        open_ended = any(run.cell.until_se is not None for run in runs)
        total = None if open_ended else sum(run.cell.experiments for run in runs)
        self._done = {id(run) for run in runs if run.finished}
        self._seen = {id(run): run.experiments for run in runs}
        before = sum(self._seen.values())
        self._bar: tqdm[Any] = tqdm(
            total=total,
            initial=before,
            desc=printable(shorten(title, 30)),
            unit=" experiments",
            delay=0.5,
            disable=None if progress == "bar" else True,
        )
        self._show_cells()
        if before and self._lines:
            self._say(f"{before:,} experiments and {len(self._done)} of {len(runs)} cells were done before")

    def update(self, run: CellRun) -> None:
        self._bar.update(run.experiments - self._seen[id(run)])
        self._seen[id(run)] = run.experiments
        if run.finished and id(run) not in self._done:
            self._done.add(id(run))
            self._show_cells()
            if self._lines:
                seconds = time.monotonic() - self._start
                self._say(
                    f"cell {len(self._done)} of {len(self._runs)} done, {run.experiments:,} experiments, "
                    f"{seconds:.0f} s so far: {printable(shorten(run.cell.label))}, T = {run.cell.horizon:,}"
                )

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def _show_cells(self) -> None:
        self._bar.set_postfix_str(f"{len(self._done)} of {len(self._runs)} cells", refresh=False)

    @staticmethod
    def _say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)
