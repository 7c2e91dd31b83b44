"""Rules that are Python objects, as a user would write them, for the tests."""

import math
import random
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from debandit.rules import ObjectRule


class Totals:
    """Pulls and sums of each arm."""

    def __init__(self, arm_count):
        self.pulls, self.sums = [0] * arm_count, [0.0] * arm_count

    def learn(self, arm, reward):
        self.pulls[arm] += 1
        self.sums[arm] += reward

    def highest(self, bonus=lambda pulls: 0.0):
        scores = [s / n + bonus(n) if n else math.inf for n, s in zip(self.pulls, self.sums, strict=True)]
        return scores.index(max(scores))


class UpperBound(Totals):
    def __init__(self, arm_count, factor, late):
        super().__init__(arm_count)
        self.factor, self.late = factor, late

    def choose(self):
        log = math.log(max(1, sum(self.pulls) + 1 - self.late))
        return self.highest(lambda pulls: self.factor * math.sqrt(log / pulls))


@dataclass(frozen=True)
class Confident(ObjectRule):
    """UCB; `late` is how many rounds its clock is behind."""

    name: ClassVar[str] = "confident"
    randomised: ClassVar[bool] = False
    c: float = 1.0
    late: int = 0

    def make(self, arm_count, horizon, seed):
        return UpperBound(arm_count, self.c, self.late)


class Curious(Totals):
    def __init__(self, arm_count, epsilon, rng):
        super().__init__(arm_count)
        self.epsilon, self.rng = epsilon, rng

    def choose(self):
        if 0 not in self.pulls and self.rng.random() < self.epsilon:
            return self.rng.randrange(len(self.pulls))
        return self.highest()


@dataclass(frozen=True)
class Explorer(ObjectRule):
    """Epsilon-greedy."""

    name: ClassVar[str] = "explorer"
    epsilon: float = 0.1

    def make(self, arm_count, horizon, seed):
        return Curious(arm_count, self.epsilon, random.Random(seed))


@dataclass(frozen=True)
class Forgetful(Explorer):
    """Does not use its seed."""

    name: ClassVar[str] = "forgetful"

    def make(self, arm_count, horizon, seed):
        return Curious(arm_count, self.epsilon, random.Random())


class Scripted:
    """Returns `what` in one round, 0 in all others; raises it if it is an exception. Fails only in one run in eight."""

    def __init__(self, what, turn, seed, learning):
        self.what, self.turn, self.awake, self.learning, self.t = what, turn, seed % 8 == 0, learning, 0

    def _now(self):
        return self.t == self.turn and self.awake

    def choose(self):
        self.t += 1
        if self._now() and not self.learning:
            if isinstance(self.what, Exception):
                raise self.what
            return self.what
        return np.int64(0)

    def learn(self, arm, reward):
        assert type(arm) is int
        assert type(reward) is float
        if self._now() and self.learning:
            raise self.what


@dataclass(frozen=True)
class Faulty(ObjectRule):
    name: ClassVar[str] = "faulty"
    what: Any = None
    turn: int = 7
    learning: bool = False

    def make(self, arm_count, horizon, seed):
        return Scripted(self.what, self.turn, seed, self.learning)


@dataclass(frozen=True)
class Unmade(ObjectRule):
    name: ClassVar[str] = "unmade"

    def make(self, arm_count, horizon, seed):
        raise KeyError("nothing")


@dataclass(frozen=True)
class Stubborn(ObjectRule):
    """Insists that the log has the arm that it chose."""

    name: ClassVar[str] = "stubborn"
    randomised: ClassVar[bool] = False

    def make(self, arm_count, horizon, seed):
        class Player:
            def choose(self):
                return 0

            def learn(self, arm, reward):
                if arm:
                    raise ValueError("not mine")

        return Player()
