"""The counts of each batch beside the rule's chances there: within a batch a rule by totals keeps them.

Given the batches before, the pulls of a batch are those that are prescribed, and a multinomial number of each arm. So a
log is compared with counts that are drawn, the chances being held as they were, as `plausibility` does for rounds.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.checking.chosen import IMPOSSIBLE, among_highest, most_looked_at
from debandit.checking.counts import smallest_share
from debandit.checking.plausibility import DRAWS, MORE_DRAWS, PROMISING, Plausibility, log_ratio, rivals, shares
from debandit.engine.changes import changed
from debandit.engine.conditions import Conditions
from debandit.engine.data import Floats, Ints, about_means
from debandit.engine.decisions import EITHER, UNDECIDED, Known, Logged, committed
from debandit.engine.planning import Asked, dealt, free_chances, prescribed_pulls, stretches, unguided
from debandit.errors import shorten
from debandit.log import ExperimentLog
from debandit.log_parts import in_pieces
from debandit.policies import Policy
from debandit.policies.history import History
from debandit.replay import forced

Drawn = Callable[[int, int, int, np.random.Generator], Ints]  # of (i, size, count, rng): see `Sampled.counts`


class Sampled(NamedTuple):
    """How counts come about where the rule's chances are the shares of draws, which differ each time."""

    conditions: Conditions
    own: Floats  # (n, K) the rule's chances, before draws and changes
    begun: Ints  # (n,) where the batches begin
    uniform: NDArray[np.bool_]  # (n,) where the rule is not asked
    present: NDArray[np.bool_]  # (n, K)

    def at(self, batches: NDArray[np.bool_]) -> "Sampled":
        """The same for some of the batches."""
        own, begun, uniform, present = self.own, self.begun, self.uniform, self.present
        return Sampled(self.conditions, own[batches], begun[batches], uniform[batches], present[batches])

    def counts(self, i: int, size: int, count: int, rng: np.random.Generator) -> Ints:
        """The pulls of each arm in the i-th batch, which has this many of them, drawn `count` times (count, K)."""
        conditions, there = self.conditions, self.present[i]
        chances = np.tile(shares(self.own[i]), (count, 1))
        if not self.uniform[i]:
            drawn = rng.multinomial(conditions.draws, chances) / conditions.draws
            chances[:, there] = changed(conditions.changes, drawn[:, there], self.begun[i], there)
        whole, left = np.zeros(chances.shape, np.int64), np.full(count, size)
        if conditions.quota:
            whole, chances = dealt(left, chances)
        return np.asarray(whole + rng.multinomial(left - whole.sum(axis=1), chances))


class BatchCounts(NamedTuple):
    """Batches of a log (n of them) beside what the rule says of them."""

    total: int  # of all batches of the log
    batches: Ints  # (n,) counted from 0, rising
    names: tuple[str, ...]  # as they are called in sentences
    counts: Ints  # (n, K) pulls in the batch
    prescribed: Ints  # (n, K) those of them that the rule cannot choose
    chances: Floats  # (n, K) of the others
    scores: Floats  # (n, K) NaN where the choice does not go by scores
    pulls: Ints  # (n, K) before the batch, as far as the rule has heard
    means: Floats  # (n, K) likewise; NaN without a pull
    quota: bool  # what quotas give for certain is prescribed, too
    sampled: Sampled | None  # how counts are drawn, unless it is with these chances
    undecided: str  # why the experiment should not have ended with the last batch, or nothing

    @property
    def free(self) -> Ints:
        """The pulls (n, K) beyond those that are prescribed; negative where a prescribed one is not there."""
        return self.counts - self.prescribed

    @property
    def left(self) -> Ints:
        """How many pulls of each batch (n,) are not prescribed."""
        return np.asarray(self.free.sum(axis=1))

    @property
    def expected(self) -> Floats:
        """The pulls (n, K) that are to be expected, given the batches before."""
        return np.asarray(self.prescribed + self.left[:, None] * self.chances)

    @property
    def odd(self) -> NDArray[np.bool_]:
        """The counts (n, K) that the rule never makes, whatever it does with ties."""
        chances = self.chances if self.sampled is None else self.sampled.own
        never = (chances < IMPOSSIBLE) & ~among_highest(self.scores)
        return np.asarray((self.free < 0) | (never & (self.free > 0)))

    @property
    def impossible(self) -> NDArray[np.bool_]:
        """The batches (n,) with such a count."""
        return np.asarray(self.odd.any(axis=1))


class Before(NamedTuple):
    """What was known before each of some batches (n of them)."""

    present: NDArray[np.bool_]  # (n, K) the arms that were there
    uniform: NDArray[np.bool_]  # (n,) where the rule was not asked
    known: Ints  # (n,) of how many rounds it had heard
    begun: Ints  # (n,) where the batches begin
    pulls: Ints  # (n, K) of which it had heard, with their sums and their squares about the means
    sums: Floats
    squares: Floats
    horizon: int  # rounds that were planned


