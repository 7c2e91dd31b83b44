"""Faults that are injected on purpose: what a killed process, a full disk or a damaged file must not do.

`make faults` tries them many times, at moments that a seed decides; the tests share what it does them with. A fault is
a generator that tries it again and again, and says each time what is wrong: nothing, if it was survived.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple


@dataclass
class Setting:
    """What a fault needs: a folder of its own, how often, and chance."""

    folder: Path
    times: int
    chance: random.Random
    notes: list[str] = field(default_factory=list)  # what was measured

    @property
    def seldom(self) -> int:
        """How often what takes long, or has no moment to choose, is tried."""
        return max(2, self.times // 5)


Tries = Iterator[str]


class Fault(NamedTuple):
    name: str
    survived: str  # what it means
    tries: Callable[[Setting], Tries]


ALL: list[Fault] = []


def fault(name: str, survived: str) -> Callable[[Callable[[Setting], Tries]], Callable[[Setting], Tries]]:
    """Put it on the list."""

    def put(tries):
        ALL.append(Fault(name, survived, tries))
        return tries

    return put


def complaint(**right: bool) -> str:
    """What does not hold, by its name."""
    return ", ".join(name.replace("_", " ") for name, holds in right.items() if not holds)
