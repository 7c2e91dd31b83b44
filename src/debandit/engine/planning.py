"""What is known of a batch before it begins: the pulls that are prescribed, and the chances of the others.

The batch steps draw from it, and the check of a log compares its counts with it.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.engine.changes import changed
from debandit.engine.conditions import FREE, Conditions
from debandit.engine.data import Floats, Ints, Rounds
from debandit.engine.decisions import Known
from debandit.engine.experiment import Rule

ROUNDING = 1e-6  # of a pull


Which = NDArray[np.bool_]  # some of the runs
Sampler = Callable[[Ints, Floats], Floats]
Judge = Callable[[Ints, Known], Floats]


class Stretch(NamedTuple):
    """The rounds start, ..., end - 1, which lie in one batch and in one part of a warm-up."""

    start: int
    end: int
    batch: int  # counted from 0


def stretches(conditions: Conditions, horizon: int, also: Iterable[int] = ()) -> Iterator[Stretch]:
    """All rounds, in order; `also` are further rounds before which one stretch ends and the next begins."""
    ends = conditions.moments(horizon)
    breaks = {0, horizon, min(conditions.first_turns, horizon), min(conditions.uniform, horizon), *ends.tolist()}
    breaks |= {*conditions.known_before(np.arange(len(ends))).tolist(), *also}
    for start, end in itertools.pairwise(sorted(breaks)):
        yield Stretch(start, end, int(np.searchsorted(ends, start, side="right")))


class Heard:
    """The totals that a rule has heard of before each batch; those of which it will hear later are kept."""

    def __init__(self, conditions: Conditions, horizon: int, nothing: Any) -> None:
        batches = np.arange(len(conditions.moments(horizon)))
        self._known = conditions.known_before(batches).tolist()
        self._begun = conditions.first_rounds(batches).tolist()
        self._totals, self._wanted = {0: nothing}, set(self._known)

    def before(self, batch: int) -> tuple[int, int, Any]:
        """How many rounds it has heard of, where the batch begins, and the totals."""
        known = self._known[batch]
        while (oldest := next(iter(self._totals))) < known:
            del self._totals[oldest]
        return known, self._begun[batch], self._totals[known]

    def add(self, end: int, totals: Any) -> None:
        """These are the totals of the rounds before `end`."""
        if end in self._wanted:
            self._totals[end] = totals.copy()


def unguided(conditions: Conditions, here: Stretch, heard: Ints | Floats, sums: Floats) -> Which:
    """The runs (runs,) in which all arms have the same chance there: a uniform warm-up, or a gate is closed.

    `heard`, with these sums, is what the rule has heard of. Arms that are not available are not waited for.
    """
    if here.end <= conditions.uniform or conditions.gate is None or here.end <= conditions.first_turns:
        return np.full(len(heard), conditions.first_turns < here.end <= conditions.uniform)
    present = conditions.present(here.batch, heard.shape[1])
    return conditions.gate.closed(heard[:, present], sums[:, present])


def prescribed_pulls(
    conditions: Conditions, here: Stretch, pulls: Ints | Floats, heard: Ints | Floats, uniform: Which
) -> Ints:
    """How often each arm must be pulled there (runs, K), after these `pulls`, of which the rule has `heard` some.

    Nothing is prescribed in the `uniform` runs. Arms that are not available are not waited for, and have no turn.
    """
    present, counts = conditions.present(here.batch, pulls.shape[1]), np.zeros(pulls.shape, np.int64)
    counts[:, present] = _prescribed(conditions, here, pulls[:, present], heard[:, present])
    counts[uniform] = 0
    return counts


def _prescribed(conditions: Conditions, here: Stretch, pulls: Ints | Floats, heard: Ints | Floats) -> Ints:
    rounds, arm_count = np.full(len(pulls), here.end - here.start), pulls.shape[1]
    if here.end <= conditions.first_turns:
        return _turns(rounds, here.end, arm_count)
    if conditions.opens_in_turns:
        last = max(min(here.end, conditions.opening * arm_count), here.start)
        counts = _turns(np.full(len(pulls), last - here.start), last, arm_count)
    else:
        lacking = np.maximum(conditions.opening - pulls, 0).astype(np.int64)
        counts = np.diff(np.minimum(lacking.cumsum(axis=1), rounds[:, None]), axis=1, prepend=0)
    waits = (heard < conditions.opening).any(axis=1)
    counts[waits] += _turns((rounds - counts.sum(axis=1))[waits], here.end, arm_count)
    return counts


def prescribed_rounds(conditions: Conditions, here: Stretch, pulls: Ints, heard: Ints, uniform: Which) -> Ints:
    """The same round by round (runs, rounds), FREE where nothing is prescribed. All arms must be available."""
    rounds, arm_count = np.arange(here.start, here.end), pulls.shape[1]
    if here.end <= conditions.first_turns:
        return np.tile(rounds % arm_count, (len(pulls), 1))
    arms = np.full((len(pulls), len(rounds)), FREE)
    if uniform.all() or conditions.opening == 0:
        return arms
    waits = (heard < conditions.opening).any(axis=1)
    arms[waits] = rounds % arm_count
    if conditions.opens_in_turns:
        return np.where(rounds < conditions.opening * arm_count, rounds % arm_count, arms)
    lacking = np.maximum(conditions.opening - pulls, 0).cumsum(axis=1)
    owed = (rounds - here.start)[:, None] >= lacking[:, None, :]
    return np.where(owed.all(axis=-1) | uniform[:, None], np.where(uniform[:, None], FREE, arms), owed.sum(axis=-1))


class Asked(NamedTuple):
    """What a rule is asked about in a batch: the totals of which it has heard, and which arms are there."""

    known: Rounds  # how many rounds it has heard of
    begun: Rounds  # where the batch begins
    pulls: Ints  # (..., K)
    sums: Floats  # (..., K)
    horizon: int
    present: NDArray[np.bool_]  # (K,)
    squares: Floats | None = None  # (..., K) sums of squared deviations from the means, for rules that need them

    def at(self, rows: Ints) -> "Asked":
        """The same for some rows of the totals."""
        known, begun = (each[rows] if isinstance(each, np.ndarray) else each for each in (self.known, self.begun))
        squares = None if self.squares is None else self.squares[rows]
        return Asked(known, begun, self.pulls[rows], self.sums[rows], self.horizon, self.present, squares)

    def answered(self, function: Callable[..., Floats], arms: Any = slice(None)) -> Floats:
        """What a function of the rule says if it is asked about these arms alone."""
        squares = () if self.squares is None else (self.squares[..., arms],)
        return function(self.known, self.pulls[..., arms], self.sums[..., arms], self.horizon, *squares)

    def of_present(self, function: Callable[..., Floats]) -> Floats:
        """What a function of the rule says of the arms that are there (..., present), asked about these alone."""
        return self.answered(function, self.present)


def free_chances(
    rule: Rule,
    conditions: Conditions,
    uniform: Which,
    asked: Asked,
    sampled: Sampler | None = None,
    judge: Judge | None = None,
) -> Floats:
    """The chances (n, K) of the pulls that are not prescribed: all the same where they are `uniform`, else the rule's.

    Where these are the shares of draws, `sampled` makes such shares of chances (m, K) for the runs where it is asked;
    `judge` says what becomes of them if they decide something.
    """
    present, chances = asked.present, np.zeros(asked.pulls.shape)
    count = int(present.sum())
    chances[:, present] = 1 / count
    own = np.flatnonzero(~uniform)
    if len(own) and count > 1:
        asked = asked.at(own)
        shares = _shares(rule.core, asked)
        shares = sampled(own, shares) if sampled and conditions.draws else shares
        chances[np.ix_(own, present)] = changed(conditions.changes, shares, asked.begun, present)
        if judge:
            among = np.zeros((len(own), len(present)))
            among[:, present] = shares
            chances[own] = judge(own, Known(asked.pulls, asked.sums, among, chances[own], present))
    return chances


def dealt(left: Ints, chances: Floats) -> tuple[Ints, Floats]:
    """What quotas give each arm for certain (..., K) of this many pulls (...), and the chances of the pulls left.

    The whole part of n p is certain, and the fractions are the chances; what is whole but for rounding is whole.
    """
    expected = left[..., None] * chances
    whole = np.floor(expected + ROUNDING).astype(np.int64)
    fractions = np.maximum(expected - whole, 0.0)
    total = fractions.sum(axis=-1, keepdims=True)
    return whole, np.divide(fractions, total, out=np.zeros(fractions.shape), where=total > 0)


def expected_pulls(
    rule: Rule, conditions: Conditions, batch: int, pulls: Ints, sums: Floats, squares: Floats | None, horizon: int
) -> Floats:
    """How many pulls of each arm (K,) are to be expected in a batch, if the rule has heard of these totals (K,).

    What was pulled without its knowledge is left out, which matters for initial pulls alone.
    """
    heard, expected, present = pulls[None], np.zeros((1, len(pulls))), conditions.present(batch, len(pulls))
    known, begun = (int(at(np.array(batch))) for at in (conditions.known_before, conditions.first_rounds))
    for here in (each for each in stretches(conditions, horizon) if each.batch == batch):
        uniform = unguided(conditions, here, heard, sums[None])
        prescribed = prescribed_pulls(conditions, here, pulls + expected, heard, uniform)
        left = here.end - here.start - prescribed.sum()
        expected += prescribed
        if left > 0:
            spread = None if squares is None else squares[None]
            asked = Asked(known, begun, heard, sums[None], horizon, present, spread)
            expected += left * free_chances(rule, conditions, uniform, asked)
    return np.asarray(expected[0])


def _shares(rule: Rule, asked: Asked) -> Floats:
    """The rule's own chances of the arms that are there (..., present)."""
    if not rule.knows_arms or asked.present.all():
        return asked.of_present(rule.free_chances)
    own = asked.answered(rule.free_chances)[..., asked.present]
    total = own.sum(axis=-1, keepdims=True)
    return np.where(total > 0, own / np.where(total > 0, total, 1.0), 1 / own.shape[-1])


def _turns(rounds: Ints, end: int, arm_count: int) -> Ints:
    """How often it is each arm's turn in this many rounds before `end`."""
    arms = np.arange(arm_count)

    def before(t: Ints | int) -> Ints:
        return np.asarray((t - arms + arm_count - 1) // arm_count)

    return before(end) - before((end - rounds)[:, None])
