"""What is added up over runs."""

from typing import NamedTuple

import numpy as np

from debandit.engine.control_variates import Fit, fit, fit_best, fit_differences, rare_run
from debandit.engine.data import Floats, Ints
from debandit.engine.features import PULLED


class Tally(NamedTuple):
    """What `tally` adds up over runs, for each world and arm. See `features` for what is multiplied."""

    runs: Ints  # (W,)
    pull_totals: Floats  # (W, K)
    moments: Floats  # (W, K, 2, F, F) in even and in odd runs
    histogram: Ints  # (W, K, bins) of the mean
    difference_sums: Floats  # (W, K, 3) number, sum and squares of errors; all 0 without controls, as what follows
    cross: Floats  # (W, K, 2, F, F)
    winner: Floats  # (W, 2, F, F)
    controls: Ints  # (W, K) the arm that each is compared with, or (W, 0)

    @property
    def pulled(self) -> Ints:
        """Runs that pulled the arm at least once (W, K)."""
        return np.asarray(self.moments[..., PULLED, PULLED].sum(axis=-1), np.int64)

    @property
    def arms(self) -> Fit:
        """The bias of each arm over the runs that pulled it (W, K); NaN if none did."""
        return fit(self.moments, self.rare)

    @property
    def bias(self) -> Floats:
        """Of each arm, mean of estimate minus truth."""
        return self.arms.bias

    @property
    def bias_se(self) -> Floats:
        """Its Monte-Carlo standard error; NaN with too few runs."""
        return self.arms.se

    @property
    def differences(self) -> tuple[Floats, Floats]:
        """Bias of each arm's difference to its control over the runs that pulled both, and its error (W, K)."""
        return fit_differences(self.runs, self.arms, self.controls, self.cross, self.difference_sums)

    @property
    def best(self) -> Fit:
        """The bias of the highest mean, whichever arm has it (W,)."""
        return fit_best(self.winner, self.rare.mean(axis=1))

    @property
    def rare(self) -> Floats:
        """What a run that was not seen may be like (W, K, 2, F, F)."""
        return rare_run(self.moments, self.pull_totals)
