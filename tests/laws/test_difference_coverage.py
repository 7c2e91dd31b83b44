"""How often the limits of differences, of lift and of the winner cover the truth, and what the textbook's do not."""

import numpy as np
import pytest
from catalogue import Z
from scipy import stats

import debandit as db
from debandit.intervals import (
    WINNER,
    Limits,
    Sample,
    Sums,
    binary,
    mover_difference,
    mover_lift,
    pooled_t,
    pooled_t_difference,
    two_part_difference,
)
from debandit.study.population import CONTINUOUS, population

EXPERIMENTS = 500
LEAST = 0.93  # what every cell should keep, up to chance


def played(families, settings, seed):
    """Samples of the same experiments under all four rules, with the true means."""
    found = []
    for i, (_, policy, world, horizon) in enumerate(population(families, settings, seed)):
        runs = db.simulate(policy, world, horizon=horizon, runs=EXPERIMENTS, seed=seed + i, paths=True)
        found.append((Sample(*runs.paths(), world.arm_count), world.means))
    return found


@pytest.fixture(scope="module")
def continuous():
    return played(CONTINUOUS, 8, 12)


@pytest.fixture(scope="module")
def wins():
    return played(("binary",), 16, 13)


def wins_of(sample):
    return np.rint(np.nan_to_num(sample.means * sample.pulls))


def welch(sample, control):
    """The textbook's limits; NaN for an arm pulled once, and a miss where rewards do not vary."""
    n = np.where(sample.pulls > 1, sample.pulls, np.nan)
    a = sample.squares / (n - 1) / n
    b, other = a[:, [control]], n[:, [control]]
    with np.errstate(invalid="ignore"):
        df = (a + b) ** 2 / (a**2 / (n - 1) + b**2 / (other - 1))
        half = np.nan_to_num(stats.t.ppf(0.975, df)) * np.sqrt(a + b)
    d = sample.means - sample.means[:, [control]]
    return Limits(d - half, d + half)


class Cells:
    """Coverages of many cells with their binomial errors."""

    def __init__(self):
        self.hits, self.counts = [], []

    def add(self, limits, truths):
        known = ~np.isnan(limits.low)
        with np.errstate(invalid="ignore"):
            hit = (limits.low <= truths + 1e-12) & (truths - 1e-12 <= limits.high)
        seen = known.sum(axis=0) >= EXPERIMENTS / 2
        self.hits += [*(hit & known).sum(axis=0)[seen]]
        self.counts += [*known.sum(axis=0)[seen]]

    def mean(self):
        """The average over the cells, and its error."""
        n = np.array(self.counts)
        share = (np.array(self.hits) + 0.5) / (n + 1)
        return share.mean(), np.sqrt((share * (1 - share) / n).sum()) / len(n)

    def surely_below(self):
        """How many cells chance alone does not put below: by a binomial tail that Z leaves."""
        return int((stats.binom.cdf(self.hits, self.counts, LEAST) < stats.norm.sf(Z)).sum())


def to_first(samples, limits):
    """Coverage of each arm minus the first one."""
    cells = Cells()
    for sample, truths in samples:
        found = limits(sample)
        cells.add(Limits(found.low[:, 1:], found.high[:, 1:]), truths[1:] - truths[0])
    return cells


def kept(cells, mean):
    """Whether the mean coverage is at least this much, and no cell below 93 %, up to chance."""
    average, error = cells.mean()
    return average >= mean - Z * error and cells.surely_below() == 0


def first(sample):
    return np.zeros(sample.shape[1], dtype=int)


def test_differences_of_continuous_rewards(continuous):
    """INFERENCE: mean .984, and .9 % of the pairs below .93; Welch is the control. With sums only the mean holds."""
    found = to_first(continuous, lambda sample: pooled_t_difference(sample, first(sample), 0.95))
    assert kept(found, 0.97)
    sums = to_first(
        continuous,
        lambda sample: pooled_t_difference(Sums(sample.pulls, sample.means, sample.squares), first(sample), 0.95),
    )
    assert kept(sums, 0.97)
    assert not kept(to_first(continuous, lambda sample: welch(sample, 0)), 0.97)


def test_the_best_minus_the_second(continuous):
    """A pair that the data chose."""
    found, control = Cells(), Cells()
    for sample, truths in continuous:
        rows, order = np.arange(EXPERIMENTS)[:, None], np.argsort(-sample.means, axis=1, kind="stable")[:, :2]
        second = np.broadcast_to(order[:, 1:], sample.shape)
        limits, truth = pooled_t_difference(sample, second, 0.95), truths[order[:, :1]] - truths[order[:, 1:]]
        found.add(Limits(*(limit[rows, order[:, :1]] for limit in limits)), truth)
        plain = [welch(sample, c) for c in range(len(truths))]
        stacked = (np.stack([getattr(each, side) for each in plain]) for side in ("low", "high"))
        control.add(Limits(*(limit[order[:, 1:], rows, order[:, :1]] for limit in stacked)), truth)
    assert kept(found, 0.97)
    assert not kept(control, 0.97)


def test_differences_of_wins_and_their_lift(wins):
    """MOVER of the limits binary; the control is Wald's interval of the difference."""

    def wald_difference(sample):
        n = np.where(sample.pulls > 0, sample.pulls, np.nan)
        v = sample.means * (1 - sample.means) / n
        d, half = sample.means - sample.means[:, :1], stats.norm.ppf(0.975) * np.sqrt(v + v[:, :1])
        return Limits(d - half, d + half)

    def difference(sample):
        return mover_difference(sample.means, binary(sample.pulls, wins_of(sample), 0.95), first(sample))

    assert kept(to_first(wins, difference), 0.97)
    assert not kept(to_first(wins, wald_difference), 0.97)
    lifts = Cells()
    for sample, truths in wins:
        limits = mover_lift(sample.means, binary(sample.pulls, wins_of(sample), 0.95), first(sample))
        lifts.add(Limits(limits.low[:, 1:], limits.high[:, 1:]), truths[1:] / truths[0] - 1)
    assert kept(lifts, 0.97)


def test_differences_of_many_zeros():
    samples = played(("zero-inflated",), 8, 14)
    assert kept(to_first(samples, lambda sample: two_part_difference(sample, first(sample), 0.95)), 0.98)
    assert not kept(to_first(samples, lambda sample: welch(sample, 0)), 0.98)


def winners(samples, limits):
    """Coverage of the mean of the arm with the highest one."""
    cells = Cells()
    for sample, truths in samples:
        best = np.argmax(np.nan_to_num(sample.means, nan=-np.inf), axis=1)[:, None]
        found = limits(sample)
        cells.add(Limits(*(np.take_along_axis(limit, best, axis=1) for limit in found[:2])), truths[best])
    return cells


def test_the_winner_needs_the_tails_swapped(continuous, wins):
    """INFERENCE: .967 with swapped tails, .940 with those of the other arms, which are the control."""
    assert kept(winners(continuous, lambda sample: pooled_t(sample, 0.95, WINNER)), 0.95)
    assert not kept(winners(continuous, lambda sample: pooled_t(sample, 0.95)), 0.95)
    assert kept(winners(wins, lambda sample: binary(sample.pulls, wins_of(sample), 0.95, WINNER)), 0.95)
