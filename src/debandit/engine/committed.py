"""Explore-then-commit without rounds: each arm's exploration sum is enough, and one sum of the rounds after it.

For normal rewards. Sums of 0/1 rewards take as long to draw as their rounds take in the compiled loop.
"""

import numpy as np

from debandit.engine.data import FIRST, NORMAL, Floats, Ints
from debandit.engine.experiment import Experiment
from debandit.engine.runs import WITH_SQUARES, Added, add_pulls
from debandit.engine.streams import Words, normals, run_words, uniforms


def can_commit(experiment: Experiment) -> bool:
    """Whether the rule explores and commits, and its sums can be drawn."""
    conditions = experiment.conditions
    return (
        experiment.world.kind == NORMAL
        and conditions.commit
        and not conditions.wrapped
        and experiment.rule.ties == FIRST
    )


def commit(experiment: Experiment, who: Ints, kept: int) -> Floats:
    """The table of the runs (world, number) in `who`: K sums of initial pulls, the comparison, the sum of the rest."""
    arm_count, opening, worlds = experiment.arm_count, experiment.conditions.opening, who[:, 0]
    words, runs = run_words(experiment.keys, who), np.arange(len(who))
    draws, table = normals(words, 0, arm_count + 1), np.zeros((kept, arm_count, len(who)))

    def add(arms: Ints, count: int, drawn: Floats, first: int) -> None:
        """Pull the arms (n, runs) `count` times each."""
        mean, sd, squares = experiment.truth[worlds, arms], experiment.sds[worlds, arms], drawn * drawn
        if kept >= WITH_SQUARES:
            squares = sd * sd * (squares + _chi_squares(count - 1, words, len(arms), first))
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


def _chi_squares(freedom: int, words: Words, slots: int, first: int) -> Floats:
    """Chi-squared numbers (slots, runs) by Marsaglia and Tsang (2000): a try takes three numbers of each slot."""
    found, left = np.zeros((slots, len(words))), np.ones((slots, len(words)), bool)
    if freedom < 2:
        return freedom * normals(words, first, slots) ** 2
    d = freedom / 2 - 1 / 3
    while left.any():
        here = np.flatnonzero(left.any(axis=0))
        x, u = normals(words[here], first, 2 * slots)[:slots], uniforms(words[here], first + 2 * slots, slots)
        v = np.maximum(1 + x / np.sqrt(9 * d), 1e-100) ** 3
        accepted = left[:, here] & (v > 1e-299) & (np.log(u) < 0.5 * x * x + d * (1 - v + np.log(v)))
        found[:, here] = np.where(accepted, 2 * d * v, found[:, here])
        left[:, here] &= ~accepted
        first += 4 * slots
    return found
