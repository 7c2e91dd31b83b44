"""The options of `debias`, each declared once: its default, what it may be, and what it is for.

`debias` and `debias_all`, their documentation and the command line are all made from these declarations.
"""

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from debandit.checks import (
    LARGEST,
    MOST_RUNS,
    check_fields,
    checked_flag,
    checked_whole,
    checked_workers,
    choice,
    did_you_mean,
    option,
    whole,
)
from debandit.errors import InputError, listed, quoted, shorten

if TYPE_CHECKING:
    from concurrent.futures import Executor

INTERVALS = ("auto", "pooled-t", "binary", "two-part", "simulated", "wald", "none")
MISSING = ("refuse", "drop")  # of `read_log`
AVAILABLE = ("auto", "all")  # likewise, and of `ExperimentLog.from_batches`
PERIODS = ("hour", "day", "week")
Absent = dict[str, list[list[str]]]  # arms, and the first and last batch of each time in which they were not available
LEVELS = 0.5, 0.999  # beyond them the limits are too far from what was measured to mean anything
ADJUST = "auto", (ADJUST_BATCHES := "batches"), (NO_ADJUSTMENT := "none")
BOOTSTRAP, RAO_BLACKWELL = METHODS = ("bootstrap", "rao-blackwell")


class Unseen(NamedTuple):
    """The mean and the standard deviation that stand in for an arm without a reward in the log."""

    mean: float
    sd: float

    @classmethod
    def of(cls, pair: Any) -> "Unseen":
        """The pair, checked."""
        try:
            mean, sd = (float(value) for value in pair)
        except (TypeError, ValueError, OverflowError):
            mean = sd = float("nan")
        if not (abs(mean) <= LARGEST and 0 <= sd <= LARGEST):
            raise InputError(f"{quoted(pair)} is not a mean and a standard deviation of at least 0", where="unseen")
        return cls(mean, sd)


def _runs(name: str, value: Any, *, where: str) -> int | str:
    if isinstance(value, str) and value == "auto":
        return value
    return checked_whole(name, value, 2, MOST_RUNS, where=where)


def _level(name: str, value: Any, *, where: str) -> float:
    """A level that results may have, old ones too; `checked_options` has the limits of new ones."""
    try:
        if 0 < value < 1:
            return float(value)
    except (TypeError, ValueError):
        pass
    raise _no_level(value, where or name)


def _no_level(value: Any, where: str) -> InputError:
    what = f"a level lies between {LEVELS[0]} and {LEVELS[1]}, not {quoted(value)}"
    return InputError(what, where=where, remedy="Usual is 0.95, for 95 %.")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The checked options, and what they were applied to: everything needed to run it again."""

    world: Any = option(
        "auto",
        text="The bootstrap world. auto chooses the one that suits the rewards and says which; gaussian is the "
        "paper's.",
    )
    runs: int | Literal["auto"] = option(
        "auto",
        _runs,
        text="The number of simulated experiments. auto goes on until the Monte-Carlo error is small enough.",
    )
    unseen: Unseen | None = option(
        None,
        lambda _, pair, **__: Unseen.of(pair),
        text="Mean and standard deviation to assume for arms that have no reward in the log.",
    )
    interval: str = choice(
        *INTERVALS,
        text="The kind of interval for each arm's mean. auto chooses the one that suits the rewards and says which.",
    )
    level: float = option(0.95, _level, text="The confidence level of the intervals, from 0.5 to 0.999.")
    method: str = choice(*METHODS, text="rao-blackwell gives exactly unbiased means, for rules without randomness.")
    control: str | None = option(None, lambda _, label, **__: str(label), text="The arm to compare all others with.")
    adjust: str = choice(
        *ADJUST,
        text="batches: also show period-weighted means, which are right even if some days are better than others for "
        "all arms; auto: show them if the log has such days.",
    )
    control_variates: bool = option(
        True,
        checked_flag,
        text="Use control variates against Monte-Carlo noise. Without them the biases are plain averages over the "
        "runs.",
    )
    seed: int = whole(0, high=2**64 - 1, text="Same seed, same answer.")
    log_index: int = whole(0, high=MOST_RUNS, text="The log's place among the logs of one call.")

    # of one log
    policy: str = ""
    world_because: str = ""  # why it was chosen, if that was left to debandit
    horizon: int = whole(0)
    log_sha256: str = ""
    binary: bool = False
    reward: str = ""  # the name of its column, which decides about a verb and nothing else
    absent: Absent = dataclasses.field(default_factory=dict)
    version: str = ""

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def runs_asked(self) -> int | str:
        """The number of runs that was asked for, or auto; the result's own `runs` were made."""
        return self.runs


def absence_notes(absent: Absent) -> list[str]:
    """What to say about arms that were not available in every batch."""
    times = [
        f"{shorten(arm)} {'in' if first == last else 'from'} {shorten(first)!r}"
        + ("" if first == last else f" to {shorten(last)!r}")
        for arm, ranges in absent.items()
        for first, last in ranges
    ]
    return [
        f"treated as not available: {listed(times, 5)} (if every arm was always available, say --available all)"
    ] * bool(times)


@dataclass(frozen=True, kw_only=True)
class Work:
    """How to go about the work. Nothing of it is kept, because no number in a result depends on it."""

    force: bool = option(False, checked_flag, text="Go on even if the rule cannot have made the log.")
    threads: int | None = option(None, text="The number of threads. The default is the number of cores.")
    executor: "Executor | None" = option(None, text="A concurrent.futures.Executor to use instead of threads.")

    def __post_init__(self) -> None:
        check_fields(self)
        checked_workers(self.threads, self.executor)

    @property
    def workers(self) -> "Executor | int | None":
        """The executor, or the number of threads; None: all cores."""
        return checked_workers(self.threads, self.executor)


OPTIONS = {
    field.name: field
    for record in (Settings, Work)
    for field in dataclasses.fields(record)
    if field.metadata.get("text")
}


def checked_options(given: dict[str, Any]) -> tuple[Settings, Work]:
    """The options that a caller gave, or what is wrong with them."""
    for name in given:
        if name not in OPTIONS:
            remedy = did_you_mean(name, list(OPTIONS)) or f"The options are {', '.join(OPTIONS)}."
            raise InputError(f"there is no option {quoted(name)}", where="debias", remedy=remedy)
    work = {field.name for field in dataclasses.fields(Work)}
    settings = Settings(**{name: value for name, value in given.items() if name not in work})
    if not LEVELS[0] <= settings.level <= LEVELS[1]:
        raise _no_level(settings.level, "level")
    if settings.method == RAO_BLACKWELL and settings.control is not None:
        what = "the method rao-blackwell does not compare arms"
        raise InputError(what, where="control", remedy="Use the bootstrap (the default method).")
    return settings, Work(**{name: value for name, value in given.items() if name in work})


def as_flags(given: dict[str, Any]) -> list[str]:
    """Options as words of a command; those at their defaults are left out."""
    words = []
    for name, value in given.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            words += [] if value is OPTIONS[name].default else [f"--{option}" if value else f"--no-{option}"]
        elif value != OPTIONS[name].default:
            words += [f"--{option}", ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)]
    return words
