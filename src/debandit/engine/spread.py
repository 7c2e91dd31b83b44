"""Spreading runs over threads.

The work is cut into units of at most BLOCK runs of one world. A unit is never split and its sums are taken in the order
of its runs, so that no bit of the answer depends on the number of threads or on the size of the chunks.
"""

import os
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from debandit.engine.data import BERNOULLI, NORMAL, Floats, Ints, RuleData, Task, Wanted, WorldData
from debandit.engine.kernels import load

BLOCK = 256
SIMULATE, DEBIAS = 1, 2  # purposes: under one seed their random streams are distinct
_ROUNDS_PER_CHUNK = 4_000_000  # about 20 ms: long enough to hide Python, short enough to answer Ctrl-C
_LARGEST_BINOMIAL_TABLE = 4_000_000


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
    _run(experiment, _units(np.zeros(worlds, np.int64), np.full(worlds, runs)), runs, lambda _: wanted, threads)
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
    units = _units(np.zeros(worlds, np.int64) if before is None else before.runs, runs)
    shape = (len(units), arms)
    wanted = _nothing()._replace(
        tallies=True,
        pull_totals=np.zeros(shape),
        pulled=np.zeros(shape, np.int64),
        errors=np.zeros(shape),
        squares=np.zeros(shape),
        edges=np.zeros((worlds, arms, 2)) if edges is None else edges,
        histogram=np.zeros((*shape, bins), np.int64),
    )
    per_unit = ("pull_totals", "pulled", "errors", "squares", "histogram")

    def part(span: slice) -> Wanted:
        return wanted._replace(**{name: getattr(wanted, name)[span] for name in per_unit})

    _run(experiment, units, 0, part, threads)
    blank = (np.zeros((worlds, *getattr(wanted, name).shape[1:]), getattr(wanted, name).dtype) for name in per_unit)
    earlier = (np.zeros_like(runs), *blank) if before is None else before
    total = Tally._make((earlier[0] + runs, *(sums.copy() for sums in earlier[1:])))
    for sums, name in zip(total[1:], per_unit, strict=True):
        np.add.at(sums, units[:, 0], getattr(wanted, name))  # in the order of the runs, however they were asked for
    return total


def _units(first: Ints, runs: Ints) -> Ints:
    """Rows (world, first run, number of runs)."""
    rows = [
        (world, start, min(BLOCK, int(first[world] + runs[world]) - start))
        for world in range(len(first))
        for start in range(int(first[world]), int(first[world] + runs[world]), BLOCK)
    ]
    return np.array(rows, np.int64).reshape(-1, 3)


def _run(experiment: Experiment, units: Ints, runs: int, part: Callable[[slice], Wanted], threads: int | None) -> None:
    """Hand chunks of units to threads; Ctrl-C stops them within a round."""
    kernel = load(experiment.kernel)
    binomials = _binomials(experiment) if not part(slice(0, 0)).paths else None
    tables = np.empty((2, 0, 0)) if binomials is None else binomials
    stop = np.zeros(1, np.int64)

    def simulate(span: slice) -> int:
        task = Task(
            units[span],
            experiment.world_ids,
            np.uint64(experiment.seed),
            experiment.purpose,
            experiment.arm_count,
            experiment.horizon,
            runs,
            binomials is not None,
        )
        kernel(task, experiment.rule, experiment.world, tables, part(span), stop)
        return int(units[span, 2].sum())

    simulate(slice(0, 0))  # compiles in this thread
    workers = max(1, min(threads or os.cpu_count() or 1, len(units)))
    share = -(-len(units) // (4 * workers))  # small jobs, too, give every thread something to do until the end
    per_chunk = max(1, min(share, _ROUNDS_PER_CHUNK // (BLOCK * experiment.horizon)))
    spans = [slice(i, i + per_chunk) for i in range(0, len(units), per_chunk)]
    total = int(units[:, 2].sum())
    in_main = threading.current_thread() is threading.main_thread()
    with (
        tqdm(
            total=total, desc="simulating", unit=" runs", unit_scale=True, delay=1, disable=None if in_main else True
        ) as bar,
        ThreadPoolExecutor(workers) as pool,
    ):
        waiting = {pool.submit(simulate, span) for span in spans}
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                bar.update(sum(future.result() for future in done))
        except BaseException:
            stop[0] = 1
            pool.shutdown(cancel_futures=True)
            raise


def _binomials(experiment: Experiment) -> Floats | None:
    """What explore-then-commit needs to skip its rounds, or None if it (or any other rule) must play them.

    Normal worlds need nothing. For 0/1 rewards: the distribution functions of the sums, indexed by
    (exploration or rest, row, successes).
    """
    if not experiment.rule.hold or experiment.world.kind not in (NORMAL, BERNOULLI):
        return None
    if experiment.world.kind == NORMAL:
        return np.empty((2, 0, 0))
    counts = (experiment.rule.opening, experiment.horizon - experiment.rule.opening * experiment.arm_count)
    rows, length = len(experiment.world.means), max(counts) + 1
    if 2 * rows * length > _LARGEST_BINOMIAL_TABLE:
        return None
    tables = np.ones((2, rows, length))
    for table, n in zip(tables, counts, strict=True):
        log_factorial = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, n + 1)))))
        log_choose = log_factorial[n] - log_factorial - log_factorial[::-1]
        wins = np.arange(n + 1)
        for row, p in enumerate(experiment.world.means):
            if 0 < p < 1:
                table[row, :n] = np.cumsum(np.exp(log_choose + wins * np.log(p) + (n - wins) * np.log1p(-p)))[:n]
            else:
                table[row, :n] = float(p == 0)
    return tables


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
