"""How likely each arm is to be chosen: the index rules of `RuleData` as probabilities instead of draws."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from debandit.engine.data import Floats, Ints, RuleData

OFFSETS = np.linspace(-8.5, 8.5, 12)  # in standard deviations; a draw is farther out with probability 2e-17
NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)
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
        arms = np.argmax(location + level * width, axis=-1)
        if rule.hold:
            committed = pulls > rule.opening
            arms = np.where(committed.any(axis=-1), np.argmax(committed, axis=-1), arms)
        chances = certain(arms, pulls.shape[-1])
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

    Every arm puts breakpoints 1.5 standard deviations apart around itself, so that between two neighbouring ones of
    all of them each factor is either smooth on that scale or constant, and Gauss-Legendre with few nodes is exact.
    """
    width = np.maximum(width, 1e-150)
    rows_at_once = max(1, NODES_AT_ONCE // (location.shape[-1] ** 2 * len(OFFSETS) * len(NODES)))
    parts = [
        _highest_normal(location[start : start + rows_at_once], width[start : start + rows_at_once])
        for start in range(0, len(location), rows_at_once)
    ]
    return np.concatenate(parts) if parts else np.empty(location.shape)


def _highest_normal(location: Floats, width: Floats) -> Floats:
    from scipy.special import ndtr

    breaks = np.sort((location[..., None] + width[..., None] * OFFSETS).reshape(len(location), -1), axis=-1)
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


def before(arms: np.ndarray, rewards: Floats, arm_count: int) -> tuple[Ints, Floats]:
    """Each arm's pulls and sum before every round, of shape (..., T, K), added up as the engine does."""
    taken = arms[..., None] == np.arange(arm_count)
    pulls = np.zeros(taken.shape, np.int64)
    sums = np.zeros(taken.shape)
    np.cumsum(taken[..., :-1, :], axis=-2, out=pulls[..., 1:, :])
    np.cumsum(np.where(taken, rewards[..., None], 0.0)[..., :-1, :], axis=-2, out=sums[..., 1:, :])
    return pulls, sums


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
