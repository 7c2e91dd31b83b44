"""Spreading runs over threads, or over whatever an executor offers.

The work is cut into units of at most BLOCK runs of one world. A unit is never split and its sums are taken in the order
of its runs, so that no bit of the answer depends on the number of workers or on the size of the chunks.
"""

import contextlib
import itertools
import os
import pickle
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning

import numpy as np

from debandit.engine.data import Floats, Ints, Wanted
from debandit.engine.experiment import Experiment, Need, Rule
from debandit.engine.objects import RUNS_PER_UNIT, ObjectKernel
from debandit.engine.play import arguments_of, play
from debandit.engine.processes import may_start_processes, process_pool
from debandit.engine.progress import progress_bar
from debandit.engine.tally import Tally
from debandit.errors import work_elsewhere

BLOCK = 256
_ROUNDS_PER_CHUNK = 4_000_000  # about 20 ms: long enough to hide Python, short enough to answer Ctrl-C
_ROUNDS_PER_PARCEL = 40_000_000  # what is sent to another process should be worth the postage
_SECONDS_PER_CHUNK, _SECONDS_ALONE = 0.5, 6.0  # of Python objects, which share the work if it takes longer than that
_KEPT = ("path_arms", "path_rewards", "pulls", "sums")  # one row for each run
_SUMS = ("pull_totals", "moments", "histogram", "difference_sums", "cross", "winner")  # one row for each unit

Workers = Executor | int | None  # an executor, or a number of threads; None: as many as there are cores


def store(experiment: Experiment, runs: int, *, paths: bool, workers: Workers) -> Wanted:
    """Simulate runs 0, ..., runs - 1 of every world and keep each of them."""
    worlds = len(experiment.world_ids)
    units = _units(np.zeros(worlds, np.int64), np.full(worlds, runs), _block(experiment))
    need = Need(paths=paths, runs=True)
    whole = need.room(experiment, units)
    place = 0
    for chunk, part in _run(experiment, units, need, workers, whole):
        end = place + int(chunk[:, 2].sum())
        for name in _KEPT:
            kept = getattr(whole, name)[place:end]
            if kept.base is not getattr(part, name).base:  # simulated elsewhere
                kept[:] = getattr(part, name)
        place = end
    return whole


def tally(
    experiment: Experiment,
    runs: Ints,
    *,
    before: Tally | None = None,
    edges: Floats | None = None,
    bins: int = 0,
    controls: Ints | None = None,
    martingales: bool = False,
    workers: Workers = None,
) -> Tally:
    """Simulate runs[w] more runs of world w than `before` has and add them to its sums; keep only sums.

    `edges` (W, K, 2) and `bins` ask for histograms of the means, `controls` (W, K) for differences to these arms,
    `martingales` for control variates.
    """
    need = Need(tallies=True, edges=edges, bins=bins, controls=controls, martingales=martingales)
    worlds = np.arange(len(runs))
    nothing = need.room(experiment, np.stack((worlds, 0 * worlds, 0 * worlds), axis=1))
    total = {name: getattr(nothing if before is None else before, name).copy() for name in _SUMS}
    start = np.zeros(len(runs), np.int64) if before is None else before.runs
    for units, chunk in _run(experiment, _units(start, runs, _block(experiment)), need, workers):
        for name, sums in total.items():
            np.add.at(sums, units[:, 0], getattr(chunk, name))  # in the order of the runs, however they were cut
    return Tally(runs=start + runs, controls=nothing.controls, **total)


def _block(experiment: Experiment) -> int:
    """The most runs of a unit."""
    return RUNS_PER_UNIT if isinstance(experiment.policy.kernel, ObjectKernel) else BLOCK


