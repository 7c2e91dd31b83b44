"""Rules as a user would write them, for the tests."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import debandit as db
from debandit.rules import ScoreRule, SelectRule, normal, uniform


@dataclass(frozen=True)
class Optimist(ScoreRule):
    """UCB, written by hand."""

    name: ClassVar[str] = "optimist"
    randomised: ClassVar[bool] = False
    c: float = 1.0

    @staticmethod
    def score(mean, pulls, t, c):
        return mean + c * np.sqrt(np.log(t) / pulls)


@dataclass(frozen=True)
class Sampler(ScoreRule):
    """Thompson sampling around the sample mean, written by hand."""

    name: ClassVar[str] = "sampler"

    @staticmethod
    def score(mean, pulls, z):
        return mean + z / np.sqrt(pulls + 1.0)


@dataclass(frozen=True)
class Repeater(SelectRule):
    """Stays with an arm that pays more than `enough`, else moves on to the next: needs a memory of its own."""

    name: ClassVar[str] = "repeater"
    randomised: ClassVar[bool] = False
    state_size: ClassVar[int] = 2  # the last arm and its reward
    enough: float = 0.5

    @staticmethod
    def select(pulls, state, enough):
        last = int(state[0])
        return last if state[1] > enough else (last + 1) % len(pulls)

    @staticmethod
    def learn(arm, reward, state):
        state[0], state[1] = arm, reward


@dataclass(frozen=True)
class Mixed(SelectRule):
    """Draws of all kinds."""

    name: ClassVar[str] = "mixed"
    epsilon: float = 0.2

    @staticmethod
    def select(pulls, sums, random, epsilon):
        if uniform(random) < epsilon:
            return int(uniform(random) * len(pulls))
        best, top = 0, -np.inf
        for arm in range(len(pulls)):
            value = sums[arm] / pulls[arm] + 0.1 * normal(random)
            if value > top:
                best, top = arm, value
        return best


@dataclass(frozen=True)
class Lost(SelectRule):
    """Chooses an arm that does not exist, in round 7."""

    name: ClassVar[str] = "lost"

    @staticmethod
    def select(t, pulls):
        return 5 if t == 7 else 0


@dataclass(frozen=True)
class Misspelt(ScoreRule):
    name: ClassVar[str] = "misspelt"

    @staticmethod
    def score(mean, pull):
        return mean


@dataclass(frozen=True)
class Untyped(ScoreRule):
    """Cannot be compiled."""

    name: ClassVar[str] = "untyped"

    @staticmethod
    def score(mean, pulls):
        return mean.nonsense + pulls


@dataclass(frozen=True)
class Wasteful(SelectRule):
    """Makes an array in every round."""

    name: ClassVar[str] = "wasteful"

    @staticmethod
    def select(pulls, sums):
        return int(np.argmax(sums / pulls))


UCB = db.UCB


@dataclass(frozen=True)
class Faulty(SelectRule):
    """Raises when its arm 0 has had more luck than it can bear."""

    name: ClassVar[str] = "faulty"

    @staticmethod
    def select(pulls, sums):
        if sums[0] > 3.0:
            raise ValueError("too much luck")
        return 0
