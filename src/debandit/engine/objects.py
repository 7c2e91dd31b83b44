"""Rules that are Python objects: their `choose` and `learn` are called in every round.

The rewards come from the compiled loop, which draws for every run as many rewards of each arm as there are rounds: the
n-th pull of an arm gets its n-th reward. Objects and rewards of a run depend on (seed, purpose, world, run) alone.
"""

import operator
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from debandit.engine.conditions import FREE, LACKING, UNIFORM
from debandit.engine.data import Floats, Ints, Played
from debandit.engine.experiment import Experiment
from debandit.engine.kernels import Make, ObjectKernel
from debandit.engine.rounds import all_rewards
from debandit.engine.runs import table_of
from debandit.errors import DebanditError, InputError, quoted, shorten

RUNS_PER_UNIT = 16  # fewer than of compiled rules: a run may take seconds
_NUMBERS_AT_ONCE, _LARGEST_TABLE = 2**22, 2**25  # rewards, of 12 bytes each


def play_objects(experiment: Experiment, who: Ints, kept: int, paths: bool, stop: Ints) -> Played:
    """See `play`."""
    horizon = experiment.horizon if paths else 0
    played = Played(
        np.zeros((kept, experiment.arm_count, len(who))),
        np.empty((len(who), horizon), np.int32),
        np.empty((len(who), horizon)),
    )
    for place, rewards in enumerate(_rewards(experiment, who, stop)):
        world = who[place, 0]
        arms = np.array(_run(experiment, who[place], rewards, stop))
        if stop[0]:
            break
        values = np.empty(len(arms))
        for arm, own in enumerate(rewards):
            values[arms == arm] = own[: (arms == arm).sum()]
        played.table[..., place] = table_of(arms, values, experiment.truth[world], experiment.variance[world], kept)
        if paths:
            played.path_arms[place], played.path_rewards[place] = arms, values
    return played


def rehearse(experiment: Experiment, who: Ints) -> float:
    """Play one run twice, which must come out the same. The seconds that it takes."""
    stop = np.zeros(3, np.int64)
    rewards = next(_rewards(experiment, who[:1], stop))
    once = _run(experiment, who[0], rewards, stop)
    start = time.perf_counter()
    again = _run(experiment, who[0], rewards, stop)
    seconds = time.perf_counter() - start
    if once != again:
        t = next(t for t, (a, b) in enumerate(zip(once, again, strict=True)) if a != b)
        raise InputError(
            f"the rule does not repeat itself: played twice with one seed and the same rewards, run {who[0, 1]} has "
            f"arm {once[t]} and then arm {again[t]} in round {t + 1}",
            where="policy",
            remedy="All randomness must come from the `seed` that make() is given, and no run may leave anything "
            "behind for the next.",
        )
    return seconds


def _rewards(experiment: Experiment, who: Ints, stop: Ints) -> Iterator[Floats]:
    """The rewards (arms, rounds) of each run."""
    length = experiment.arm_count * experiment.horizon
    if length > _LARGEST_TABLE:
        raise InputError(
            f"{experiment.arm_count:,} arms times {experiment.horizon:,} rounds are too many for a rule of Python "
            "objects",
            where="horizon",
            remedy=f"At most {_LARGEST_TABLE:,} are possible; a ScoreRule or a SelectRule has no such limit.",
        )
    size = max(1, _NUMBERS_AT_ONCE // length)
    for start in range(0, len(who), size):
        yield from all_rewards(experiment, who[start : start + size], stop)


def _run(experiment: Experiment, who: Ints, rewards: Floats, stop: Ints) -> list[int]:
    """The arms of one run (world, number)."""
    kernel, number = experiment.policy.kernel, int(who[1])
    assert isinstance(kernel, ObjectKernel)
    words = (experiment.purpose, int(experiment.world_ids[who[0]]), number)
    seed, other = np.random.SeedSequence(experiment.seed, spawn_key=words).generate_state(2).tolist()
    given = [iter(memoryview(row)) for row in rewards]  # of Python's numbers
    guide = _Guide(experiment, other)

    def play(t: int, ask: Callable[[], int]) -> tuple[int, int, float]:
        if stop[0]:
            raise _Stopped
        arm = guide.arm(t, ask)
        reward = next(given[arm])
        guide.add(arm, reward)
        return arm, arm, reward

    try:
        return follow(kernel.make, experiment.arm_count, seed, guide.known, play, f"run {number}, ")
    except _Stopped:
        return []


class _Stopped(Exception):  # noqa: N818 (nothing has gone wrong)
    """The user does not want to wait any longer."""


class _Guide:
    """What the conditions make of the choices of an object, in one run."""

    def __init__(self, experiment: Experiment, seed: int) -> None:
        self.conditions, self.arm_count = experiment.conditions, experiment.arm_count
        self.fixed = self.conditions.fixed(self.arm_count, experiment.horizon).tolist()
        self.settled = len(self.fixed)
        self.known: Sequence[int] = self.conditions.known(experiment.horizon).tolist()
        self.begun: Sequence[int] = self.conditions.begun(experiment.horizon).tolist()
        self.random = random.Random(seed)
        self.rounds: list[tuple[int, float]] = []
        self.heard_of = 0  # rounds
        (self.made, self.heard), self.sums = np.zeros((2, self.arm_count), np.int64), np.zeros(self.arm_count)

    def arm(self, t: int, ask: Callable[[], int]) -> int:
        """What is pulled in round t; the object is asked unless the arm is prescribed."""
        arm = self.fixed[t] if t < self.settled else FREE
        if arm == LACKING:
            arm = self._depending(t)
        if arm == UNIFORM:
            arm = self.random.randrange(self.arm_count)
        elif arm == FREE:
            self.settled = t  # once free, always free
            arm = ask()
            floor = self.conditions.mixed
            if floor and self.random.random() < floor.total * floor.fading(self.begun[t]):
                arm = self._from_floor(floor.least)
        return arm

    def _from_floor(self, least: Sequence[float]) -> int:
        if len(set(least)) == 1:  # as versions without shares of single arms drew it
            return self.random.randrange(self.arm_count)
        return self.random.choices(range(self.arm_count), least)[0]

    def add(self, arm: int, reward: float) -> None:
        """What happened in a round; of no interest once the object is free."""
        if len(self.rounds) < self.settled:
            self.rounds.append((arm, reward))
            self.made[arm] += 1

    def _depending(self, t: int) -> int:
        """What is prescribed, where that depends on what happened in this run."""
        for arm, reward in self.rounds[self.heard_of : self.known[t]]:
            self.heard[arm] += 1
            self.sums[arm] += reward
        self.heard_of = self.known[t]
        return int(self.conditions.prescribed(np.array(t), self.made, self.heard, self.sums))


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
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # of the user's code, which may end the program or worse
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
        what = f"the rule chose an arm that does not exist, {quoted(arm, 30)}, in {place}"
        raise InputError(what, where="policy", remedy=f"Arms are whole numbers from 0 to {arm_count - 1}.")
    return number
