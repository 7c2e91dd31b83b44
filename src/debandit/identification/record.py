"""The log as the rules saw it: stretches, which are rounds or batches, with what was known before each of them."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.checking.batch_counts import Before, answers, known_before, table_of
from debandit.engine.conditions import Conditions
from debandit.engine.data import Floats, Ints
from debandit.identification.beginnings import Beginning, of_batches, of_rounds
from debandit.identification.chances import logged_chances
from debandit.log import ExperimentLog
from debandit.policies import Batched, Policy, Uniform
from debandit.policies.history import History


class Seen(NamedTuple):
    """What a rule says of n stretches: the chance of the logged arm of a round (m = 1), or of all arms of a batch."""

    chances: Floats  # (n, m)
    counts: Ints  # (n, m) pulls that are not prescribed
    settled: NDArray[np.bool_] = np.zeros((1, 1), bool)  # (n, 1) where initial pulls decide, which no floor changes
    orders: Floats | float = 0.0  # (n,) log-likelihood of the order of a batch's pulls, if some are prescribed


class Record(History):
    """Rounds whose rewards the rule heard of at once. Each is a stretch."""

    def first(self, rounds: int) -> "Record":
        """The beginning of it."""
        return Record(self.arms[:rounds], self.rewards[:rounds], self.arm_count)

    def ran(self, policy: Policy) -> Policy:
        """The rule as it ran."""
        return policy

    def seen_by(self, policy: Policy) -> Seen:
        """How likely the rule was to pull what was pulled."""
        settled = np.arange(self.length) < policy.opening * self.arm_count
        return Seen(np.nan_to_num(logged_chances(policy, self))[:, None], self.sizes[:, None], settled[:, None])

    @cached_property
    def pulled(self) -> Ints:
        """Each arm's pulls in all."""
        return np.bincount(self.arms, minlength=self.arm_count)

    @cached_property
    def ends(self) -> Ints:
        """How many rounds there are until the end of each stretch."""
        return np.arange(1, self.length + 1)

    @cached_property
    def sizes(self) -> Ints:
        """How many rounds each stretch has."""
        return np.ones(self.length, np.int64)

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """The arms that were there in each stretch, as far as they are looked at (n, m)."""
        return np.ones((self.length, 1), bool)

    @cached_property
    def there(self) -> Ints:
        """How many arms were there in each stretch."""
        return np.full(self.length, self.arm_count)

    @cached_property
    def least(self) -> Ints:
        """How many pulls the rule had heard of before each stretch, of the arm with the fewest."""
        return np.asarray(self.pulls.min(axis=-1))

    @cached_property
    def turns(self) -> int:
        """How many pulls of each arm the arms took in turns at first."""
        in_turn = self.arms == np.arange(self.length) % self.arm_count
        return int(np.argmin(np.append(in_turn, False))) // self.arm_count

    @cached_property
    def beginnings(self) -> list[Beginning]:
        """How it may have begun, first of all with the rule itself."""
        return [Beginning(0), *of_rounds(self.arm_count, self.least, self.turns)]

    @cached_property
    def mean(self) -> float:
        """The mean of all rewards."""
        return float(self.rewards.mean())

    @cached_property
    def sd(self) -> float:
        """The scale of the rewards, never 0."""
        return float(self.rewards.std()) or abs(self.mean) or 1.0

    @cached_property
    def tried(self) -> dict[tuple[float, ...], tuple[Floats, Floats]]:
        """What rules have already worked out, by their options."""
        return {}


class BatchRecord:
    """Batches between which a rule heard of rewards, for rules that go by totals. Each is a stretch."""

    opening = 0  # initial pulls cannot be read off

    def __init__(self, log: ExperimentLog, size: int | tuple[int, ...] | None) -> None:
        """Make it of the log's own batches, or of others of such sizes."""
        self._log, self._size = log, size
        sizes = Batched(Uniform(), log.batch_sizes if size is None else size)
        self._conditions = Conditions(ends=sizes.conditions(len(log.labels), log.horizon).ends)
        ends = self._conditions.ends
        self.arm_count, self.length, self.horizon, self.ends = len(log.labels), len(ends), log.horizon, ends
        if log.batches is not None and not log.batches.available.all():
            self._conditions = self._conditions._replace(available=log.batches.available)
        self._table = table_of(log, self._conditions)
        self._in_order = log.rounds is not None and not self._conditions.in_large_batches  # as in a check
        self._before: dict[int, tuple[Before, Ints, NDArray[np.bool_]]] = {}
        self.counts, self.pulled, self.sizes = self._table[0], log.pulls, np.diff(ends, prepend=0)
        before, *_ = self._known(0)
        self.present, self.there = before.present, before.present.sum(axis=1)
        self.least = np.where(before.present, before.pulls, log.horizon).min(axis=1)
        self.beginnings = [Beginning(0), *of_batches(ends, -self.sizes * np.log(self.there), self.least)]
        pulls, means = log.pulls / log.horizon, np.nan_to_num(log.means)
        self.mean = float(pulls @ means)
        self.sd = float(np.sqrt(pulls @ (np.nan_to_num(log.variances) + (means - self.mean) ** 2)))
        self.sd = self.sd or abs(self.mean) or 1.0

    def ran(self, policy: Policy) -> Policy:
        """The rule as it ran; the log's own batches need no sizes."""
        return Batched(policy, self._size)

    def first(self, _rounds: int) -> "BatchRecord":
        """All of it: there are not so many batches that it matters."""
        return self

    def seen_by(self, policy: Policy) -> Seen:
        """How likely the rule was to pull what was pulled; impossible where something else is prescribed."""
        before, prescribed, out_of_turn = self._known(policy.opening)
        conditions = self._conditions._replace(opening=policy.opening)
        free = self.counts - prescribed
        other = (free < 0).any(axis=1) | (out_of_turn & self._in_order)
        chances = np.nan_to_num(answers(policy, conditions, before)[0])
        orders = np.where(out_of_turn & ~other, _any_order(self.counts, free), 0.0)
        other = other[:, None]
        return Seen(np.where(other, 0.0, chances), np.where(other, self.counts, free), other, orders)

    def _known(self, opening: int) -> tuple[Before, Ints, NDArray[np.bool_]]:
        """What was known before each batch, what is prescribed, and where it may have come out of turn."""
        if opening not in self._before:
            conditions = self._conditions._replace(opening=opening)
            batches = np.arange(self.length)
            known = known_before(self._log, conditions, batches, self._table, self.horizon)
            self._before[opening] = *known, self._out_of_turn(conditions)
        return self._before[opening]

    def _out_of_turn(self, conditions: Conditions) -> NDArray[np.bool_]:
        rounds = self._log.rounds
        if rounds is None:
            return np.ones(self.length, bool)
        prescribed = History(rounds.arms, rounds.rewards, self.arm_count).under(conditions).prescribed
        wrong = (prescribed >= 0) & (prescribed != rounds.arms)
        return np.bincount(conditions.batch(self.horizon)[wrong], minlength=self.length) > 0


def _any_order(counts: Ints, free: Ints) -> Floats:
    """The log-likelihood (n,) of the order of a batch's pulls, beside that of those that are free in theirs."""
    from debandit.special import gammaln

    orders, of_free = (gammaln(pulls.sum(axis=1) + 1) - gammaln(pulls + 1).sum(axis=1) for pulls in (counts, free))
    return np.asarray(of_free - orders)


AnyRecord = Record | BatchRecord
