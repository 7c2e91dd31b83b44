"""Many rounds at once, where numbers of pulls and sums are enough. All runs lie side by side, whatever their worlds.

Within a batch a rule keeps its probabilities. A million users in fifty batches are fifty steps: pulls are multinomial,
and their sums normal or binomial. For rules whose probabilities follow from totals, in worlds whose sums can be drawn.

Explore-then-commit is two steps. For normal rewards only: sums of 0/1 rewards take as long to draw as their rounds
take in the compiled loop.
"""

from typing import NamedTuple

import numpy as np

from debandit.engine.binomials import binomials, multinomials
from debandit.engine.data import NORMAL, Floats, Ints, about_means
from debandit.engine.decisions import Course, Known, committed
from debandit.engine.experiment import Experiment, Words, normals, run_words, uniforms
from debandit.engine.planning import Asked, Heard, Stretch, dealt, free_chances, prescribed_pulls, stretches, unguided
from debandit.engine.runs import TOTALS, WITH_SQUARES, Added, add_pulls

# A stretch takes the numbers of a run's stream that belong to its first round, so many for each thing that is drawn.
_NUMBERS = 2**22
_PULLS, _SHARES, _REWARDS, _SQUARES, _THINGS = range(5)


def step(experiment: Experiment, who: Ints, kept: int, stop: Ints) -> Floats:
    """The table of the runs (world, number) in `who`, batch by batch."""
    conditions, horizon = experiment.conditions, experiment.horizon
    words = run_words(experiment.keys, who)
    normal, worlds = experiment.world.kind == NORMAL, who[:, 0]
    draws = _Draws(words, normal, experiment.truth[worlds], experiment.sds[worlds])
    variance = experiment.variance[worlds]
    told_of = WITH_SQUARES if experiment.policy.core.needs_squares else TOTALS
    table = np.zeros((max(kept, told_of), len(who), experiment.arm_count))
    heard, shares = Heard(conditions, horizon, table[:told_of].copy()), np.empty(table[0].shape)
    course = Course(conditions.commits, conditions.stops, len(who))
    for here in stretches(conditions, horizon, experiment.period_ends):
        if stop[0] or course.over.all():
            break
        told = heard.before(here.batch)
        if here.start == told[1]:
            shares = np.full(table[0].shape, np.nan)
        counts = _counts(experiment, draws, course, here, table[0], told, shares)
        means = experiment.means_at(here.start)[worlds]
        add_pulls(table, draws.rewards(counts, means, len(table), here.start), draws.truth, variance)
        heard.add(here.end, table[:told_of])
    return table[:kept].swapaxes(1, 2).copy()


Told = tuple[int, int, Floats]  # see `Heard.before`


class _Draws(NamedTuple):
    """What the runs draw, each from its own stream; the truth and standard deviations have shape (runs, K)."""

    words: Words
    normal: bool
    truth: Floats
    sds: Floats

    def pulls(self, runs: Ints, left: Ints, chances: Floats, start: int) -> Ints:
        """Pulls of each arm in these runs, of which each has this many left to make from round `start` on."""
        return multinomials(self.words[runs], _first(start, _PULLS), left, chances)

    def shares(self, runs: Ints, draws: int, chances: Floats, start: int) -> Floats:
        """How often each arm is the best in this many draws, as shares of them."""
        return multinomials(self.words[runs], _first(start, _SHARES), np.full(len(runs), draws), chances) / draws

    def rewards(self, counts: Ints, means: Floats, kept: int, start: int) -> Added:
        """The rewards of this many pulls of each arm that has these means from round `start` on."""
        truth, sds = self.truth, self.sds
        if not self.normal:
            wins = binomials(self.words, _first(start, _REWARDS), counts, means).astype(np.float64)
            return Added(counts, wins, wins * (1 - truth) ** 2 + (counts - wins) * truth**2)
        z = normals(self.words, _first(start, _REWARDS), counts.shape[1]).T * (counts > 0)
        squares, errors = z * z, np.sqrt(counts) * sds * z
        if kept >= WITH_SQUARES:
            rest = _chi_squares(np.maximum(counts.T - 1, 0), self.words, _first(start, _SQUARES))
            shift = means - truth
            squares = sds * sds * (squares + rest.T) + shift * (2 * errors + counts * shift)
        return Added(counts, counts * means + errors, squares)


def _first(start: int, thing: int) -> int:
    """Where the numbers begin by which a stretch from round `start` on draws one of its things."""
    return (start * _THINGS + thing) * _NUMBERS


