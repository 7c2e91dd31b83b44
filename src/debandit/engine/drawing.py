"""Rounds that are drawn from a rule's chances, in numpy: for what the compiled loop cannot do.

That is to change chances, and to move the means of the arms.

The compiled loop draws what a rule draws, and never knows its chances. Here they are worked out before each batch, for
all runs at once. That takes milliseconds for each batch, or each round where there are no batches. The rewards come
from the compiled loop: the n-th pull of an arm gets its n-th reward, which is then moved where the means drift.
"""

import numpy as np

from debandit.engine.conditions import FREE
from debandit.engine.data import BERNOULLI, NO_ARM, Floats, Ints, Played, about_means
from debandit.engine.decisions import Course, Known, committed
from debandit.engine.experiment import Experiment, Words, generators, run_words, uniforms
from debandit.engine.planning import Asked, Heard, Stretch, dealt, free_chances, prescribed_rounds, stretches, unguided
from debandit.engine.rounds import all_rewards
from debandit.engine.runs import TOTALS, WITH_SQUARES, table_of

_NUMBERS_AT_ONCE = 2**22  # rewards
_FURTHER = 2**40  # where the numbers of a run's stream begin by which the rest of a quota is dealt
_MOVED = 2**41  # and those of 0/1 rewards that drift


def play_drawn(experiment: Experiment, who: Ints, kept: int, paths: bool, stop: Ints) -> Played:
    """See `play`. For rules that can say their chances, in any world."""
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
    worlds, words, tape = who[:, 0], run_words(experiment.keys, who), all_rewards(experiment, who, stop)
    truth = experiment.truth[worlds]
    arms, rewards = np.zeros((len(who), horizon), np.int64), np.zeros((len(who), horizon))
    totals = np.zeros((WITH_SQUARES if experiment.policy.core.needs_squares else TOTALS, len(who), arm_count))
    told, course = Heard(conditions, horizon, totals.copy()), Course(conditions.commits, conditions.stops, len(who))
    for here in stretches(conditions, horizon):
        if stop[0]:
            break
        known, begun, (pulls, sums, *squares) = told.before(here.batch)
        heard = pulls.astype(np.int64)
        spread = about_means(heard, sums - heard * truth, squares[0]) if squares else None
        now, made = slice(here.start, here.end), totals[0].astype(np.int64)
        known_of = known, begun, heard, sums, spread
        arms[:, now] = _arms(experiment, words, course, here, made, known_of, (arms, rewards))
        rewards[:, now] = _rewards(arms[:, now], tape, made)
        if experiment.world.drift is not None:
            rewards[:, now] = _moved(experiment, worlds, words, arms[:, now], rewards[:, now], here.start)
        _add_up(totals, arms[:, now], rewards[:, now], truth)
        told.add(here.end, totals)
        if course.over.all():
            arms[:, here.end :], rewards[:, here.end :] = NO_ARM, np.nan
            break
    return arms, rewards


def _add_up(totals: Floats, arms: Ints, rewards: Floats, truth: Floats) -> None:
    """Add some rounds (runs, n) to the totals (2 or 3, runs, K), one after the other."""
    runs, rounds = np.nonzero(arms >= 0)
    pulled, values = runs * truth.shape[1] + arms[runs, rounds], rewards[runs, rounds]
    for total, each in zip(totals, (1.0, values, (values - truth.ravel()[pulled]) ** 2), strict=False):
        np.add.at(total.reshape(-1), pulled, each)


def _arms(
    experiment: Experiment,
    words: Words,
    course: Course,
    here: Stretch,
    pulls: Ints,
    told: tuple[int, int, Ints, Floats, Floats | None],
    earlier: tuple[Ints, Floats],
) -> Ints:
    """The arms (runs, rounds) of a stretch; see `Asked` for what the rule has been told.

    A rule that looks at more than totals is asked about all earlier rounds, arms and rewards of shape (runs, T).
    """
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
        if experiment.policy.by_totals:
            chances = free_chances(experiment.policy, conditions, uniform[free], asked, sampled, judging)[:, None]
        else:
            rounds = np.arange(here.start, here.end)
            chances = experiment.policy.chances_along(earlier[0][free], earlier[1][free], experiment.arm_count, rounds)
        chances = committed(course.held[free][:, None], chances)
        numbers = uniforms(words, here.start, here.end - here.start).T
        if conditions.quota:
            more = uniforms(words, _FURTHER + here.start * experiment.arm_count, experiment.arm_count).T
            for run, *about in zip(free, chances[:, 0], numbers, more, strict=True):
                arms[run] = _dealt(arms[run], *about)
        else:
            drawn = _drawn(chances, numbers[..., None])[..., 0]
            arms[free] = np.where(arms[free] == FREE, drawn, arms[free])
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


def _counted(arms: Ints, arm_count: int) -> Ints:
    """The pulls of each arm (runs, K) in some rounds (runs, n)."""
    return np.asarray((arms[..., None] == np.arange(arm_count)).sum(axis=1))


def _rewards(arms: Ints, tape: Floats, made: Ints) -> Floats:
    """The reward of every round (runs, n): the next on its arm's tape (runs, K, T), after the pulls made (runs, K).

    NaN without an arm.
    """
    order = np.argsort(arms, axis=1, kind="stable")
    grouped, runs = np.take_along_axis(arms, order, axis=1), np.arange(len(arms))[:, None]
    pulls = _counted(arms, made.shape[1])
    without = arms.shape[1] - pulls.sum(axis=1, keepdims=True)  # these come first
    before = (np.cumsum(pulls, axis=1) - pulls - made + without)[runs, grouped]
    place = np.where(grouped < 0, 0, np.arange(arms.shape[1]) - before)
    rewards = np.empty(arms.shape)
    np.put_along_axis(rewards, order, np.where(grouped < 0, np.nan, tape[runs, grouped, place]), axis=1)
    return rewards


def _moved(experiment: Experiment, worlds: Ints, words: Words, arms: Ints, rewards: Floats, start: int) -> Floats:
    """The rewards (runs, n) from round `start` on where the means drift; those that are 0/1 are drawn anew."""
    drift, rounds = experiment.world.drift, np.arange(start, start + arms.shape[1])
    assert drift is not None
    cycle = drift.means.reshape(len(drift.means), -1, experiment.arm_count)
    means = cycle[drift.period(rounds), worlds[:, None], arms]
    if experiment.world.kind == BERNOULLI:
        numbers = uniforms(words, _MOVED + start, len(rounds)).T
        return np.where(np.isnan(rewards), np.nan, means > numbers)
    return np.asarray(rewards + (means - experiment.truth[worlds[:, None], arms]))