def compare_batches(log: ExperimentLog, policy: Policy, most: int) -> BatchCounts:
    """Batches of a log beside the chances of a rule that goes by totals, or in a log of rounds of any that says them.

    Of a randomised rule at most this many batches are looked at, of many arms fewer, evenly spaced ones, unless
    decisions depend on all of them. The batch in which a uniform warm-up ends is left out, for its counts have two
    sources.
    """
    arm_count, planned = len(log.labels), policy.planned(log.horizon)
    conditions = policy.conditions(arm_count, planned)
    counts, sums, squares = table_of(log, conditions)
    total = len(counts)
    count = most_looked_at(log, policy, total, most)
    chosen = np.unique(np.linspace(0, total - 1, count).astype(np.int64))
    if conditions.decides:
        chosen = np.arange(total + (planned > log.horizon))  # the last one would have been next
        counts = np.concatenate([counts, np.zeros((len(chosen) - total, arm_count), np.int64)])
    before, prescribed = known_before(log, conditions, chosen, (counts, sums, squares), planned)
    in_rounds = not policy.by_totals
    chances, scores = _answers_along(log, policy, before.begun) if in_rounds else answers(policy, conditions, before)
    changed_later = conditions.changes and (conditions.draws or conditions.decides_by_chances)
    own = answers(policy, conditions._replace(changes=()), before)[0] if changed_later else chances
    undecided, there = "", before.present
    if conditions.decides:
        held, over, undecided = _course(policy, conditions, before, (own, chances), prescribed, counts, total)
        chances, own = (np.where(over[:, None], 0.0, committed(held, each, there)) for each in (chances, own))
        free = (~over & (held == UNDECIDED))[:, None]
        scores, prescribed = np.where(free, scores, np.nan), np.where(free, prescribed, 0)
    counts = counts[chosen]
    if conditions.quota and not conditions.draws:
        whole, chances = dealt(counts.sum(axis=1) - prescribed.sum(axis=1), chances)
        prescribed = prescribed + whole
    means = np.where(before.pulls > 0, before.sums / np.maximum(before.pulls, 1), np.nan)
    kept = chosen < total
    if 0 < conditions.uniform < log.horizon and conditions.uniform not in conditions.ends:
        kept &= chosen != np.searchsorted(conditions.ends, conditions.uniform)
    sampled = Sampled(conditions, own, before.begun, before.uniform, there).at(kept) if conditions.draws else None
    return BatchCounts(
        total,
        chosen[kept],
        tuple(_name(log, batch) for batch in chosen[kept].tolist()),
        counts[kept],
        prescribed[kept],
        chances[kept],
        scores[kept],
        before.pulls[kept],
        means[kept],
        conditions.quota,
        sampled,
        undecided,
    )


def known_before(
    log: ExperimentLog, conditions: Conditions, chosen: Ints, table: tuple[Ints, Floats, Floats], planned: int
) -> tuple[Before, Ints]:
    """What was known before the chosen batches, and the pulls (n, K) that are prescribed in them."""
    none, told = np.zeros((1, len(log.labels))), np.maximum(chosen - conditions.late_batches, 0)
    made, *added_up = (np.concatenate([none, part.cumsum(axis=0)]) for part in table)
    made = made.astype(np.int64)
    pulls, sums, squares = made[told], *(part[told] for part in added_up)
    spread = about_means(pulls, sums - pulls * np.nan_to_num(log.means), squares)
    known, begun = conditions.known_before(chosen), conditions.first_rounds(chosen)
    prescribed, uniform = _prescribed_in_batches(conditions, planned, chosen, made[chosen], pulls, sums)
    present = np.array([conditions.present(batch, len(log.labels)) for batch in chosen.tolist()])
    present = present.reshape(-1, len(log.labels))
    return Before(present, uniform, known, begun, pulls, sums, spread, planned), prescribed


def _course(
    policy: Policy,
    conditions: Conditions,
    before: Before,
    said: tuple[Floats, Floats],
    prescribed: Ints,
    counts: Ints,
    total: int,
) -> tuple[Ints, NDArray[np.bool_], str]:
    """The arm that is held in each batch, which batches would not have been, and why there would have been another.

    The rule `said` its chances, before and after they were changed; of `counts` only the first `total` are in the log.
    """
    taken = np.where((counts > 0).sum(axis=1) == 1, np.argmax(counts, axis=1), UNDECIDED)
    taken[total:] = EITHER
    known = Known(before.pulls, before.sums, *said, before.present)
    moments = Logged(known, ~before.uniform & (prescribed.sum(axis=1) == 0), taken, conditions.draws)
    held, over, undecided = moments.course(conditions.commits, conditions.stops, policy.core)
    return held, over, undecided if len(over) > total and not over[-1] else ""


