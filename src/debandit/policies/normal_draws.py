"""The probability that an arm has the highest of independent normal draws."""

import numpy as np

from debandit.engine.data import Floats, Ints
from debandit.policies.panels import by_panels, common_panels, highest, nodes_of

# The ends of an arm's panels in standard deviations: the error is below 1e-12, and a draw is farther out with 1e-16.
OFFSETS = np.array([-8.3, -2.8, 0.0, 2.8, 8.3])
FARTHEST = 34.0  # standard deviations; where doubles underflow, exp is forty times as slow
MANY = 8  # arms: more need shorter panels
FAR = 1e6  # times the smallest width: for locations beyond it rounding would blur the panels


def highest_draw(location: Floats, width: Floats) -> Floats:
    """P(arm k has the highest of independent normal draws), for locations and widths of shape (..., K)."""
    arm_count = location.shape[-1]
    chances = highest_of_two_normals if arm_count == 2 else highest_normal
    return chances(location.reshape(-1, arm_count), width.reshape(-1, arm_count)).reshape(location.shape)


def leads_within(share: float, arms: Ints, location: Floats, width: Floats, above: float = 0.0) -> Floats:
    """P(no normal draw is higher than that of the given arm by more than a share of it), for every row of arms.

    That is the chance of the arm to be the highest if its draws were larger by this share; 0 for one around 0 or below.
    Where it is below `above` for the strongest rival alone, that is enough.
    """
    from debandit.special import ndtr

    leads = np.arange(location.shape[-1]) == arms[:, None]
    larger = np.where(leads, 1 + share, 1.0)
    location, width = location * larger, width * larger
    of_leader, its_width = location[leads][:, None], width[leads][:, None]
    ahead = (of_leader - location) / np.maximum(np.hypot(its_width, width), 1e-150)
    chances: Floats = np.where(of_leader[:, 0] > 0, ndtr(np.where(leads, np.inf, ahead).min(axis=-1)), 0.0)
    rows = np.flatnonzero((of_leader[:, 0] > 0) & (chances >= above))
    chances[rows] = highest_draw(location[rows], width[rows])[leads[rows]]
    return chances


def highest_of_two_normals(location: Floats, width: Floats) -> Floats:
    """Two arms: the difference of two normal draws is one normal draw."""
    from debandit.special import ndtr

    gap = (location[:, 1] - location[:, 0]) / np.maximum(np.hypot(width[:, 0], width[:, 1]), 1e-150)
    return np.stack([ndtr(-gap), ndtr(gap)], axis=-1)


def highest_normal(location: Floats, width: Floats) -> Floats:
    """P_k = int f_k(x) prod_{j != k} F_j(x) dx for normal draws, whatever their widths.

    Every arm has four panels around itself, on which Gauss-Legendre with few nodes is exact.
    Below the lowest end of any arm that arm has no draws, so that none is the highest: there is nothing to add.
    """
    width = np.maximum(width, 1e-150)
    start = (location + OFFSETS[0] * width).max(axis=-1, keepdims=True)
    far = np.abs(location).max(axis=-1, keepdims=True) > FAR * width.min(axis=-1, keepdims=True)
    return by_panels(_panels, _highest_normal, location - np.where(far, start, 0.0), width)


def _panels(location: Floats, width: Floats) -> Floats:
    ends = location + width * OFFSETS[:, None, None]
    return common_panels(ends, ends[0].max(axis=0), MANY)


def _highest_normal(location: Floats, width: Floats, ends: Floats) -> Floats:
    from debandit.special import ndtr

    half, middle, steps = nodes_of(ends)
    inverse = 1 / width[:, None]
    z = steps * inverse[:, :, None]  # of shape (arms, panels, nodes, rows)
    z += ((middle - location[:, None]) * inverse)[:, :, None]
    np.clip(z, -FARTHEST, FARTHEST, out=z)
    mass = np.multiply(z, z, out=z)
    mass *= -0.5
    np.exp(mass, out=mass)
    mass *= (half * inverse / np.sqrt(2 * np.pi))[:, :, None]
    return highest(mass, ndtr((ends[0] - location) / width))
