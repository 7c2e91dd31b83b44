"""How sure one can be of a log's means and differences: limits in closed form or simulated, and p-values."""

import itertools
from collections.abc import Generator, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from debandit.debiasing.cases import Case
from debandit.engine import spread
from debandit.engine.data import BERNOULLI, NORMAL, NORMAL_PART, RESIDUALS, Floats, Ints, WorldData
from debandit.engine.experiment import INFER
from debandit.engine.runs import TOTALS, WITH_SQUARES
from debandit.intervals import (
    CLOSED_ROUNDS,
    Compared,
    Interval,
    Observed,
    Sample,
    Sums,
    compared,
    distances,
    holm,
    interval_of,
    p_values,
    residuals,
    sample_of,
    simulates_comparisons,
)
from debandit.intervals.interval import MOST_ARMS
from debandit.intervals.simulated import Asking
from debandit.simulation import experiment_of
from debandit.worlds import World
from debandit.worlds.laws import Normal

_WORLDS_PER_LOG = 2**24
_LIMITS, _TESTS = 0, 1  # their random numbers differ, so that neither depends on whether the other is asked for
_ENOUGH_RESIDUALS = 4
_LOGS_AT_ONCE = 20  # whose runs are made together


class Inference(NamedTuple):
    """Limits for each arm's mean, and what can be said of its difference to its control."""

    interval: Interval
    compared: Compared
    p_value: Floats
    p_adjusted: Floats
    notes: tuple[str, ...]


class Asked(NamedTuple):
    """What is simulated, if it can be: limits, and p-values of differences to a named control."""

    limits: bool = True
    tests: bool = True
    arms: tuple[int, ...] | None = None  # that are compared with their controls; None: all


ALL = Asked()


def inferred(
    cases: Sequence[Case], worlds: Sequence[World], workers: spread.Workers, asked: Asked = ALL
) -> list[Inference]:
    """All that is said of cases besides their estimates; they are alike in policy, arms and rounds."""
    at_once = _LOGS_AT_ONCE if all(case.log.binary for case in cases) else 1  # others have residuals of their own
    found = []
    for start in range(0, len(cases), at_once):
        some = slice(start, start + at_once)
        asking = [_inferring(case, world, asked) for case, world in zip(cases[some], worlds[some], strict=True)]
        found += _side_by_side(asking, cases[start], workers)
    return found


class _Worlds(NamedTuple):
    """Worlds (worlds, arms) that need a run each; every world of a log has a number that only it has."""

    ids: Ints
    means: Floats
    spreads: Floats
    kind: int
    residuals: Floats


Answer = TypeVar("Answer")
_Asking = Generator[_Worlds, Sums, Answer]


def _inferring(case: Case, world: World, asked: Asked) -> _Asking[Inference]:
    log, level, named = case.log, case.settings.level, case.settings.control is not None
    k, pairs = len(log.labels), _pairs(case, asked)
    name, limits = (case.settings.interval, case.interval) if asked.limits else ("none", "none")
    wanted, can = simulates_comparisons(log, limits), not case.cannot_simulate
    simulated, z = None, None
    if wanted and can:
        seen = _observed(case, world, _LIMITS)
        far = yield from _numbered(case, world, _LIMITS, distances(log, seen, limits, level, pairs))
        simulated, z = (seen, far), far.arms if limits == "simulated" else None
    p = np.full(k, np.nan)
    if asked.tests and named and can and case.interval not in ("none", "wald") and k <= MOST_ARMS:
        tested = np.flatnonzero(pairs >= 0)
        tests = p_values(_observed(case, world, _TESTS), tested, pairs[tested])
        p[tested] = yield from _numbered(case, world, _TESTS, tests)
    return Inference(
        interval_of(log, name, level, z, kind_of_rule(case)),
        compared(log, limits, level, pairs, simulated),
        p,
        holm(p),
        (_known_to_fail(case.cannot_simulate),) if wanted and not can else (),
    )


def _pairs(case: Case, asked: Asked) -> Ints:
    """The arm that each is compared with, -1: none. Without a named control only the best is, with the second."""
    seen, own = case.log.pulls > 0, np.arange(len(case.controls))
    if asked.arms is not None:
        seen = seen & np.isin(own, [*asked.arms, *case.controls[list(asked.arms)]])
    pairs = np.where(seen & seen[case.controls] & (case.controls != own), case.controls, -1)
    return pairs if case.settings.control is not None else np.where(own == np.nanargmax(case.log.means), pairs, -1)


