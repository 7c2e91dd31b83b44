"""The parts of a result; arrays have one value per arm, NaN where there is none."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Histogram(NamedTuple):
    """One arm's simulated means in equal bins from low to high; what lies beyond is in the first or last bin."""

    low: float
    high: float
    counts: NDArray[np.int64]


class Path(NamedTuple):
    """The experiment, thinned for pictures: pulls and running means (NaN before the first pull) at some rounds."""

    rounds: NDArray[np.int64]  # (P,), counted from 1
    pulls: NDArray[np.int64]  # (arms, P)
    means: Floats  # (arms, P)


class Winner(NamedTuple):
    """The arm that looks best, and the bias of the highest mean, whichever arm has it: the winner's curse.

    Attributes
    ----------
    arm : str
        The arm.
    naive, bias, bias_se, corrected : float
        Its mean, the bias of the highest mean with its Monte-Carlo standard error, and the mean without it.
    low, high : float
        Limits that know that the arm was selected; NaN where there are none.
    """

    arm: str
    naive: float
    bias: float
    bias_se: float
    corrected: float
    low: float = math.nan
    high: float = math.nan


class Differences(NamedTuple):
    """Each arm's difference to another arm; NaN for the control itself, and where there is none.

    Attributes
    ----------
    to : tuple of str
        The named control, or of the other arms the one that looks best in the log.
    naive, quoted, corrected : array of float
        The difference of the naive, the quoted and the corrected means.
    bias, bias_se : array of float
        The bias of the naive difference, and its Monte-Carlo standard error.
    low, high : array of float
        Limits of the difference.
    p_value : array of float
        Of no difference, by runs in worlds in which there is none; with a named control only.
    p_adjusted : array of float
        By Holm's method, for all arms together.
    lift, lift_low, lift_high : array of float
        What the arm's quoted mean has more than the other's, as a share of it, and its limits.
    """

    to: tuple[str, ...]
    naive: Floats
    quoted: Floats
    bias: Floats
    bias_se: Floats
    corrected: Floats
    low: Floats
    high: Floats
    p_value: Floats
    p_adjusted: Floats
    lift: Floats
    lift_low: Floats
    lift_high: Floats


class Replays(NamedTuple):
    """How the orders of the rewards were visited, with the method rao-blackwell; see docs/rao-blackwell.md.

    Attributes
    ----------
    walks, steps : int
        Walks through the orders, and steps of each.
    acceptance : float
        The share of the steps after which the policy still made the same numbers of pulls.
    effective : array of float
        As good as this many independent orders; NaN where all have the same value.
    """

    walks: int
    steps: int
    acceptance: float
    effective: Floats
