"""What the platforms document, read back off simulated logs: first update, shares, floor, and how it ends.

What a rule should have done is worked out here from the log's counts with numpy's own draws, 50,000 of them, so that
their error is small beside that of the counts.
"""

import numpy as np
import pytest

import debandit as db
from debandit.errors import PresetWarning
from debandit.policies import as_policy

Z = 4.5
DRAWS = 50_000


class Played:
    """One simulated log, batch by batch."""

    def __init__(self, preset, means, *, size, batches, seed):
        with pytest.warns(PresetWarning):
            self.policy = as_policy(preset)
        world = db.worlds.Bernoulli(means)
        runs = db.simulate(self.policy, world, horizon=size * batches, runs=1, seed=seed, paths=True)
        log, arms = runs.log(0), np.arange(len(means))
        chosen = log.rounds.arms[:, None] == arms
        starts = np.arange(0, log.horizon, size)
        self.counts = np.add.reduceat(chosen, starts)  # (batches, arms)
        wins = np.add.reduceat(chosen * log.rounds.rewards[:, None], starts)
        nothing = np.zeros((1, len(means)))
        self.pulls = np.cumsum(np.concatenate([nothing, self.counts]), axis=0)  # before each batch, and at the end
        self.wins = np.cumsum(np.concatenate([nothing, wins]), axis=0)

    def __len__(self):
        return len(self.counts)

    def beta_draws(self, batch):
        """Of the posteriors before a batch, from the prior Beta(1, 1)."""
        pulls, wins = self.pulls[batch], self.wins[batch]
        return np.random.default_rng(batch).beta(1 + wins, 1 + pulls - wins, (DRAWS, len(pulls)))

    def likely_best(self, batch):
        return shares_won(self.beta_draws(batch))

    def opened(self, pulls, wins=0):
        """The first batch before which every arm has as many."""
        return int(np.argmax(((self.pulls >= pulls) & (self.wins >= wins)).all(axis=1)))


def shares_won(draws):
    return np.bincount(draws.argmax(axis=1), minlength=draws.shape[1]) / len(draws)


def as_expected(counts, shares, draws=DRAWS):
    """Whether the counts of a batch have these shares, which were estimated with so many draws."""
    users, shares = counts.sum(), np.asarray(shares)
    errors = np.sqrt(shares * (1 - shares) * users * (1 + users / draws))
    return bool((np.abs(counts - users * shares) <= Z * errors + 1e-9).all())


def uniform(counts):
    return as_expected(counts, np.full(len(counts), 1 / len(counts)), np.inf)


def test_growthbook():
    log = Played("preset:growthbook(150)", [0.3, 0.3, 0.3, 0.4], size=150, batches=60, seed=1)
    first = log.opened(100)
    assert 3 <= first <= 6
    assert all(uniform(counts) for counts in log.counts[:first])
    assert not all(uniform(counts) for counts in log.counts[first:])
    for batch in range(first, len(log)):
        n, means = log.pulls[batch], log.wins[batch] / log.pulls[batch]
        widths = np.sqrt(means * (1 - means) / (n - 1))
        draws = np.random.default_rng(batch).normal(means, widths, (DRAWS, 4))  # the prior's sd of 100 does not matter
        assert as_expected(log.counts[batch], 0.01 + 0.96 * shares_won(draws), 10_000)


def test_growthbook_keeps_one_per_cent_and_waits_for_its_window():
    log = Played("preset:growthbook(150, window=1500)", [0.2, 0.2, 0.2, 0.7], size=150, batches=60, seed=2)
    assert log.opened(100) < 8
    assert all(uniform(counts) for counts in log.counts[:10])
    rest = log.counts[10:].sum(axis=0)  # by then the best arm is known: without a floor it would have everything
    assert as_expected(rest, [0.01, 0.01, 0.01, 0.97], np.inf)
    assert not as_expected(rest, [0.02, 0.02, 0.02, 0.94], np.inf)


def test_amplitude():
    log = Played("preset:amplitude(200)", [0.3, 0.32, 0.4], size=200, batches=60, seed=3)
    first = log.opened(100)
    assert 2 <= first <= 3
    assert all(uniform(counts) for counts in log.counts[:first])
    decided = int(np.argmax(log.counts.max(axis=1) == 200))
    assert first < decided < 50
    for batch in range(first, decided):
        shares = log.likely_best(batch)
        assert shares.max() < 0.95
        assert as_expected(log.counts[batch], shares)
    assert log.likely_best(decided).max() >= 0.95
    assert (log.counts[decided:].argmax(axis=1) == log.likely_best(decided).argmax()).all()
    assert (log.counts[decided:].max(axis=1) == 200).all()


