"""Which interval a log gets, and all that must be said about it."""

from dataclasses import dataclass

import numpy as np

from debandit.errors import InputError, listed, quoted
from debandit.intervals.binary import binary
from debandit.intervals.pooled_t import pooled_t
from debandit.intervals.sample import Floats, Sample
from debandit.intervals.two_part import two_part
from debandit.intervals.wald import wald
from debandit.log import ExperimentLog

NAMES = ("auto", "pooled-t", "binary", "two-part", "wald", "none")
MANY_ZEROS, SKEWED, LONG_TAILED = 0.1, 1.0, 10.0

# what auto takes for each kind of log, and why
_CHOICES = {
    "binary": ("binary", "all rewards are 0 or 1"),
    "zeros": ("two-part", "no reward is negative, and many are exactly 0"),
    "other": ("pooled-t", "rewards are neither 0/1 nor often exactly 0"),
    "summaries": ("wald", "only means and variances are known"),
}
_SIMULATED = "covered the truth in {} of simulated experiments"
_WALD = f"known to fail after a bandit, and {_SIMULATED} for the worst arms"
_KNOWN = {
    ("pooled-t", "other"): (
        f"with normal, t5, exponential and lognormal rewards it {_SIMULATED.format('98.1 %')}, "
        "in less than 93 % for 0.3 % of the arms (worst 88.8 %)"
    ),
    ("pooled-t", "zeros"): (
        f"with many zeros it {_SIMULATED.format('97.9 %')}, but in less than 93 % for 3.7 % of the arms (worst "
        "84.9 %); two-part is made for such rewards"
    ),
    ("pooled-t", "binary"): "not measured with 0/1 rewards; binary is made for them",
    (
        "binary",
        "binary",
    ): f"with 0/1 rewards it {_SIMULATED.format('97.7 %')} (worst arm 94.5 %; two arms by enumeration: 92.5 %)",
    ("two-part", "zeros"): f"with many zeros it {_SIMULATED.format('99.3 %')} (worst arm 94.4 %)",
    ("two-part", "other"): "not measured with few zeros; pooled-t is made for such rewards",
    ("two-part", "binary"): "not measured with 0/1 rewards; binary is made for them",
    ("wald", "binary"): _WALD.format("16 %"),
}


@dataclass(frozen=True, eq=False)
class Interval:
    """Limits for each arm's true mean: NaN where there are none, infinite where there is no upper one."""

    name: str  # one of NAMES, but never auto
    level: float
    low: Floats
    high: Floats
    chosen: str  # why this one
    known: str  # about its coverage, for this kind of rewards
    notes: tuple[str, ...]

    def __str__(self) -> str:
        if self.name == "none":
            return "No intervals."
        if np.isnan(self.low).all():  # the notes say why
            return f"No {100 * self.level:g} % intervals {self.name} ({self.chosen})."
        return (
            f"{100 * self.level:g} % intervals {self.name}, centred on the observed mean ({self.chosen}).\n"
            f"Their coverage: {self.known}; no theorem stands behind it."
        )


def interval_of(log: ExperimentLog, name: str = "auto", level: float = 0.95) -> Interval:
    """The named interval for each arm's mean, or the one that suits the rewards."""
    check_interval(name, level)
    level, nothing = float(level), np.full(len(log.labels), np.nan)
    if name == "none":
        return Interval(name, level, nothing, nothing, "asked for", "", ())
    kind = _kind(log)
    chosen = "asked for"
    if name == "auto":
        name, why = _CHOICES[kind]
        chosen = f"auto: {why}"
    _check_fits(log, name)
    low, high, notes = _limits(log, name, level)
    known = _KNOWN.get((name, kind), _WALD.format("38 %"))
    if level != 0.95:
        known = f"not measured at this level; at 95 %: {known}"
    return Interval(name, level, low, high, chosen, known, tuple(notes))


def check_interval(name: object, level: object) -> None:
    """One of the names, and a level between 0 and 1."""
    if name not in NAMES:
        raise InputError(f"there is no interval {quoted(name)}", where="interval", remedy=f"Take {', '.join(NAMES)}.")
    if not isinstance(level, (int, float, np.number)) or not 0 < level < 1:
        raise InputError(f"a level lies between 0 and 1, not {quoted(level)}", where="level", remedy="Usual is 0.95.")


def outside(log: ExperimentLog, interval: Interval, corrected: Floats) -> list[str]:
    """What to say of corrected means that lie outside."""
    with np.errstate(invalid="ignore"):
        beyond = (corrected < interval.low) | (corrected > interval.high)
    return _said(log, beyond, "the corrected mean lies outside the interval, which is centred on the observed mean")


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
    elif name in ("pooled-t", "two-part") and log.rounds is None and not log.binary:
        what = f"the interval {name} needs the rewards themselves, and the log has per-arm summaries only"
    elif name == "two-part" and not log.binary and log.pool().min() < 0:
        what = "the interval two-part is for rewards of 0 or more, but some are negative"
    else:
        return
    raise InputError(what, where="interval", remedy="Take auto, which chooses one that suits the log.")


def _limits(log: ExperimentLog, name: str, level: float) -> tuple[Floats, Floats, list[str]]:
    pulls, squares = log.pulls.astype(np.float64), np.nan_to_num(log.variances * log.pulls)
    if name == "binary":
        low, high = binary(pulls, np.rint(np.nan_to_num(log.means * pulls)), level)
        return low, high, []
    if name == "wald":
        low, high = wald(pulls, log.means, squares, level)
        still = (pulls > 0) & np.isnan(low)
        return low, high, _said(log, still, "no interval, for a single reward or equal ones show no spread")
    sample = Sample(np.repeat(np.arange(len(pulls)), log.pulls), log.pool(), len(pulls))
    pooled = pooled_t(sample, level)
    low, high = two_part(sample, level) if name == "two-part" else (pooled.low, pooled.high)
    if np.isnan(low).all():
        return low[0], high[0], ["no intervals: rewards vary within no arm, so their spread is unknown"]
    borrowed = (pulls == 1) | ((pulls == 2) & (abs(pooled.skewness[0]) > SKEWED))
    notes = _said(
        log,
        borrowed,
        "the scale of the interval is borrowed from the other arms; where the arms' standard deviations differ much, "
        "intervals of arms pulled once covered 91 %",
    )
    notes += _said(log, np.isinf(high[0]), "no upper limit, for the arm has no reward but 0")
    if pooled.kurtosis[0] > LONG_TAILED:
        notes.append(f"the rewards are long-tailed (kurtosis {pooled.kurtosis[0]:.0f}); trust the intervals less")
    return low[0], high[0], notes


def _said(log: ExperimentLog, which: np.ndarray, text: str) -> list[str]:
    return [f"{listed([log.labels[k] for k in np.flatnonzero(which)])}: {text}"] if which.any() else []
