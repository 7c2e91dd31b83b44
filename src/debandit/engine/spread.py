"""Spreading runs over threads.

The work is cut into units of at most BLOCK runs of one world. A unit is never split and its sums are taken in the order
of its runs, so that no bit of the answer depends on the number of threads or on the size of the chunks.
"""

import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from debandit.engine.binomials import LONGEST, binomial_tables
from debandit.engine.data import BERNOULLI, NORMAL, Floats, Ints, RuleData, Task, Wanted, WorldData
from debandit.engine.kernels import load

BLOCK = 256
SIMULATE, DEBIAS = 1, 2  # purposes: under one seed their random streams are distinct
_ROUNDS_PER_CHUNK = 4_000_000  # about 20 ms: long enough to hide Python, short enough to answer Ctrl-C


class Experiment(NamedTuple):
    """What is simulated: one rule in W worlds of K arms."""

    kernel: str
    rule: RuleData
    world: WorldData
    world_ids: Ints
    arm_count: int
    horizon: int
    seed: int
    purpose: int


class Tally(NamedTuple):
    """What `tally` adds up over runs, for each world and arm."""

    runs: Ints  # (W,)
    pulls: Floats  # (W, K) all pulls
    pulled: Ints  # (W, K) runs that pulled the arm at least once
    errors: Floats  # (W, K) sum over those runs of mean - truth
    squares: Floats  # (W, K) sum of its squares
    histogram: Ints  # (W, K, bins) of the mean

    @property
    def bias(self) -> Floats:
        """Mean of estimate minus truth over the runs that pulled the arm; NaN if none did."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.errors / self.pulled

    @property
    def bias_se(self) -> Floats:
        """Monte-Carlo standard error of `bias`; NaN with fewer than two runs."""
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = np.maximum(self.squares - self.pulled * self.bias**2, 0.0)
            return np.sqrt(spread / (self.pulled - 1) / self.pulled)


def store(experiment: Experiment, runs: int, *, paths: bool, threads: int | None) -> Wanted:
    """Simulate runs 0, ..., runs - 1 of every world and keep each of them."""
    worlds, places = len(experiment.world_ids), len(experiment.world_ids) * runs
    length = experiment.horizon if paths else 0
    wanted = _nothing()._replace(
        paths=paths,
        path_arms=np.empty((places, length), np.int32),
        path_rewards=np.empty((places, length)),
        runs=True,
        pulls=np.empty((places, experiment.arm_count), np.int64),
        sums=np.empty((places, experiment.arm_count)),
    )
    units = _units(np.zeros(worlds, np.int64), np.full(worlds, runs))
    for _ in _run(experiment, units, runs, lambda _: wanted, threads):
        pass
    return wanted


def tally(
    experiment: Experiment,
    runs: Ints,
    *,
    before: Tally | None = None,
    edges: Floats | None = None,
    bins: int = 0,
    threads: int | None = None,
) -> Tally:
    """Simulate runs[w] more runs of world w than `before` has and add them to its sums; keep only sums.

    `edges` (W, K, 2) and `bins` ask for histograms of the means.
    """
    worlds, arms = len(experiment.world_ids), experiment.arm_count
    frame = _nothing()._replace(tallies=True, edges=np.zeros((worlds, arms, 2)) if edges is None else edges)

    def rows(count: int) -> dict[str, Any]:
        return {
            "pull_totals": np.zeros((count, arms)),
            "pulled": np.zeros((count, arms), np.int64),
            "errors": np.zeros((count, arms)),
            "squares": np.zeros((count, arms)),
            "histogram": np.zeros((count, arms, bins), np.int64),
        }

    total = rows(worlds) if before is None else dict(zip(rows(0), (sums.copy() for sums in before[1:]), strict=True))
    start = np.zeros(worlds, np.int64) if before is None else before.runs
    for units, chunk in _run(experiment, _units(start, runs), 0, lambda n: frame._replace(**rows(n)), threads):
        for name, sums in total.items():
            np.add.at(sums, units[:, 0], getattr(chunk, name))  # in the order of the runs, however they were cut
    return Tally._make((start + runs, *total.values()))


def _units(first: Ints, runs: Ints) -> Ints:
    """Rows (world, first run, number of runs)."""
    blocks = -(-runs // BLOCK)
    world = np.repeat(np.arange(len(runs)), blocks)
    offset = (np.arange(len(world)) - np.repeat(np.cumsum(blocks) - blocks, blocks)) * BLOCK
    return np.stack((world, first[world] + offset, np.minimum(BLOCK, runs[world] - offset)), axis=1)


def _run(
    experiment: Experiment, units: Ints, runs: int, room: Callable[[int], Wanted], threads: int | None
) -> Iterator[tuple[Ints, Wanted]]:
    """Hand chunks of units to threads and yield them in order, each with the room that its results were put into."""
    kernel = load(experiment.kernel)
    stop = np.zeros(1, np.int64)

    def simulate(chunk: Ints) -> tuple[Ints, Wanted]:
        wanted = room(len(chunk))
        kernel(*_arguments(experiment, chunk, runs, wanted), stop)
        return chunk, wanted

    simulate(units[:0])  # compiles in this thread
    workers = max(1, min(threads or os.cpu_count() or 1, len(units)))
    share = -(-len(units) // (4 * workers))  # small jobs, too, give every thread something to do until the end
    size = max(1, min(share, _ROUNDS_PER_CHUNK // (BLOCK * experiment.horizon)))
    chunks = (units[i : i + size] for i in range(0, len(units), size))
    waiting: deque[Future[tuple[Ints, Wanted]]] = deque()
    pool = ThreadPoolExecutor(workers)
    with _progress_bar(int(units[:, 2].sum())) as bar:
        try:
            while True:
                # a short queue, so that an interrupt need not wait for its filling nor memory grow with it
                waiting.extend(pool.submit(simulate, c) for c in itertools.islice(chunks, 4 * workers - len(waiting)))
                if not waiting:
                    break
                try:
                    done = waiting[0].result(timeout=0.2)
                except StillRunning:
                    bar.update(0)
                    continue
                waiting.popleft()
                bar.update(int(done[0][:, 2].sum()))
                yield done
        finally:  # also on Ctrl-C: a kernel looks at `stop` in every round
            stop[0] = 1
            pool.shutdown(cancel_futures=True)


def _progress_bar(runs: int) -> "tqdm[Any]":
    """Shown after a second, and only to a person: on a terminal and for the main thread."""
    hidden = None if threading.current_thread() is threading.main_thread() else True
    return tqdm(total=runs, desc="simulating", unit=" runs", unit_scale=True, delay=1, disable=hidden)


def _arguments(
    experiment: Experiment, chunk: Ints, runs: int, wanted: Wanted
) -> tuple[Task, RuleData, WorldData, Floats, Wanted]:
    """What the kernel needs to know to simulate one chunk."""
    rule, world, arms = experiment.rule, experiment.world, experiment.arm_count
    counts = (rule.opening, experiment.horizon - rule.opening * arms)
    # explore-then-commit needs no rounds where its sums can be drawn, whatever the size of the stack
    short = world.kind == NORMAL or (world.kind == BERNOULLI and max(counts) <= LONGEST)
    shortcut = rule.hold and short and not wanted.paths
    first = int(chunk[0, 0]) * arms if len(chunk) else 0
    end = (int(chunk[-1, 0]) + 1) * arms if len(chunk) else 0
    tables = np.empty((2, 0, 0))
    if shortcut and world.kind == BERNOULLI and first < end:
        tables = binomial_tables(world.means[first:end], counts)
    seed = np.uint64(experiment.seed)
    purpose, horizon = experiment.purpose, experiment.horizon
    task = Task(chunk, experiment.world_ids, seed, purpose, arms, horizon, runs, shortcut, first)
    return task, rule, world, tables, wanted


def _nothing() -> Wanted:
    empty, none = np.empty((0, 0)), np.empty((0, 0), np.int64)
    return Wanted(
        paths=False,
        path_arms=np.empty((0, 0), np.int32),
        path_rewards=empty,
        runs=False,
        pulls=none,
        sums=empty,
        tallies=False,
        pull_totals=empty,
        pulled=none,
        errors=empty,
        squares=empty,
        edges=np.empty((0, 0, 2)),
        histogram=np.empty((0, 0, 0), np.int64),
    )
