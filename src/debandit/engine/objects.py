"""Rules that are Python objects: the kernel that calls `choose` and `learn` in every round.

The rewards come from the compiled loop, which draws for every run as many rewards of each arm as there are rounds: the
n-th pull of an arm gets its n-th reward. Objects and rewards of a run depend on (seed, purpose, world, run) alone.
"""

import operator
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from debandit.engine.conditions import Conditions
from debandit.engine.data import Floats, Task, Wanted, WorldData, rule_data
from debandit.engine.features import terms
from debandit.engine.gather import gather
from debandit.engine.kernels import load
from debandit.engine.old_rule import OldRule, old_rule
from debandit.errors import DebanditError, InputError, quoted, shorten

RUNS_PER_UNIT = 16  # fewer than of compiled rules: a run may take seconds
_NUMBERS_AT_ONCE, _LARGEST_TABLE = 2**22, 2**25  # rewards, of 12 bytes each

Make = Callable[[int, int, int], Any]  # (arm_count, horizon, seed) -> an object with choose() and learn(arm, reward)


class ObjectKernel(NamedTuple):
    """What `load` gives for other rules: it simulates the runs of a task."""

    make: Make

    def __call__(
        self, task: Task, rule: OldRule, world: WorldData, binomials: Floats, wanted: Wanted, stop: Any
    ) -> None:
        """Like `loop.run`."""
        place = 0
        for unit, (index, first, runs) in enumerate(task.units.tolist()):
            for run, table in self._tables(task, world, binomials, wanted, stop, unit):
                arms = self._run(task, rule, index, run, table, stop)
                if stop[0]:
                    return
                _keep(arms, table, wanted, unit, run, place + run - first, index, world)
            place += runs

    def rehearse(
        self, task: Task, rule: OldRule, world: WorldData, binomials: Floats, wanted: Wanted, stop: Any
    ) -> float:
        """Play a task's only run twice, which must come out the same. The seconds that it takes."""
        index, run = task.units[0, :2].tolist()
        table = next(self._tables(task, world, binomials, wanted, stop, 0))[1]
        once = self._run(task, rule, index, run, table, stop)
        start = time.perf_counter()
        again = self._run(task, rule, index, run, table, stop)
        seconds = time.perf_counter() - start
        if once != again:
            t = next(t for t, (a, b) in enumerate(zip(once, again, strict=True)) if a != b)
            raise InputError(
                f"the rule does not repeat itself: played twice with one seed and the same rewards, run {run} has "
                f"arm {once[t]} and then arm {again[t]} in round {t + 1}",
                where="policy",
                remedy="All randomness must come from the `seed` that make() is given, and no run may leave "
                "anything behind for the next.",
            )
        return seconds

    def _run(self, task: Task, rule: OldRule, world: int, run: int, table: Floats, stop: Any) -> list[int]:
        """The arms of one run."""
        words = (task.purpose, int(task.world_ids[world]), run)
        seed, other = np.random.SeedSequence(int(task.seed), spawn_key=words).generate_state(2).tolist()
        rewards = [iter(memoryview(row)) for row in table]  # of Python's numbers
        guide = _Guide(rule, len(table), task.horizon, other)

        def play(t: int, ask: Callable[[], int]) -> tuple[int, int, float]:
            if stop[0]:
                raise _Stopped
            arm = guide.arm(t, ask)
            return arm, arm, next(rewards[arm])

        try:
            return follow(self.make, len(table), seed, guide.known, play, f"run {run}, ")
        except _Stopped:
            return []

    def _tables(
        self, task: Task, world: WorldData, binomials: Floats, wanted: Wanted, stop: Any, unit: int
    ) -> Iterator[tuple[int, Floats]]:
        """The runs of a unit, each with its rewards of shape (arms, rounds)."""
        length = task.arm_count * task.horizon
        if length > _LARGEST_TABLE:
            what = f"{task.arm_count:,} arms times {task.horizon:,} rounds are too many for a rule of Python objects"
            remedy = f"At most {_LARGEST_TABLE:,} work; a ScoreRule or a SelectRule knows no such limit."
            raise InputError(what, where="horizon", remedy=remedy)
        index, first, runs = task.units[unit].tolist()
        size = max(1, min(runs, _NUMBERS_AT_ONCE // length))
        for start in range(first, first + runs, size):
            count = min(size, first + runs - start)
            room = wanted._replace(
                paths=True,
                path_arms=np.empty((count, length), np.int32),
                path_rewards=np.empty((count, length)),
                runs=False,
                tallies=False,
                martingales=False,
            )
            drawing = task._replace(units=np.array([[index, start, count]]), horizon=length, shortcut=False)
            every = old_rule(rule_data(), Conditions(opening=task.horizon), task.arm_count)
            load("debandit.engine.index")(drawing, every, world, binomials, room, stop)
            for i in range(count):
                yield start + i, room.path_rewards[i].reshape(task.arm_count, task.horizon)


class _Stopped(Exception):  # noqa: N818 (nothing has gone wrong)
    """The user does not want to wait any longer."""


class _Guide:
    """What a plan makes of the choices of an object: `engine.wrapped`, for one run."""

    def __init__(self, rule: OldRule, arm_count: int, horizon: int, seed: int) -> None:
        plan = rule.plan
        self.plan, self.opening, self.arm_count = plan, rule.opening, arm_count
        self.settled = plan.settled if plan.active else rule.opening * arm_count
        self.known: Sequence[int] = range(horizon)  # rounds that the object has heard of before each
        if len(plan.ends):
            starts = np.concatenate([[0], plan.ends])
            self.known = starts[np.searchsorted(plan.ends, np.arange(horizon), side="right")].tolist()
        self.random = random.Random(seed)
        self.chosen: list[int] = []

    def arm(self, t: int, ask: Callable[[], int]) -> int:
        """What is pulled in round t; the object is asked unless the arm is prescribed."""
        arm = self._prescribed(t) if t < self.settled else -1
        if arm < 0:
            arm = ask()
            if self.plan.floor > 0 and self.random.random() < self.plan.floor:
                arm = self.random.randrange(self.arm_count)
        if t < self.settled:
            self.chosen.append(arm)
        return arm

    def _prescribed(self, t: int) -> int:
        if t < self.plan.turns:
            return t % self.arm_count
        if t < self.plan.uniform:
            return self.random.randrange(self.arm_count)
        for arms in (self.chosen, self.chosen[: self.known[t]]):
            lacking = [arm for arm in range(self.arm_count) if arms.count(arm) < self.opening]
            if lacking:
                return lacking[0] if arms is self.chosen else t % self.arm_count
        return -1


Play = Callable[[int, Callable[[], int]], tuple[int, int, float]]  # (t, ask) -> choice, and what happened in the round


def follow(make: Make, arm_count: int, seed: int, known: Sequence[int], play: Play, run: str) -> list[int]:
    """What a new object chooses, round by round, if before round t (from 0) it has heard of known[t] rounds."""
    chosen: list[int] = []
    rounds: list[tuple[int, float]] = []
    heard = t = at = 0
    try:
        player = make(arm_count, len(known), seed)
        choose, learn = player.choose, player.learn

        def ask() -> int:
            arm = choose()
            if type(arm) is int and 0 <= arm < arm_count:
                return arm
            return _checked(arm, arm_count, f"{run}round {t + 1}")

        for t in range(len(known)):
            while heard < known[t]:
                at = heard
                learn(*rounds[heard])
                heard += 1
            at = t
            choice, arm, reward = play(t, ask)
            chosen.append(choice)
            rounds.append((arm, reward))
    except (DebanditError, _Stopped):
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {shorten(str(error), 200)}"
        raise InputError(f"the rule failed in {run}round {at + 1} ({reason})", where="policy") from error
    return chosen


def _checked(arm: Any, arm_count: int, place: str) -> int:
    """Numpy's whole numbers are welcome."""
    try:
        number = operator.index(arm)
    except TypeError:
        number = -1
    if not 0 <= number < arm_count:
        what = f"the rule chose an arm that there is not, {quoted(arm, 30)}, in {place}"
        raise InputError(what, where="policy", remedy=f"Arms are whole numbers from 0 to {arm_count - 1}.")
    return number


def _keep(
    arms: list[int], table: Floats, wanted: Wanted, unit: int, run: int, place: int, index: int, world: WorldData
) -> None:
    """What `loop.collect` does: store a finished run, or add it to the tallies of its unit."""
    path, arm_count = np.array(arms), len(table)
    rewards = np.empty(len(path))
    for arm in range(arm_count):
        mine = path == arm
        rewards[mine] = table[arm, : mine.sum()]
    pulls = np.bincount(path, minlength=arm_count)
    sums = np.bincount(path, rewards, arm_count)  # in the order of the rounds, as the compiled loop adds
    if wanted.paths:
        wanted.path_arms[place], wanted.path_rewards[place] = path, rewards
    first = index * arm_count
    truth, variances = world.means[first : first + arm_count], world.variances[first : first + arm_count]
    martingales = np.zeros((3, 1, arm_count))
    if wanted.martingales:
        for arm, count in enumerate(pulls):
            errors = table[arm, :count] - truth[arm]
            sums_of = terms(1, errors, errors.cumsum() - errors, np.arange(1, count + 1), variances[arm])
            martingales[:, 0, arm] = sums_of.sum(axis=1)
    totals = sums[None].astype(np.float64)
    gather(wanted, unit, run, slice(place, place + 1), world, index, pulls[None], totals, martingales)
