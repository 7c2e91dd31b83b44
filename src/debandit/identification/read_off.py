"""Options that need no search, because the log shows them."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from debandit.engine.data import Floats
from debandit.identification.beginnings import roundest
from debandit.identification.record import AnyRecord, Record
from debandit.identification.score import per_number
from debandit.policies import Policy

Options = dict[str, Any]


class Shown(NamedTuple):
    """What a log shows: options, their charge, and a note on them."""

    options: Options
    charge: float = 0.0
    note: str = ""


ReadOff = Callable[[type[Policy], Options, Any], Shown]  # of a record: some know what to read off rounds only


def nothing(_rule: type[Policy], _fixed: Options, _record: AnyRecord) -> Shown:
    """Nothing is read off for rules whose options must be searched for."""
    return Shown({})


def etc_pulls(_rule: type[Policy], fixed: Options, record: Record) -> Shown:
    """The number of pulls before the commitment that agrees with most rounds."""
    horizon, arms = record.horizon, range(record.arm_count)
    pulls = np.arange(1, max(1, horizon // record.arm_count) + 1)
    counts = np.vstack([record.pulls, record.pulls[-1] + (np.array(arms) == record.arms[-1])])
    ends = np.minimum(pulls[:, None] * np.arange(record.arm_count + 1), horizon)  # of each arm's block
    after = ends[:, -1]
    if fixed.get("order") == "turns":
        explored = np.append(0, np.cumsum(record.arms == np.arange(horizon) % record.arm_count))[after]
    else:
        explored = sum(counts[ends[:, k + 1], k] - counts[ends[:, k], k] for k in arms)
    last = np.minimum(after, horizon - 1)  # a log that ends with the opening has no commitment to count
    n, s = record.pulls[last], record.sums[last]
    best = np.argmax(np.divide(s, n, out=np.full(s.shape, -np.inf), where=n > 0), axis=-1)
    committed = counts[horizon, best] - counts[after, best]
    found = int(pulls[np.argmax(explored + committed)])
    return Shown({"pulls": found}, math.log(1 + 10 / found))  # nobody commits after a pull or two


def range_of_rewards(_rule: type[Policy], _fixed: Options, record: Record) -> Shown:
    """The lowest and the highest reward, which a rule for rewards from low to high must have known."""
    return Shown({"low": float(record.rewards.min()), "high": float(record.rewards.max())})


def shares(_rule: type[Policy], _fixed: Options, record: AnyRecord) -> Shown:
    """Each arm's share of the rounds; charged as if beforehand all shares were alike likely, which is exact."""
    counts = record.pulled
    likelihood = float(np.sum(counts * np.log(np.maximum(counts, 1) / record.horizon)))
    evidence = math.lgamma(record.arm_count) - math.lgamma(record.horizon + record.arm_count)
    evidence += sum(math.lgamma(count + 1) for count in counts)
    weights = tuple(float(f"{count / record.horizon:.3g}") for count in counts)
    return Shown({"weights": weights}, likelihood - evidence)


class Span(NamedTuple):
    """The values of an option that agree with the most rounds."""

    low: float
    high: float
    agreeing: int


def linear_option(name: str) -> ReadOff:
    """An option c of a deterministic rule whose scores are mean + c * bonus: the c that agree with most rounds."""

    def read_off(rule: type[Policy], fixed: Options, record: Record) -> Shown:
        found = agreeing_span(rule(**fixed, **{name: 1.0}), record)
        default = getattr(rule(), name)
        value = default if found.low < default < found.high else roundest(found.low, found.high)
        digits = next(n for n in range(5, 18) if n == 17 or f"{found.low:.{n}g}" != f"{found.high:.{n}g}")
        note = f"any {name} between {found.low:.{digits}g} and {found.high:.{digits}g} makes the same choices"
        charge = min(_surprise(found, record.sd), per_number(record.horizon))
        return Shown({name: value}, charge, note)

    return read_off


def _surprise(span: Span, unit: float) -> float:
    """-ln of the span's share of all magnitudes from 1/100 to 100 units: what is fine-tuned is charged for."""
    low, high = (float(np.clip(end / unit, 0.01, 100.0)) for end in span[:2])
    return -math.log(max(math.log(high / low), 1e-3) / math.log(10_000))


def agreeing_span(unit: Policy, record: Record) -> Span:
    """Exactly which c > 0 agree with most rounds, if `unit` is the rule with c = 1; the widest interval of them.

    Arm a has the highest score if c (bonus_a - bonus_j) >= mean_j - mean_a for every other arm j: each round allows an
    interval of c, and the best c lies in as many of them as possible.
    """
    low, high = _allowed(unit, record)
    low, high = np.sort(low[low < high]), np.sort(high[low < high])
    ends = np.unique(np.concatenate([[0.0], low, high, [np.inf]]))
    starts, stops = ends[:-1], ends[1:]
    agreeing = np.searchsorted(low, starts, side="right") - np.searchsorted(high, starts, side="right")
    best = np.lexsort([stops - starts, agreeing])[-1]
    return Span(float(starts[best]), float(stops[best]), int(agreeing[best]))


def _allowed(unit: Policy, record: Record) -> tuple[Floats, Floats]:
    """Between which c > 0 each round after the opening agrees; at none where low >= high."""
    rule = unit.rule(record.arm_count, record.horizon)
    free = slice(unit.opening * record.arm_count, None)
    arms, n, s = record.arms[free], record.pulls[free], record.sums[free]
    mean = np.divide(s, n, out=np.zeros(s.shape), where=n > 0)
    assert rule.level is not None
    assert rule.width is not None
    bonus = rule.level(np.arange(record.horizon)[free])[:, None] * rule.width(n)
    logged = np.arange(len(arms)), arms
    gain, gap = bonus[logged][:, None] - bonus, mean - mean[logged][:, None]
    first = np.arange(record.arm_count) < arms[:, None]  # arms that win ties against the logged one
    never = (gain == 0) & ((gap > 0) | ((gap == 0) & first))
    threshold = np.divide(gap, gain, out=np.zeros(gap.shape), where=gain != 0)
    low = np.where(gain > 0, threshold, 0.0).max(axis=-1, initial=0.0)
    high = np.where(never, 0.0, np.where(gain < 0, threshold, np.inf)).min(axis=-1, initial=np.inf)
    return low, high
