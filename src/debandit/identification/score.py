"""How well a rule explains a log, charged for its options.

A charge is minus the logarithm of a probability beforehand: of numbers those of the grid (`search`), 1/2 for a word
that is not the default, 1 / (2 + 2 distance) for initial pulls so far from theirs.
"""

import math
from dataclasses import dataclass

from debandit.identification.around import Around, best_around
from debandit.identification.record import AnyRecord
from debandit.policies import Policy


@dataclass(frozen=True)
class Scored:
    """One rule on one log."""

    core: Policy  # the rule alone
    policy: Policy  # with what is around it
    around: Around
    charge: float
    note: str = ""

    @property
    def log_likelihood(self) -> float:
        """Of all choices."""
        return self.around.log_likelihood

    @property
    def impossible(self) -> int:
        """Rounds whose arm the rule never chooses; these are put down to lapses."""
        return self.around.impossible

    @property
    def score(self) -> float:
        """The logarithm of likelihood times what is probable beforehand: higher is better."""
        return self.log_likelihood - self.charge


def fitted(
    policy: Policy,
    record: AnyRecord,
    charge: float = 0.0,
    note: str = "",
    *,
    begins: bool = False,
    floors: bool = False,
) -> Scored:
    """Score one rule: `charge` is for its numbers. What may be around it is what explains the log best.

    If some rounds are impossible for it, they are lapses.
    """
    seen = record.seen_by(policy)
    around = best_around(seen, record, policy.opening, begins=begins, floors=floors)
    charge += _charge(policy) + around.charge
    return Scored(policy, around.wrapped(record.ran(policy)), around, charge, note)


def plain_log_likelihood(policy: Policy, record: AnyRecord, around: Around) -> float:
    """To search by: without lapses, which would make a second peak where a rule is wrong often enough."""
    return around.again(record.seen_by(policy), record)


def per_number(horizon: int) -> float:
    """What a number that is estimated has to earn by the Bayesian information criterion."""
    return math.log(horizon) / 2


def _charge(policy: Policy) -> float:
    """The charge for initial pulls and for words; numbers are charged where they are found."""
    options, usual = policy.options(), policy.defaults()
    moved = [
        (usual[name], value)
        for name, value in options.items()
        if (name == "initial_pulls" or isinstance(value, str)) and value != usual[name]
    ]
    return sum(
        math.log(2) if isinstance(default, str) else math.log(2 + 2 * abs(value - default)) for default, value in moved
    )
