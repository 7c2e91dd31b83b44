"""Rounds that are drawn from a rule's chances, in numpy: for changes of chances that the compiled loop cannot make.

The compiled loop draws what a rule draws, and never knows its chances. Here they are worked out before each batch, for
all runs at once. That takes milliseconds for each batch, or each round where there are no batches. The rewards come
from the compiled loop: the n-th pull of an arm gets its n-th reward.
"""

import numpy as np

from debandit.engine.conditions import FREE
from debandit.engine.data import NO_ARM, Floats, Ints, Played, about_means
from debandit.engine.decisions import Course, Known, committed
from debandit.engine.experiment import Experiment, Words, generators, run_words, uniforms
from debandit.engine.planning import Asked, Heard, Stretch, dealt, free_chances, prescribed_rounds, stretches, unguided
from debandit.engine.rounds import all_rewards
from debandit.engine.runs import table_of

_NUMBERS_AT_ONCE = 2**22  # rewards
_FURTHER = 2**40  # where the numbers of a run's stream begin by which the rest of a quota is dealt


def play_drawn(experiment: Experiment, who: Ints, kept: int, paths: bool, stop: Ints) -> Played:
    """See `play`. For rules whose chances follow from totals, in any world."""
    arm_count, horizon = experiment.arm_count, experiment.horizon
    rounds = horizon if paths else 0
    played = Played(
        np.zeros((kept, arm_count, len(who))), np.empty((len(who), rounds), np.int32), np.empty((len(who), rounds))
    )
    size = max(1, _NUMBERS_AT_ONCE // (arm_count * horizon))
    for first in range(0, len(who), size):
        some = slice(first, first + size)
        arms, rewards = _rounds(experiment, who[some], stop)
        if stop[0]:
            break
        for run, (world, _) in enumerate(who[some], first):
            made = arms[run - first] >= 0
            about = arms[run - first, made], rewards[run - first, made], experiment.truth[world]
            played.table[..., run] = table_of(*about, experiment.variance[world], kept)
        if paths:
            played.path_arms[some], played.path_rewards[some] = arms, rewards
    return played


def _rounds(experiment: Experiment, who: Ints, stop: Ints) -> tuple[Ints, Floats]:
    """The arms and the rewards (runs, T) of every round; NO_ARM after the end of an experiment that stops itself."""
    conditions, arm_count, horizon = experiment.conditions, experiment.arm_count, experiment.horizon
    tape, words = all_rewards(experiment, who, stop), run_words(experiment.keys, who)
    truth, sums = experiment.truth[who[:, 0]], _added_up(tape)
    squares = _added_up((tape - truth[..., None]) ** 2) if experiment.policy.core.needs_squares else None
    arms, pulls = np.empty((len(who), horizon), np.int64), np.zeros((len(who), arm_count), np.int64)
    told, course = Heard(conditions, horizon, pulls.copy()), Course(conditions.commits, conditions.stops, len(who))
    for here in stretches(conditions, horizon):
        if stop[0]:
            break
        known, begun, heard = told.before(here.batch)
        known_sums, spread = np.take_along_axis(sums, heard[..., None], axis=-1)[..., 0], None
        if squares is not None:
            known_squares = np.take_along_axis(squares, heard[..., None], axis=-1)[..., 0]
            spread = about_means(heard, known_sums - heard * truth, known_squares)
        chosen = _arms(experiment, words, course, here, pulls, (known, begun, heard, known_sums, spread))
        arms[:, here.start : here.end] = chosen
        pulls += (chosen[..., None] == np.arange(arm_count)).sum(axis=1)
        told.add(here.end, pulls)
        if course.over.all():
            arms[:, here.end :] = NO_ARM
            break
    return arms, _rewards(arms, tape, pulls)


def _added_up(tape: Floats) -> Floats:
    """The sums of the first 0, 1, ... numbers of each arm's tape."""
    return np.concatenate([np.zeros((*tape.shape[:-1], 1)), tape.cumsum(axis=-1)], axis=-1)


def _arms(
    experiment: Experiment,
    words: Words,
    course: Course,
    here: Stretch,
    pulls: Ints,
    told: tuple[int, int, Ints, Floats, Floats | None],
) -> Ints:
    """The arms (runs, rounds) of a stretch; see `Asked` for what the rule has been told."""
    conditions, (known, begun, heard, sums, squares), rule = experiment.conditions, told, experiment.policy.core
    if conditions.decides and here.start == begun:
        course.judge(rule, np.arange(len(pulls)), Known(heard, sums))
    uniform = unguided(conditions, here, heard, sums)
    arms = prescribed_rounds(conditions, here, pulls, heard, uniform)
    arms[course.held >= 0] = FREE
    free = np.flatnonzero((arms == FREE).any(axis=1) & ~course.over)
    if len(free):
        present = conditions.present(here.batch, experiment.arm_count)
        spread = None if squares is None else squares[free]
        asked = Asked(known, begun, heard[free], sums[free], experiment.horizon, present, spread)
        words = words[free]

        def sampled(rows: Ints, shares: Floats) -> Floats:
            return _shares_of_draws(conditions.draws, words[rows] + np.uint64(begun + 1), shares)

        def judge(rows: Ints, known: Known) -> Floats:
            return course.judge(rule, free[rows], known, arms[free[rows], 0] == FREE)

        judging = judge if conditions.decides and here.start == begun else None
        chances = free_chances(experiment.policy, conditions, uniform[free], asked, sampled, judging)
        chances = committed(course.held[free], chances)
        numbers = uniforms(words, here.start, here.end - here.start).T
        if conditions.quota:
            more = uniforms(words, _FURTHER + here.start * experiment.arm_count, experiment.arm_count).T
            for run, *about in zip(free, chances, numbers, more, strict=True):
                arms[run] = _dealt(arms[run], *about)
        else:
            arms[free] = np.where(arms[free] == FREE, _drawn(chances, numbers), arms[free])
    arms[course.over] = NO_ARM
    return arms


def _shares_of_draws(count: int, words: Words, chances: Floats) -> Floats:
    """How often each arm is the best in this many draws, as shares of them; each run has its own generator."""
    shares = [each.multinomial(count, p / p.sum()) for each, p in zip(generators(words), chances, strict=True)]
    return np.array(shares) / count


def _drawn(chances: Floats, numbers: Floats) -> Ints:
    """The arms to which uniform numbers (..., n) belong that are shared by these chances (..., K)."""
    ends = chances.cumsum(axis=-1)[..., None, :-1] / chances.sum(axis=-1)[..., None, None]
    return np.asarray((numbers[..., None] >= ends).sum(axis=-1))


def _dealt(arms: Ints, chances: Floats, numbers: Floats, more: Floats) -> Ints:
    """The arms (n,) of a run with the free ones dealt by quotas, in the order of the numbers."""
    free = np.flatnonzero(arms == FREE)
    whole, fractions = dealt(np.array(len(free)), chances)
    hand = np.repeat(np.arange(len(chances)), whole)
    if len(hand) < len(free):
        hand = np.append(hand, _drawn(fractions, more[: len(free) - len(hand)]))
    arms[free[np.argsort(numbers[free])]] = hand
    return arms


def _rewards(arms: Ints, tape: Floats, pulls: Ints) -> Floats:
    """The reward of every round (runs, T): the next one on its arm's tape (runs, K, T); NaN without an arm."""
    order = np.argsort(arms, axis=1, kind="stable")
    grouped, runs = np.take_along_axis(arms, order, axis=1), np.arange(len(arms))[:, None]
    unmade = arms.shape[1] - pulls.sum(axis=1, keepdims=True)  # these come first
    before = (np.cumsum(pulls, axis=1) - pulls + unmade)[runs, grouped]
    place = np.where(grouped < 0, 0, np.arange(arms.shape[1]) - before)
    rewards = np.empty(arms.shape)
    np.put_along_axis(rewards, order, np.where(grouped < 0, np.nan, tape[runs, grouped, place]), axis=1)
    return rewards
