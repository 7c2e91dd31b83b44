"""Rules much like one that does not fit: with a delay, in batches, after a warm-up, with another option, and so on.

`KINDS` is the table of what is tried. Of each kind the likeliest candidate is looked at further. It is named if the
check accepts it, and if it explains the log so much better than the declared rule that this is no accident: if the
declared rule is right, the likelihood of another one, divided by its own, is 1 on average, so that the best of m such
ratios is above m / 0.05 in at most 5 % of all logs. An impossible log has no likelihood, and needs no such margin.

The same ratios tell whether batches were forgotten, even where nothing else speaks against a rule.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np

from debandit.checking.batch_counts import compare_batches
from debandit.checking.chosen import choices_in
from debandit.checking.fit import LEVEL, Looked
from debandit.checks import checked_choice
from debandit.engine.conditions import Conditions
from debandit.engine.data import Ints
from debandit.engine.experiment import enough_rounds
from debandit.errors import InputError
from debandit.log import ExperimentLog
from debandit.policies import Batched, Delayed, Policy, WarmUp
from debandit.policies.history import History
from debandit.policies.wrappers import Wrapper

MOST_NAMED = 3
TRIED_FURTHER = 5  # candidates of one kind that explain a few rounds equally well
FEW, LONGEST = 300, 20_000  # the first rounds, and as many more in the first 20,000, by which candidates are compared
FEWEST = 50  # rounds that must be looked at: a randomised rule of very many arms has no neighbours
MOST_CHANCES = 2**13  # rounds times arms of a randomised rule, for each candidate
NEARLY = 30  # a pattern may go on by accident for this many rounds
_OPENINGS = {"initial_pulls", "pulls"}  # what rules call the number of their initial pulls
FIRST_TS = (1, 0, 2)  # from which programs count their rounds
_SIZES = (2, 5, 10)  # times powers of ten: of batches that may have been forgotten


class Declared(NamedTuple):
    """A rule that does not fit, and why."""

    policy: Policy  # as it is written: without the sizes of the log's own batches
    log: ExperimentLog
    wrong: tuple[int, ...]  # the rounds, or batches, that the rule never makes, counted from 1
    conditions: Conditions  # under which it would have been played


class Candidate(NamedTuple):
    """A rule that may fit, and the number that was chosen for it."""

    policy: Policy
    number: int = 0

    @property
    def charge(self) -> float:
        """People choose round numbers: each digit more makes a number ten times less likely beforehand."""
        return len(str(self.number).rstrip("0")) * math.log(10)


class Scored(NamedTuple):
    """A candidate, and the logarithm of its likelihood."""

    policy: Policy
    log_likelihood: float
    score: float  # the same with the candidate's charge


def neighbours_of(
    log: ExperimentLog, policy: Policy, refused: Looked, accepts: Callable[[Policy], bool]
) -> tuple[str, ...]:
    """The rules next to one that does not fit that do, the simplest first; mostly there is none."""
    if _few(policy, log) < FEWEST:
        return ()
    conditions = policy.conditions(len(log.labels), log.horizon)
    declared = Declared(_as_written(policy, log), log, refused.wrong, conditions)
    kinds = [[_scored(candidate, log) for candidate in kind(declared)] for kind in KINDS]
    least = -math.inf
    if not refused.wrong:
        least = _log_likelihood(policy, log) + math.log(max(1, sum(map(len, kinds))) / LEVEL)
    found = [best for kind in kinds if (best := _accepted(kind, log, least, accepts)) is not None]
    highest = max((fit.log_likelihood for fit in found), default=0.0)
    as_good = [fit for fit in found if fit.log_likelihood >= highest + math.log(LEVEL)]
    return tuple(dict.fromkeys(str(fit.policy) for fit in as_good))[:MOST_NAMED]


def forgotten_batches(log: ExperimentLog, policy: Policy) -> tuple[float, int]:
    """A p-value for a randomised rule that hears of every reward at once, against itself in batches; and their size.

    The mean of the likelihood ratios for several sizes is 1 on average if the rule is right, and so above 1 / p with a
    probability of at most p.
    """
    conditions = policy.conditions(len(log.labels), policy.planned(log.horizon))
    elsewise = conditions.delayed or conditions.decides or len(conditions.ends)
    if log.rounds is None or not policy.by_totals or elsewise or _few(policy, log) < FEWEST:
        return 1.0, 0
    declared = Declared(policy, log, (), conditions)
    most = min(log.horizon // 3, _unheard(declared))
    sizes = [n * 10**power for power in range(len(str(most))) for n in _SIZES if n * 10**power <= most]
    found, own = [_scored(each, log) for each in _around(policy, Batched, "size", sizes)], _log_likelihood(policy, log)
    if not found or own == -math.inf:  # there is no ratio to a rule that cannot have made one of these rounds
        return 1.0, 0
    logs = np.array([fit.log_likelihood for fit in found]) - own
    least = np.logaddexp.reduce(logs) - math.log(len(found))
    return float(np.exp(-min(max(least, 0.0), 600.0))), sizes[int(np.argmax(logs))]


def _accepted(kind: list[Scored], log: ExperimentLog, least: float, accepts: Callable[[Policy], bool]) -> Scored | None:
    """The likeliest candidate of a kind, if it fits the whole log; of rules without randomness many are as likely."""
    possible = sorted((fit for fit in kind if fit.log_likelihood > least), key=lambda fit: -fit.score)
    equal = [fit for fit in possible if fit is possible[0] or not fit.policy.randomised][:TRIED_FURTHER]
    return next((fit for fit in equal if accepts(fit.policy.in_log(log))), None)


def _scored(candidate: Candidate, log: ExperimentLog) -> Scored:
    try:
        ran = candidate.policy.in_log(log)
        enough_rounds(ran, len(log.labels), log.horizon)
        likelihood = _log_likelihood(ran, log)
    except InputError:  # a rule that is not possible with so many arms or rounds, or in this log's batches
        likelihood = -math.inf
    return Scored(candidate.policy, likelihood, likelihood - candidate.charge)


def _log_likelihood(policy: Policy, log: ExperimentLog) -> float:
    """The log-likelihood of some choices, or of the counts of some batches; 0 for a rule that has to make them."""
    if log.rounds is None:
        counts = compare_batches(log, policy, _few(policy, log))
        logged, chances = counts.free, counts.chances
        impossible = counts.impossible.any()
    else:
        choices = choices_in(_rounds(policy, log), log, policy)
        if choices is None:
            return -math.inf
        logged, chances, impossible = np.ones(len(choices.arms), np.int64), choices.logged, choices.impossible.any()
    if impossible:
        return -math.inf
    return float((logged * np.log(np.maximum(chances, 1e-300))).sum()) if policy.randomised else 0.0


def _rounds(policy: Policy, log: ExperimentLog) -> Ints:
    """The first rounds, where most is learned, and fewer and fewer of the later ones."""
    few = _few(policy, log)
    first = np.arange(min(log.horizon, few))
    if not policy.by_totals:
        return first
    return np.union1d(first, np.geomspace(1, min(log.horizon, LONGEST), few).astype(np.int64) - 1)


def _few(policy: Policy, log: ExperimentLog) -> int:
    """How many first rounds, or batches, candidates are compared by."""
    return min(FEW, MOST_CHANCES // len(log.labels)) if policy.randomised else FEW


def _other_options(declared: Declared) -> Iterator[Candidate]:
    """What else one of its words may be, such as that for ties; and off by one in t."""
    yield from (Candidate(policy) for policy in _varied(declared.policy, _other_values))


def _other_values(policy: Policy) -> Iterator[dict[str, Any]]:
    for field in fields(policy):  # type: ignore[arg-type]  # all rules are dataclasses
        words = field.metadata["limits"][0] if field.metadata.get("check") is checked_choice else ()
        yield from ({field.name: value} for value in (FIRST_TS if field.name == "first_t" else words))


def _other_openings(declared: Declared) -> Iterator[Candidate]:
    """Other numbers of initial pulls: what the log begins with, or as few as possible."""
    log = declared.log
    if log.rounds is not None:
        seen = History(log.rounds.arms, log.rounds.rewards, len(log.labels)).opening
    else:
        seen = 0 if log.batches is None else int(log.batches.pulls[0].min())
    (option,) = _OPENINGS & declared.policy.core.options().keys() or {""}
    numbers = [{option: pulls} for pulls in dict.fromkeys((seen, 1, 0))] if option else []
    for policy in _varied(declared.policy, lambda rule: () if isinstance(rule, Wrapper) else numbers):
        yield Candidate(policy, getattr(policy.core, option))


def _without_a_wrapper(declared: Declared) -> Iterator[Candidate]:
    """All but one of its wrappers."""
    for layer in declared.policy.layers if isinstance(declared.policy, Wrapper) else ():
        with suppress(InputError):  # others may make no sense without it
            yield Candidate(_without(declared.policy, type(layer)))


def _in_turn(declared: Declared) -> Iterator[Candidate]:
    """First some pulls of each arm in turn: not in blocks, or more than the rule needs."""
    if declared.log.rounds is not None:
        arms, arm_count = declared.log.rounds.arms, len(declared.log.labels)
        turns = _first(arms != np.arange(len(arms)) % arm_count) // arm_count
        numbers = dict.fromkeys([declared.conditions.opening, *_numbers(turns, exact=True)])
        yield from _around(declared.policy, WarmUp, "pulls", (n for n in numbers if n <= turns))


def _in_batches(declared: Declared) -> Iterator[Candidate]:
    """Batches of another size, or where none were declared."""
    if declared.log.batch_sizes is None:
        most, exact = declared.log.horizon // 3, declared.conditions.opening > 0
        numbers = _numbers(min(most, _unheard(declared)), exact)
        yield from _around(declared.policy, Batched, "size", (n for n in numbers if n > 1))


def _delays(declared: Declared) -> Iterator[Candidate]:
    """Rewards that are heard of later."""
    if len(declared.conditions.ends):
        yield from _around(declared.policy, Delayed, "batches", (1, 2, 3))
    elif declared.log.rounds is not None:
        opening = declared.conditions.opening * len(declared.log.labels)
        numbers = _numbers(min(declared.log.horizon // 2, _unheard(declared) - opening), exact=opening > 0)
        yield from _around(declared.policy, Delayed, "rounds", numbers)


def _uniform_first(declared: Declared) -> Iterator[Candidate]:
    """First some rounds of uniform arms: a rule without randomness must then make all others."""
    half, numbers = declared.log.horizon // 2, _numbers(declared.log.horizon // 2, exact=False)
    if declared.log.batch_sizes is not None:
        numbers = np.cumsum(declared.log.batch_sizes)[:3].tolist()
    elif not declared.policy.randomised and declared.wrong:
        last = declared.wrong[-1]
        numbers = [_rounded_up(last, digits) for digits in (1, 2, len(str(last)))]
    yield from _around(declared.policy, WarmUp, "rounds", (n for n in dict.fromkeys(numbers) if n <= half))


KINDS: tuple[Callable[[Declared], Iterable[Candidate]], ...] = (  # the simplest first
    _other_options,
    _other_openings,
    _without_a_wrapper,
    _in_turn,
    _in_batches,
    _delays,
    _uniform_first,
)


def _as_written(policy: Policy, log: ExperimentLog) -> Policy:
    """The rule without the sizes and the gaps of the log's own batches, which it gets from any log that has them."""
    if not isinstance(policy, Wrapper):
        return policy
    inner = _as_written(policy.policy, log)
    if isinstance(policy, Batched) and policy.size == log.batch_sizes:
        return Batched(inner)
    return replace(policy, policy=inner)  # type: ignore[type-var]  # subclasses are dataclasses


