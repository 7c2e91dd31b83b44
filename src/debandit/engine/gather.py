"""What is kept of finished runs that do not come from the compiled loop: `collect` in numpy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from debandit.engine.data import Floats, Ints, Wanted, WorldData
from debandit.engine.features import ERROR, PULLED, described


def gather(
    wanted: Wanted,
    unit: int,
    first: int,
    places: slice,
    world: WorldData,
    index: int,
    pulls: NDArray[Any],
    sums: Floats,
    martingales: Floats,
) -> None:
    """Store runs first, ..., of shape (count, K), of one unit and played in world `index`, or add them up."""
    if wanted.runs:
        wanted.pulls[places], wanted.sums[places] = pulls, sums
    if not wanted.tallies:
        return
    means = sums / np.maximum(pulls, 1)
    rows = slice(index * pulls.shape[1], (index + 1) * pulls.shape[1])
    features = described(pulls, sums, world.means[rows], world.variances[rows], martingales)
    if not wanted.martingales:
        features[..., ERROR + 1 :] = 0.0
    wanted.pull_totals[unit] += pulls.sum(axis=0)
    halves = (first + np.arange(len(pulls))) % 2
    wanted.moments[unit] += _products(features, features, halves)
    if bins := wanted.histogram.shape[2]:
        low, high = wanted.edges[index].T
        at = np.clip((means - low) / (high - low) * bins, 0, bins - 1).astype(np.int64)
        for arm in range(pulls.shape[1]):
            wanted.histogram[unit, arm] += np.bincount(at[pulls[:, arm] > 0, arm], minlength=bins)
    if wanted.controls.shape[1]:
        best = np.argmax(np.where(pulls > 0, means, -np.inf), axis=1)
        _compare_runs(wanted, unit, wanted.controls[index], features, best, halves)


def _products(one: Floats, two: Floats, halves: Ints) -> Floats:
    """(runs, K, F) times (runs, K, F), added up over the even and over the odd runs: (K, 2, F, F)."""
    return np.stack([np.einsum("rki,rkj->kij", one[halves == h], two[halves == h]) for h in (0, 1)], axis=1)


def _compare_runs(wanted: Wanted, unit: int, controls: Ints, features: Floats, best: Ints, halves: Ints) -> None:
    other = features[:, controls]
    wanted.cross[unit] += _products(features, other, halves)
    both = (features[..., PULLED] * other[..., PULLED]) > 0
    errors = np.where(both, features[..., ERROR] - other[..., ERROR], 0.0)
    wanted.difference_sums[unit] += np.stack((both, errors, errors * errors), axis=-1).sum(axis=0)
    top = features.sum(axis=1)
    top[:, PULLED], top[:, ERROR] = 1.0, features[np.arange(len(best)), best, ERROR]
    wanted.winner[unit] += _products(top[:, None], top[:, None], halves)[0]
