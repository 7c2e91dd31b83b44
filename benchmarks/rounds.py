"""What one simulated round costs: debandit beside numpy, pure Python and, if given, a hand-written kernel.

    python benchmarks/rounds.py [--race DIR_OR_SO]

Only ratios inside one run mean anything on a busy machine. So all variants of all rows take turns, and the fastest
turn of each counts. Before anything is timed, the variants must pull the arms equally often: a fast version of another
rule is no comparison. The exit code is 1 if they do not; missed targets are only printed.
"""

import argparse
import ctypes
import math
import os
import random
import resource
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

import debandit
from debandit import worlds
from debandit.rules import ScoreRule, SelectRule
from debandit.simulation import tally
from debandit.tables import Column, render

EPSILON = 0.1
COMMIT_AFTER = 10  # pulls of each arm
POOL_SIZE = 50  # values of each arm in the resampled world
ENOUGH_TO_COMPARE = 100  # runs: of fewer the mean pulls say little
REPETITIONS = 12
THREAD_REPETITIONS = 12
THREAD_LOAD = 4  # times the runs of the other tables
TOLERANCE = 4.5  # combined standard errors
NUMPY_ROUNDS = 1_000  # of a longer horizon numpy plays only these: its cost per round does not depend on the round
OWN_RULE_TARGET = 2  # times the built-in rule, for a score
LIMIT_OF_GROWTH = 0.05  # of the memory that keeping the runs takes

Generator = np.random.Generator
Array = np.ndarray
NumpyChoice = Callable[[Generator, int, Array, Array, Array | None], Array]
PythonChoice = Callable[[random.Random, int, list[float], list[int], int | None], int]
Calls = dict[str, Callable[[], object]]
Race = Callable[[str, int, int, int], tuple[Array, Array]]  # (rule, arms, rounds, runs) to sums and pulls


# The rules twice more. A choice sees the round (counted from 1), every arm's sum and pulls, and the arm it chose before
# (None in the first round after the initial pulls). Ties go to the lowest index.


def numpy_ucb(_: Generator, t: int, sums: Array, pulls: Array, __: Array | None) -> Array:
    return np.argmax(sums / pulls + np.sqrt(math.log(t) / pulls), axis=1)


def python_ucb(_: random.Random, t: int, sums: list[float], pulls: list[int], __: int | None) -> int:
    log_t = math.log(t)
    return first_highest([s / n + math.sqrt(log_t / n) for s, n in zip(sums, pulls, strict=True)])


def numpy_thompson(generator: Generator, _: int, sums: Array, pulls: Array, __: Array | None) -> Array:
    return np.argmax(sums / pulls + generator.standard_normal(sums.shape) / np.sqrt(pulls + 1), axis=1)


def python_thompson(generator: random.Random, _: int, sums: list[float], pulls: list[int], __: int | None) -> int:
    gauss = generator.gauss
    return first_highest([gauss(s / n, 1 / math.sqrt(n + 1)) for s, n in zip(sums, pulls, strict=True)])


def numpy_epsilon_greedy(generator: Generator, _: int, sums: Array, pulls: Array, __: Array | None) -> Array:
    runs, arms = sums.shape
    anything = generator.random(runs) < EPSILON
    return np.where(anything, generator.integers(arms, size=runs), np.argmax(sums / pulls, axis=1))


def python_epsilon_greedy(generator: random.Random, _: int, sums: list[float], pulls: list[int], __: int | None) -> int:
    if generator.random() < EPSILON:
        return generator.randrange(len(sums))
    return first_highest([s / n for s, n in zip(sums, pulls, strict=True)])


def numpy_etc(_: Generator, __: int, sums: Array, pulls: Array, last: Array | None) -> Array:
    return np.argmax(sums / pulls, axis=1) if last is None else last