def _varied(policy: Policy, values: Callable[[Policy], Iterable[dict[str, Any]]]) -> Iterator[Policy]:
    """The rule with other values of one option of its own, or of a rule inside it, where that is possible."""
    inside = [{"policy": inner} for inner in _varied(policy.policy, values)] if isinstance(policy, Wrapper) else []
    for options in (*inside, *values(policy)):
        try:
            changed = replace(policy, **options)  # type: ignore[type-var]  # all rules are dataclasses
        except InputError:
            continue
        if changed != policy:
            yield changed


def _around(policy: Policy, wrapper: type[Wrapper], option: str, numbers: Iterable[int]) -> Iterator[Candidate]:
    """The rule with such a wrapper, instead of one of this kind that it has."""
    for number in numbers:
        try:
            changed = wrapper(_without(policy, wrapper), **{option: number})  # type: ignore[call-arg]  # dataclasses
        except InputError:  # not around this rule
            return
        if changed != policy:
            yield Candidate(changed, number)


def _without(policy: Policy, wrapper: type[Wrapper]) -> Policy:
    if not isinstance(policy, Wrapper):
        return policy
    inner = _without(policy.policy, wrapper)
    return inner if isinstance(policy, wrapper) else replace(policy, policy=inner)  # type: ignore[type-var]  # as above


