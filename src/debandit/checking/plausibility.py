"""Randomised rules: are the choices as random as the rule would have it, no more and no less?

The probability integral transform turns each choice into a number that is uniform if the rule made it: the arms share
the interval [0, 1] by their probabilities, the likeliest first, and a random point is taken in the share of the logged
arm. These numbers are then independent, whatever the rewards were, so that uniform numbers drawn at random show how a
statistic of them comes out under the rule. That is exact for the distance from uniformity. The likelihood ratios also
depend on the probabilities, which are held as they were although other choices would have led to others; what this
does to the level is measured in tests/laws/test_check_rates.py: nothing that can be seen.
"""

from typing import NamedTuple

import numpy as np

from debandit.checking.chosen import IMPOSSIBLE, Choices
from debandit.checking.counts import smallest_share
from debandit.engine.data import Floats, Ints
from debandit.replay import forced

DRAWS, MORE_DRAWS, PROMISING = 199, 1999, 0.1  # more only if the few leave a p-value below 0.1
OTHERWISE = "are spread over likely and unlikely arms in another way"


class Plausibility(NamedTuple):
    """How the choices of a log look under a rule."""

    p_value: float
    departure: str  # the most extreme of what was looked for
    log_likelihood: float
    expected: float  # of the log-likelihood, given the past of every round


def judge(found: Choices, rng: np.random.Generator) -> Plausibility:
    """Compare the logged choices with others, drawn with the probabilities that the rule had in each round."""
    chances = shares(np.where(found.chances < IMPOSSIBLE, 0.0, found.chances))  # 1e-310 divides badly
    free = ~forced(chances.max(axis=-1))
    chances, chosen = chances[free], found.arms[free]
    logs = np.log(chances, out=np.zeros(chances.shape), where=chances > 0)
    likelihood, expected = logs[np.arange(len(chosen)), chosen].sum(), (chances * logs).sum()
    if not len(chosen):
        return Plausibility(1.0, "", 0.0, 0.0)
    again = {"repeat the arm of the round before more than the rule": shares(chances * (1 + _previous(found)[free]))}
    others = rivals(chances, found.means[free]) | again
    order = np.argsort(-chances, axis=-1, kind="stable")
    ratios = np.stack([log_ratio(rival, chances) for rival in others.values()])
    by_rank = np.take_along_axis(chances, order, axis=-1), np.take_along_axis(ratios, order[None], axis=-1)
    logged = np.argmax(order == chosen[:, None], axis=-1)
    p_value, worst = smallest_share(_statistics(*by_rank, logged, DRAWS, rng))
    if p_value < PROMISING:
        p_value, worst = smallest_share(_statistics(*by_rank, logged, MORE_DRAWS, rng))
    return Plausibility(p_value, [*others, OTHERWISE][worst], float(likelihood), float(expected))


def rivals(chances: Floats, means: Floats) -> dict[str, Floats]:
    """What else may have made the choices, as probabilities: likelihood ratios against these are the best tests."""
    arm_count = chances.shape[-1]
    highest = np.argmax(np.where(np.isnan(means), np.inf, means), axis=-1)  # an arm without a pull comes first
    return {
        "explore more than the rule": shares(np.sqrt(chances)),
        "explore less than the rule": shares(chances**2),
        "follow the highest mean more than the rule": 0.95 * np.eye(arm_count)[highest] + 0.05 / arm_count,
    }


def shares(weights: Floats) -> Floats:
    """Weights as probabilities."""
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _previous(found: Choices) -> Floats:
    """1 for the arm of the round before."""
    return np.asarray(found.previous[:, None] == np.arange(found.chances.shape[-1]), dtype=np.float64)


def log_ratio(rival: Floats, chances: Floats) -> Floats:
    """What each choice adds to the log-likelihood ratio."""
    ratios = np.divide(rival, chances, out=np.ones(chances.shape), where=(chances > 0) & (rival > 0))
    return np.log(ratios).round(12)  # what is 0 but for rounding is no statistic


def _statistics(chances: Floats, ratios: Floats, logged: Ints, draws: int, rng: np.random.Generator) -> Floats:
    """Log-likelihood ratios and the distance from uniformity, of shape (rivals + 1, 1 + draws); column 0 is the log's.

    The arms are in the order of their probabilities in each round, and `logged` is the rank of the logged one.
    """
    rows, ends = np.arange(len(chances)), chances.cumsum(axis=-1)
    uniforms = rng.random((1 + draws, len(chances)))
    uniforms[0] = ends[rows, logged] - uniforms[0] * chances[rows, logged]
    totals = np.repeat(ratios[..., 0].sum(axis=-1)[:, None], 1 + draws, axis=1)
    for rank in range(chances.shape[-1] - 1):
        beyond = (uniforms > ends[:, rank]).astype(np.float64)
        totals += (ratios[..., rank + 1] - ratios[..., rank]) @ beyond.T
    totals[:, 0] = ratios[:, rows, logged].sum(axis=-1)
    return np.concatenate([totals.round(9), _anderson_darling(uniforms)[None]])  # equal choices, equal statistics


def _anderson_darling(uniforms: Floats) -> Floats:
    """Distance of each row from uniformity, up to a constant; sensitive where the unlikely choices are."""
    ordered = np.sort(uniforms, axis=-1)
    weights = (2 * np.arange(1, ordered.shape[-1] + 1) - 1).astype(np.float32)
    below, above = (np.log(np.maximum(part, 1e-12).astype(np.float32)) for part in (ordered, 1 - ordered))  # for speed
    return -(below @ weights + above @ weights[::-1]).astype(np.float64)
