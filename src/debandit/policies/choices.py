"""How likely each arm is to be chosen: the index rules of `RuleData` as probabilities instead of draws."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from debandit.engine.data import FIRST, LAST, Floats, Ints, RuleData

OFFSETS = np.linspace(-8.5, 8.5, 8)  # in standard deviations; a draw is farther out with probability 2e-17
NODES, WEIGHTS = np.polynomial.legendre.leggauss(14)
NODES_AT_ONCE = 2**16  # numbers per array, so that they stay in the cache


def index_probabilities(rule: RuleData, t: ArrayLike, pulls: ArrayLike, sums: ArrayLike) -> Floats:
    """P(arm chosen in round t | totals before it), of shape (..., K) like the totals; t may have their leading axes."""
    return after_opening(rule.opening, t, pulls, sums, lambda rounds, n, s: _free(rule, rounds, n, s))


def after_opening(
    opening: int, t: ArrayLike, pulls: ArrayLike, sums: ArrayLike, free: Callable[[Any, Any, Floats], Floats]
) -> Floats:
    """Certainty in the forced initial rounds, `free(t, pulls, sums)` with totals of shape (rounds, K) after them."""
    n, s = np.asarray(pulls), np.asarray(sums, dtype=np.float64)
    arm_count = n.shape[-1]
    rounds = np.broadcast_to(np.asarray(t), n.shape[:-1]).reshape(-1)
    later = np.flatnonzero(rounds >= opening * arm_count)
    chances = certain(np.minimum(rounds // max(opening, 1), arm_count - 1), arm_count)
    counts, totals = n.reshape(-1, arm_count), s.reshape(-1, arm_count)
    if len(later) == len(rounds):  # the common case, without copies
        chances = free(rounds, counts, totals)
    elif len(later):
        chances[later] = free(rounds[later], counts[later], totals[later])
    return chances.reshape(n.shape)


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


def _free(rule: RuleData, t: Ints, pulls: Ints, sums: Floats) -> Floats:
    """After the opening. The order of operations is that of `engine.index`, so that ties are the same ties."""
    pulls = pulls.astype(np.int64, copy=False)
    location, width = _location_and_width(rule, pulls, sums)
    if rule.noisy:
        chances = highest_draw(location, width)
    else:
        level = rule.level[t][:, None] if len(rule.level) else 0.0
        chances = winners(location + level * width, rule.ties)
        if rule.hold:
            committed = pulls > rule.opening
            first = certain(np.argmax(committed, axis=-1), pulls.shape[-1])
            chances = np.where(committed.any(axis=-1, keepdims=True), first, chances)
    if len(rule.explore):
        explore = rule.explore[t][:, None]
        chances = explore / pulls.shape[-1] + (1 - explore) * chances
    return chances


def _location_and_width(rule: RuleData, pulls: Ints, sums: Floats) -> tuple[Floats, Floats]:
    weight = pulls + rule.prior_pulls
    location: Floats = np.divide(sums + rule.prior_sum, weight, out=np.zeros(sums.shape), where=weight > 0)
    return location, rule.width[pulls] if len(rule.width) else np.zeros(sums.shape)


def index_scores(rule: RuleData, t: Ints, pulls: Ints, sums: Floats) -> Floats:
    """The scores (..., T, K) whose highest wins in the rounds t; NaN where the choice is forced or goes by draws."""
    location, width = _location_and_width(rule, pulls, sums)
    scores = location + (rule.level[t][:, None] if len(rule.level) else 0.0) * width
    if rule.hold:
        committed = pulls > rule.opening
        scores = np.where(committed.any(axis=-1, keepdims=True) & ~committed, -np.inf, scores)
    forced = (t < rule.opening * pulls.shape[-1])[:, None]
    return np.where(forced | rule.noisy, np.nan, scores)


def highest_draw(location: Floats, width: Floats) -> Floats:
    """P(arm k has the highest of independent normal draws)."""
    return (highest_of_two_normals if location.shape[-1] == 2 else highest_normal)(location, width)


def highest_of_two_normals(location: Floats, width: Floats) -> Floats:
    """Two arms: the difference of two normal draws is one normal draw."""
    from scipy.special import ndtr

    gap = (location[:, 1] - location[:, 0]) / np.maximum(np.hypot(width[:, 0], width[:, 1]), 1e-150)
    return np.stack([ndtr(-gap), ndtr(gap)], axis=-1)


def highest_normal(location: Floats, width: Floats) -> Floats:
    """P_k = int f_k(x) prod_{j != k} F_j(x) dx for normal draws, whatever their widths.

    Every arm puts breakpoints 2.4 standard deviations apart around itself, so that between two neighbouring ones of
    all of them each factor is either smooth on that scale or constant, and Gauss-Legendre with few nodes is exact.
    Below the lowest breakpoint of any arm that arm has no draws, so that none is the highest: there is nothing to add.
    """
    width = np.maximum(width, 1e-150)
    breaks = location[..., None] + width[..., None] * OFFSETS
    lowest = breaks[..., 0].max(axis=-1, keepdims=True)
    breaks = np.sort(np.maximum(breaks.reshape(len(location), -1), lowest), axis=-1)
    panels = (breaks > lowest).sum(axis=-1)
    order = np.argsort(panels, kind="stable")
    chances = np.empty(location.shape)
    start = 0
    while start < len(order):  # rows that need about as many nodes go together
        most = panels[order[min(start + 63, len(order) - 1)]]
        size = max(1, NODES_AT_ONCE // (location.shape[-1] * most * len(NODES)))
        rows = order[start : start + min(size, 64)]
        chances[rows] = _highest_normal(location[rows], width[rows], breaks[rows, -1 - most :])
        start += len(rows)
    return chances


def _highest_normal(location: Floats, width: Floats, breaks: Floats) -> Floats:
    from scipy.special import ndtr

    half = np.diff(breaks) / 2
    x = ((breaks[:, :-1] + half)[..., None] + half[..., None] * NODES).reshape(len(location), 1, -1)
    weights = (half[..., None] * WEIGHTS).reshape(len(location), 1, -1)
    z = (x - location[..., None]) / width[..., None]
    density = np.exp(-0.5 * z * z) / (np.sqrt(2 * np.pi) * width[..., None])
    chances: Floats = (weights * density * product_of_others(ndtr(z))).sum(axis=-1)
    return chances


def product_of_others(factors: Floats) -> Floats:
    """For every k the product over j != k along axis 1, without dividing: factors may be 0."""
    product, after = np.ones(factors.shape), np.ones(factors[:, 0].shape)
    for arm in range(1, factors.shape[1]):  # ten times as fast as cumprod
        np.multiply(product[:, arm - 1], factors[:, arm - 1], out=product[:, arm])
    for arm in range(factors.shape[1] - 1, 0, -1):
        after *= factors[:, arm]
        product[:, arm - 1] *= after
    return product


def unwrapped(opening: int, shape: tuple[int, ...], arm_count: int) -> tuple[Ints, Ints]:
    """Of logs of shape (..., T): the arms that are `prescribed`, elsewhere -1, and the rounds `known` before each.

    For a rule without wrappers: its initial pulls, and all rounds before.
    """
    rounds = np.arange(shape[-1])
    forced = np.where(rounds < opening * arm_count, rounds // max(opening, 1), -1)
    return np.broadcast_to(forced, shape), rounds


def before(arms: np.ndarray, rewards: Floats, arm_count: int) -> tuple[Ints, Floats]:
    """Each arm's pulls and sum before every round, of shape (..., T, K), added up as the engine does."""
    taken = arms[..., None] == np.arange(arm_count)
    pulls = np.zeros(taken.shape, np.int64)
    sums = np.zeros(taken.shape)
    np.cumsum(taken[..., :-1, :], axis=-2, out=pulls[..., 1:, :])
    np.cumsum(np.where(taken, rewards[..., None], 0.0)[..., :-1, :], axis=-2, out=sums[..., 1:, :])
    return pulls, sums