def python_etc(_: random.Random, __: int, sums: list[float], pulls: list[int], last: int | None) -> int:
    return first_highest([s / n for s, n in zip(sums, pulls, strict=True)]) if last is None else last


def numpy_beta_thompson(generator: Generator, _: int, sums: Array, pulls: Array, __: Array | None) -> Array:
    return np.argmax(generator.beta(1 + sums, 1 + pulls - sums), axis=1)


def python_beta_thompson(generator: random.Random, _: int, sums: list[float], pulls: list[int], __: int | None) -> int:
    draw = generator.betavariate
    return first_highest([draw(1 + s, 1 + n - s) for s, n in zip(sums, pulls, strict=True)])


def numpy_uniform(generator: Generator, _: int, sums: Array, __: Array, ___: Array | None) -> Array:
    return generator.integers(sums.shape[1], size=len(sums))


def python_uniform(generator: random.Random, _: int, sums: list[float], __: list[int], ___: int | None) -> int:
    return generator.randrange(len(sums))


def first_highest(scores: list[float]) -> int:
    return scores.index(max(scores))


# Hand-written kernels may count rounds from 0 and leave the prior out of the width. That costs the same per round, so
# the race is fair, but the pulls must then be compared with those of the rule that is really played.


def numpy_ucb_from_zero(generator: Generator, t: int, sums: Array, pulls: Array, last: Array | None) -> Array:
    return numpy_ucb(generator, t - 1, sums, pulls, last)


def numpy_thompson_without_prior(generator: Generator, _: int, sums: Array, pulls: Array, __: Array | None) -> Array:
    return np.argmax(sums / pulls + generator.standard_normal(sums.shape) / np.sqrt(pulls), axis=1)


# UCB as a user would write it.


@dataclass(frozen=True)
class ScoredUCB(ScoreRule):
    name: ClassVar[str] = "ucb as a ScoreRule"
    randomised: ClassVar[bool] = False

    @staticmethod
    def score(mean, pulls, t):  # type: ignore[no-untyped-def]
        return mean + np.sqrt(np.log(t) / pulls)


@dataclass(frozen=True)
class SelectedUCB(SelectRule):
    name: ClassVar[str] = "ucb as a SelectRule"
    randomised: ClassVar[bool] = False

    @staticmethod
    def select(t, pulls, sums):  # type: ignore[no-untyped-def]
        best, highest = 0, -np.inf
        for arm in range(len(pulls)):
            score = sums[arm] / pulls[arm] + np.sqrt(np.log(t) / pulls[arm])
            if score > highest:
                best, highest = arm, score
        return best


class Rule(NamedTuple):
    """One rule, three times."""

    policy: debandit.Policy
    opening: int  # forced pulls of each arm
    numpy: NumpyChoice
    python: PythonChoice
    race: tuple[str, str] | None = None  # the kernel's names for it with two and with more arms
    race_form: tuple[str, NumpyChoice] | None = None  # what the kernel may play instead, see above


class Place(NamedTuple):
    """One world, three times."""

    world: worlds.World
    numpy: Callable[[Generator, Array], Array]
    python: Callable[[random.Random, int], float]


class Targets(NamedTuple):
    """Times of the others as multiples of debandit's time, and the reverse for the race."""

    numpy: float | None = None
    python: float | None = None
    race: float | None = None
    threads: float | None = None


class Case(NamedTuple):
    """One row of the tables: what is played, how long and how often."""

    rule: Rule
    place: Place
    rounds: int
    runs: int
    numpy_runs: int
    python_runs: int
    targets: Targets

    @property
    def arms(self) -> int:
        return self.place.world.arm_count

    @property
    def numpy_rounds(self) -> int:
        return min(self.rounds, NUMPY_ROUNDS)

    @property
    def race_name(self) -> str | None:
        """The kernel knows normal rewards only."""
        known = self.rule.race is not None and self.place.world.name == "normal"
        return self.rule.race[self.arms > 2] if known else None

    @property
    def title(self) -> dict[str, Any]:
        """The columns that say which row this is."""
        policy, world = self.rule.policy.name, self.place.world.name
        return {"rule": policy, "world": world, "arms": self.arms, "rounds": self.rounds}


