"""Playing runs, in whichever way is right for them, spread over threads or over whatever an executor offers.

The work is cut into units of at most BLOCK runs of one world. A unit is never split and its sums are taken in the order
of its runs, so that no bit of the answer depends on the number of workers or on the size of the chunks.
"""

import contextlib
import contextvars
import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from functools import partial
from typing import Any

import numpy as np
from tqdm import tqdm

from debandit.engine.afterwards import play_on
from debandit.engine.data import Ints, Played, no_rounds
from debandit.engine.drawing import play_drawn
from debandit.engine.experiment import Experiment
from debandit.engine.kernels import ObjectKernel
from debandit.engine.objects import RUNS_PER_UNIT, play_objects, rehearse
from debandit.engine.processes import can_be_sent, elsewhere, may_start_processes, process_pool, width_of
from debandit.engine.rounds import play_rounds
from debandit.engine.runs import ALL, NOTHING_MORE, TOTALS, Tally, Wish, tallied
from debandit.engine.steps import commit, step
from debandit.errors import InputError, work_elsewhere
from debandit.version import __version__

BLOCK = 256
_ROUNDS_PER_CHUNK = 4_000_000  # about 20 ms: long enough to hide Python, short enough to answer Ctrl-C
_STEPS_PER_CHUNK = 100_000  # of batches, each of which looks whether to stop; numpy is slow with few runs at once
_ROUNDS_PER_PARCEL = 40_000_000  # what is sent to another process should be worth the postage
_SECONDS_PER_CHUNK, _SECONDS_ALONE = 0.5, 6.0  # of Python objects, which share the work if it takes longer than that

Watcher = Callable[[int, int], None]  # is told how many of how many runs are done
_watcher: contextvars.ContextVar[Watcher | None] = contextvars.ContextVar("watcher", default=None)

Workers = Executor | int | None  # an executor, or a number of threads; None: as many as there are cores
Work = Callable[..., Any]  # of (experiment, units, stop): what is done with a chunk, which has the worlds of its units


def play(
    experiment: Experiment, who: Ints, kept: int = TOTALS, paths: bool = False, stop: Ints | None = None
) -> Played:
    """Simulate the runs (world, number) in `who` and keep this many statistics of each; with `paths` also its rounds.

    Another thread may set stop[0], and then what comes back is not to be used.
    """
    stop = np.zeros(3, np.int64) if stop is None else stop
    if kept == ALL and experiment.world.drift is not None:
        raise InputError("control variates are not 0 on average where the arms' means drift", where="world")
    objects = _by_objects(experiment)
    if not (objects or paths) and experiment.can_commit:
        return Played(commit(experiment, who, kept), *no_rounds(len(who)))
    if not (objects or paths) and experiment.can_step:
        return Played(step(experiment, who, kept, stop), *no_rounds(len(who)))
    if len(experiment.conditions.available):
        raise InputError(
            "some arms were not always available, so only whole batches can be simulated"
            + ("" if paths else ", which this world does not draw"),
            where="paths" if paths else "world",
            remedy="Use the world auto, or say that all arms were available: --available all.",
        )
    by_rounds = play_objects if objects else play_drawn if experiment.by_chances else play_rounds
    if experiment.conditions.decides and by_rounds is not play_drawn:
        by_rounds = partial(play_on, by_rounds)
    return by_rounds(experiment, who, kept, paths, stop)


def is_costly(experiment: Experiment) -> bool:
    """Whether a run takes far longer than in the compiled loop."""
    return _by_objects(experiment) or experiment.by_chances or experiment.can_step


def _by_objects(experiment: Experiment) -> bool:
    """Whether Python objects are asked for their choices."""
    return isinstance(experiment.policy.kernel, ObjectKernel) and not experiment.by_chances