def test_statsig():
    preset = "preset:statsig(100, most=20000, window=500, delay=2, threshold=0.9)"
    log = Played(preset, [0.3, 0.35, 0.4], size=100, batches=200, seed=4)
    assert all(uniform(counts) for counts in log.counts[:5])
    for batch in range(5, len(log)):
        shares = log.likely_best(batch - 2)  # the last two batches do not count yet
        assert shares.max() < 0.9
        assert as_expected(log.counts[batch], shares)
    assert 10 < len(log) < 200
    assert log.likely_best(len(log) - 2).max() >= 0.9
    at_once = [log.likely_best(batch).max() for batch in range(5, len(log))]
    assert max(at_once) >= 0.9  # without the delay it would have ended before


def test_adobe():
    log = Played("preset:adobe(1000)", [0.02, 0.025, 0.03, 0.035], size=1000, batches=80, seed=5)
    first = log.opened(1000, 50)
    assert log.opened(1000) + 2 <= first  # the conversions are what it waits for
    assert all(uniform(counts) for counts in log.counts[:first])
    for batch in range(first, len(log)):
        n, rates = log.pulls[batch], log.wins[batch] / log.pulls[batch]
        leader = rates.argmax()
        limits = rates + 1.96 * np.sqrt(rates * (1 - rates) / n)
        limits[leader] = -1
        shares = np.full(4, 0.05)
        shares[[leader, limits.argmax()]] += 0.4
        assert as_expected(log.counts[batch], shares, np.inf)


def test_braze():
    log = Played("preset:braze(500, most=100000)", [0.3, 0.31, 0.33], size=500, batches=200, seed=6)

    def sure(batch):
        """How sure one is before a batch that nothing beats the leader by more than 1 %."""
        draws = log.beta_draws(batch)
        leader = draws[:, shares_won(draws).argmax()]
        return np.mean(draws.max(axis=1) <= 1.01 * leader)

    for batch in range(len(log)):
        assert sure(batch) < 0.95
        assert as_expected(log.counts[batch], log.likely_best(batch))
    assert 2 < len(log) < 200
    assert sure(len(log)) >= 0.95


def test_eppo():
    log = Played("preset:eppo(300, gamma=20)", [0.2, 0.4, 0.5], size=300, batches=40, seed=7)
    assert uniform(log.counts[0])
    for batch in range(1, len(log)):
        means = log.wins[batch] / log.pulls[batch]
        shares = 1 / (3 + 20 * (means.max() - means))
        shares[means.argmax()] = 0
        shares[means.argmax()] = 1 - shares.sum()
        assert as_expected(log.counts[batch], shares, np.inf)
    assert not uniform(log.counts[-1])


def test_vowpal_wabbit():
    log = Played("preset:vowpal_wabbit", [0.2, 0.4, 0.6], size=1, batches=6000, seed=8)
    means = log.wins[3:-1] / log.pulls[3:-1]
    best = means == means.max(axis=1, keepdims=True)
    others = np.sum(~(best & (log.counts[3:] > 0)).any(axis=1))
    assert as_expected(np.array([others, len(best) - others]), [0.05 * 2 / 3, 1 - 0.05 * 2 / 3], np.inf)


def test_ax():
    log = Played("preset:ax(500, below=0.1)", [0.3, 0.31, 0.33, 0.35], size=500, batches=40, seed=9)
    assert uniform(log.counts[0])
    dropped = 0
    for batch in range(1, len(log)):
        n, means = log.pulls[batch], log.wins[batch] / log.pulls[batch]
        draws = np.random.default_rng(batch).normal(means, np.sqrt(means * (1 - means) / (n - 1)), (DRAWS, 4))
        shares = shares_won(draws)
        if np.abs(shares - 0.1).min() < Z * 0.003:  # 10,000 draws do not say on which side it is
            continue
        kept = np.where(shares > 0.1, shares, 0)
        assert as_expected(log.counts[batch], kept / kept.sum(), 10_000)
        dropped += np.sum(kept == 0)
    assert dropped > 20
