"""The probability that an arm has the highest of independent draws, by Gauss-Legendre on panels.

An arm k has it with P_k = int f_k(x) prod_{j != k} F_j(x) dx. Every f_j is nearly a polynomial on panels of its own,
and so the F_j are integrals of the f_j on the way. Rows, each with its own arms, are the last axis of every array here:
the others are short, and numpy is fast along a long one.
"""

from collections.abc import Callable

import numpy as np

from debandit.engine.data import Floats

NODES, WEIGHTS = np.polynomial.legendre.leggauss(14)
NODES_AT_ONCE = 2**15  # numbers per array, so that they stay in the cache
ROWS_AT_ONCE = (16, 256)  # at least and at most
NOTHING = 1e-13  # of an arm's draws lie below the panels: rounding, for up to thousands of pulls
ARMS_AT_ONCE = 2**18  # whose panels are kept


def _integrals(nodes: Floats) -> Floats:
    """The matrix that turns values at the nodes into integrals of their polynomial from -1 to each node."""
    from numpy.polynomial import legendre

    of_legendre = [legendre.legval(nodes, legendre.legint(one, lbnd=-1)) for one in np.eye(len(nodes))]
    matrix: Floats = np.transpose(of_legendre) @ np.linalg.inv(legendre.legvander(nodes, len(nodes) - 1))
    return matrix


INTEGRALS = _integrals(NODES)


def highest(mass: Floats, before: Floats | None = None) -> Floats:
    """The chances of all arms (K, rows), from f times half the panel's length at its nodes (K, panels, nodes, rows).

    `before` (K, rows) is F where the panels begin; None: what is not in them lies there.
    """
    of_panel = WEIGHTS @ mass
    if before is None:
        before = 1 - of_panel.sum(axis=1)
        before[before < NOTHING] = 0.0
    below = INTEGRALS @ mass
    below += (before[:, None] + of_panel.cumsum(axis=1) - of_panel)[:, :, None]
    others = product_of_others(below)
    others *= mass
    chances: Floats = np.maximum((WEIGHTS @ others).sum(axis=1), 0.0)  # an F of 0 may be rounded below it
    return chances


def product_of_others(factors: Floats) -> Floats:
    """The product over all j != k along the first axis, for every k, without dividing: factors may be 0."""
    product, last = np.empty(factors.shape), len(factors) - 1
    product[0] = 1.0
    for arm in range(last):  # ten times as fast as cumprod
        np.multiply(product[arm], factors[arm], out=product[arm + 1])
    after = factors[last].copy()
    for arm in range(last - 1, -1, -1):
        product[arm] *= after
        after *= factors[arm]
    return product


def nodes_of(ends: Floats) -> tuple[Floats, Floats, Floats]:
    """Half the length of each panel, its middle, and how far from there its nodes are (panels, nodes, rows)."""
    half = np.diff(ends, axis=0) / 2
    return half, ends[:-1] + half, half[:, None] * NODES[:, None]


def common_panels(ends: Floats, start: Floats, many: int) -> Floats:
    """Ends of panels (P + 1, rows), from `start` on, that suit all arms of a row, given those of each (m, K, rows).

    One lies inside a panel of each arm, or in two of them and is no longer than either. So it is as smooth there as
    the arm's own panels are, and the panels of many arms are few. The product of more than `many` factors bends
    more, and panels are halved. Shorter rows repeat their last end.
    """
    arms = ends[0].size
    wall = np.full((1, *ends.shape[1:]), np.inf)
    following = np.concatenate([ends, wall])
    lengths = np.concatenate([np.zeros(wall.shape), np.diff(ends, axis=0), wall, wall])
    room = np.minimum(lengths[:-1], lengths[1:])
    place = (ends <= start).sum(axis=0) * arms + np.arange(arms).reshape(wall.shape[1:])
    x, last = start, ends[-1].max(axis=0)
    found = [x]
    while (x < last).any():
        allowed = np.maximum(following.take(place), x + room.take(place))
        x = np.minimum(allowed.min(axis=0), last)
        found.append(x)
        for _ in range(2):  # ends that it may have passed
            place += arms * (following.take(place) <= x)
    panels = np.stack(found)
    if ends.shape[1] <= many:
        return panels
    halves = np.repeat(panels, 2, axis=0)[:-1]
    halves[1::2] = (panels[:-1] + panels[1:]) / 2
    return halves


def by_panels(panels: Callable[..., Floats], chances: Callable[..., Floats], one: Floats, two: Floats) -> Floats:
    """chances(one, two, ends) of all rows (rows, K), where ends = panels(one, two).

    Rows with as many panels go together.
    """
    one, two = one.T.copy(), two.T.copy()
    found, many = np.empty(one.shape), max(1, ARMS_AT_ONCE // len(one))
    fewest, most_rows = ROWS_AT_ONCE
    for block in range(0, one.shape[1], many):
        ends = panels(one[:, block : block + many], two[:, block : block + many])
        counts = (ends < ends[-1]).sum(axis=0)
        order, start = np.argsort(counts, kind="stable"), 0
        while start < len(order):
            most = counts[order[min(start + most_rows, len(order)) - 1]]
            size = max(fewest, NODES_AT_ONCE // (len(one) * max(most, 1) * len(NODES)))
            some = order[start : start + min(size, most_rows)]
            rows = block + some
            found[:, rows] = chances(one[:, rows], two[:, rows], ends[: most + 1, some])
            start += len(some)
    return found.T.copy()