def table_of(log: ExperimentLog, conditions: Conditions) -> tuple[Ints, Floats, Floats]:
    """Pulls and sums of each batch and arm (batches, K), and squared deviations from the arm's mean in all batches."""
    if log.batches is not None:
        return log.batches.pulls, log.batch_sums, log.batch_squares
    assert log.rounds is not None
    shape = int(np.searchsorted(conditions.ends, log.horizon)) + 1, len(log.labels)
    counts, sums, squares = np.zeros((3, shape[0] * shape[1]))
    for piece in in_pieces(log.horizon):
        batch = np.searchsorted(conditions.ends, np.arange(piece.start, piece.stop), side="right")
        arms, rewards = log.rounds.arms[piece], log.rounds.rewards[piece]
        cells = batch * shape[1] + arms
        np.add.at(counts, cells, 1.0)
        np.add.at(sums, cells, rewards)
        np.add.at(squares, cells, (rewards - log.means[arms]) ** 2)
    return counts.reshape(shape).astype(np.int64), sums.reshape(shape), squares.reshape(shape)


def _prescribed_in_batches(
    conditions: Conditions, horizon: int, chosen: Ints, made: Ints, before: Ints, sums: Floats
) -> tuple[Ints, NDArray[np.bool_]]:
    """The prescribed pulls (n, K) of these batches, and whether all arms have the same chance in them (n,)."""
    place, prescribed = {batch: i for i, batch in enumerate(chosen.tolist())}, np.zeros(before.shape, np.int64)
    uniform = np.zeros(len(chosen), bool)
    for here in stretches(conditions, horizon):
        i = place.get(here.batch)
        if i is not None:
            pulls, heard = (made[i] + prescribed[i])[None], before[i : i + 1]
            uniform[i : i + 1] = alike = unguided(conditions, here, heard, sums[i : i + 1])
            prescribed[i] += prescribed_pulls(conditions, here, pulls, heard, alike)[0]
    return prescribed, uniform


def answers(policy: Policy, conditions: Conditions, before: Before) -> tuple[Floats, Floats]:
    """The chances and the scores (n, K) in batches before which the rule has heard of these totals."""
    present, warm, known, begun, pulls, sums, squares, horizon = before
    chances, scores = np.zeros(pulls.shape), np.full(pulls.shape, np.nan)
    ready = ~warm & ((pulls >= conditions.opening) | ~present).all(axis=1)  # elsewhere all is prescribed
    kinds, kind = np.unique(present, axis=0, return_inverse=True)
    for there, same in ((row, kind.reshape(-1) == i) for i, row in enumerate(kinds)):
        for uniform, which in ((True, warm & same), (False, ready & same)):
            spread = squares[which] if policy.core.needs_squares else None
            asked = Asked(known[which], begun[which], pulls[which], sums[which], horizon, there, spread)
            if which.any():
                chances[which] = free_chances(policy, conditions, np.full(which.sum(), uniform), asked)
            if which.any() and not uniform and not policy.randomised:
                scores[which] = -np.inf
                scores[np.ix_(which, there)] = asked.of_present(policy.core.free_scores)
    chances[chances < IMPOSSIBLE] = 0.0
    return chances, scores


def _answers_along(log: ExperimentLog, policy: Policy, begun: Ints) -> tuple[Floats, Floats]:
    """The same of a rule that looks at more than totals, in batches that begin in these rounds."""
    assert log.rounds is not None
    more = np.zeros(int(begun.max(initial=0) >= log.horizon), np.int64)  # a round that was not
    arms, rewards = np.append(log.rounds.arms, more), np.append(log.rounds.rewards, more.astype(np.float64))
    answer = policy.replay(History(arms, rewards, len(log.labels), asked=begun))
    assert answer is not None
    return answer


def _name(log: ExperimentLog, batch: int) -> str:
    return f"batch {batch + 1:,}" if log.batches is None else f"batch {shorten(log.batches.names[batch])!r}"


