"""Logs of experiments that are decided on the way: which arm is held when, and when it should have ended."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.engine.data import Floats, Ints
from debandit.engine.decisions import EITHER, UNDECIDED, Known, Logged, committed
from debandit.log import LoggedRounds
from debandit.policies.history import History
from debandit.policies.policy import Policy


class Course(NamedTuple):
    """The decisions along one log."""

    held: Ints  # (T,) the arm that gets everything, or UNDECIDED
    over: NDArray[np.bool_]  # (T,) rounds that would not have been
    undecided: str  # why the last round would have been, if it is not over before it


def under_decisions(policy: Policy, history: History, chances: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The chances (..., n, K) in the asked rounds, all 0 after the end, and where nothing is decided yet (..., n)."""
    shape = (*history.arms.shape[:-1], len(history.rounds))
    found = [course(policy, History(*each, history.arm_count)) for each in zip(*history.paths, strict=True)]
    held = np.array([each.held[history.rounds] for each in found]).reshape(shape)
    over = np.array([each.over[history.rounds] for each in found]).reshape(shape)
    chances = np.where(over[..., None], 0.0, committed(held, chances))
    return chances, ~over & (held == UNDECIDED)


def course(policy: Policy, log: History, *, ended: bool = False) -> Course:
    """The decisions along the rounds of one log; if it has `ended`, its last round is one that was not."""
    planned = policy.planned(log.length)
    conditions = policy.conditions(log.arm_count, planned)
    batch = conditions.batch(log.length)
    firsts = np.flatnonzero(np.diff(batch, prepend=-1))
    seen = log.under(conditions, planned).at(firsts)
    own = chances = None
    if conditions.decides_by_chances:
        answer = policy.core.answer(seen)
        assert answer is not None  # such wrappers are around rules that state their chances
        own, chances = answer.chances, conditions.planned(answer.chances, seen.prescribed[firsts], firsts)
    made = np.diff(log.totals(np.append(firsts, log.length))[0], axis=0)
    taken = np.where((made > 0).sum(axis=1) == 1, np.argmax(made, axis=1), UNDECIDED)
    taken[-1] = EITHER if ended else taken[-1]
    moments = Logged(Known(seen.pulls, seen.sums, own, chances), seen.free, taken, conditions.draws)
    held, over, undecided = moments.course(conditions.commits, conditions.stops, policy.core)
    place = np.searchsorted(firsts, np.arange(log.length), side="right") - 1
    return Course(held[place], over[place], undecided)


def early_end(policy: Policy, rounds: LoggedRounds, arm_count: int) -> str:
    """Why a log that has fewer rounds than were planned should not have ended where it does; nothing if it should."""
    one_more = History(np.append(rounds.arms, 0), np.append(rounds.rewards, 0.0), arm_count)
    found = course(policy, one_more, ended=True)
    return "" if found.over[-1] else found.undecided
