"""The probability that an arm has the highest of independent normal draws."""

import numpy as np

from debandit.engine.data import Floats

OFFSETS = np.linspace(-8.5, 8.5, 8)  # in standard deviations; a draw is farther out with probability 2e-17
NODES, WEIGHTS = np.polynomial.legendre.leggauss(14)
NODES_AT_ONCE = 2**16  # numbers per array, so that they stay in the cache


def highest_draw(location: Floats, width: Floats) -> Floats:
    """P(arm k has the highest of independent normal draws), for locations and widths of shape (..., K)."""
    arm_count = location.shape[-1]
    chances = highest_of_two_normals if arm_count == 2 else highest_normal
    return chances(location.reshape(-1, arm_count), width.reshape(-1, arm_count)).reshape(location.shape)


def highest_of_two_normals(location: Floats, width: Floats) -> Floats:
    """Two arms: the difference of two normal draws is one normal draw."""
    from debandit.special import ndtr

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
    from debandit.special import ndtr

    half = np.diff(breaks) / 2
    x = ((breaks[:, :-1] + half)[..., None] + half[..., None] * NODES).reshape(len(location), 1, -1)
    weights = (half[..., None] * WEIGHTS).reshape(len(location), 1, -1)
    z = (x - location[..., None]) / width[..., None]
    density = np.exp(-0.5 * z * z) / (np.sqrt(2 * np.pi) * width[..., None])
    chances: Floats = (weights * density * product_of_others(ndtr(z))).sum(axis=-1)
    return chances


def product_of_others(factors: Floats) -> Floats:
    """The product over all j != k along axis 1, for every k, without dividing: factors may be 0."""
    product, after = np.ones(factors.shape), np.ones(factors[:, 0].shape)
    for arm in range(1, factors.shape[1]):  # ten times as fast as cumprod
        np.multiply(product[:, arm - 1], factors[:, arm - 1], out=product[:, arm])
    for arm in range(factors.shape[1] - 1, 0, -1):
        after *= factors[:, arm]
        product[:, arm - 1] *= after
    return product
