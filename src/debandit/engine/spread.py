"""Spreading runs over threads, or over whatever an executor offers.

The work is cut into units of at most BLOCK runs of one world. A unit is never split and its sums are taken in the order
of its runs, so that no bit of the answer depends on the number of workers or on the size of the chunks.
"""

import contextlib
import contextvars
import functools
import itertools
import os
import pickle
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from typing import Any, NamedTuple, Protocol

import numpy as np
from tqdm import tqdm

from debandit.engine.batches import ByTotals, can_step, step
from debandit.engine.binomials import LONGEST, binomial_tables
from debandit.engine.data import BERNOULLI, FIRST, NORMAL, Floats, Ints, RuleData, Task, Wanted, WorldData
from debandit.engine.kernels import KernelName, OwnKernel, load
from debandit.engine.objects import RUNS_PER_UNIT, ObjectKernel
from debandit.engine.processes import may_start_processes, process_pool
from debandit.errors import InputError, shorten, work_elsewhere

BLOCK = 256
SIMULATE, DEBIAS, REORDER = 1, 2, 3  # purposes: under one seed their random streams are distinct
_ROUNDS_PER_CHUNK = 4_000_000  # about 20 ms: long enough to hide Python, short enough to answer Ctrl-C
_ROUNDS_PER_PARCEL = 40_000_000  # what is sent to another process should be worth the postage
_SECONDS_PER_CHUNK, _SECONDS_ALONE = 0.5, 6.0  # of Python objects, which share the work if it takes longer than that

Workers = Executor | int | None  # an executor, or a number of threads; None: as many as there are cores


class Rule(ByTotals, Protocol):
    """What the engine needs to know of a policy: a small description that another process can be sent."""

    @property
    def kernel(self) -> KernelName | ObjectKernel:
        """What is compiled for it, or what plays its Python objects."""

    def __hash__(self) -> int: ...

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        """The rule as data."""


class Experiment(NamedTuple):
    """What is simulated: one rule in W worlds of K arms."""

    policy: Rule
    world: WorldData
    world_ids: Ints
    arm_count: int
    horizon: int
    seed: int
    purpose: int

    def within(self, first: int, end: int) -> "Experiment":
        """The same in the worlds first, ..., end - 1 alone."""
        world, arms = self.world, slice(first * self.arm_count, end * self.arm_count)
        starts = world.pool_start[arms.start : arms.stop + 1]
        pool = world.pool[starts[0] : starts[-1]]
        part = WorldData(world.kind, world.means[arms], world.sds[arms], pool, starts - starts[0])
        return self._replace(world=part, world_ids=self.world_ids[first:end])


class Need(NamedTuple):
    """What is to be kept of the runs."""

    paths: bool = False
    runs: bool = False
    edges: Floats | None = None  # (W, K, 2), with tallies
    bins: int = 0
    tallies: bool = False
    controls: Ints | None = None  # (W, K), with tallies

    def room(self, experiment: Experiment, units: Ints) -> Wanted:
        """Arrays for the results of these units."""
        arms, runs, rows = experiment.arm_count, int(units[:, 2].sum()), len(units)
        length = experiment.horizon if self.paths else 0
        kept = (runs, arms) if self.runs else (0, 0)
        sums = (rows, arms) if self.tallies else (0, 0)
        return Wanted(
            paths=self.paths,
            path_arms=np.empty((runs if self.paths else 0, length), np.int32),
            path_rewards=np.empty((runs if self.paths else 0, length)),
            runs=self.runs,
            pulls=np.empty(kept, np.int64),
            sums=np.empty(kept),
            tallies=self.tallies,
            pull_totals=np.zeros(sums),
            pulled=np.zeros(sums, np.int64),
            errors=np.zeros(sums),
            squares=np.zeros(sums),
            edges=np.zeros((len(experiment.world_ids), arms, 2)) if self.edges is None else self.edges,
            histogram=np.zeros((*sums, self.bins), np.int64),
            controls=np.zeros((len(experiment.world_ids), 0), np.int64) if self.controls is None else self.controls,
            joint=np.zeros((rows, 0 if self.controls is None else arms + 1, 3)),
        )