def store(experiment: Experiment, runs: int, *, kept: int, paths: bool, workers: Workers) -> Played:
    """Simulate runs 0, ..., runs - 1 of every world and keep each of them, world after world."""
    worlds = len(experiment.world_ids)
    units = _units(np.zeros(worlds, np.int64), np.full(worlds, runs), _block(experiment))
    total, rounds, place = worlds * runs, experiment.horizon if paths else 0, 0
    table = np.empty((kept, total, experiment.arm_count)).transpose(0, 2, 1)  # run after run, as users want it
    whole = Played(table, np.empty((total, rounds), np.int32), np.empty((total, rounds)))
    stepped = experiment.can_step and not paths
    for _, part in _run(experiment, units, lambda _first, _end: partial(_played, kept, paths), workers, stepped):
        end = place + len(part.path_arms)
        whole.table[..., place:end] = part.table
        whole.path_arms[place:end], whole.path_rewards[place:end] = part.path_arms, part.path_rewards
        place = end
    return whole


def tally(
    experiment: Experiment,
    runs: Ints,
    wish: Wish = NOTHING_MORE,
    *,
    before: Tally | None = None,
    workers: Workers = None,
) -> Tally:
    """Simulate runs[w] more runs of world w than `before` has and add them to its sums; keep only sums."""
    total = Tally.empty(len(runs), experiment.arm_count, wish)
    if before is not None:
        total.add(np.arange(len(runs)), before)
    units = _units(total.runs.copy(), runs, _block(experiment))

    def work(first: int, end: int) -> Work:
        return partial(_tallied, wish.within(first, end))

    for chunk, part in _run(experiment, units, work, workers, experiment.can_step):
        total.add(chunk[:, 0], part)
    return total


def _played(kept: int, paths: bool, experiment: Experiment, units: Ints, stop: Ints | None = None) -> Played:
    return play(experiment, _who(units), kept, paths, stop)


def _tallied(wish: Wish, experiment: Experiment, units: Ints, stop: Ints | None = None) -> Tally:
    table = play(experiment, _who(units), ALL if wish.martingales else TOTALS, False, stop).table
    return tallied(table, units, experiment.truth, experiment.variance, wish)


def _who(units: Ints) -> Ints:
    """The runs (world, number) of units that are rows (world, first run, number of runs)."""
    counts = units[:, 2]
    starts = np.cumsum(counts) - counts
    steps = np.zeros((counts.sum(), 2), np.int64)  # from each run to the next, to be added up
    steps[:, 1] = 1
    steps[starts] = np.diff(units[:, :2], axis=0, prepend=0)
    steps[starts[1:], 1] -= counts[:-1] - 1
    return np.cumsum(steps, axis=0, out=steps)


def _block(experiment: Experiment) -> int:
    """The most runs of a unit."""
    return RUNS_PER_UNIT if _by_objects(experiment) else BLOCK


