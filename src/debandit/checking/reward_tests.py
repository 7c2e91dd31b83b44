"""Is the world believable? Debiasing assumes that an arm's rewards are independent and their law does not change.

A bandit stops pulling an arm when its rewards were low, so the last rewards of a sequence are no fair sample, and no
exact test is known to us. The two used here hold their level nearly: measured rates are in docs/check.md.
"""

from typing import NamedTuple

import numpy as np

from debandit.engine.data import Floats, Ints
from debandit.log import Batches, ExperimentLog

FEWEST_PULLS = 10


class RewardTest(NamedTuple):
    """What a test says of one arm's rewards."""

    arm: str
    correlation: float
    p_value: float  # for all arms and kinds of tests together


class RewardTests(NamedTuple):
    """The most extreme arm of each kind; None if no arm has enough pulls of different rewards."""

    drift: RewardTest | None
    dependence: RewardTest | None


def examine_rewards(log: ExperimentLog) -> RewardTests:
    """Correlate every arm's rewards with time, and with the arm's reward before; of batches only with time."""
    if log.batches is not None:
        return RewardTests(_drift_over_batches(log, log.batches), None)
    if log.rounds is None:
        return RewardTests(None, None)
    rounds = [np.flatnonzero(log.rounds.arms == arm) for arm in range(len(log.labels))]
    series = [(label, at, log.rounds.rewards[at]) for label, at in zip(log.labels, rounds, strict=True)]
    series = [(label, at, values) for label, at, values in series if len(at) >= FEWEST_PULLS and np.ptp(values) > 0]
    tests = 2 * len(series)
    drifts = [RewardTest(label, *_drift(at, values, tests)) for label, at, values in series]
    dependences = [RewardTest(label, *_dependence(values, tests)) for label, _, values in series]
    return RewardTests(*(min(each, key=lambda test: test.p_value, default=None) for each in (drifts, dependences)))


def _drift_over_batches(log: ExperimentLog, batches: Batches) -> RewardTest | None:
    """The arm whose rewards are the most correlated with the number of their batch.

    The batches' pulls, means and variances are enough for that: it is what their rewards would give.
    """
    pulls, means = batches.pulls.astype(np.float64), np.nan_to_num(batches.means)
    counts = np.maximum(pulls.sum(axis=0), 1)
    numbers = np.arange(len(pulls))[:, None] - (np.arange(len(pulls)) @ pulls / counts)
    errors = means - (pulls * means).sum(axis=0) / counts
    times, products = (pulls * numbers**2).sum(axis=0), (pulls * numbers * errors).sum(axis=0)
    squares = (pulls * (np.nan_to_num(batches.variances) + errors**2)).sum(axis=0)
    tested = np.flatnonzero((counts >= FEWEST_PULLS) & (times > 0) & (squares > 0))
    correlations = {arm: float(products[arm] / np.sqrt(times[arm] * squares[arm])) for arm in tested}
    found = [
        RewardTest(log.labels[arm], r, _p_value(r, int(counts[arm]), len(tested))) for arm, r in correlations.items()
    ]
    return min(found, key=lambda test: test.p_value, default=None)


def _drift(rounds: Ints, rewards: Floats, tests: int) -> tuple[float, float]:
    r = float(np.corrcoef(rounds, rewards)[0, 1])
    return r, _p_value(r, len(rewards), tests)


def _p_value(r: float, count: int, tests: int) -> float:
    """The t-test of the slope."""
    from debandit.special import stdtr

    t = abs(r) * np.sqrt((count - 2) / max(1 - r * r, 1e-300))
    return min(1.0, tests * 2 * float(stdtr(count - 2, -t)))


def _dependence(rewards: Floats, tests: int) -> tuple[float, float]:
    """The first autocorrelation, which is -1/n on average and varies by about 1/n if there is no dependence."""
    from debandit.special import ndtr

    count, deviations = len(rewards), rewards - rewards.mean()
    r = float(deviations[1:] @ deviations[:-1] / (deviations @ deviations))
    return r, min(1.0, tests * 2 * float(ndtr(-abs(r + 1 / count) * np.sqrt(count))))