class Tally(NamedTuple):
    """What `tally` adds up over runs, for each world and arm."""

    runs: Ints  # (W,)
    pulls: Floats  # (W, K) all pulls
    pulled: Ints  # (W, K) runs that pulled the arm at least once
    errors: Floats  # (W, K) sum over those runs of mean - truth
    squares: Floats  # (W, K) sum of its squares
    histogram: Ints  # (W, K, bins) of the mean
    joint: Floats  # (W, K + 1, 3) number, sum and squares of the errors of differences, and of the highest mean

    @property
    def joint_bias(self) -> Floats:
        """Of each arm's difference to its control, over the runs that pulled both; the last is of the highest mean."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.joint[..., 1] / self.joint[..., 0]

    @property
    def joint_bias_se(self) -> Floats:
        """Its Monte-Carlo standard error."""
        count, _, squares = np.moveaxis(self.joint, -1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            error: Floats = np.sqrt(np.maximum(squares - count * self.joint_bias**2, 0.0) / (count - 1) / count)
        return error

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
    workers: Workers = None,
) -> Tally:
    """Simulate runs[w] more runs of world w than `before` has and add them to its sums; keep only sums.

    `edges` (W, K, 2) and `bins` ask for histograms of the means, `controls` (W, K) for differences to these arms.
    """
    shape = (len(experiment.world_ids), experiment.arm_count)
    counts = np.int64
    nothing = (
        np.zeros(shape),
        np.zeros(shape, counts),
        np.zeros(shape),
        np.zeros(shape),
        np.zeros((*shape, bins), counts),
        np.zeros((shape[0], 0 if controls is None else shape[1] + 1, 3)),
    )
    total = dict(zip(_SUMS, nothing if before is None else (sums.copy() for sums in before[1:]), strict=True))
    start = np.zeros(len(runs), np.int64) if before is None else before.runs
    need = Need(tallies=True, edges=edges, bins=bins, controls=controls)
    for units, chunk in _run(experiment, _units(start, runs, _block(experiment)), need, workers):
        for name, sums in total.items():
            np.add.at(sums, units[:, 0], getattr(chunk, name))  # in the order of the runs, however they were cut
    return Tally._make((start + runs, *total.values()))


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
    return kernel.rehearse(*_arguments(first, units, Need().room(first, units)), np.zeros(3, np.int64))


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
        simulate_here(experiment.within(0, 0), units[:0], need, None, stop)  # compiles in this thread

    def submit(start: int) -> tuple[Ints, Future[Wanted]]:
        chunk = units[start : start + size]
        first, end = chunk[0, 0], chunk[-1, 0] + 1
        part, local = experiment.within(first, end), chunk - [first, 0, 0]
        stacks = {name: each[first:end] for name in ("edges", "controls") if (each := getattr(need, name)) is not None}
        wants = need._replace(**stacks)
        if pool is workers:
            with work_elsewhere():
                return chunk, pool.submit(simulate_here, part, local, wants)
        room = None if whole is None else _slice(whole, places[start], places[start + len(chunk)])
        return chunk, pool.submit(simulate_here, part, local, wants, room, stop)

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


def simulate_here(
    experiment: Experiment, units: Ints, need: Need, room: Wanted | None = None, stop: Ints | None = None
) -> Wanted:
    """One chunk, in this thread."""
    wanted = need.room(experiment, units) if room is None else room
    stop = np.zeros(3, np.int64) if stop is None else stop
    task, rule, world, *_ = arguments = _arguments(experiment, units, wanted)
    if experiment.policy.by_totals and can_step(rule, world, experiment.horizon, wanted):
        step(experiment.policy, task, rule, world, wanted, stop)
        return wanted
    name = experiment.policy.kernel
    kernel = name if isinstance(name, ObjectKernel) else load(name)
    try:
        kernel(*arguments, stop)
    except Exception as error:
        if type(error).__module__.startswith("numba"):
            raise _not_compiled(experiment.policy, str(error)) from error
        if isinstance(name, OwnKernel):
            raise _failed(experiment, units, error) from error
        raise
    if stop[1]:
        what = f"the rule chose an arm that there is not, in run {stop[1] - 1}, round {stop[2]}"
        raise InputError(what, where="policy", remedy=f"Arms are counted from 0 to {experiment.arm_count - 1}.")
    return wanted


def _failed(experiment: Experiment, units: Ints, error: Exception) -> InputError:
    """A rule's own function raised: in which run is found by playing each alone, in which round by playing fewer."""
    kernel = load(experiment.policy.kernel)

    def fails(unit: Ints, rounds: int) -> bool:
        shorter = experiment._replace(horizon=rounds)
        try:
            kernel(*_arguments(shorter, unit, Need().room(shorter, unit)), np.zeros(3, np.int64))
        except Exception:
            return True
        return False

    alone = (np.array([[world, first + i, 1]]) for world, first, runs in units.tolist() for i in range(runs))
    unit = next(unit for unit in alone if fails(unit, experiment.horizon))
    fine, failing = 0, experiment.horizon
    while failing - fine > 1:
        middle = (fine + failing) // 2
        fine, failing = (fine, middle) if fails(unit, middle) else (middle, failing)
    reason = f"{type(error).__name__}: {shorten(str(error), 200)}"
    return InputError(f"the rule failed in run {unit[0, 1]}, round {failing} ({reason})", where="policy")