def _units(first: Ints, runs: Ints, block: int) -> Ints:
    """Rows (world, first run, number of runs)."""
    blocks = -(-runs // block)
    world = np.repeat(np.arange(len(runs)), blocks)
    offset = (np.arange(len(world)) - np.repeat(np.cumsum(blocks) - blocks, blocks)) * block
    return np.stack((world, first[world] + offset, np.minimum(block, runs[world] - offset)), axis=1)


def _run(
    experiment: Experiment, units: Ints, work: Callable[[int, int], Work], workers: Workers, stepped: bool
) -> Iterator[tuple[Ints, Any]]:
    """Hand chunks of units to workers and yield them in order, each with its results.

    `work(first, end)` is what is done with chunks whose worlds are first, ..., end - 1. `stepped` says that whole
    batches are steps.
    """
    most = (_ROUNDS_PER_PARCEL if isinstance(workers, Executor) else _ROUNDS_PER_CHUNK) // experiment.horizon
    if stepped:
        most = max(most, _STEPS_PER_CHUNK // len(experiment.conditions.ends))
        if not isinstance(workers, Executor):
            workers = 1  # threads of numpy wait for each other: two take longer than one
    if not _by_objects(experiment) or not len(units):
        yield from _chunks(experiment, units, work, workers, most)
        return
    seconds = rehearse(experiment, units[:1, :2])
    most = int(_SECONDS_PER_CHUNK / seconds)
    if isinstance(workers, Executor):
        yield from _chunks(experiment, units, work, workers, most)
        return
    width = min(_width(workers), len(units))
    alone = seconds * units[:, 2].sum() < _SECONDS_ALONE or not can_be_sent(experiment.policy)
    if width == 1 or alone or not may_start_processes():
        yield from _chunks(experiment, units, work, 1, most)  # Python runs one thread at a time
        return
    with process_pool(width, know_main=False) as pool:
        yield from _chunks(experiment, units, work, pool, most)


def _chunks(
    experiment: Experiment, units: Ints, work: Callable[[int, int], Work], workers: Workers, most: int
) -> Iterator[tuple[Ints, Any]]:
    """The same in chunks of about this many runs at most."""
    width, total = _width(workers), int(units[:, 2].sum())
    here = not isinstance(workers, Executor) and width == 1 and bool(np.all(units[:, 2] <= most))
    share = total if here else -(-total // (4 * width))  # small jobs, too, give every worker something until the end
    starts = _cuts(units[:, 2], max(1, min(share, most)))
    stop = np.zeros(3, np.int64)  # whether to stop; the run and the round in which a rule failed, counted from 1
    pool = workers if isinstance(workers, Executor) else _Here() if here else ThreadPoolExecutor(width)
    if pool is not workers and not here:
        work(0, 0)(experiment.within(0, 0), units[:0], stop)  # compiles in this thread

    def submit(start: int, end: int) -> tuple[Ints, Future[Any]]:
        chunk = units[start:end]
        worlds = int(chunk[0, 0]), int(chunk[-1, 0]) + 1
        part, local, task = experiment.within(*worlds), chunk - np.array([worlds[0], 0, 0]), work(*worlds)
        if pool is workers:
            with work_elsewhere():
                return chunk, pool.submit(elsewhere, __version__, task, part, local)
        return chunk, pool.submit(task, part, local, stop)

    cuts = itertools.pairwise(starts)
    waiting: deque[tuple[Ints, Future[Any]]] = deque()
    with progress_bar(total) as bar:
        try:
            while True:
                # a short queue, so that an interrupt need not wait for its filling nor memory grow with it
                wanted = 1 if here else 4 * width
                waiting.extend(itertools.starmap(submit, itertools.islice(cuts, wanted - len(waiting))))
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


class _Here(Executor):
    """Does what it is given at once, in this thread; for short chunks, because Ctrl-C waits for the end of one."""

    def submit(self, work: Work, /, *arguments: Any, **named: Any) -> Future[Any]:
        """The work, done."""
        future: Future[Any] = Future()
        future.set_result(work(*arguments, **named))
        return future


def _cuts(counts: Ints, most: int) -> list[int]:
    """Where units are cut into chunks of at most this many runs, or of a single larger unit, and the end."""
    places = np.cumsum(counts) - counts
    return [*np.flatnonzero(np.diff(places // most, prepend=-1)).tolist(), len(counts)] if len(counts) else []


def _width(workers: Workers) -> int:
    """How many chunks are computed at once."""
    return width_of(workers) if isinstance(workers, Executor) else workers or os.cpu_count() or 1


@contextlib.contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """For callers that show progress of their own."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextlib.contextmanager
def without_progress() -> Iterator[None]:
    """For callers that show nothing, or count something else."""
    with watched(lambda _done, _total: None):
        yield


class _Told:
    """A bar that tells its watcher."""

    def __init__(self, total: int, watcher: Watcher) -> None:
        self._done, self._total, self._watcher = 0, total, watcher

    def __enter__(self) -> "_Told":
        self.update(0)
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, more: int) -> None:
        """So many more are done."""
        self._done += more
        self._watcher(self._done, self._total)


def progress_bar(runs: int) -> "tqdm[Any] | _Told":
    """For whoever watches; else shown after a second, and only to a person: on a terminal and for the main thread."""
    if (watcher := _watcher.get()) is not None:
        return _Told(runs, watcher)
    hidden = threading.current_thread() is not threading.main_thread()
    return tqdm(total=runs, desc="simulating", unit=" runs", unit_scale=True, delay=1, disable=hidden or None)
