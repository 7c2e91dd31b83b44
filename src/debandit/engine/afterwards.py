"""Decisions by failures around rules of any kind: their runs are played to the end, and put right afterwards.

What a rule does before the decision does not depend on it. After it an arm gets everything, with new rewards, or the
rounds are taken away.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from debandit.engine.data import NO_ARM, Floats, Ints, Played, no_rounds
from debandit.engine.decisions import UNDECIDED, Decision, Known
from debandit.engine.experiment import Experiment
from debandit.engine.rounds import all_rewards
from debandit.engine.runs import table_of

_OTHER_NUMBERS = 64  # is added to the purpose of the runs, so that what follows a decision has its own random numbers
_NUMBERS_AT_ONCE = 2**22  # totals of an arm after a round

Arms = NDArray[np.int32]
Play = Callable[[Experiment, Ints, int, bool, Ints], Played]


def play_on(play: Play, experiment: Experiment, who: Ints, kept: int, paths: bool, stop: Ints) -> Played:
    """See `spread.play`; `play` is the way in which the rule is played without decisions."""
    table, all_arms, all_values = play(experiment, who, kept, True, stop)
    size = max(1, _NUMBERS_AT_ONCE // (experiment.arm_count * experiment.horizon))
    for first in range(0, len(who), size) if not stop[0] else ():
        some = slice(first, first + size)
        arms, rewards = all_arms[some], all_values[some]
        _commit(experiment, who[some], arms, rewards, stop)
        ends = _decided(experiment, experiment.conditions.stops, arms, rewards)[1]
        for run, end in enumerate(ends):
            world = who[first + run, 0]
            about = experiment.truth[world], experiment.variance[world], kept
            table[..., first + run] = table_of(arms[run, :end].astype(np.int64), rewards[run, :end], *about)
            arms[run, end:], rewards[run, end:] = NO_ARM, np.nan
    return Played(table, all_arms, all_values) if paths else Played(table, *no_rounds(len(who)))


def _commit(experiment: Experiment, who: Ints, arms: Arms, rewards: Floats, stop: Ints) -> None:
    """Give everything to the arm that is committed to, with rewards that the run has not seen yet."""
    arm, start = _decided(experiment, experiment.conditions.commits, arms, rewards)
    some = np.flatnonzero(start < experiment.horizon)
    if len(some):
        more = experiment._replace(purpose=experiment.purpose + _OTHER_NUMBERS)
        tape = all_rewards(more, who[some], stop)[np.arange(len(some)), arm[some]]
        after = np.arange(experiment.horizon) >= start[some, None]
        arms[some] = np.where(after, arm[some, None], arms[some])
        rewards[some] = np.where(after, tape, rewards[some])


def _decided(experiment: Experiment, decision: Decision | None, arms: Arms, rewards: Floats) -> tuple[Ints, Ints]:
    """The arm in whose favour each run is decided, and the first round after that; the horizon if it is not decided."""
    conditions, horizon, runs = experiment.conditions, experiment.horizon, np.arange(len(arms))
    if decision is None:
        return np.full(len(arms), UNDECIDED), np.full(len(arms), horizon)
    pulled = arms[..., None] == np.arange(experiment.arm_count)
    pulls, sums = (np.cumsum(each, axis=1) for each in (pulled, pulled * rewards[..., None]))
    batches = np.arange(len(conditions.moments(horizon)))
    batches = batches[(known := conditions.known_before(batches)) > 0]
    known = known[known > 0] - 1
    heard = Known(*(each[:, known].reshape(-1, experiment.arm_count) for each in (pulls, sums)))
    favoured = decision.favoured(experiment.policy.core, heard).reshape(len(arms), -1)
    favoured = np.concatenate([favoured, np.full((len(arms), 1), UNDECIDED)], axis=1)  # in the end, if not before
    starts = np.append(conditions.first_rounds(batches), horizon)
    met = favoured != UNDECIDED
    at = np.where(met.any(axis=1), np.argmax(met, axis=1), len(batches))
    return favoured[runs, at], starts[at]
