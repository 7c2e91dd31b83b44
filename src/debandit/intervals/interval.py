"""Which interval a log gets, and all that must be said about it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.checks import checked_choice
from debandit.errors import InputError, listed
from debandit.intervals.limits import Floats, Sample, Sums, binary, moderated, pooled_t, two_part, wald, wilson
from debandit.intervals.simulated import from_normal
from debandit.log import ExperimentLog
from debandit.settings import INTERVALS

MANY_ZEROS, SKEWED, LONG_TAILED = 0.1, 1.0, 10.0

CLOSED_ROUNDS = 300  # of a log for which the closed forms were measured; in longer ones some are known to fail
MOST_ARMS = 20  # of a log for which auto simulates
FEW = 100  # pulls of a 0/1 arm whose simulated limits are no narrower than the closed form

# what auto takes for each kind of log, and why
_CHOICES = {
    "binary": ("binary", "all rewards are 0 or 1"),
    "zeros": ("two-part", "no reward is negative, and many are exactly 0"),
    "other": ("pooled-t", "rewards are neither 0/1 nor often exactly 0"),
    "summaries": (
        "pooled-t",
        "only means and variances are known, so the skewness is taken to be 0 and the kurtosis 3",
    ),
}
_REWARDS = {
    "binary": "0/1 rewards",
    "zeros": "many zeros",
    "other": "normal, t5, exponential and lognormal rewards",
    "summaries": "normal, t5, exponential and lognormal rewards of which only means and variances were known,",
}
# docs/coverage.md by family: mean coverage, share of the arms below 93 %, the worst arm
_MEASURED = {
    ("pooled-t", "other"): (0.9800, 0.009, 0.8945),
    ("pooled-t", "summaries"): (0.9781, 0.027, 0.8580),
    ("pooled-t", "zeros"): (0.9841, 0.008, 0.9060),
    ("pooled-t", "binary"): (0.9726, 0.039, 0.9150),
    ("binary", "binary"): (0.9787, 0.005, 0.9285),
    ("two-part", "zeros"): (0.9936, 0.0, 0.9575),
    ("wald", "other"): (0.8532, 0.953, 0.6571),
    ("wald", "zeros"): (0.6945, 1.0, 0.3491),
    ("wald", "binary"): (0.8245, 0.824, 0.2935),
}
_OTHER_LEVELS = (0.8, 0.9, 0.99)  # docs/coverage.md
_FOUR_RULES = ("etc", "ucb", "thompson", "beta_thompson", "epsilon_greedy")
_SMALL = "60 to 300 rounds with 2 to 8 arms under explore-then-commit, UCB, Thompson sampling and epsilon-greedy"
_LONG_TAILED_SUMS = 0.7910  # docs/coverage.md, where only sums are known: the worst long-lognormal arm
_LEAST_BY_ENUMERATION = "92.5 %"  # docs/coverage.md, two arms, all rules

_SHOWING, FACTOR = 10, 3.0  # pulls that show an arm's standard deviation, and how many times as large is too different
# docs/intervals.md: coverage by pooled-t of arms whose standard deviation is so many times that of the others
BORROWED = "if its own standard deviation is 3 times theirs, such intervals cover only 89 %, if 5 times, 69 %"
_WITH_FACTORS = (
    "with a factor of 3 the intervals of the more variable arms covered 95 % (worst arm 87 %; if pulled once 89 %), "
    "with a factor of 5 92 % (81 %; 69 %), with 10 87 % (70 %; 51 %)"
)


class Larger(NamedTuple):
    """Larger experiments in which intervals were measured."""

    experiments: str
    rules: tuple[str, ...]
    arms: int  # at most
    rounds: tuple[int, int]
    covered: dict[tuple[str, str], str]  # of (interval, kind of rewards): docs/coverage.md, the first table


_LARGER = (
    Larger(
        "300 to 5,000 rounds with 2 to 5 arms under explore-then-commit, UCB, Thompson sampling and epsilon-greedy",
        _FOUR_RULES,
        5,
        (300, 5000),
        {
            ("pooled-t", "other"): "96.6 ± 0.2 % on average",
            ("two-part", "zeros"): "98.8 ± 0.3 % on average",
            ("simulated", "binary"): "95.8 ± 0.4 % on average",
        },
    ),
    Larger(
        "20,000 to 100,000 users with 2 to 5 arms under batched Thompson sampling",
        ("batched beta_thompson",),
        5,
        (20_000, 100_000),
        {("simulated", "binary"): "94.8 % on average, in the worst case 91.0 %"},
    ),
    Larger(
        "20,000 to 100,000 users with 2 to 5 arms under batched UCB",
        ("batched ucb",),
        5,
        (20_000, 100_000),
        {("simulated", "binary"): "94.2 ± 0.4 % on average"},
    ),
)


@dataclass(frozen=True, eq=False)
class Interval:
    """Limits for each arm's true mean: NaN where there are none, infinite where there is no upper one.

    Attributes
    ----------
    name : str
        Which interval it is; see docs/intervals.md.
    level : float
        Its confidence level.
    low, high : array of float
        The limits.
    chosen : str
        Why it was chosen.
    known : str
        What is known of its coverage, for this kind of rewards.
    notes : tuple of str
        What else there is to say.
    """

    name: str
    level: float
    low: Floats
    high: Floats
    chosen: str
    known: str
    notes: tuple[str, ...]

    def __str__(self) -> str:
        if self.name == "none":
            return "No intervals."
        if np.isnan(self.low).all():  # the notes say why
            return f"No {100 * self.level:g} % intervals of the kind {self.name} ({self.chosen})."
        return (
            f"{100 * self.level:g} % intervals of the kind {self.name}, centred on the observed mean ({self.chosen}).\n"
            f"Their coverage: {self.known}; no theorem guarantees it."
        )


def chosen_interval(log: ExperimentLog, name: str = "auto", cannot: str = "") -> tuple[str, str]:
    """The name of the interval that a log gets, and why; `cannot` says why nothing can be simulated, if so."""
    checked_choice("interval", name, INTERVALS)
    because = "asked for"
    if name == "auto":
        name, why = _CHOICES[_kind(log)]
        if name == "binary" and log.horizon > CLOSED_ROUNDS and not cannot and len(log.labels) <= MOST_ARMS:
            name, why = "simulated", f"0/1 rewards and more than {CLOSED_ROUNDS} rounds"
        because = f"auto: {why}"
    elif name == "simulated" and cannot:
        raise InputError(f"the interval simulated is not possible: {cannot}", where="interval", remedy="Take auto.")
    _check_fits(log, name)
    return name, because


def interval_of(
    log: ExperimentLog, name: str = "auto", level: float = 0.95, z: Floats | None = None, rule: str = "ucb"
) -> Interval:
    """The named interval for each arm's mean, or the one that suits the rewards.

    `z` (arms, 2) has the distances of simulated limits below and above, if the policy was run to find them. `rule` is
    the kind of the policy, as in what was measured: its name, after the word batched if it ran in batches.
    """
    name, chosen = chosen_interval(log, name, "" if z is not None else "the policy was not run for it")
    if name == "none":
        nothing = np.full(len(log.labels), np.nan)
        return Interval(name, level, nothing, nothing, chosen, "", ())
    kind = _kind(log)
    low, high, notes = _limits(log, name, level) if z is None else _simulated_limits(log, level, z)
    kind = "other" if (name, kind) == ("wald", "summaries") else kind  # it needs no rewards
    known = _known(name, kind, rule, len(log.labels), log.horizon)
    if level != 0.95:
        elsewhere = "docs/coverage.md has this level" if level in _OTHER_LEVELS else "not measured at this level"
        known = f"{elsewhere}; at 95 %: {known}"
    return Interval(name, level, low, high, chosen, known, tuple(notes))


def _known(name: str, kind: str, rule: str, arms: int, rounds: int) -> str:
    """What was measured of an interval with such rewards in such experiments."""
    for larger in _LARGER:
        low, high = larger.rounds
        if rule in larger.rules and arms <= larger.arms and low < rounds <= high and (name, kind) in larger.covered:
            return f"measured for {larger.experiments}: {larger.covered[name, kind]}"
    better = "" if name in (_CHOICES[kind][0], "wald", "simulated") else f"; {_CHOICES[kind][0]} is made for them"
    if (name, kind) not in _MEASURED:
        return f"not measured with {'few zeros' if kind == 'other' else _REWARDS[kind]} in such experiments{better}"
    if not (rule in _FOUR_RULES and arms <= 8 and 60 <= rounds <= CLOSED_ROUNDS) and name != "wald":
        exact = f"; two arms by enumeration: {_LEAST_BY_ENUMERATION} and more" * (name == "binary" and arms == 2)
        return f"not measured in such experiments, but for {_SMALL}{exact * (rounds <= 100)}{better}"
    mean, share, worst = (f"{100 * value:.1f} %" for value in _MEASURED[name, kind])
    if kind == "summaries":
        worst += f", with long tails {100 * _LONG_TAILED_SUMS:.1f} %"
    exactly = f"; two arms by enumeration: {_LEAST_BY_ENUMERATION}" if name == "binary" else ""
    return (
        f"{'known to fail after a bandit: ' if name == 'wald' else ''}with {_REWARDS[kind]} the truth was covered in "
        f"{mean} of simulated experiments, in less than 93 % for {share} of the arms (worst {worst}{exactly}){better}"
    )


def outside(log: ExperimentLog, interval: Interval, means: Floats, which: str) -> list[str]:
    """What to say of quoted or corrected means that lie outside."""
    with np.errstate(invalid="ignore"):
        beyond = (means < interval.low) | (means > interval.high)
    return _said(log, beyond, f"the {which} mean lies outside the interval, which is centred on the observed mean")


def _kind(log: ExperimentLog) -> str:
    if log.binary:
        return "binary"
    if log.rounds is None:
        return "summaries"
    rewards = log.rounds.rewards
    return "zeros" if rewards.min() >= 0 and (rewards == 0).mean() >= MANY_ZEROS else "other"


def _check_fits(log: ExperimentLog, name: str) -> None:
    """What was asked for must make sense for these rewards."""
    if name == "binary" and not log.binary:
        what = "the interval binary is for 0/1 rewards, but the log has others"
    elif name == "two-part" and log.rounds is None and not log.binary:
        what = f"the interval {name} needs the rewards themselves, and the log has per-arm summaries only"
    elif name == "two-part" and not log.binary and log.pool().min() < 0:
        what = "the interval two-part is for rewards of 0 or more, but some are negative"
    else:
        return
    raise InputError(what, where="interval", remedy="Take auto, which chooses one that suits the log.")


def _limits(log: ExperimentLog, name: str, level: float) -> tuple[Floats, Floats, list[str]]:
    pulls, squares = log.pulls.astype(np.float64), np.nan_to_num(log.variances * log.pulls)
    if name == "binary":
        low, high = binary(pulls, wins_of(log), level)
        return low, high, []
    if name == "wald":
        low, high = wald(pulls, log.means, squares, level)
        still = (pulls > 0) & np.isnan(low)
        return (
            low,
            high,
            _said(log, still, "no interval, because one reward, or rewards that are all the same, show no spread"),
        )
    sample = sample_of(log)
    pooled = pooled_t(sample, level)
    low, high = two_part(sample, level) if isinstance(sample, Sample) and name == "two-part" else pooled[:2]
    if np.isnan(low).all():
        return low[0], high[0], ["no intervals: the rewards do not vary within any arm, so their spread is unknown"]
    borrowed = (pulls == 1) | ((pulls == 2) & (abs(pooled.skewness[0]) > SKEWED))
    notes = _said(
        log,
        borrowed,
        f"the width of its interval is borrowed from the other arms; {BORROWED}",
    )
    notes += _said(log, np.isinf(high[0]), "no upper limit, because all rewards of the arm are 0")
    if pooled.kurtosis[0] > LONG_TAILED:
        notes.append(f"the rewards have long tails (kurtosis {pooled.kurtosis[0]:.0f}); rely on the intervals less")
    return low[0], high[0], notes


def _simulated_limits(log: ExperimentLog, level: float, z: Floats) -> tuple[Floats, Floats, list[str]]:
    """Limits as far out as the runs say.

    0/1: Wilson's, of an arm with few pulls no narrower than `binary`. Else t limits, at the top no narrower than
    `pooled_t`.
    """
    if log.binary:
        pulls, wins = log.pulls.astype(np.float64), wins_of(log)
        limits, closed = wilson(pulls, wins, z[:, 0], z[:, 1]), binary(pulls, wins, level)
        few = pulls < FEW
        low, high = (np.where(few, wide, own) for wide, own in zip(limits.wider(closed), limits, strict=True))
        return low, high, []
    _, closed_high, notes = _limits(log, "pooled-t", level)
    parts = moderated(sample_of(log))
    below, above = (parts.se[0] * from_normal(z[:, side], parts.df[0]) for side in (0, 1))
    return log.means - below, np.maximum(log.means + above, closed_high), notes


def sample_of(log: ExperimentLog) -> Sample | Sums:
    """The rewards of all arms, or their sums where nothing else is known, as one experiment."""
    pulls = log.pulls.astype(np.float64)
    if log.has_rewards:
        return Sample(np.repeat(np.arange(len(pulls)), log.pulls), log.pool(), len(pulls))
    return Sums(pulls[None], log.means[None], np.nan_to_num(log.variances * log.pulls)[None])


def wins_of(log: ExperimentLog) -> Floats:
    """The successes of each arm, of 0/1 rewards."""
    return np.rint(np.nan_to_num(log.means * log.pulls))


def spread_warnings(log: ExperimentLog, interval: str) -> list[str]:
    """What is known of the interval if standard deviations differ more than threefold."""
    ratio = float(spread_ratio(log.pulls.astype(np.float64), np.nan_to_num(log.variances)))
    if interval != "pooled-t" or not ratio > FACTOR:
        return []
    return [
        f"the standard deviations of the arms differ by a factor of {ratio:.1f}: in simulations {_WITH_FACTORS}; "
        "do not rely on a limit that only just excludes a value"
    ]


def spread_ratio(pulls: Floats, variances: Floats) -> Floats:
    """The largest standard deviation of an arm divided by the smallest (..., arms), among arms with enough pulls.

    1 where fewer than two arms have enough pulls and rewards that vary. Variances have the divisor n.
    """
    judged: NDArray[np.bool_] = (pulls >= _SHOWING) & (variances > 0)
    unbiased = np.where(judged, variances, 1.0) * pulls / np.maximum(pulls - 1, 1)
    largest = np.where(judged, unbiased, 0.0).max(axis=-1)
    smallest = np.where(judged, unbiased, np.inf).min(axis=-1)
    ratio: Floats = np.where(largest > 0, np.sqrt(largest / smallest), 1.0)
    return ratio


def _said(log: ExperimentLog, which: np.ndarray, text: str) -> list[str]:
    return [f"{listed([log.labels[k] for k in np.flatnonzero(which)])}: {text}"] if which.any() else []
