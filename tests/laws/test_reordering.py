"""Rao-Blackwell is unbiased: exactly by enumeration where experiments are small, within errors where they are not."""

import functools
import itertools
from collections import defaultdict

import numpy as np
import oracle
import pytest
from catalogue import Z, z_scores

import debandit as db
from debandit.estimators import rao_blackwell

HORIZON = 7
SMALL = {
    "ucb": (db.UCB(), oracle.ucb()),
    "ucb-last": (db.UCB(c=0.5, initial_pulls=2, ties="last"), oracle.ucb(0.5, 2, "last")),
    "etc": (db.ExploreThenCommit(pulls=2), oracle.etc(2)),
    "greedy": (db.Greedy(), oracle.greedy()),
}


def played(rule, tapes):
    """The numbers of pulls of a rule that gets the n-th value of an arm's tape at its n-th pull."""
    places = [iter(tape) for tape in tapes]
    path, _, _ = oracle.play(rule, oracle.Wrapping(), 2, HORIZON, lambda t, arm: next(places[arm]), None)
    return tuple(np.bincount(path, minlength=2).tolist())


@functools.cache
def orders(name):
    """{(pulls, wins): orders of both arms' rewards with which the rule makes these numbers of pulls}."""
    rule, found = SMALL[name][1], defaultdict(set)
    for tapes in itertools.product(itertools.product((0.0, 1.0), repeat=HORIZON), repeat=2):
        pulls = played(rule, tapes)
        seen = tuple(tape[:n] for tape, n in zip(tapes, pulls, strict=True))
        found[pulls, tuple(map(sum, seen))].add(seen)
    return found


def averages(name):
    """{(pulls, wins): the mean over these orders of the mean of each arm's forced pulls}."""
    forced = SMALL[name][0].opening
    return {
        key: np.mean([[np.mean(arm[:forced]) for arm in seen] for seen in every], axis=0)
        for key, every in orders(name).items()
    }


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("truth", [(0.4, 0.55), (0.9, 0.2)])
def test_no_bias_by_enumeration(name, truth):
    """Every order of the observed rewards has the same chance; its numbers of pulls say how many losses it has."""
    estimates, mean, naive = averages(name), np.zeros(2), np.zeros(2)
    for (pulls, wins), every in orders(name).items():
        chance = len(every) * np.prod([p**w * (1 - p) ** (n - w) for p, w, n in zip(truth, wins, pulls, strict=True)])
        mean += chance * estimates[pulls, wins]
        naive += chance * np.array(wins) / pulls
    assert np.abs(mean - truth).max() < 1e-12
    assert np.abs(naive - truth).max() > 1e-3  # control


@pytest.mark.parametrize("name", SMALL)
def test_walks_visit_all_orders_alike(name):
    """Logs with many orders and a sample mean that is far off, which is the control."""
    policy, rule = SMALL[name]
    exact, every = averages(name), orders(name)
    far = [key for key in every if np.abs(np.divide(*key[::-1]) - exact[key]).max() > 0.05]
    for pulls, wins in sorted(far, key=lambda key: -len(every[key]))[:3]:
        tapes = min(every[pulls, wins])
        places = [iter(tape) for tape in tapes]
        path, rewards, _ = oracle.play(
            rule, oracle.Wrapping(), 2, HORIZON, lambda t, arm, places=places: next(places[arm]), None
        )
        found = rao_blackwell(db.ExperimentLog(path, rewards, labels=[0, 1]), policy, runs=40_000, seed=7)
        difference = found.value - exact[pulls, wins]
        assert (np.abs(difference) <= Z * found.se + 1e-12).all()
        off = np.abs(np.array(wins) / pulls - exact[pulls, wins])
        assert (off / np.maximum(found.se, 1e-12)).max() > 2 * Z


@pytest.mark.parametrize("policy", [db.UCB(), db.ExploreThenCommit(pulls=10)], ids=str)
def test_unbiased_with_a_hundred_rounds(policy):
    """Short walks will do: they scatter more, but start from the log's own order and are unbiased for that."""
    truth, logs = np.array([1.0, 1.2]), 300
    runs = db.simulate(policy, db.worlds.Normal(truth, [1.0, 1.0]), horizon=100, runs=logs, seed=12, paths=True)
    values = np.array([rao_blackwell(runs.log(i), policy, runs=512 * 4, seed=i).value for i in range(logs)])

    def z(errors):
        return np.abs(z_scores(errors.mean(axis=0), errors.std(axis=0) / np.sqrt(logs)))

    assert z(values - truth).max() < Z
    assert z(runs.means - truth).max() > 1.5 * Z  # control