def kind_of_rule(case: Case) -> str:
    """The policy's name in what was measured: plain, or in batches; with anything else around it nothing was."""
    core, conditions = case.policy.core.name, case.policy.conditions(len(case.log.labels), case.planned)
    if not conditions.wrapped:
        return core
    return f"batched {core}" if not conditions._replace(ends=conditions.ends[:0]).wrapped else ""


def _known_to_fail(because: str) -> str:
    return (
        f"the limits of differences and of the best-looking arm are closed forms, which were measured for up to "
        f"{CLOSED_ROUNDS} rounds and are known to fail in longer experiments; {because}"
    )


def _observed(case: Case, world: World, part: int) -> Observed:
    """A case as the simulation sees it."""
    settings, stand_in = case.settings, (world.means, np.sqrt(world.variances))
    return Observed.of(sample_of(case.log), case.log.binary, stand_in, (settings.seed, INFER, _number(case, part)))


def _number(case: Case, part: int) -> int:
    """That of the log, and of what is asked about it."""
    return 2 * case.settings.log_index + part


def _numbered(case: Case, world: World, part: int, asking: Asking[Answer]) -> _Asking[Answer]:
    """What is asked, with numbers for the worlds, whose rewards are like those of the correction's world."""
    sample, normal = sample_of(case.log), isinstance(world, Normal)
    pool = residuals(sample) if isinstance(sample, Sample) and not (normal or case.log.binary) else np.empty(0)
    kind = BERNOULLI if case.log.binary else RESIDUALS if len(pool) >= _ENOUGH_RESIDUALS else NORMAL
    ids = itertools.count(_number(case, part) * _WORLDS_PER_LOG)
    try:
        means, spreads = next(asking)
        while True:
            own = np.fromiter(ids, np.int64, len(means))
            means, spreads = asking.send((yield _Worlds(own, means, spreads, kind, pool)))
    except StopIteration as done:
        answer: Answer = done.value
        return answer


def _side_by_side(asking: list[_Asking[Answer]], like: Case, workers: spread.Workers) -> list[Answer]:
    """The answers to all, whose runs are made together; there is one asking, or all worlds are of 0/1 rewards."""
    answers: dict[int, Answer] = {}
    told: dict[int, Sums | None] = dict.fromkeys(range(len(asking)))
    while told:
        wanted: dict[int, _Worlds] = {}
        for i, sums in told.items():
            try:
                wanted[i] = next(asking[i]) if sums is None else asking[i].send(sums)
            except StopIteration as done:
                answers[i] = done.value
        told = dict(zip(wanted, _one_run_each(list(wanted.values()), like, workers), strict=True))
    return [answers[i] for i in range(len(asking))]


def _one_run_each(several: list[_Worlds], like: Case, workers: spread.Workers) -> Iterator[Sums]:
    """What a run came to in each of the worlds."""
    if not several:
        return
    ids, means, spreads = (np.concatenate(each) for each in list(zip(*several, strict=True))[:3])
    kind, pool, binary = several[0].kind, several[0].residuals * np.sqrt(1 - NORMAL_PART**2), like.log.binary
    variances = means * (1 - means) if binary else spreads**2
    data = WorldData(kind, means.ravel(), variances.ravel(), spreads.ravel(), pool, np.empty(0, np.int64))
    rounds, seed = like.planned, like.settings.seed
    experiment = experiment_of(like.policy, data, ids, horizon=rounds, seed=seed, purpose=INFER)
    table = spread.store(experiment, 1, kept=TOTALS if binary else WITH_SQUARES, paths=False, workers=workers)
    pulls, sums, *squares = table.table.swapaxes(1, 2)
    found = np.divide(sums, pulls, out=np.full(sums.shape, np.nan), where=pulls > 0)
    about = np.zeros(pulls.shape) if binary else squares[0] - pulls * np.nan_to_num(found - means) ** 2
    end = 0
    for worlds in several:
        start, end = end, end + len(worlds.ids)
        yield Sums(pulls[start:end], found[start:end], np.maximum(about[start:end], 0.0))