def _not_compiled(policy: Rule, error: str) -> InputError:
    if "NRT required" in error:
        what, remedy = "it makes new arrays in every round", "Write a loop over the arms instead."
    else:
        telling = [line for line in error.splitlines() if line and not line.startswith(("Failed in", "During"))]
        what, remedy = shorten(" ".join(telling), 300), "Use numbers, arrays and functions that numba knows."
    return InputError(f"{policy} cannot be compiled ({what})", where="policy", remedy=remedy)


_KEPT = ("path_arms", "path_rewards", "pulls", "sums")  # one row for each run
_SUMS = ("pull_totals", "pulled", "errors", "squares", "histogram", "joint")  # one row for each unit


def _slice(whole: Wanted, first: int, end: int) -> Wanted:
    return whole._replace(**{name: getattr(whole, name)[first:end] for name in _KEPT})


_silent: contextvars.ContextVar[bool] = contextvars.ContextVar("silent", default=False)


@contextlib.contextmanager
def without_progress() -> Iterator[None]:
    """For callers that show progress of their own."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def progress_bar(runs: int) -> "tqdm[Any]":
    """Shown after a second, and only to a person: on a terminal and for the main thread."""
    hidden = _silent.get() or threading.current_thread() is not threading.main_thread()
    return tqdm(total=runs, desc="simulating", unit=" runs", unit_scale=True, delay=1, disable=hidden or None)


@functools.lru_cache(maxsize=16)
def _rule_data(policy: Rule, arm_count: int, horizon: int) -> RuleData:
    """The tables are as long as the horizon, so they are made where they are used, once."""
    return policy.rule(arm_count, horizon)


def _arguments(experiment: Experiment, units: Ints, wanted: Wanted) -> tuple[Task, RuleData, WorldData, Floats, Wanted]:
    """What the kernel needs to know to simulate one chunk."""
    rule = _rule_data(experiment.policy, experiment.arm_count, experiment.horizon)
    # arrays that came from another process may be read-only, for which the kernel would be compiled once more
    kind, *arrays = experiment.world
    world = WorldData(kind, *(np.require(array, requirements="W") for array in arrays))
    counts = (rule.opening, experiment.horizon - rule.opening * experiment.arm_count)
    # explore-then-commit needs no rounds where its sums can be drawn, whatever the size of the stack
    short = kind == NORMAL or (kind == BERNOULLI and max(counts) <= LONGEST)
    shortcut = rule.hold and short and not wanted.paths and rule.ties == FIRST and not rule.plan.active
    tables = np.empty((2, 0, 0))
    if shortcut and kind == BERNOULLI and len(units):
        tables = binomial_tables(world.means, counts)
    task = Task(
        np.require(units, requirements="W"),
        np.require(experiment.world_ids, requirements="W"),
        np.uint64(experiment.seed),
        experiment.purpose,
        experiment.arm_count,
        experiment.horizon,
        shortcut,
    )
    return task, rule, world, tables, wanted
