"""What a run says of an arm: that it was pulled, the error of its mean, and four sums that are 0 on average.

With e the error (reward minus truth) of a pull and n the arm's pulls up to and with it, the four are the sums of e, of
e / n, of e (sum of earlier e) / n, and of (e^2 - variance) / n. Each term is 0 on average whatever happened before, and
so is each sum, whatever the rule: they are martingales, and serve as control variates (see `control_variates`). Where
several pulls are drawn at once, e is the sum of their errors. An arm that was not pulled has zeros.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from debandit.engine.data import Floats

PULLED, ERROR, TOTAL = 0, 1, 2  # the first features; the four sums begin with that of the errors
DIMENSIONS = np.array([0, 1, 1, 1, 2, 2])  # of features: powers of the unit in which rewards are measured


def described(pulls: NDArray[Any], sums: Floats, truth: Floats, variances: Floats, martingales: Floats) -> Floats:
    """The features (runs, K, F) of runs of shape (runs, K), of which all but the first sum are given (3, runs, K)."""
    errors = np.where(pulls > 0, sums / np.maximum(pulls, 1) - truth, 0.0)
    features = np.stack([pulls > 0, errors, sums - pulls * truth, *martingales], axis=-1)
    features[:, variances == 0, ERROR:] = 0.0  # what differs from the truth is rounding
    return features


def terms(count: Any, errors: Floats, earlier: Floats, pulls: NDArray[Any], variance: Any) -> Floats:
    """Of all but the first sum (3, ...): of `count` pulls with total `errors` after `earlier` ones, then `pulls`."""
    share = 1.0 / np.maximum(pulls, 1)
    return np.stack((share * errors, share * errors * earlier, share * (errors * errors - count * variance)))