UCB = Rule(debandit.UCB(), 1, numpy_ucb, python_ucb, ("ucb", "ucb"), ("numpy, t from 0", numpy_ucb_from_zero))
THOMPSON = Rule(
    debandit.ThompsonSampling(initial_pulls=1, center="sample"),
    1,
    numpy_thompson,
    python_thompson,
    ("ts2", "ts"),
    ("numpy, variance 1/N", numpy_thompson_without_prior),
)
EPSILON_GREEDY = Rule(
    debandit.EpsilonGreedy(epsilon=EPSILON), 1, numpy_epsilon_greedy, python_epsilon_greedy, ("eg", "eg")
)
ETC = Rule(debandit.ExploreThenCommit(pulls=COMMIT_AFTER), COMMIT_AFTER, numpy_etc, python_etc)
BETA_THOMPSON = Rule(debandit.BetaThompson(), 0, numpy_beta_thompson, python_beta_thompson)
UNIFORM = Rule(debandit.Uniform(), 0, numpy_uniform, python_uniform)


def normal_place(arms: int) -> Place:
    means, sds = np.linspace(0.0, -0.3, arms), np.ones(arms)
    listed = list(zip(means.tolist(), sds.tolist(), strict=True))
    return Place(
        worlds.Normal(means, sds),
        lambda generator, chosen: means[chosen] + sds[chosen] * generator.standard_normal(len(chosen)),
        lambda generator, arm: generator.gauss(*listed[arm]),
    )


def bernoulli_place(arms: int) -> Place:
    means = np.linspace(0.6, 0.3, arms)
    listed = means.tolist()
    return Place(
        worlds.Bernoulli(means),
        lambda generator, chosen: generator.random(len(chosen)) < means[chosen],
        lambda generator, arm: float(generator.random() < listed[arm]),
    )


def empirical_place(arms: int) -> Place:
    noise = np.random.default_rng(0).standard_normal((arms, POOL_SIZE))
    pools = noise + np.linspace(0.0, -0.3, arms)[:, None]
    listed = pools.tolist()
    return Place(
        worlds.Empirical(listed),
        lambda generator, chosen: pools[chosen, generator.integers(POOL_SIZE, size=len(chosen))],
        lambda generator, arm: generator.choice(listed[arm]),
    )


def smoothed_place(arms: int) -> Place:
    pools = np.random.default_rng(0).standard_normal((arms, POOL_SIZE)) + np.linspace(0.0, -0.3, arms)[:, None]
    listed = pools.tolist()
    return Place(
        worlds.Smoothed(listed, sds=[0.2] * arms),
        lambda generator, chosen: (
            pools[chosen, generator.integers(POOL_SIZE, size=len(chosen))]
            + 0.2 * generator.standard_normal(len(chosen))
        ),
        lambda generator, arm: generator.choice(listed[arm]) + generator.gauss(0.0, 0.2),
    )


def cases() -> list[Case]:
    """Short experiments with two arms, long ones with ten; the last rows have no targets."""
    two = normal_place(2)

    def short(rule: Rule, place: Place, targets: Targets, runs: int = 102_400) -> Case:
        return Case(rule, place, 100, runs, 8_000, 250, targets)

    def long(rule: Rule, targets: Targets, runs: int = 1_024) -> Case:
        return Case(rule, normal_place(10), 10_000, runs, 4_000, 1, targets)

    return [
        short(UCB, two, Targets(10, 300, 1.2, 1.7)),
        short(THOMPSON, two, Targets(10, 300, 1.2, 1.7)),
        short(EPSILON_GREEDY, two, Targets(8, 280, 1.4, 1.7)),
        short(ETC, two, Targets(100, 1000, None, 1.7), runs=512_000),
        long(UCB, Targets(15, None, 1.2, 1.7)),
        long(THOMPSON, Targets(15, None, 1.4, 1.7)),
        long(EPSILON_GREEDY, Targets(15, None, 1.4, 1.7)),
        short(BETA_THOMPSON, bernoulli_place(2), Targets(), runs=12_800),
        short(UCB, empirical_place(2), Targets()),
        short(UCB, smoothed_place(2), Targets()),
        short(UNIFORM, two, Targets()),
        long(UNIFORM, Targets()),
        long(ETC, Targets(), runs=102_400),
        Case(BETA_THOMPSON, bernoulli_place(10), 10_000, 64, 200, 1, Targets()),
    ]


