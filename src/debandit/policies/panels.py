"""The probability that an arm has the highest of independent draws, by Gauss-Legendre on panels.

An arm k has it with P_k = int f_k(x) prod_{j != k} F_j(x) dx. Every f_j is nearly a polynomial on panels of its own,
and so the F_j are integrals of the f_j on the way.
"""

from collections.abc import Callable

import numpy as np

from debandit.engine.data import Floats

NODES, WEIGHTS = np.polynomial.legendre.leggauss(14)
MANY = 8  # arms: the product of more factors bends more, and panels are halved
NODES_AT_ONCE = 2**16  # numbers per array, so that they stay in the cache
ARMS_AT_ONCE = 2**18  # whose panels are kept


def _integrals(nodes: Floats) -> Floats:
    """The matrix that turns values at the nodes into integrals of their polynomial from -1 to each node."""
    from numpy.polynomial import legendre

    of_legendre = [legendre.legval(nodes, legendre.legint(one, lbnd=-1)) for one in np.eye(len(nodes))]
    matrix: Floats = np.transpose(of_legendre) @ np.linalg.inv(legendre.legvander(nodes, len(nodes) - 1))
    return matrix


INTEGRALS = _integrals(NODES).T.copy()


def highest(mass: Floats, before: Floats) -> Floats:
    """The chances of all arms (rows, K), from f times half the panel's length at its nodes (rows, K, panels, nodes).

    `before` (rows, K) is F where the panels begin.
    """
    of_panel = mass @ WEIGHTS
    below = (before[..., None] + of_panel.cumsum(axis=-1) - of_panel)[..., None] + mass @ INTEGRALS
    mass = mass * product_of_others(below)
    chances: Floats = (mass @ WEIGHTS).sum(axis=-1)
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


def nodes_of(ends: Floats) -> tuple[Floats, Floats]:
    """Half the length of each panel, and its nodes."""
    half = np.diff(ends) / 2
    return half, (ends[:, :-1] + half)[..., None] + half[..., None] * NODES


def common_panels(ends: Floats, start: Floats) -> Floats:
    """Ends of panels (rows, P + 1), from `start` on, that suit all arms of a row, given those of each (rows, K, m).

    One lies inside a panel of each arm, or in two of them and is no longer than either. So it is as smooth there as
    the arm's own panels are, and the panels of many arms are few. Shorter rows repeat their last end.
    """
    rows, arms, count = ends.shape
    wall = np.full((rows, arms, 1), np.inf)
    following = np.concatenate([ends, wall], axis=-1)
    lengths = np.concatenate([np.zeros(wall.shape), np.diff(ends), wall, wall], axis=-1)
    room = np.minimum(lengths[..., :-1], lengths[..., 1:]).ravel()
    place = (ends <= start[:, None, None]).sum(axis=-1) + (count + 1) * np.arange(rows * arms).reshape(rows, arms)
    following, x, last = following.ravel(), start, ends[..., -1].max(axis=-1)
    found = [x]
    while (x < last).any():
        allowed = np.maximum(following[place], x[:, None] + room[place])
        x = np.minimum(allowed.min(axis=-1), last)
        found.append(x)
        for _ in range(2):  # ends that it may have passed
            place += following[place] <= x[:, None]
    panels = np.stack(found, axis=-1)
    if ends.shape[1] <= MANY:
        return panels
    halves = np.repeat(panels, 2, axis=-1)[:, :-1]
    halves[:, 1::2] = (panels[:, :-1] + panels[:, 1:]) / 2
    return halves


def by_panels(panels: Callable[..., Floats], chances: Callable[..., Floats], one: Floats, two: Floats) -> Floats:
    """chances(one, two, ends) of all rows, where ends = panels(one, two); rows with as many panels go together."""
    found, many = np.empty(one.shape), max(1, ARMS_AT_ONCE // one.shape[-1])
    for block in range(0, len(one), many):
        ends = panels(one[block : block + many], two[block : block + many])
        counts = (ends < ends[:, -1:]).sum(axis=-1)
        order, start = np.argsort(counts, kind="stable"), 0
        while start < len(order):
            most = counts[order[min(start + 63, len(order) - 1)]]
            size = max(1, NODES_AT_ONCE // (one.shape[-1] * max(most, 1) * len(NODES)))
            some = order[start : start + min(size, 64)]
            rows = block + some
            found[rows] = chances(one[rows], two[rows], ends[some, : most + 1])
            start += len(some)
    return found
