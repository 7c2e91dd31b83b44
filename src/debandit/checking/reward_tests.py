"""Is the world believable? Debiasing assumes that an arm's rewards are independent and their law does not change.

A bandit stops pulling an arm when its rewards were low, so the last rewards of a sequence are no fair sample, and no
exact test is known to us. Those used here hold their level nearly: measured rates are in docs/check.md.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from debandit.engine.data import Floats, Ints
from debandit.log import Batches, ExperimentLog
from debandit.log_parts import in_pieces
from debandit.periods import OWN, Drift, cells_of, drift_of, slices_of

FEWEST_PULLS = 10
SUSPICIOUS = 0.05  # where no arm's own test is below it, nothing is ever said of drift in a log without batches


class RewardTest(NamedTuple):
    """What a test says of one arm's rewards."""

    arm: str
    correlation: float
    p_value: float  # for all arms and kinds of tests together


class RewardTests(NamedTuple):
    """The most extreme arm of each kind; None if no arm has enough pulls of different rewards."""

    drift: RewardTest | None
    dependence: RewardTest | None
    moves: Drift | None = None  # from batch to batch; without batches from slice to slice of time, if an arm drifts
    in_batches: bool = False

    def kind(self, level: float) -> str:
        """Which kind of drift there is at this level: common to all arms, of single ones, or none.

        Slices of time are no batches: they only tell which kind of drift an arm is part of.
        """
        drifts = self.drift is not None and self.drift.p_value < level
        found = self.moves.kind(level) if self.moves and (self.in_batches or drifts) else ""
        return found or (OWN if drifts else "")


def examine_rewards(log: ExperimentLog, batch_sizes: Sequence[int] = ()) -> RewardTests:
    """Correlate every arm's rewards with time, and with the arm's reward before; of batches only with time.

    The batches are the log's own, or have these sizes.
    """
    tests, batched = _of_arms(log), bool(log.batch_sizes or batch_sizes)
    if not batched and (tests.drift is None or tests.drift.p_value >= SUSPICIOUS):
        return tests
    cells = cells_of(log, batch_sizes or slices_of(log))
    moves = None if cells is None else drift_of(cells, log.binary)
    return tests._replace(moves=moves, in_batches=batched)


def _of_arms(log: ExperimentLog) -> RewardTests:
    if log.batches is not None:
        return RewardTests(_drift_over_batches(log, log.batches), None)
    if log.rounds is None:
        return RewardTests(None, None)
    drifts, dependences = _correlations(log.rounds.arms, log.rounds.rewards, log.pulls, np.nan_to_num(log.means))
    tested = np.flatnonzero((log.pulls >= FEWEST_PULLS) & (log.variances > 0))
    found = [
        [RewardTest(log.labels[arm], r[arm], p_value(r[arm], int(log.pulls[arm]), 2 * len(tested))) for arm in tested]
        for r, p_value in ((drifts.tolist(), _p_value), (dependences.tolist(), _p_value_of_dependence))
    ]
    drift, dependence = (min(each, key=lambda test: test.p_value, default=None) for each in found)
    return RewardTests(drift, dependence)


def _correlations(arms: Ints, rewards: Floats, pulls: Ints, means: Floats) -> tuple[Floats, Floats]:
    """The correlations of each arm's rewards with time and with the arm's reward before, in pieces of the log."""
    when, times, drift, squares, products, last = np.zeros((6, len(pulls)))
    for piece in in_pieces(len(arms)):
        np.add.at(when, arms[piece], np.arange(piece.start, piece.stop, dtype=np.float64))
    middle = when / np.maximum(pulls, 1)
    for piece in in_pieces(len(arms)):
        order = np.argsort(arms[piece], kind="stable")  # the rewards of an arm one after the other
        arm = arms[piece][order]
        time, error = piece.start + order - middle[arm], rewards[piece][order] - means[arm]
        starts = np.append(True, np.diff(arm) > 0)
        before = np.where(starts, last[arm], np.append(0.0, error[:-1]))
        last[arm[np.append(starts[1:], True)]] = error[np.append(starts[1:], True)]
        for total, added in ((times, time**2), (drift, time * error), (squares, error**2), (products, before * error)):
            np.add.at(total, arm, added)
    with np.errstate(invalid="ignore", divide="ignore"):
        return drift / np.sqrt(times * squares), products / squares


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


def _p_value(r: float, count: int, tests: int) -> float:
    """The t-test of the slope."""
    from debandit.special import stdtr

    t = abs(r) * np.sqrt((count - 2) / max(1 - r * r, 1e-300))
    return min(1.0, tests * 2 * float(stdtr(count - 2, -t)))


def _p_value_of_dependence(r: float, count: int, tests: int) -> float:
    """The first autocorrelation is -1/n on average and varies by about 1/n if there is no dependence."""
    from debandit.special import ndtr

    return min(1.0, tests * 2 * float(ndtr(-abs(r + 1 / count) * np.sqrt(count))))
