"""What is known of a batch before it begins: the pulls that are prescribed, and the chances of the others.

The batch steps draw from it, and the check of a log compares its counts with it.
"""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from debandit.engine.conditions import FREE, Conditions
from debandit.engine.data import Floats, Ints, Rounds
from debandit.engine.experiment import Rule


class Stretch(NamedTuple):
    """The rounds start, ..., end - 1, which lie in one batch and in one part of a warm-up."""

    start: int
    end: int
    batch: int  # counted from 0


def stretches(conditions: Conditions, horizon: int) -> Iterator[Stretch]:
    """All rounds, in order."""
    breaks = {0, horizon, min(conditions.turns, horizon), min(conditions.uniform, horizon), *conditions.ends.tolist()}
    for start, end in itertools.pairwise(sorted(breaks)):
        yield Stretch(start, end, int(np.searchsorted(conditions.ends, start, side="right")))


def prescribed_pulls(conditions: Conditions, here: Stretch, pulls: Ints | Floats, heard: Ints | Floats) -> Ints:
    """How often each arm must be pulled there (runs, K), after these `pulls`, of which the rule has `heard` some."""
    rounds, arm_count = np.full(len(pulls), here.end - here.start), pulls.shape[1]
    if here.end <= conditions.turns:
        return _turns(rounds, here.end, arm_count)
    if here.end <= conditions.uniform:
        return np.zeros(pulls.shape, np.int64)
    lacking = np.maximum(conditions.opening - pulls, 0).astype(np.int64)
    counts: Ints = np.diff(np.minimum(lacking.cumsum(axis=1), rounds[:, None]), axis=1, prepend=0)
    waits = (heard < conditions.opening).any(axis=1)
    counts[waits] += _turns((rounds - counts.sum(axis=1))[waits], here.end, arm_count)
    return counts


def free_chances(
    rule: Rule, conditions: Conditions, uniform: bool, known: Rounds, pulls: Ints, sums: Floats, horizon: int
) -> Floats:
    """The chances (..., K) of the pulls that are not prescribed, if the rule has heard of these totals."""
    if uniform:
        return np.full(pulls.shape, 1 / pulls.shape[-1])
    chances = rule.core.free_chances(known, pulls, sums, horizon)
    return conditions.planned(chances, np.full(pulls.shape[:-1], FREE))


def _turns(rounds: Ints, end: int, arm_count: int) -> Ints:
    """How often it is each arm's turn in this many rounds before `end`."""
    arms = np.arange(arm_count)

    def before(t: Ints | int) -> Ints:
        return np.asarray((t - arms + arm_count - 1) // arm_count)

    return before(end) - before((end - rounds)[:, None])