def _unheard(declared: Declared) -> int:
    """The first rounds that look as if the rule had heard of no reward, because the arms take turns."""
    log, conditions, arm_count = declared.log, declared.conditions, len(declared.log.labels)
    if not conditions.opening:
        return log.horizon
    assert log.rounds is not None
    waiting = conditions._replace(late=log.horizon, late_batches=0, ends=np.empty(0, np.int64))
    fixed = waiting.fixed(arm_count, log.horizon)
    return _first((fixed >= 0) & (fixed != log.rounds.arms[: len(fixed)]))


def _first(marked: np.ndarray) -> int:
    """The place of the first that is marked, or beyond the end."""
    return int(np.argmax(marked)) if marked.any() else len(marked)


def _numbers(most: int, exact: bool) -> list[int]:
    """Numbers up to this: those of one digit and zeros, and if `most` is nearly exact, all that are a little less."""
    scales = [10**power for power in range(len(str(max(most, 1))))]
    numbers = {digit * scale for scale in scales for digit in range(1, 10)}
    return sorted(n for n in numbers | set(range(most - NEARLY, most + 1) if exact else ()) if 1 <= n <= most)


def _rounded_up(number: int, digits: int) -> int:
    """The next number with this many digits, but for zeros."""
    scale = int(10 ** max(len(str(number)) - digits, 0))
    return -(-number // scale) * scale
