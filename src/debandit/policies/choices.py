"""How likely each arm is to be chosen: the index rules of `RuleData` as probabilities instead of draws."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from debandit.engine.conditions import FREE, Conditions
from debandit.engine.data import FIRST, LAST, Floats, Ints, Rounds, RuleData
from debandit.policies.normal_draws import highest_draw

Free = Callable[[Ints, Ints, Floats], Floats]  # (t, pulls, sums) -> chances, where the choice is free


def chances_under(conditions: Conditions, t: ArrayLike, pulls: ArrayLike, sums: ArrayLike, free: Free) -> Floats:
    """P(arm chosen in round t | totals before it), of shape (..., K) like the totals; t may have their leading axes."""
    n, s = np.asarray(pulls), np.asarray(sums, dtype=np.float64)
    rounds = np.broadcast_to(np.asarray(t), n.shape[:-1])
    prescribed = conditions.prescribed(rounds, n, n, s)
    asked, chances = prescribed == FREE, np.zeros(n.shape)
    if asked.any():
        chances[asked] = free(rounds[asked], n[asked], s[asked])
    return conditions.planned(chances, prescribed, rounds)


def winners(scores: Floats, ties: int) -> Floats:
    """The chances (..., K) of arms of which the highest score wins."""
    arm_count = scores.shape[-1]
    if ties == FIRST:
        return certain(np.argmax(scores, axis=-1), arm_count)
    highest = scores == scores.max(axis=-1, keepdims=True)
    if ties == LAST:
        return certain(arm_count - 1 - np.argmax(highest[..., ::-1], axis=-1), arm_count)
    return np.asarray(highest / np.maximum(highest.sum(axis=-1, keepdims=True), 1))  # none where there are no scores


def certain(arms: Ints, arm_count: int) -> Floats:
    """Probability 1 for the given arms."""
    return np.eye(arm_count)[arms]


def index_chances(rule: RuleData, t: Rounds, pulls: Ints, sums: Floats) -> Floats:
    """The chances (..., K) where the choice is free, in rounds t."""
    location, width = _location_and_width(rule, pulls, sums)
    chances = highest_draw(location, width) if rule.noisy else winners(_scores(rule, t, location, width), rule.ties)
    if rule.explore is not None:
        explore = rule.explore(np.asarray(t))[..., None]
        chances = explore / pulls.shape[-1] + (1 - explore) * chances
    return chances


def index_scores(rule: RuleData, t: Rounds, pulls: Ints, sums: Floats) -> Floats:
    """The scores (..., K) whose highest wins; NaN where the choice goes by draws."""
    scores = _scores(rule, t, *_location_and_width(rule, pulls, sums))
    return np.full(scores.shape, np.nan) if rule.noisy else scores


def _location_and_width(rule: RuleData, pulls: Ints, sums: Floats) -> tuple[Floats, Floats]:
    """The order of operations is that of the compiled loop, so that ties are the same ties."""
    weight = pulls + rule.prior_pulls
    location: Floats = np.divide(sums + rule.prior_sum, weight, out=np.zeros(sums.shape), where=weight > 0)
    return location, np.zeros(sums.shape) if rule.width is None else rule.width(pulls)


def _scores(rule: RuleData, t: Rounds, location: Floats, width: Floats) -> Floats:
    return location + (0.0 if rule.level is None else rule.level(np.asarray(t))[..., None]) * width