def totals_at(arms: np.ndarray, rewards: Floats, arm_count: int, rounds: Ints) -> tuple[Ints, Floats]:
    """`before` in some rounds only, in rising order; the sums are added up in another order."""
    paths, values = arms.reshape(-1, arms.shape[-1]), rewards.reshape(-1, arms.shape[-1])
    step = np.searchsorted(rounds, np.arange(arms.shape[-1]), side="right")  # the first of these rounds that knows it
    shape = (len(paths), len(rounds) + 1, arm_count)
    cell = ((np.arange(len(paths))[:, None] * shape[1] + step) * arm_count + paths).ravel()
    totals = [np.bincount(cell, weights, int(np.prod(shape))).reshape(shape) for weights in (None, values.ravel())]
    outer = (*arms.shape[:-1], len(rounds), arm_count)
    pulls, sums = (total.cumsum(axis=1)[:, :-1].reshape(outer) for total in totals)
    return pulls.astype(np.int64), sums


def variances_before(arms: np.ndarray, rewards: Floats, arm_count: int) -> Floats:
    """Each arm's variance (divisor n) before every round, of shape (..., T, K), updated as in the engine."""
    horizon = arms.shape[-1]
    paths, values = arms.reshape(-1, horizon), rewards.reshape(-1, horizon)
    rows = np.arange(len(paths))
    pulls, means, deviations = np.zeros((3, len(paths), arm_count))
    variances = np.zeros((len(paths), horizon, arm_count))
    for t in range(horizon):
        np.divide(deviations, pulls, out=variances[:, t], where=pulls > 0)
        at = rows, paths[:, t]
        pulls[at] += 1
        gap = values[:, t] - means[at]
        means[at] += gap / pulls[at]
        deviations[at] += gap * (values[:, t] - means[at])
    return variances.reshape(*arms.shape, arm_count)
