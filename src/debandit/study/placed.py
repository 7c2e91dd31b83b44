"""How far off means are by an arm's place in its experiment."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from debandit.engine.data import Floats
from debandit.engine.places import LEADS, NOWHERE, Places
from debandit.simulation import Runs
from debandit.tables import Row

if TYPE_CHECKING:
    pass

NAIVE, CORRECTED, QUOTED = VALUES = ("naive", "auto", "quoted")
PLACES = {"leader": "best-looking arm", "most_pulled": "most pulled arm", "others": "arms that do not lead"}
TOGETHER, FIXED = "all arms together", "a fixed arm"
GROUPS = (*PLACES.values(), TOGETHER, FIXED)


def by_place(experiments: Runs, errors: Floats) -> dict[str, Floats]:
    """Errors of shape (experiments, arms) and their squares for each place, NaN for arms that do not have it."""
    found = Places.of(experiments.pulls, experiments.means)
    leads, nowhere = found.place == LEADS, found.place == NOWHERE
    members: dict[str, NDArray[np.bool_]] = {
        "leader": leads,
        "most_pulled": found.most_pulled,
        "others": ~leads & ~nowhere,
    }
    return {
        name: values
        for place, which in members.items()
        for name, values in (
            (f"error@{place}", np.where(which, errors, np.nan)),
            (f"squared_error@{place}", np.where(which, errors**2, np.nan)),
        )
    }


@dataclass(frozen=True)
class Placed:
    """What came out of one setting, by group of arms and by value."""

    off: dict[tuple[str, str], float]  # |mean error| / RMSE of the naive mean
    rmse: dict[tuple[str, str], float]  # RMSE / RMSE of the naive mean


def placed(rows: Sequence[Row]) -> Placed:
    """The errors of a setting, from its rows; those of a fixed arm are averages over the arms."""
    tables: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for row in rows:
        tables.setdefault((row["quantity"], row["method"]), []).append((row["value"], row["n"]))
    found = Placed({}, {})
    kinds = {f"_of_{place}": name for place, name in PLACES.items()} | {"": TOGETHER}
    for value in VALUES:
        for ending, group in kinds.items():
            naive = math.sqrt(_pooled(tables["mse" + ending, NAIVE]))
            found.off[group, value] = abs(_pooled(tables["bias" + ending, value])) / naive
            found.rmse[group, value] = math.sqrt(_pooled(tables["mse" + ending, value])) / naive
        bias, mse, naive_mse = (
            np.array(tables[key])[:, 0] for key in (("bias", value), ("mse", value), ("mse", NAIVE))
        )
        found.off[FIXED, value] = float((np.abs(bias) / np.sqrt(naive_mse)).mean())
        found.rmse[FIXED, value] = float(np.sqrt(mse / naive_mse).mean())
    return found


def _pooled(parts: Sequence[tuple[float, int]]) -> float:
    """The mean over the experiments of all arms, from those of each arm."""
    return sum(value * n for value, n in parts) / sum(n for _, n in parts)