def play_debandit(case: Case, rounds: int, runs: int, threads: int | None = 1) -> Array:
    """Every run's pulls, (runs, arms), like the two below."""
    kept = debandit.simulate(case.rule.policy, case.place.world, horizon=rounds, runs=runs, threads=threads)
    return kept.pulls


def play_numpy(case: Case, rounds: int, runs: int, choice: NumpyChoice | None = None) -> Array:
    """All runs at once, round by round; `choice` replaces the rule's own."""
    generator, choose = np.random.default_rng(1), choice or case.rule.numpy
    sums, pulls, rows = np.zeros((runs, case.arms)), np.zeros((runs, case.arms)), np.arange(runs)
    opening, chosen = case.rule.opening * case.arms, None
    for t in range(1, rounds + 1):
        if t <= opening:
            pulled = np.full(runs, (t - 1) // case.rule.opening)
        else:
            pulled = chosen = choose(generator, t, sums, pulls, chosen)
        sums[rows, pulled] += case.place.numpy(generator, pulled)
        pulls[rows, pulled] += 1
    return pulls


def play_python(case: Case, rounds: int, runs: int) -> Array:
    """One run after the other."""
    generator, choose, reward = random.Random(1), case.rule.python, case.place.python
    opening, arms = case.rule.opening * case.arms, case.arms
    kept = []
    for _ in range(runs):
        sums, pulls, chosen = [0.0] * arms, [0] * arms, None
        for t in range(1, rounds + 1):
            if t <= opening:
                arm = (t - 1) // case.rule.opening
            else:
                arm = chosen = choose(generator, t, sums, pulls, chosen)
            sums[arm] += reward(generator, arm)
            pulls[arm] += 1
        kept.append(pulls)
    return np.array(kept)


def play_race(race: Race, case: Case, rounds: int, runs: int) -> Array:
    """The kernel's pulls; runs that share a random stream are kept once, lest the standard error be too small."""
    sums, pulls = race(case.race_name or "", case.arms, rounds, runs)
    return pulls[np.unique(sums, axis=0, return_index=True)[1]]


def load_race(path: Path) -> Race:
    """From a folder whose run.py has load(), or from a shared library."""
    if not path.is_dir():
        return shared_library(path)
    spec = spec_from_file_location("race", path / "run.py")
    if spec is None or spec.loader is None:
        raise OSError(f"cannot import {path / 'run.py'}")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    call = module.load()
    return lambda rule, arms, rounds, runs: call(rule, K=arms, T=rounds, R=runs)


def shared_library(path: Path) -> Race:
    """The functions take (groups of four lanes, runs, rounds, [arms,] means, sds, parameter, seed, sums, pulls)."""
    library = ctypes.CDLL(str(path.resolve()))
    names = {"ucb": "simd_ucbK", "ts": "simd_tsK", "ts2": "simd_ts2", "eg": "simd_egK"}

    def call(rule: str, arms: int, rounds: int, runs: int) -> tuple[Array, Array]:
        means, sds = np.linspace(0.0, -0.3, arms), np.ones(arms)
        sums, pulls = np.empty((runs, arms)), np.empty((runs, arms))
        two = rule == "ts2"
        getattr(library, names[rule])(
            ctypes.c_int(4 if two else 16),
            ctypes.c_long(runs),
            ctypes.c_long(rounds),
            *(() if two else (ctypes.c_int(arms),)),
            *(ctypes.c_void_p(array.ctypes.data) for array in (means, sds)),
            ctypes.c_double(EPSILON if rule == "eg" else 1.0),
            ctypes.c_uint64(1),
            *(ctypes.c_void_p(array.ctypes.data) for array in (sums, pulls)),
        )
        return sums, pulls

    return call


def distance(one: Array, other: Array) -> float:
    """The largest difference of mean pulls over the arms, in combined standard errors."""
    error = np.sqrt(one.var(axis=0, ddof=1) / len(one) + other.var(axis=0, ddof=1) / len(other))
    return float(np.max(np.abs(one.mean(axis=0) - other.mean(axis=0)) / error))


def compare_pulls(case: Case, race: Race | None) -> dict[str, Any]:
    """How far each variant's mean pulls are from debandit's, and the race's from the rule that it may play instead."""
    rounds, many, some = case.numpy_rounds, 8 * case.numpy_runs, 2 * case.numpy_runs
    ours = play_debandit(case, rounds, many, threads=None)
    row: dict[str, Any] = {"numpy": distance(ours, play_numpy(case, rounds, some)), "python": None, "race": None}
    against = ""
    if case.python_runs >= ENOUGH_TO_COMPARE:
        row["python"] = distance(ours, play_python(case, rounds, 8 * case.python_runs))
    if race is not None and case.race_name is not None:
        raced = play_race(race, case, rounds, many)
        row["race"], against = distance(ours, raced), "debandit"
        if row["race"] > TOLERANCE and case.rule.race_form is not None:
            against, choice = case.rule.race_form
            row["race"] = distance(play_numpy(case, rounds, some, choice), raced)
    agrees = all(value is None or value <= TOLERANCE for value in row.values())
    return case.title | row | {"against": against, "rounds": rounds, "verdict": "agree" if agrees else "DISAGREE"}


def fastest(rows: Sequence[Calls], repetitions: int, clock: Callable[[], float]) -> list[dict[str, float]]:
    """The shortest time of each call; all take turns, so that a slow spell of the machine hits all of them.

    Every other time a row is taken backwards: a call may find memory ready that the one before has given back.
    """
    best = [dict.fromkeys(calls, math.inf) for calls in rows]
    for repetition in range(repetitions):
        for calls, times in zip(rows, best, strict=True):
            for name, call in list(calls.items())[:: -1 if repetition % 2 else 1]:
                start = clock()
                call()
                times[name] = min(times[name], clock() - start)
    return best


def time_rounds(rows: Sequence[Case], race: Race | None) -> list[dict[str, float | None]]:
    """Nanoseconds per round on one core. CPU time of the process, because debandit works in a thread of its own."""
    seconds = fastest([one_core_calls(case, race) for case in rows], REPETITIONS, time.process_time)
    return [
        {name: 1e9 * times[name] / rounds if name in times else None for name, rounds in rounds_timed(case).items()}
        for case, times in zip(rows, seconds, strict=True)
    ]


def one_core_calls(case: Case, race: Race | None) -> Calls:
    """What is timed, by the name of its column."""
    calls: Calls = {
        "debandit": lambda: play_debandit(case, case.rounds, case.runs),
        "numpy": lambda: play_numpy(case, case.numpy_rounds, case.numpy_runs),
    }
    if race is not None and (name := case.race_name) is not None:
        calls["race"] = lambda: race(name, case.arms, case.rounds, case.runs)
    calls["python"] = lambda: play_python(case, case.rounds, case.python_runs)
    return calls


def rounds_timed(case: Case) -> dict[str, int]:
    """How many rounds each of these calls plays."""
    ours = case.rounds * case.runs
    numpy_rounds, python_rounds = case.numpy_rounds * case.numpy_runs, case.rounds * case.python_runs
    return {"debandit": ours, "numpy": numpy_rounds, "python": python_rounds, "race": ours}


def time_threads(rows: Sequence[Case]) -> list[dict[str, Any]]:
    """Wall-clock nanoseconds per round with one and with two threads, of so many runs that there are many chunks."""
    seconds = fastest([thread_calls(case) for case in rows], THREAD_REPETITIONS, time.perf_counter)
    table = []
    for case, times in zip(rows, seconds, strict=True):
        one, two = (1e9 * times[key] / (case.rounds * THREAD_LOAD * case.runs) for key in ("one", "two"))
        table.append(case.title | {"one": one, "two": two, "speedup": at_least(one / two, case.targets.threads)})
    return table


def thread_calls(case: Case) -> Calls:
    return {
        "one": lambda: play_debandit(case, case.rounds, THREAD_LOAD * case.runs, threads=1),
        "two": lambda: play_debandit(case, case.rounds, THREAD_LOAD * case.runs, threads=2),
    }


def time_own_rules() -> list[dict[str, Any]]:
    """UCB as a user writes it beside the built-in one, nanoseconds per round on one core."""
    built_in = cases()[0]
    policies = (debandit.UCB(), ScoredUCB(), SelectedUCB())
    every = {policy.name: built_in._replace(rule=UCB._replace(policy=policy)) for policy in policies}
    pulls = {name: play_debandit(case, case.rounds, case.runs) for name, case in every.items()}
    calls: Calls = {name: lambda case=case: play_debandit(case, case.rounds, case.runs) for name, case in every.items()}
    (times,) = fastest([calls], REPETITIONS, time.process_time)
    ours, rounds = times["ucb"], built_in.rounds * built_in.runs
    return [
        case.title
        | {"time": 1e9 * times[name] / rounds, "built_in": 1e9 * ours / rounds}
        | {"same": np.mean(pulls[name] == pulls["ucb"])}
        | {"ratio": at_most(times[name] / ours, OWN_RULE_TARGET if "Score" in name else None)}
        for name, case in every.items()
        if name != "ucb"
    ]


def peak_megabytes() -> float:
    """The most memory this process ever held."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def memory_report() -> str:
    """Growth of the peak from few to many runs; that of keeping them shows that growth would be seen.

    The peak never falls again, so this comes before everything else.
    """
    policy, world, few, many = UCB.policy, normal_place(2).world, 200_000, 2_000_000
    tally(policy, world, horizon=100, runs=few)
    before = peak_megabytes()
    tally(policy, world, horizon=100, runs=many)
    tallied = peak_megabytes()
    debandit.simulate(policy, world, horizon=100, runs=many)
    growth, keeping = tallied - before, peak_megabytes() - tallied
    verdict = "met" if growth <= LIMIT_OF_GROWTH * keeping else "missed"
    return (
        f"Peak memory after tally of {few:,} runs: {before:.1f} MB; of {many:,} runs: {growth:.1f} MB more; "
        f"keeping these with simulate: {keeping:.1f} MB more.\n"
        f"Growth at most {LIMIT_OF_GROWTH:.0%} of keeping them: {verdict}."
    )


def at_least(ratio: float, target: float | None) -> str:
    return four_digits(ratio) + ("" if target is None else f" (>= {target:g}) {'met' if ratio >= target else 'missed'}")


def at_most(ratio: float, target: float | None) -> str:
    return four_digits(ratio) + ("" if target is None else f" (<= {target:g}) {'met' if ratio <= target else 'missed'}")


def four_digits(ratio: float) -> str:
    """Enough to see why a target was narrowly missed."""
    return f"{ratio:,.0f}" if ratio >= 1000 else f"{ratio:#.4g}"


def ratios(case: Case, times: dict[str, float | None]) -> dict[str, str]:
    """Each ratio with its target and whether that was met; a dash where nothing was measured."""
    ours, targets, none = times["debandit"] or math.nan, case.targets, "–"
    return {
        "by_numpy": at_least(times["numpy"] / ours, targets.numpy) if times["numpy"] else none,
        "by_python": at_least(times["python"] / ours, targets.python) if times["python"] else none,
        "by_race": at_most(ours / times["race"], targets.race) if times["race"] else none,
    }


def show(title: str, rows: Sequence[dict[str, Any]], extra: Iterable[Column], decimals: int = 2) -> None:
    known = [Column("rule", "rule", "text"), Column("world", "world", "text")]
    known += [Column("arms", "K", "count"), Column("rounds", "T", "count")]
    print(f"\n{title}\n\n{render(rows, [*known, *extra], decimals)}", flush=True)


def show_pulls(rows: Sequence[dict[str, Any]]) -> None:
    columns = [Column("numpy", "numpy", "number"), Column("python", "python", "number")]
    columns += [Column("race", "C++", "number"), Column("against", "C++ compared with", "text")]
    columns += [Column("verdict", "", "text")]
    show(f"Mean pulls: largest difference from debandit in standard errors (at most {TOLERANCE})", rows, columns, 1)


def show_times(rows: Sequence[dict[str, Any]]) -> None:
    columns = [Column(key, key, "number") for key in ("debandit", "numpy", "python")]
    columns.append(Column("race", "C++", "number"))
    show("Nanoseconds per round on one core", rows, columns)
    print(f"numpy plays the first {NUMPY_ROUNDS:,} rounds at most. For etc on normal rewards debandit draws sums of")
    print("rewards instead of rounds; numpy and Python play every round.")


def show_threads(rows: Sequence[dict[str, Any]]) -> None:
    columns = [Column("one", "1 thread", "number"), Column("two", "2 threads", "number")]
    columns.append(Column("speedup", "speed-up", "text"))
    show(f"Nanoseconds of wall clock per round; {os.cpu_count()} cores", rows, columns)


def show_ratios(rows: Sequence[dict[str, Any]]) -> None:
    columns = [Column("debandit", "debandit ns", "number"), Column("numpy", "numpy ns", "number")]
    columns += [Column("by_numpy", "numpy/debandit", "text"), Column("by_python", "python/debandit", "text")]
    show("Ratios and targets", rows, [*columns, Column("by_race", "debandit/C++", "text")])


def show_own_rules(rows: Sequence[dict[str, Any]]) -> None:
    columns = [Column("time", "own ns", "number"), Column("built_in", "built-in ns", "number")]
    columns += [Column("ratio", "own/built-in", "text"), Column("same", "same pulls", "share")]
    show("Rules of one's own beside the built-in UCB; nanoseconds per round on one core", rows, columns)


def main() -> int:
    parser = argparse.ArgumentParser(description="Time simulated rounds, as ratios in one run.")
    parser.add_argument("--race", type=Path, metavar="DIR_OR_SO", help="a hand-written kernel to compare with")
    path = parser.parse_args().race
    if path is not None and not path.exists():
        parser.error(f"there is no {path}")
    memory = memory_report()
    race = None if path is None else load_race(path)
    rows = cases()
    pulls = [compare_pulls(case, race) for case in rows]
    show_pulls(pulls)
    if any(row["verdict"] != "agree" for row in pulls):
        print("\nThe variants do not play the same rule, so their times say nothing.", file=sys.stderr)
        return 1
    times = time_rounds(rows, race)
    show_times([case.title | row for case, row in zip(rows, times, strict=True)])
    show_threads(time_threads([case for case in rows if case.targets.threads]))
    show_ratios([case.title | row | ratios(case, row) for case, row in zip(rows, times, strict=True)])
    show_own_rules(time_own_rules())
    print(f"\n{memory}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
