"""One cell of a study: a rule in a world, the methods to compare there, and the chunks in which it is computed."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from debandit.checks import MOST_RUNS, check_fields, whole
from debandit.engine.data import Floats, Ints
from debandit.engine.spread import without_progress
from debandit.errors import DebanditError, InputError
from debandit.policies import ObjectRule, Policy
from debandit.simulation import Runs, simulate
from debandit.study.comparisons import COMPARISONS
from debandit.study.methods import LIMITS, WEIGHTED, WITHOUT_RUNS, measure
from debandit.study.placed import QUOTED, by_place
from debandit.study.printed import is_printed, measure_printed
from debandit.study.rivals import DIFFERENCES, truths_of
from debandit.study.summary import WITH_QUANTILES, Series, Summary
from debandit.version import __version__
from debandit.worlds import Bernoulli, Drifting, World

FORMAT = 2  # of the kept results
HORIZON = "horizon"
_SLOW, _DRAWN = 200, 10  # a round of Python objects, or one drawn from chances, as a multiple of a compiled one
_ROUNDS_PER_CHUNK, _LARGEST_CHUNK, _NUMBERS_PER_CHUNK = 50_000_000, 10_000, 4_000_000
_STEPPED_CHUNK = 20  # experiments of large batches, which cost little beside what is said of them


class Bins(NamedTuple):
    """The bins of a histogram: this many `bins` of equal width from `low` to `high`."""

    low: float
    high: float
    bins: int


@dataclass(frozen=True)
class Cell:
    """What is simulated and measured. `paper` holds printed values: {method: {quantity: one value per arm}}."""

    label: str
    policy: Policy
    world: World
    horizon: int = whole(low=1)
    methods: tuple[str, ...] = ()
    experiments: int = whole(1000, low=2, high=MOST_RUNS)
    runs: int = whole(1000, low=2, high=MOST_RUNS)
    until_se: float | None = None
    most_experiments: int = whole(1_000_000, low=2, high=MOST_RUNS)
    unseen: tuple[float, float] | None = None
    histogram: Bins | None = None
    remark: str = ""
    paper: dict[str, Any] = field(default_factory=dict)
    point: dict[str, Any] = field(default_factory=dict)  # of the grid that it comes from
    curve: str = ""  # the label without the variable that methods are drawn over

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.methods:
            raise InputError("a cell needs at least one method", where="methods")
        if self.histogram is not None:
            object.__setattr__(self, "histogram", Bins(*self.histogram))

    @property
    def chunk_size(self) -> int:
        """Experiments computed at once: up to a second of work, and arrays that fit into memory.

        It depends on nothing but the cell, so that the same chunks come back in every run. An experiment is not split.
        """
        if self.counts_only:
            return _STEPPED_CHUNK
        weighted = any(method in WEIGHTED for method in self.methods)
        numbers = self.horizon * (4 * self.world.arm_count if weighted else 1)
        drawn = self.policy.conditions(self.world.arm_count, self.horizon).by_chances
        slow = _SLOW if isinstance(self.policy, ObjectRule) else _DRAWN if drawn else 1
        once = max(slow, _DRAWN) if self._drifts else slow  # the worlds of a log do not drift
        rounds = self.horizon * (once + slow * self.runs * sum(map(self._work, self.methods)))
        return max(1, min(_LARGEST_CHUNK, _ROUNDS_PER_CHUNK // rounds, _NUMBERS_PER_CHUNK // numbers))

    @property
    def counts_only(self) -> bool:
        """Whether the counts of an experiment are all that is looked at, and it is drawn batch by batch."""
        limits = all(method in (*LIMITS, *COMPARISONS) or is_printed(method) for method in self.methods)
        batched = self.policy.in_large_batches(self.world.arm_count, self.horizon)
        return limits and batched and (isinstance(self.world, Bernoulli) or (self._drifts and self.world.binary))

    @property
    def _drifts(self) -> bool:
        return isinstance(self.world, Drifting)

    def _work(self, method: str) -> int:
        """The work of one round of a method, as a multiple of a plain one: multipliers weigh every reward anew."""
        return 0 if method in WITHOUT_RUNS else self.horizon if method.startswith("multiplier") else 1

    def seed(self, seed: int, chunk: int) -> int:
        """The seed of one chunk. It follows from what is simulated, not from the cell's place in the study."""
        words = np.frombuffer(self._place, np.uint32)
        return int(np.random.SeedSequence([seed, chunk, *words]).generate_state(1, np.uint64)[0])

    def key(self, seed: int) -> str:
        """A name for everything that decides the bits of a chunk's results."""
        parts = (FORMAT, __version__, seed, self.runs, self.methods, self.unseen, self.histogram, self.chunk_size)
        return hashlib.sha256(self._place + json.dumps(parts).encode()).hexdigest()[:32]

    @cached_property
    def _place(self) -> bytes:
        """A hash of rule, world and horizon, as the engine sees them. The order is part of every study's seeds."""
        digest = hashlib.sha256(self.policy.fingerprint.encode())
        size = self.world.arm_count, self.horizon
        n0, s0, _, _, noisy, _, *own = described = self.policy.rule(*size)
        functions, ends = (described.width, described.level, described.explore), (None, -1, -1)
        tables = zip(described.tables(self.horizon), functions, ends, strict=True)
        width, level, explore = (row[: end if function else 0] for row, function, end in tables)
        around = self.policy.conditions(*size)
        settled = around.settled(self.world.arm_count) if around.wrapped else 0
        rule = around.opening, n0, s0, width, level, noisy, explore, around.commit, *own
        floor = around.mixed.total if around.mixed else 0.0  # what else is made of chances is in the fingerprint
        plan = around.wrapped, around.turns, around.uniform, settled, floor, around.ends
        *world, drift = self.world.data()
        for part in (*rule, *plan, self.horizon, *world, *(drift or ())):
            array = np.asarray(part)
            digest.update(f"{array.shape}".encode() + array.astype(array.dtype.newbyteorder("<")).tobytes())
        return digest.digest()


