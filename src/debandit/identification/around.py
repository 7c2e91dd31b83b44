"""What may be around a rule, and how likely it makes a log: an even split at first, and a floor.

Either changes the chances of the rule that is inside, which are worked out once. So all beginnings and floors are tried
with every rule and all of its options.
"""

import math
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from debandit.engine.changes import Least
from debandit.engine.data import Floats
from debandit.identification.beginnings import RARE, Beginning
from debandit.identification.record import AnyRecord, Seen
from debandit.policies import Floor, Policy

NO_CHANCE = 1e-12  # a chance below this is none
LAPSES = 0.01  # the share of rounds with any arm instead of the rule's, where some must be: mistakes are rare
BROKEN = math.log(100)  # the charge for such a log
FLOORS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)
How = Literal["mix", "clip"]


class Ended(NamedTuple):
    """A floor, or lapses, or nothing, and its charge."""

    floor: float = 0.0
    how: How = "mix"
    lapses: bool = False
    charge: float = 0.0

    def around(self, policy: Policy) -> Policy:
        """The rule with this floor."""
        return Floor(policy, probability=self.floor, how=self.how) if self.floor else policy

    def logs(self, seen: Seen, record: AnyRecord) -> Floats:
        """The log-likelihood of each stretch; that of an impossible one is minus infinity."""
        chances = seen.chances
        if self.lapses:
            chances = (1 - LAPSES) * chances + LAPSES / record.there[:, None]
        elif self.floor and self.how == "mix":
            mixed = self.floor + (1 - self.floor * record.there[:, None]) * chances
            chances = np.where(seen.settled, chances, mixed)
        elif self.floor:
            clipped = Least((), clipped=True).of(chances, np.where(record.present, self.floor, 0.0))
            chances = np.where(seen.settled, chances, clipped)
        taken = seen.counts > 0
        logs = np.log(np.minimum(chances, 1.0), out=np.full(chances.shape, -np.inf), where=chances >= NO_CHANCE)
        return np.asarray(np.where(taken, seen.counts * np.where(taken, logs, 0.0), 0.0).sum(axis=1) + seen.orders)


class Around(NamedTuple):
    """All that is around a rule, and how well it explains a log then."""

    beginning: Beginning
    ended: Ended
    log_likelihood: float
    impossible: int  # pulls that the rule never makes
    begins: bool  # what was tried: beginnings, and floors
    floors: bool

    @property
    def charge(self) -> float:
        """For what is around it."""
        return self.beginning.charge + self.ended.charge

    @property
    def score(self) -> float:
        """The logarithm of likelihood times what is probable beforehand."""
        return self.log_likelihood - self.charge

    def wrapped(self, policy: Policy) -> Policy:
        """The rule with all of it."""
        return self.ended.around(self.beginning.around(policy))

    def again(self, seen: Seen, record: AnyRecord) -> float:
        """The log-likelihood of other options, with the same around the rule. Nothing is impossible."""
        likely = seen._replace(chances=np.maximum(seen.chances, NO_CHANCE))
        ended = Ended() if self.ended.lapses else self.ended
        return float(ended.logs(likely, record)[self.beginning.stretches :].sum())


def best_around(seen: Seen, record: AnyRecord, opening: int, *, begins: bool, floors: bool) -> Around:
    """What may be around a rule that needs so many initial pulls: what explains the log best, less its charge."""
    possible = [b for b in record.beginnings if not b.stretches or record.least[b.stretches] >= opening]
    possible = possible if begins else possible[:1]
    starts = np.array([b.stretches for b in possible])
    before = np.array([b.log_likelihood - b.charge for b in possible])
    found = []
    for ended in endings(record.arm_count, floors, seen.chances.shape[1] > 1):
        logs = ended.logs(seen, record)
        scores = np.append(logs[::-1].cumsum()[::-1], 0.0)[starts] + before
        best = int(np.argmax(scores))
        found.append((float(scores[best]) - ended.charge, possible[best], ended, logs))
    _, beginning, ended, logs = max(found, key=lambda each: each[0])
    rest = slice(beginning.stretches, None)
    wrong = (seen.chances[rest] < NO_CHANCE) & (seen.counts[rest] > 0) if not ended.floor else np.zeros(1, bool)
    impossible = int((seen.counts[rest] * wrong).sum())
    likelihood = beginning.log_likelihood + float(logs[rest].sum())
    return Around(beginning, ended, likelihood, impossible, begins, floors)


@lru_cache
def endings(arm_count: int, floors: bool, clipped: bool) -> tuple[Ended, ...]:
    """Nothing, lapses, and the floors that leave the rule something to decide."""
    levels = [floor for floor in FLOORS if floors and floor * arm_count <= 0.9]
    hows: tuple[How, ...] = ("mix", "clip") if clipped else ("mix",)
    charge = RARE + math.log(max(1, len(levels) * len(hows)))
    return (Ended(), Ended(lapses=True, charge=BROKEN), *(Ended(f, how, charge=charge) for f in levels for how in hows))
