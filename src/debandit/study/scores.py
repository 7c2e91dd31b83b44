"""Bias and error of the methods that `study accuracy` compares, in one setting and on average over many."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from debandit.engine.data import Floats
from debandit.study.measured import Average
from debandit.study.population import family_of
from debandit.tables import Row

NAIVE, MB, DEFAULT = METHODS = ("naive", "gaussian", "auto")
ENOUGH = 10  # settings that a z needs


@dataclass(frozen=True)
class Score:
    """What came out of one setting, by method."""

    family: str
    rule: str
    arms: int
    index: Mapping[str, float]  # mean over arms of |bias| / RMSE of the naive mean
    by_chance: Mapping[str, float]  # the index that an unbiased estimate with this error would be expected to show
    rmse: Mapping[tuple[str, str], float]  # mean over arms of RMSE / RMSE, of a method and of what it is compared with


def score(rows: Sequence[Row]) -> Score:
    """Of the rows of one setting."""
    found: dict[tuple[str, str], dict[int, tuple[float, float]]] = defaultdict(dict)
    for row in rows:
        found[row["method"], row["quantity"]][row["arm"]] = row["value"], row["se"]
    bias, error, squared = {}, {}, {}
    for method in METHODS:
        bias[method], error[method] = np.array(list(found[method, "bias"].values())).T
        squared[method] = np.array(list(found[method, "mse"].values())).T[0]
    return Score(
        family_of(rows[0]["world"]),
        rows[0]["rule"].partition("(")[0],
        len(bias[NAIVE]),
        {method: bias_index(bias[method], squared[NAIVE]) for method in METHODS},
        {method: math.sqrt(2 / math.pi) * bias_index(error[method], squared[NAIVE]) for method in METHODS},
        {(one, two): rmse_ratio(squared[one], squared[two]) for one, two in product(METHODS, repeat=2)},
    )


def bias_index(bias: Floats, naive_mse: Floats) -> float:
    """The mean over arms of |bias| / RMSE of the naive mean."""
    return float((np.abs(bias) / np.sqrt(naive_mse)).mean())


def rmse_ratio(mse: Floats, other_mse: Floats) -> float:
    """The mean over arms of the ratio of the RMSEs."""
    return float(np.sqrt(mse / other_mse).mean())


@dataclass(frozen=True)
class Group:
    """Settings of a kind, and what is said of them on average; standard errors are those of a sample of settings."""

    scores: Sequence[Score]

    def index(self, method: str) -> Average:
        """The bias index."""
        return Average.of(each.index[method] for each in self.scores)

    def difference(self) -> Average:
        """Of the bias indices, default minus MB, setting by setting."""
        return Average.of(each.index[DEFAULT] - each.index[MB] for each in self.scores)

    def rmse(self, method: str, other: str) -> Average:
        """The ratio of the RMSEs."""
        return Average.of(each.rmse[method, other] for each in self.scores)

    def row(self) -> Row:
        """A line of a table."""
        difference = self.difference()
        return {
            "settings": len(self.scores),
            **{f"index_{method}": str(self.index(method)) for method in METHODS},
            "difference": str(difference),
            "z": difference.value / difference.se if len(self.scores) >= ENOUGH else None,
            "less_bias": np.mean([each.index[DEFAULT] < each.index[MB] for each in self.scores]),
            "mb_to_naive": str(self.rmse(MB, NAIVE)),
            "to_naive": f"{self.rmse(DEFAULT, NAIVE)} ({max(each.rmse[DEFAULT, NAIVE] for each in self.scores):.3f})",
            "to_mb": str(self.rmse(DEFAULT, MB)),
        }