@dataclass(frozen=True)
class Chunk:
    """Some experiments of a cell: a small description that another process can be sent."""

    cell: Cell
    study_seed: int
    index: int
    experiments: int


def run_chunk(chunk: Chunk, threads: int | None = 1) -> Summary:
    """Simulate the experiments, apply every method to each of them, and add up."""
    cell, seed = chunk.cell, chunk.cell.seed(chunk.study_seed, chunk.index)
    series: dict[str, dict[str, list[Series]]] = {}
    histograms: dict[str, Ints] = {}
    try:
        with without_progress():
            experiments = simulate(
                cell.policy,
                cell.world,
                horizon=cell.horizon,
                runs=chunk.experiments,
                seed=seed,
                paths=not cell.counts_only,
                threads=threads,
            )
            for method in cell.methods:
                measured = _measuring(method)(method, experiments, cell, seed, threads)
                if "estimate" in measured:
                    estimate = measured.pop("estimate")
                    error = estimate - truths_of(method, cell)
                    measured |= {"error": error, "squared_error": error**2}
                    if QUOTED in cell.methods and method not in DIFFERENCES:
                        measured |= by_place(experiments, error)
                    if cell.histogram is not None:
                        histograms[method] = _counts(estimate, cell.histogram)
                series[method] = {
                    name: [Series.of(arm, quantiles=name in WITH_QUANTILES) for arm in values.T]
                    for name, values in measured.items()
                }
    except DebanditError as error:
        where = ", ".join(filter(None, (f"cell {cell.label!r}", error.where)))
        raise type(error)(error.what, where=where, remedy=error.remedy) from None
    return Summary(chunk.experiments, series, histograms)


def _measuring(method: str) -> Callable[[str, Runs, Cell, int, int | None], dict[str, Floats]]:
    return measure_printed if is_printed(method) else measure


def _counts(estimates: Floats, bins: Bins) -> Ints:
    """How many of each arm's estimates lie in each bin; those outside are not counted."""
    edges = np.linspace(bins.low, bins.high, bins.bins + 1)
    return np.stack([np.histogram(arm[np.isfinite(arm)], edges)[0] for arm in estimates.T])