def _counts(
    experiment: Experiment, draws: _Draws, course: Course, here: Stretch, pulls: Floats, told: Told, shares: Floats
) -> Ints:
    """How often each arm is pulled in a stretch of rounds, in every run (runs, K).

    The rule's `shares` of the batch (runs, K) are filled in where they are not yet known: a batch has one share of each
    arm, also if it is played in several stretches. Decisions are made before its first one.
    """
    conditions, (known, begun, heard), rule = experiment.conditions, told, experiment.policy.core
    present, first = conditions.present(here.batch, experiment.arm_count), here.start == begun
    if conditions.decides and first:
        course.judge(rule, np.arange(len(pulls)), Known(heard[0], heard[1]))
    uniform = unguided(conditions, here, heard[0], heard[1])
    counts = prescribed_pulls(conditions, here, pulls, heard[0], uniform)
    settled = course.settled(present)
    counts[settled] = 0
    left = np.where(course.over, 0, here.end - here.start - counts.sum(axis=1))
    free = np.flatnonzero(left > 0)
    new = free[np.isnan(shares[free, 0]) & ~uniform[free] & ~settled[free]]
    if len(new):
        n, sums, *errors = heard[:, new]
        squares = about_means(n, sums - n * draws.truth[new], errors[0]) if errors else None
        asked = Asked(known, begun, n.astype(np.int64), sums, experiment.horizon, present, squares)

        def sampled(rows: Ints, own: Floats) -> Floats:
            return draws.shares(new[rows], conditions.draws, own, here.start)

        def judge(rows: Ints, known: Known) -> Floats:
            return course.judge(rule, new[rows], known, counts[new[rows]].sum(axis=1) == 0)

        judging = judge if conditions.decides and first else None
        shares[new] = free_chances(experiment.policy, conditions, uniform[new], asked, sampled, judging)
        free = free[~course.over[free]]
    if len(free):
        chances = np.where(uniform[free, None], present / present.sum(), shares[free])
        chances = committed(course.held[free], chances, present)
        if conditions.quota:
            whole, chances = dealt(left[free], chances)
            counts[free] += whole
            left[free] -= whole.sum(axis=1)
        counts[np.ix_(free, present)] += draws.pulls(free, left[free], chances[:, present], here.start)
    return counts


def commit(experiment: Experiment, who: Ints, kept: int) -> Floats:
    """The table of the runs (world, number) in `who`: K sums of initial pulls, the comparison, the sum of the rest."""
    arm_count, opening, worlds = experiment.arm_count, experiment.conditions.opening, who[:, 0]
    words, runs = run_words(experiment.keys, who), np.arange(len(who))
    draws, table = normals(words, 0, arm_count + 1), np.zeros((kept, arm_count, len(who)))

    def add(arms: Ints, count: int, drawn: Floats, first: int) -> None:
        """Pull the arms (n, runs) `count` times each."""
        mean, sd, squares = experiment.truth[worlds, arms], experiment.sds[worlds, arms], drawn * drawn
        if kept >= WITH_SQUARES:
            squares = sd * sd * (squares + _chi_squares(np.full(arms.shape, count - 1), words, first))
        statistics = table[:, arms, runs]
        added = Added(count, count * mean + np.sqrt(count) * sd * drawn, squares)
        add_pulls(statistics, added, mean, experiment.variance[worlds, arms])
        table[:, arms, runs] = statistics

    behind = arm_count + 2  # where the numbers begin that only squares need; even, as normals come in pairs
    add(np.repeat(np.arange(arm_count)[:, None], len(who), axis=1), opening, draws[:-1], behind)
    rest = experiment.horizon - opening * arm_count
    if rest > 0:
        add(np.argmax(table[1] / opening, axis=0)[None], rest, draws[-1:], behind + 2**32)
    return table


def _chi_squares(freedom: Ints, words: Words, first: int) -> Floats:
    """Chi-squared numbers (slots, runs) by Marsaglia and Tsang (2000): a try takes four numbers of each slot.

    With one degree of freedom it is the square of a normal.
    """
    slots = len(freedom)
    found, left = freedom * normals(words, first, slots) ** 2, freedom > 1
    while left.any():
        here = np.flatnonzero(left.any(axis=0))
        first += 4 * slots
        d = np.maximum(freedom[:, here], 2) / 2 - 1 / 3
        x, u = normals(words[here], first, 2 * slots)[:slots], uniforms(words[here], first + 2 * slots, slots)
        v = np.maximum(1 + x / np.sqrt(9 * d), 1e-100) ** 3
        accepted = left[:, here] & (v > 1e-299) & (np.log(u) < 0.5 * x * x + d * (1 - v + np.log(v)))
        found[:, here] = np.where(accepted, 2 * d * v, found[:, here])
        left[:, here] &= ~accepted
    return found
