"""The conditions under which a rule is played: who hears what when, what is prescribed, how chances are changed.

Wrappers fill in this record, and its functions serve all who play or replay rules. The compiled loop has a small twin.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.engine.changes import Change, Least, changed
from debandit.engine.data import Floats, Ints, Rounds
from debandit.engine.decisions import Decision

LARGE = 50  # rounds of a batch on average, from which the world auto looks at sums of rewards only
FREE, UNIFORM, LACKING = -1, -2, -3  # what is prescribed in a round, where it is not an arm


class Threshold(NamedTuple):
    """Until the rule has heard of this many pulls, and successes, of every arm, all arms have the same chance."""

    pulls: int
    successes: int
    horizon: int

    def closed(self, heard: Ints | Floats, sums: Floats) -> NDArray[np.bool_]:
        """Where it still is, after these totals (..., K); they only grow, so that it does not close again."""
        return np.asarray(((heard < self.pulls) | (sums < self.least_sum)).any(axis=-1))

    @property
    def least_sum(self) -> float:
        """The successes, or nothing, for sums of rewards that are not 0/1 may be negative."""
        return self.successes or -np.inf


class Conditions(NamedTuple):
    """The conditions under which a rule is played: its own initial pulls, and what wrappers ask for.

    Prescribed are the first rounds, those before a gate is open, then what an arm lacks of its initial pulls, and with
    batches also the rounds until the rule has heard of the initial pulls of every arm; in those the arms take turns.
    """

    opening: int = 0  # initial pulls of each arm that the rule needs, in index order
    turns: int = 0  # this many first rounds in which the arms take turns
    uniform: int = 0  # or in which every arm has the same probability
    gate: Threshold | None = None  # or until the rule has heard enough of every arm
    ends: Ints = np.empty(0, np.int64)  # rounds after which it hears of rewards, the last one the horizon; or none
    late: int = 0  # what it hears of is this many rounds older ...
    late_batches: int = 0  # ... or this many batches
    changes: tuple[Change, ...] = ()  # what is made of the chances of free choices, one after the other
    draws: int = 0  # the rule's chances in a batch are the shares of this many draws; 0: they are known exactly
    quota: bool = False  # batches are dealt in fixed shares, not drawn user by user
    commit: bool = False  # the first free choice is kept for good
    commits: Decision | None = None  # when an arm gets everything
    stops: Decision | None = None  # when the experiment ends
    in_turns: bool = False  # the arms take turns in the initial pulls, instead of one arm having all of its own first
    available: NDArray[np.bool_] = np.empty((0, 0), bool)  # which arms are, in which batch; or none: all are

    @property
    def wrapped(self) -> bool:
        """Whether there is anything beyond what the rule itself asks for."""
        forced, decided = (self.turns, self.uniform, self.gate), (self.commits, self.stops)
        return any((*forced, self.delayed, len(self.changes), self.quota, len(self.ends), *decided))

    @property
    def delayed(self) -> bool:
        """Whether it hears of rewards later than at the end of each batch, or of each round."""
        return self.late > 0 or self.late_batches > 0

    @property
    def decides(self) -> bool:
        """Whether an arm may get everything in the end, or the experiment may end early."""
        return self.commits is not None or self.stops is not None

    @property
    def decides_by_chances(self) -> bool:
        """Whether one must know the rule's chances for that."""
        return any(each is not None and each.by_chances for each in (self.commits, self.stops))

    @property
    def decides_by_belief(self) -> bool:
        """Whether it looks at how likely the rule thinks an arm is the best, whatever its chances are."""
        by = {each.by for each in (self.commits, self.stops) if each is not None}
        return not by.isdisjoint(("probability", "value_remaining"))

    @property
    def mixed(self) -> Least | None:
        """A floor that can be had without knowing the rule's chances: some free choices are replaced by others."""
        alone = self.changes[0] if len(self.changes) == 1 else None
        return alone if isinstance(alone, Least) and not alone.clipped else None

    @property
    def by_chances(self) -> bool:
        """Whether one must know the rule's chances to play it."""
        sampled, changed = self.draws > 0 and len(self.ends) > 0, len(self.changes) > 0 and self.mixed is None
        return self.quota or sampled or changed or self.decides_by_chances

    @property
    def opens_in_turns(self) -> bool:
        """Whether the arms take turns in all initial pulls; after a uniform beginning each gets what it lacks."""
        return self.in_turns and not self.uniform and self.gate is None

    @property
    def in_large_batches(self) -> bool:
        """Whether it only ever hears of many rewards at once."""
        return len(self.ends) > 0 and bool(self.ends[-1] >= LARGE * len(self.ends))

    def present(self, batch: int, arm_count: int) -> NDArray[np.bool_]:
        """The arms that are available in a batch (K,)."""
        return self.available[batch] if len(self.available) else np.ones(arm_count, bool)

    @property
    def first_turns(self) -> int:
        """The first rounds in which the arms take turns, as many for each arm that is available then."""
        there = self.available[0] if len(self.available) else np.ones(1, bool)
        return self.turns * int(there.sum()) // len(there)

    def known(self, horizon: int) -> Ints:
        """The number of rounds that the rule has heard of before each round, of shape (horizon,)."""
        return self.known_before(self.batch(horizon))

    def known_before(self, batches: Ints) -> Ints:
        """The number of rounds that it has heard of before these batches; without batches, before these rounds."""
        earlier = self.first_rounds(np.maximum(batches - self.late_batches, 0))
        return np.maximum(earlier - self.late, 0)

    def first_rounds(self, batches: Ints) -> Ints:
        """The rounds in which these batches begin."""
        return np.append(0, self.ends)[batches] if len(self.ends) else batches

    def batch(self, horizon: int) -> Ints:
        """The batch of each round, of shape (horizon,); without batches each round is one."""
        rounds = np.arange(horizon)
        return np.searchsorted(self.ends, rounds, side="right") if len(self.ends) else rounds

    def moments(self, horizon: int) -> Ints:
        """The rounds after which the rule hears of rewards; without batches all of them."""
        return self.ends if len(self.ends) else np.arange(1, horizon + 1)

    def told(self, horizon: int) -> tuple[Ints, Ints]:
        """`moments`, and of how many rounds the rule has heard after each, of all in the end; none: of all at once."""
        if not (len(self.ends) or self.delayed):
            return self.ends, self.ends
        moments = self.moments(horizon)
        return moments, np.append(self.known_before(np.arange(1, len(moments))), horizon)

    def begun(self, horizon: int) -> Ints:
        """The round in which each round's batch began, of shape (horizon,); without batches the round itself."""
        return self.first_rounds(self.batch(horizon))

    def settled(self, arm_count: int) -> int:
        """The round from which on nothing is prescribed."""
        if self.gate is not None:
            return self.gate.horizon
        return self._heard(max(self.turns, self.uniform) + self.opening * arm_count)

    def _heard(self, rounds: int) -> int:
        """The round before which the rule, if it waits for initial pulls, has heard of this many rounds."""
        if not ((len(self.ends) or self.late) and self.opening):
            return rounds
        if not len(self.ends):
            return rounds + self.late
        batches = np.arange(len(self.ends) + 1)  # the last one begins at the horizon
        first = int(np.searchsorted(self.known_before(batches), rounds))
        return int(self.first_rounds(batches)[min(first, len(self.ends))])

    def fixed(self, arm_count: int, end: int | None = None) -> Ints:
        """What is prescribed in all runs alike, in the rounds until it is `settled`, or until before `end`.

        An arm, FREE or UNIFORM; LACKING where it depends on the run, because a uniform warm-up or a gate let some arms
        be pulled often enough and others not.
        """
        settled = self.settled(arm_count)
        rounds = np.arange(settled if end is None else min(settled, end))
        if self.uniform or self.gate is not None:
            return np.where(rounds < self.turns, rounds % arm_count, np.where(rounds < self.uniform, UNIFORM, LACKING))
        complete = self.opening * arm_count  # the rounds that initial pulls take, whether or not the arms take turns
        fixed = np.where(rounds < max(self.turns, self._heard(complete)), rounds % arm_count, FREE)
        if self.in_turns:
            return fixed
        arms, after = np.arange(arm_count), fixed[self.turns : complete]
        pulled = self.turns // arm_count + (arms < self.turns % arm_count)
        after[:] = np.repeat(arms, np.clip(self.opening - pulled, 0, len(rounds)))[: len(after)]
        return fixed

    def prescribed(self, rounds: Ints, pulls: Ints, heard: Ints, sums: Floats) -> Ints:
        """The arm that must be pulled in each of these rounds, or FREE, or UNIFORM.

        `pulls` (..., K) were made before them, and of `heard` (..., K), with these sums, the rule has heard.
        """
        arm_count = pulls.shape[-1]
        fixed = np.append(self.fixed(arm_count, int(np.max(rounds, initial=-1)) + 1), FREE)
        prescribed: Ints = fixed[np.minimum(rounds, len(fixed) - 1)]
        if LACKING not in fixed:
            return prescribed
        lacks, unheard = pulls < self.opening, (heard < self.opening).any(axis=-1)
        owed = np.where(lacks.any(axis=-1), np.argmax(lacks, axis=-1), np.where(unheard, rounds % arm_count, FREE))
        owed = owed if self.gate is None else np.where(self.gate.closed(heard, sums), UNIFORM, owed)
        return np.where(prescribed == LACKING, owed, prescribed)

    def planned(self, chances: Floats, prescribed: Ints, begun: Rounds) -> Floats:
        """What becomes of a rule's own chances (..., K): changed where it is free, else whatever is prescribed."""
        arm_count = chances.shape[-1]
        planned = changed(self.changes, chances, begun) if self.changes else chances.copy()
        planned[prescribed == UNIFORM] = 1 / arm_count
        forced = prescribed >= 0
        planned[forced] = np.eye(arm_count)[prescribed[forced]]
        return planned
