"""Is the world believable? Debiasing assumes that an arm's rewards are independent and their law does not change.

A bandit stops pulling an arm when its rewards were low, so the last rewards of a sequence are no fair sample, and no
exact test is known to us. The two used here hold their level nearly: measured rates are in docs/check.md.
"""

from typing import NamedTuple

import numpy as np

from debandit.engine.data import Floats, Ints
from debandit.log import ExperimentLog

FEWEST_PULLS = 10


class RewardTest(NamedTuple):
    """What a test says of one arm's rewards."""

    arm: str
    correlation: float
    p_value: float  # for all arms and both kinds of tests together


class RewardTests(NamedTuple):
    """The most extreme arm of each kind; None if no arm has enough pulls of different rewards."""

    drift: RewardTest | None
    dependence: RewardTest | None


def examine_rewards(log: ExperimentLog) -> RewardTests:
    """Correlate every arm's rewards with time, and with the arm's reward before."""
    if log.rounds is None:
        return RewardTests(None, None)
    rounds = [np.flatnonzero(log.rounds.arms == arm) for arm in range(len(log.labels))]
    series = [(label, at, log.rounds.rewards[at]) for label, at in zip(log.labels, rounds, strict=True)]
    series = [(label, at, values) for label, at, values in series if len(at) >= FEWEST_PULLS and np.ptp(values) > 0]
    tests = 2 * len(series)
    drifts = [RewardTest(label, *_drift(at, values, tests)) for label, at, values in series]
    dependences = [RewardTest(label, *_dependence(values, tests)) for label, _, values in series]
    return RewardTests(*(min(each, key=lambda test: test.p_value, default=None) for each in (drifts, dependences)))


def _drift(rounds: Ints, rewards: Floats, tests: int) -> tuple[float, float]:
    """The t-test of the slope."""
    from debandit.special import stdtr

    freedom = len(rewards) - 2
    r = float(np.corrcoef(rounds, rewards)[0, 1])
    t = abs(r) * np.sqrt(freedom / max(1 - r * r, 1e-300))
    return r, min(1.0, tests * 2 * float(stdtr(freedom, -t)))


def _dependence(rewards: Floats, tests: int) -> tuple[float, float]:
    """The first autocorrelation, which is -1/n on average and varies by about 1/n if there is no dependence."""
    from debandit.special import ndtr

    count, deviations = len(rewards), rewards - rewards.mean()
    r = float(deviations[1:] @ deviations[:-1] / (deviations @ deviations))
    return r, min(1.0, tests * 2 * float(ndtr(-abs(r + 1 / count) * np.sqrt(count))))
