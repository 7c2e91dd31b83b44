"""When an experiment is decided: from then on an arm gets everything, or the experiment ends.

It is judged before each batch, or each round without batches, by what the rule has heard of: by failures always, by the
rule's chances only where the first choice of the batch is the rule's own.
"""

from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from debandit.engine.data import Floats, Ints

By = Literal["share", "probability", "value_remaining", "failures"]
Which = NDArray[np.bool_]
UNDECIDED, EITHER = -1, -2
CONFIDENCE = 0.95  # with which no arm is better than the leader by more than the value that remains
ROUNDING = 1e-9
Z = 4.5  # standard errors that shares of draws may be off


class Leading(Protocol):
    """What must be known of a rule whose experiment is decided by the value that remains."""

    def leads_within(self, share: float, arms: Ints, pulls: Ints, sums: Floats, above: float = 0.0) -> Floats:
        """P(no mean is higher than that of arms (n,) by more than a share of it), for totals (n, K); of shape (n,).

        Where it is surely below `above`, any number from it to there will do.
        """


class Known(NamedTuple):
    """What is known before a batch in each of n runs, or before n batches of one log (n, K)."""

    heard: Ints | Floats  # pulls of which the rule has heard
    sums: Floats
    own: Floats | None = None  # the rule's chances; None: only failures are looked at
    chances: Floats | None = None  # what wrappers made of them
    present: Which | bool = True  # the arms that are there, (K,) or (n, K)

    def under(self, held: Ints) -> "Known":
        """The same where an arm may be held that gets everything, unless it is not there any more."""
        return self if self.chances is None else self._replace(chances=committed(held, self.chances, self.present))


def committed(held: Ints, chances: Floats, present: Which | bool = True) -> Floats:
    """The chances (..., K) where an arm may be held that gets everything, unless it is not there any more."""
    certain = (np.arange(chances.shape[-1]) == held[..., None]) & present
    return np.where(certain.any(axis=-1, keepdims=True), certain, chances)


class Decision(NamedTuple):
    """The threshold by which an experiment is decided."""

    by: By
    threshold: float

    @property
    def by_chances(self) -> bool:
        """Whether one must know what the rule is about to do."""
        return self.by != "failures"

    @property
    def least(self) -> float:
        """What must be reached."""
        return CONFIDENCE if self.by == "value_remaining" else self.threshold

    def favoured(self, rule: Leading, known: Known) -> Ints:
        """The arm in whose favour it is decided, or UNDECIDED (n,)."""
        arms, reached = self.reached(rule, known, self.least - ROUNDING)
        return np.where(reached >= self.least - ROUNDING, arms, UNDECIDED)

    def reached(self, rule: Leading, known: Known, above: float = 0.0) -> tuple[Ints, Floats]:
        """The arm that is the nearest to having it decided in its favour, and how far, or less than `above` (n,)."""
        if known.own is None or known.chances is None:
            return self._failures(known)
        values = known.chances if self.by == "share" else known.own
        leaders, chance = np.argmax(values, axis=-1), values.max(axis=-1)
        if self.by == "value_remaining":  # who is surely the best surely leads within any share
            open_ = np.flatnonzero((chance < CONFIDENCE) & (chance > 0))
            heard, sums = known.heard[open_].astype(np.int64), known.sums[open_]
            chance[open_] = rule.leads_within(self.threshold, leaders[open_], heard, sums, above)
        return leaders, chance

    def _failures(self, known: Known) -> tuple[Ints, Floats]:
        """The best of the arms that have not failed so often is favoured, or of all arms if all have."""
        failures = np.asarray(known.heard - known.sums, np.float64)
        failed = failures >= self.threshold - ROUNDING
        means = np.where(known.heard > 0, known.sums / np.maximum(known.heard, 1), -1.0)
        means = np.where(failed & ~failed.all(axis=-1, keepdims=True), -2.0, means)
        return np.argmax(means, axis=-1), failures.max(axis=-1)

    def lacking(self, reached: float) -> str:
        """Why it is not decided, in words."""
        return {
            "share": f"the highest share is {reached:.4g}, and {self.least:g} is needed",
            "probability": f"the highest probability of being the best is {reached:.4g}, and {self.least:g} is needed",
            "value_remaining": f"the probability that no arm is better than the leader by more than "
            f"{100 * self.threshold:g} % is {reached:.4g}, and {self.least:g} is needed",
            "failures": f"no arm has more than {reached:,.0f} failures, and {self.least:,.0f} are needed",
        }[self.by]


