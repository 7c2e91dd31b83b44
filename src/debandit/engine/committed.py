"""Explore-then-commit without rounds: each arm's exploration sum is enough, and one sum of the rounds after it."""

import numpy as np

from debandit.engine.data import BERNOULLI, FIRST, NORMAL, Floats, Ints
from debandit.engine.experiment import Experiment
from debandit.engine.runs import WITH_SQUARES, Added, add_pulls
from debandit.engine.streams import Words, normals, run_words, uniforms

LONGEST = 10_000  # rounds with 0/1 rewards; longer experiments are played round by round


def can_commit(experiment: Experiment) -> bool:
    """Whether the rule explores and commits, and its sums can be drawn, whatever the size of the stack."""
    conditions, kind = experiment.conditions, experiment.world.kind
    drawable = kind == NORMAL or (kind == BERNOULLI and experiment.horizon <= LONGEST)
    return drawable and conditions.commit and not conditions.wrapped and experiment.rule.ties == FIRST


def commit(experiment: Experiment, who: Ints, kept: int) -> Floats:
    """The table of the runs (world, number) in `who`: K sums of initial pulls, the comparison, the sum of the rest."""
    arm_count, opening, worlds = experiment.arm_count, experiment.conditions.opening, who[:, 0]
    normal, words = experiment.world.kind == NORMAL, run_words(experiment.keys, who)
    draws = (normals if normal else uniforms)(words, 0, arm_count + 1)
    table, runs = np.zeros((kept, arm_count, len(who))), np.arange(len(who))

    def add(arms: Ints, count: int, drawn: Floats, first: int) -> None:
        """Pull the arms (n, runs) `count` times each."""
        mean, variance = experiment.truth[worlds, arms], experiment.variance[worlds, arms]
        if normal:
            sd, squares = experiment.sds[worlds, arms], drawn * drawn
            if kept >= WITH_SQUARES:
                squares = sd * sd * (squares + _chi_squares(count - 1, words, len(arms), first))
            added = Added(count, count * mean + np.sqrt(count) * sd * drawn, squares)
        else:
            wins = _binomials(count, mean, drawn)
            added = Added(count, wins, wins * (1 - mean) ** 2 + (count - wins) * mean**2)
        statistics = table[:, arms, runs]
        add_pulls(statistics, added, mean, variance)
        table[:, arms, runs] = statistics

    behind = arm_count + 2  # where the numbers begin that only squares need; even, as normals come in pairs
    add(np.repeat(np.arange(arm_count)[:, None], len(who), axis=1), opening, draws[:-1], behind)
    rest = experiment.horizon - opening * arm_count
    if rest > 0:
        add(np.argmax(table[1] / opening, axis=0)[None], rest, draws[-1:], behind + 2**32)
    return table


def _binomials(count: int, chances: Floats, u: Floats) -> Floats:
    """Sums of `count` 0/1 rewards by inversion: the number of values s with P(S <= s) <= u, found by halving."""
    probabilities, row = np.unique(chances, return_inverse=True)
    table, row = _distribution(count, probabilities), row.reshape(chances.shape)
    wins, step = np.zeros(chances.shape, np.int64), 1 << count.bit_length()
    while step := step // 2:
        further = np.minimum(wins + step, count)
        wins = np.where((wins + step <= count) & (table[row, further - 1] <= u), further, wins)
    return wins.astype(np.float64)


def _distribution(count: int, probabilities: Floats) -> Floats:
    """P(S <= s) for s = 0, ..., count - 1 and S ~ Bin(count, p), in rows of p."""
    wins, p = np.arange(count), probabilities[:, None]
    log_factorial = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, count + 1)))))
    log_choose = log_factorial[count] - log_factorial[:count] - log_factorial[count:0:-1]
    with np.errstate(divide="ignore", invalid="ignore"):  # at s = 0 the factor p^0 is 1 even for p = 0
        log_mass = log_choose + np.where(wins > 0, wins * np.log(p), 0.0) + (count - wins) * np.log1p(-p)
    return np.asarray(np.exp(log_mass).cumsum(axis=1))


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