def _units(first: Ints, runs: Ints, block: int) -> Ints:
    """Rows (world, first run, number of runs)."""
    blocks = -(-runs // block)
    world = np.repeat(np.arange(len(runs)), blocks)
    offset = (np.arange(len(world)) - np.repeat(np.cumsum(blocks) - blocks, blocks)) * block
    return np.stack((world, first[world] + offset, np.minimum(block, runs[world] - offset)), axis=1)


def _run(
    experiment: Experiment, units: Ints, need: Need, workers: Workers, whole: Wanted | None = None
) -> Iterator[tuple[Ints, Wanted]]:
    """Hand chunks of units to workers and yield them in order, each with its results.

    Threads put them into `whole`, if it is given, where they belong.
    """
    most = (_ROUNDS_PER_PARCEL if isinstance(workers, Executor) else _ROUNDS_PER_CHUNK) // (BLOCK * experiment.horizon)
    kernel = experiment.policy.kernel
    if not isinstance(kernel, ObjectKernel) or not len(units):
        yield from _chunks(experiment, units, need, workers, most, whole)
        return
    seconds = _rehearse(experiment, units[0], kernel)
    most = int(_SECONDS_PER_CHUNK / (RUNS_PER_UNIT * seconds))
    if isinstance(workers, Executor):
        yield from _chunks(experiment, units, need, workers, most, whole)
        return
    width = min(_width(workers), len(units))
    alone = seconds * units[:, 2].sum() < _SECONDS_ALONE or not _can_be_sent(experiment.policy)
    if width == 1 or alone or not may_start_processes():
        yield from _chunks(experiment, units, need, 1, most, whole)  # Python runs one thread at a time
        return
    with process_pool(width, know_main=False) as pool:
        yield from _chunks(experiment, units, need, pool, most, whole)


def _rehearse(experiment: Experiment, unit: Ints, kernel: ObjectKernel) -> float:
    """Whether the first run repeats itself, and its seconds."""
    first = experiment.within(unit[0], unit[0] + 1)
    units = np.array([[0, unit[1], 1]])
    return kernel.rehearse(*arguments_of(first, units, Need().room(first, units)), np.zeros(3, np.int64))


def _can_be_sent(policy: Rule) -> bool:
    """Whether another process would find the class of the rule, without running the user's script once more."""
    if type(getattr(policy, "core", policy)).__module__ == "__main__":
        return False
    try:
        return type(pickle.loads(pickle.dumps(policy))) is type(policy)
    except Exception:  # whatever a class of the user may do
        return False


def _chunks(
    experiment: Experiment, units: Ints, need: Need, workers: Workers, most: int, whole: Wanted | None
) -> Iterator[tuple[Ints, Wanted]]:
    """The same in chunks of at most so many units."""
    width = _width(workers)
    share = -(-len(units) // (4 * width))  # small jobs, too, give every worker something to do until the end
    size = max(1, min(share, most))
    places = np.concatenate(([0], np.cumsum(units[:, 2])))
    stop = np.zeros(3, np.int64)  # whether to stop; the run and the round in which a rule failed, counted from 1
    pool = workers if isinstance(workers, Executor) else ThreadPoolExecutor(width)
    if pool is not workers:
        play(experiment.within(0, 0), units[:0], need, None, stop)  # compiles in this thread

    def submit(start: int) -> tuple[Ints, Future[Wanted]]:
        chunk = units[start : start + size]
        first, end = chunk[0, 0], chunk[-1, 0] + 1
        part, local = experiment.within(first, end), chunk - [first, 0, 0]
        stacks = {name: each[first:end] for name in ("edges", "controls") if (each := getattr(need, name)) is not None}
        wants = need._replace(**stacks)
        if pool is workers:
            with work_elsewhere():
                return chunk, pool.submit(play, part, local, wants)
        room = None if whole is None else _slice(whole, places[start], places[start + len(chunk)])
        return chunk, pool.submit(play, part, local, wants, room, stop)

    starts = iter(range(0, len(units), size))
    waiting: deque[tuple[Ints, Future[Wanted]]] = deque()
    with progress_bar(int(places[-1])) as bar:
        try:
            while True:
                # a short queue, so that an interrupt need not wait for its filling nor memory grow with it
                waiting.extend(map(submit, itertools.islice(starts, 4 * width - len(waiting))))
                if not waiting:
                    break
                chunk, future = waiting[0]
                try:
                    with work_elsewhere() if pool is workers else contextlib.nullcontext():
                        done = future.result(timeout=0.2)
                except StillRunning:
                    bar.update(0)
                    continue
                waiting.popleft()
                bar.update(int(chunk[:, 2].sum()))
                yield chunk, done
        finally:  # also on Ctrl-C: a kernel looks at `stop` in every round
            stop[0] = 1
            for _, future in waiting:
                future.cancel()
            if pool is not workers:
                pool.shutdown()


def _width(workers: Workers) -> int:
    """How many chunks are computed at once."""
    return width_of(workers) if isinstance(workers, Executor) else workers or os.cpu_count() or 1


def width_of(executor: Executor) -> int:
    """How many workers an executor has, as far as it says."""
    if hasattr(executor, "_client"):  # Dask's
        return max(1, int(sum(executor._client.nthreads().values())))
    return int(getattr(executor, "_max_workers", None) or 8)


def _slice(whole: Wanted, first: int, end: int) -> Wanted:
    return whole._replace(**{name: getattr(whole, name)[first:end] for name in _KEPT})