class Course:
    """How far the decisions have come in runs that are played side by side."""

    def __init__(self, commits: Decision | None, stops: Decision | None, runs: int) -> None:
        self._commits, self._stops = commits, stops
        self.held = np.full(runs, UNDECIDED)  # the arm that gets everything
        self.over: Which = np.zeros(runs, np.bool_)

    def judge(self, rule: Leading, runs: Ints, known: Known, free: Which | bool = True) -> Floats:
        """Judge these runs, if they are `free`, by failures unless the chances are known; what becomes of these."""
        by_chances = known.own is not None
        if self._commits is not None and self._commits.by_chances == by_chances:
            new = free & (self.held[runs] == UNDECIDED)
            self.held[runs] = np.where(new, self._commits.favoured(rule, known), self.held[runs])
        known = known.under(self.held[runs])
        if self._stops is not None and self._stops.by_chances == by_chances:
            self.over[runs] |= free & (self._stops.favoured(rule, known) != UNDECIDED)
        return known.sums if known.chances is None else known.chances

    def settled(self, present: Which) -> Which:
        """The runs in which the rule need not be asked any more, if these arms are there."""
        asked = self._stops is not None and self._stops.by_chances
        return np.asarray(self.over | ((self.held != UNDECIDED) & present[self.held] & (not asked)))


class Logged(NamedTuple):
    """What decides about a log: the moments (n,) at which it is judged, in their order."""

    known: Known
    free: Which  # (n,) those at which the next choice is the rule's own
    taken: Ints  # (n,) the arm that got all of the following batch; UNDECIDED: several; EITHER: the log ends there
    draws: int = 0  # the rule's chances were the shares of this many draws, so that they are not known exactly

    def course(self, commits: Decision | None, stops: Decision | None, rule: Leading) -> tuple[Ints, Which, str]:
        """The arm that is held in each batch (n,), which batches would not have been (n,), and why not the last one."""
        decided, arm, _ = self._first(commits, rule, self.taken)
        held = np.where(np.arange(len(self.free)) >= decided, arm, UNDECIDED)
        under = self._replace(known=self.known.under(held))
        end, _, lacking = under._first(stops, rule, np.where(self.taken == EITHER, EITHER, UNDECIDED))
        return held, np.arange(len(held)) >= end, lacking

    def _first(self, decision: Decision | None, rule: Leading, follows: Ints) -> tuple[int, int, str]:
        """The batch before which it is decided, the arm, and why it is not decided in the end.

        Where chances are not known exactly and it is a close thing, what `follows` decides: that arm, or EITHER.
        """
        if decision is None:
            return len(self.free), UNDECIDED, ""
        known = self.known if decision.by_chances else Known(self.known.heard, self.known.sums)
        arms, reached = decision.reached(rule, known)
        met = reached >= decision.least - ROUNDING
        if self.draws and decision.by_chances:
            close = np.abs(reached - decision.least) <= Z * np.sqrt(reached * (1 - reached) / self.draws)
            met = np.where(close, (follows == arms) | (follows == EITHER), met)
        at = np.flatnonzero(met & (self.free | (not decision.by_chances)))
        first = (int(at[0]), int(arms[at[0]])) if len(at) else (len(self.free), UNDECIDED)
        return *first, decision.lacking(float(reached[-1]))
