"""Many rounds at once, where numbers of pulls and sums are enough. All runs lie side by side, whatever their worlds.

Within a batch a rule keeps its probabilities. A million users in fifty batches are fifty steps: pulls are multinomial,
and their sums normal or binomial. For rules whose probabilities follow from totals, in worlds whose sums can be drawn.

Explore-then-commit is two steps. For normal rewards only: sums of 0/1 rewards take as long to draw as their rounds
take in the compiled loop.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from debandit.engine.data import NORMAL, Floats, Ints, about_means
from debandit.engine.decisions import Course, Known, committed
from debandit.engine.experiment import Experiment, Words, generators, normals, run_words, uniforms
from debandit.engine.planning import Asked, Heard, Stretch, dealt, free_chances, prescribed_pulls, stretches, unguided
from debandit.engine.runs import TOTALS, WITH_SQUARES, Added, add_pulls

_NUMBERS_OF_A_ROUND = 2**24  # at most so many random numbers of a run's stream


def step(experiment: Experiment, who: Ints, kept: int, stop: Ints) -> Floats:
    """The table of the runs (world, number) in `who`, batch by batch."""
    conditions, horizon = experiment.conditions, experiment.horizon
    words = run_words(experiment.keys, who)
    draws = _Draws(
        generators(words),
        words,
        experiment.world.kind == NORMAL,
        experiment.truth[who[:, 0]],
        experiment.sds[who[:, 0]],
    )
    variance = experiment.variance[who[:, 0]]
    told_of = WITH_SQUARES if experiment.policy.core.needs_squares else TOTALS
    table = np.zeros((max(kept, told_of), len(who), experiment.arm_count))
    heard, shares = Heard(conditions, horizon, table[:told_of].copy()), np.empty(table[0].shape)
    course = Course(conditions.commits, conditions.stops, len(who))
    for here in stretches(conditions, horizon):
        if stop[0] or course.over.all():
            break
        told = heard.before(here.batch)
        if here.start == told[1]:
            shares = np.full(table[0].shape, np.nan)
        counts = _counts(experiment, draws, course, here, table[0], told, shares)
        add_pulls(table, draws.rewards(counts, len(table), here.start), draws.means, variance)
        heard.add(here.end, table[:told_of])
    return table[:kept].swapaxes(1, 2).copy()


Told = tuple[int, int, Floats]  # see `Heard.before`


class _Draws(NamedTuple):
    """What the runs draw, each with its own generator; means and standard deviations have shape (runs, K)."""

    random: list[np.random.Generator]
    words: Words
    normal: bool
    means: Floats
    sds: Floats

    def multinomial(self, runs: Ints, left: Ints, chances: Floats) -> Ints:
        """Pulls of each arm in these runs, of which each has this many left to make."""
        chances = chances / np.maximum(chances.sum(axis=1, keepdims=True), 1e-300)
        drawn = [self.random[i].multinomial(n, p) for i, n, p in zip(runs, left, chances, strict=True)]
        return np.array(drawn, np.int64).reshape(chances.shape)

    def shares(self, runs: Ints, draws: int, chances: Floats) -> Floats:
        """How often each arm is the best in this many draws, as shares of them."""
        return self.multinomial(runs, np.full(len(runs), draws), chances) / draws

    def rewards(self, counts: Ints, kept: int, start: int) -> Added:
        """The rewards of this many pulls of each arm, from round `start` on."""
        means, sds = self.means, self.sds
        if not self.normal:
            pulls, chances = counts.tolist(), means.tolist()  # numbers one by one take half as long as short arrays
            wins = self._each(lambda random, i: list(map(random.binomial, pulls[i], chances[i])))
            return Added(counts, wins, wins * (1 - means) ** 2 + (counts - wins) * means**2)
        z = self._each(lambda random, _: random.standard_normal(counts.shape[1])) * (counts > 0)
        squares = z * z
        if kept >= WITH_SQUARES:
            rest = _chi_squares(np.maximum(counts.T - 1, 0), self.words, start * _NUMBERS_OF_A_ROUND)
            squares = sds * sds * (squares + rest.T)
        return Added(counts, counts * means + np.sqrt(counts) * sds * z, squares)

    def _each(self, draw: Callable[[np.random.Generator, int], Any]) -> Floats:
        """What every run draws, of shape (runs, K)."""
        return np.array([draw(random, i) for i, random in enumerate(self.random)], np.float64).reshape(self.means.shape)


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
        squares = about_means(n, sums - n * draws.means[new], errors[0]) if errors else None
        asked = Asked(known, begun, n.astype(np.int64), sums, experiment.horizon, present, squares)

        def sampled(rows: Ints, own: Floats) -> Floats:
            return draws.shares(new[rows], conditions.draws, own)

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
        counts[np.ix_(free, present)] += draws.multinomial(free, left[free], chances[:, present])
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
