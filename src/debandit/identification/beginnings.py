"""How an experiment may have begun before its rule was asked: with an even split, or with turns."""

import math
from typing import NamedTuple

import numpy as np

from debandit.engine.data import Floats, Ints
from debandit.policies import Gate, Policy, WarmUp

RARE = math.log(50)  # the charge for each thing around a rule
FEWEST_TURNS = 2  # one turn of each arm is the same as one initial pull


class Beginning(NamedTuple):
    """How an experiment began: with so many stretches in which the rule was not asked."""

    stretches: int
    rounds: int = 0  # with an even split, of a warm-up
    gate: int = 0  # or until every arm had this many pulls
    turns: int = 0  # or pulls of each arm in turn
    log_likelihood: float = 0.0  # of these stretches
    charge: float = 0.0

    def around(self, policy: Policy) -> Policy:
        """The rule with this beginning."""
        if self.gate:
            return Gate(policy, pulls=self.gate)
        return WarmUp(policy, rounds=self.rounds, pulls=self.turns) if self.stretches else policy


def of_rounds(arm_count: int, least: Ints, turns: int) -> list[Beginning]:
    """Round numbers of rounds, or of pulls of each arm; and as many turns as there are.

    Before each round the arm with the fewest pulls had at `least` so many.
    """
    half, even = len(least) // 2, -math.log(arm_count)
    found = [Beginning(n, rounds=n, log_likelihood=n * even, charge=_charge(n)) for n in _round_numbers(half)]
    for n in _round_numbers(int(least[half])):
        opens = int(np.searchsorted(least, n))
        found.append(Beginning(opens, gate=n, log_likelihood=opens * even, charge=_charge(n)))
    if FEWEST_TURNS <= turns <= half // arm_count:
        found.append(Beginning(turns * arm_count, turns=turns, charge=_charge(turns)))
    return found


def of_batches(ends: Ints, even: Floats, least: Ints) -> list[Beginning]:
    """Whole batches, or so many pulls of each arm that the gate opens after a whole batch.

    If the split is `even` batches have these log-likelihoods; before each, the arm with the fewest pulls had `least`.
    """
    found = []
    for batches, likelihood in enumerate(even.cumsum()[: len(ends) // 2].tolist(), 1):
        end = int(ends[batches - 1])
        found.append(Beginning(batches, rounds=end, log_likelihood=likelihood, charge=_charge(batches)))
        low, high = least[batches - 1 : batches + 1].tolist()
        if high > low and batches > 1:  # after the first batch a gate and a warm-up are the same
            pulls = int(roundest(low + 0.5, high + 0.5))
            found.append(Beginning(batches, gate=pulls, log_likelihood=likelihood, charge=_charge(pulls)))
    return found


def roundest(low: float, high: float) -> float:
    """The number with the fewest digits between two: people choose round numbers."""
    if high == np.inf:
        high = 4 * low if low > 0 else 2.0
    middle = (low + high) / 2
    for digits in range(1, 17):
        value = float(f"{middle:.{digits}g}")
        if low < value < high:
            return value
    return middle


def _round_numbers(most: int) -> list[int]:
    """Those of one or two digits, and zeros, up to this."""
    scales = [10**power for power in range(len(str(max(most, 1))))]
    return sorted({n * scale for scale in scales for n in range(1, 100) if n * scale <= most})


def _charge(number: int) -> float:
    """Each digit more makes a number ten times less likely beforehand."""
    return RARE + len(str(number).rstrip("0")) * math.log(10)