def judge_batches(found: BatchCounts, labels: tuple[str, ...], rng: np.random.Generator) -> Plausibility:
    """Compare the logged counts with others, drawn with the chances that the rule had in each batch."""
    open_ = (found.left > 0) & ~forced(found.chances.max(axis=-1))
    chances, counts = shares(found.chances[open_]), found.free[open_]
    if not len(counts):
        return Plausibility(1.0, "", 0.0, 0.0)
    logs = np.log(chances, out=np.zeros(chances.shape), where=chances > 0)
    expected = counts.sum(axis=1, keepdims=True) * chances
    others = rivals(chances, np.where(chances > 0, found.means[open_], -np.inf))
    ratios = np.stack([log_ratio(rival, chances) for rival in others.values()])
    spread = np.sqrt(_variances(chances, counts))
    compared = _Compared(chances, ratios, counts, spread, partial(_multinomial, chances))
    if found.sampled is not None:
        compared = compared._replace(spread=None, drawn=found.sampled.at(open_).counts)
    p_value, worst = smallest_share(_statistics(compared, DRAWS, rng))
    if p_value < PROMISING:
        p_value, worst = smallest_share(_statistics(compared, MORE_DRAWS, rng))
    beyond = (counts - expected).sum(axis=0) / spread
    departures = [
        *others,
        f"have too many pulls of {shorten(labels[int(np.nanargmax(beyond))])!r}",
        f"have too few pulls of {shorten(labels[int(np.nanargmin(beyond))])!r}",
        "lie further from the expected counts than chance allows",
        "lie closer to the expected counts than chance allows",
    ]
    return Plausibility(p_value, departures[worst], float((counts * logs).sum()), float((expected * logs).sum()))


def _variances(chances: Floats, counts: Ints) -> Floats:
    """The variance of each arm's pulls (K,), given the chances; NaN for an arm that none of them can be."""
    variances = (counts.sum(axis=1, keepdims=True) * chances * (1 - chances)).sum(axis=0)
    return np.where(variances > 0, variances, np.nan)


def _multinomial(chances: Floats, i: int, size: int, count: int, rng: np.random.Generator) -> Ints:
    """Counts that are drawn with these chances."""
    likely, drawn = np.flatnonzero(chances[i]), np.zeros((count, chances.shape[1]), np.int64)
    drawn[:, likely] = rng.multinomial(size, chances[i, likely], count)
    return drawn


class _Compared(NamedTuple):
    """What the counts of the open batches (n) are compared by."""

    chances: Floats  # (n, K)
    ratios: Floats  # (rivals, n, K)
    counts: Ints  # (n, K)
    spread: Floats | None  # (K,) of each arm's pulls in all batches, as it should be; None: as it is among those drawn
    drawn: Drawn


def _statistics(compared: _Compared, draws: int, rng: np.random.Generator) -> Floats:
    """What the counts are compared by (statistics, 1 + draws); column 0 is the log's.

    Log-likelihood ratios against rivals, the arm with the most pulls more and the one with the most fewer than are to
    be expected, and the G statistic in both directions.
    """
    chances, ratios, counts, spread, drawn_counts = compared
    totals, distance = np.zeros((len(ratios), 1 + draws)), np.zeros(1 + draws)
    beyond = np.zeros((1 + draws, chances.shape[1]))
    for i, p in enumerate(chances):
        likely, size = np.flatnonzero(p), int(counts[i].sum())
        drawn = np.concatenate([counts[i : i + 1], drawn_counts(i, size, draws, rng)])[:, likely].astype(np.float64)
        expected = size * p[likely]
        totals += ratios[:, i, likely] @ drawn.T
        distance += (drawn * np.log(np.maximum(drawn, 0.5) / expected)).sum(axis=1)
        beyond[:, likely] += drawn - expected
    spread = beyond.std(axis=0) if spread is None else spread
    z = beyond[:, spread > 0] / spread[spread > 0]
    return np.stack([*totals, z.max(axis=1), -z.min(axis=1), distance, -distance]).round(9)


def explain_batch(found: BatchCounts, i: int, labels: tuple[str, ...]) -> str:
    """Why the rule does not make the counts of the i-th of these batches."""
    arm = int(np.argmax(found.odd[i]))
    logged, sure = (f"{n:,} pulls" if n != 1 else "1 pull" for n in (found.counts[i, arm], found.prescribed[i, arm]))
    what = f"{found.names[i]}: the log has {logged} of {shorten(labels[arm])!r}"
    if not found.chances[i].any() and found.left[i] > 0:
        return f"{what}, but the experiment was decided before that batch and should have ended."
    if found.quota and found.free[i, arm] < 0:
        return f"{what}, but the rule's quotas give it at least {sure} there."
    if found.left[i] == 0 and not found.quota:
        return (
            f"{what}, but the arms take turns until the rule has seen its initial pulls, which makes {sure}. If "
            "the arms were drawn at random there, put warm_up(RULE, rounds=...) around the rule."
        )
    if found.free[i, arm] < 0:
        return f"{what}, but initial pulls and the arms' turns make at least {sure} there."
    made = sure if found.prescribed[i, arm] else "none"
    by_score = np.isfinite(found.scores[i]).any()
    why = f": {shorten(labels[int(np.nanargmax(found.scores[i]))])!r} has the highest score" if by_score else ""
    return f"{what}, but the rule makes {made} there{why}."
