"""The answer: each arm's naive mean, its estimated bias and the corrected mean, with all that made them."""

import json
import math
import pathlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.errors import InputError, printable, shorten
from debandit.files import write_whole
from debandit.intervals import Interval
from debandit.tables import Column, decimals_for, number, render

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

SCHEMA, SCHEMA_VERSION = "debandit.result", 1

_COLUMNS = (
    Column("arm", "arm", "text"),
    Column("pulls", "pulls", "count"),
    Column("naive", "naive mean", "number"),
    Column("bias", "bias", "number"),
    Column("bias_se", "± MC s.e.", "number"),
    Column("corrected", "corrected mean", "number"),
)
_NEVER_PULLED = Column("never_pulled", "never pulled", "share")
_DIFFERENCES = (
    Column("arm", "arm", "text"),
    Column("difference", "naive difference", "number"),
    Column("difference_bias", "bias", "number"),
    Column("difference_se", "± MC s.e.", "number"),
    Column("corrected_difference", "corrected difference", "number"),
)
_EFFECTIVE = Column("effective", "effective size", "count")


class Histogram(NamedTuple):
    """Of one arm's simulated means: equal bins from low to high; what lies beyond is in the first or last bin."""

    low: float
    high: float
    counts: NDArray[np.int64]


class Path(NamedTuple):
    """The experiment, thinned for pictures: pulls and running means (NaN before the first pull) at some rounds."""

    rounds: NDArray[np.int64]  # (P,), counted from 1
    pulls: NDArray[np.int64]  # (arms, P)
    means: Floats  # (arms, P)


class Winner(NamedTuple):
    """The arm that looks best, and the bias of the highest mean, whichever arm has it: the winner's curse."""

    arm: str
    naive: float
    bias: float
    bias_se: float
    corrected: float


class Differences(NamedTuple):
    """Of each arm's mean to that of another arm; NaN for the control itself."""

    to: tuple[str, ...]  # the named control, or of the other arms the one that looks best in the log
    naive: Floats
    bias: Floats
    bias_se: Floats
    corrected: Floats


class Replays(NamedTuple):
    """How the orders of the rewards were visited: see `reordering`."""

    walks: int
    steps: int  # of each walk
    acceptance: float  # share of the steps after which the rule still made the same numbers of pulls
    effective: Floats  # (arms,) so many independent orders would be as good; NaN where all have the same value


@dataclass(frozen=True)
class Settings:
    """Everything needed to run it again."""

    policy: str
    world: str
    unseen: tuple[float, float] | None
    runs_asked: int | str
    seed: int
    horizon: int
    log_sha256: str
    log_index: int  # its place among the logs of one call
    binary: bool
    version: str
    interval: str = "none"  # as asked for
    level: float = 0.95
    method: str = "bootstrap"
    control: str | None = None
    control_variates: bool = False
    world_because: str = ""  # why it was chosen, if that was left to debandit


@dataclass(frozen=True, eq=False)
class Debiased:
    """The result of Algorithm 1 for one log; arrays have one value per arm, NaN where there is none."""

    labels: tuple[str, ...]
    pulls: NDArray[np.int64]
    naive: Floats
    sd: Floats  # of the arm's rewards, divisor n
    bias: Floats
    bias_se: Floats  # Monte-Carlo standard error of the bias
    corrected: Floats
    never_pulled: Floats  # share of the runs without a pull of the arm
    runs: int
    stopped_because: str
    warnings: tuple[str, ...]
    settings: Settings
    histograms: tuple[Histogram, ...]  # of each arm's simulated means
    path: Path | None  # None if the log has no rounds
    interval: Interval
    replays: Replays | None = None  # with the method rao-blackwell
    winner: Winner | None = None  # None with that method
    differences: Differences | None = None

    @property
    def low(self) -> Floats:
        """Lower confidence limits."""
        return self.interval.low

    @property
    def high(self) -> Floats:
        """Upper confidence limits; infinite where there is none although there is a lower one."""
        return self.interval.high

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per arm, missing values as None: what every table is made of."""
        return [
            {
                "arm": label,
                "pulls": int(self.pulls[k]),
                "naive": _or_none(self.naive[k]),
                "sd": _or_none(self.sd[k]),
                "bias": _or_none(self.bias[k]),
                "bias_se": _or_none(self.bias_se[k]),
                "corrected": _or_none(self.corrected[k]),
                "never_pulled": _or_none(self.never_pulled[k]),
                "low": _or_none(self.low[k]),
                "high": _or_none(self.high[k]),
                **({"effective": _or_none(self.replays.effective[k])} if self.replays else {}),
                **(self._comparison(k, self.differences) if self.differences else {}),
            }
            for k, label in enumerate(self.labels)
        ]

    def _comparison(self, k: int, differences: Differences) -> dict[str, Any]:
        """One arm's difference to another, and what it is as the best-looking one, if it is that."""
        names = ("difference", "difference_bias", "difference_se", "corrected_difference")
        winner = self.winner if self.winner and self.winner.arm == self.labels[k] else None
        return {
            "compared_with": differences.to[k],
            **{name: _or_none(value[k]) for name, value in zip(names, differences[1:], strict=True)},
            "best_bias": _or_none(winner.bias) if winner else None,
            "best_se": _or_none(winner.bias_se) if winner else None,
            "best_corrected": _or_none(winner.corrected) if winner else None,
        }

    def _comparison_lines(self) -> list[str]:
        """The winner, and with a named control a table of differences."""
        lines = []
        if self.winner is not None:
            arm, *values = self.winner
            naive, bias, error, corrected = (number(value, self._decimals()) for value in values)
            name = shorten(arm, 200)
            lines = [
                printable(
                    f"Best-looking arm {name}: naive {naive}; the highest of all means is biased by {bias} "
                    f"± {error}, so corrected as the winner {corrected}."
                ),
                "",
            ]
        if self.differences is not None and self.settings.control is not None:
            rows = [row for row in self.rows() if row["arm"] != row["compared_with"]]
            title = printable(f"Differences to {shorten(self.settings.control, 200)}:")
            lines = [title, "", render(rows, _DIFFERENCES, self._decimals()), "", *lines]
        return lines

    def _decimals(self) -> int:
        """To show Monte-Carlo errors, but none below 3 % of the standard error of an arm's mean."""
        with np.errstate(divide="ignore", invalid="ignore"):
            relevant = np.fmax(self.bias_se, 0.03 * self.sd / np.sqrt(self.pulls))
        return decimals_for(relevant.tolist())

    def to_frame(self) -> "pd.DataFrame":
        """The rows as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows()).assign(low=self.low, high=self.high)

    def __str__(self) -> str:
        settings, interval = self.settings, self.interval
        limits = Column("limits", f"{100 * interval.level:g} % interval", "interval")
        columns = [
            *_COLUMNS,
            *([limits] if interval.name != "none" else []),
            *([_NEVER_PULLED] if (self.never_pulled > 0).any() else []),
            *([_EFFECTIVE] if self.replays else []),
        ]
        rows = [
            row | {"limits": pair} for row, pair in zip(self.rows(), zip(self.low, self.high, strict=True), strict=True)
        ]
        why = f" (auto: {settings.world_because})" if settings.world_because else ""
        how = f"method {settings.method}" if self.replays else f"world {settings.world}{why}"
        how_fitted = " with control variates" if settings.control_variates else ""
        lines = [
            printable(f"{len(self.labels)} arms, {settings.horizon:,} rounds; rule {settings.policy}, {how}"),
            "",
            render(rows, columns, self._decimals()),
            "",
            *self._comparison_lines(),
            printable(f"{self.runs:,} runs{how_fitted}, seed {settings.seed}; {self.stopped_because}."),
            *(map(printable, str(interval).split("\n")) if interval.name != "none" else []),
            *(f"note: {printable(note)}" for note in interval.notes),
            *(
                [
                    f"{self.replays.walks:,} walks of {self.replays.steps:,} steps over the orders of the rewards, "
                    f"{100 * self.replays.acceptance:.0f} % of them accepted; the second half counts."
                ]
                if self.replays
                else []
            ),
            *(f"warning: {printable(warning)}" for warning in self.warnings),
        ]
        return "\n".join(lines)

    def to_json(self, path: str | pathlib.Path) -> None:
        """Write result.json, whole or not at all."""
        write_whole(path, json.dumps(self._document(), indent=1, allow_nan=False, ensure_ascii=False) + "\n")

    def _document(self) -> dict[str, Any]:
        arms = [
            {**row, "histogram": {**histogram._asdict(), "counts": histogram.counts.tolist()}}
            for row, histogram in zip(self.rows(), self.histograms, strict=True)
        ]
        return {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "settings": vars(self.settings),
            "runs": self.runs,
            "stopped_because": self.stopped_because,
            "warnings": list(self.warnings),
            "interval": {key: getattr(self.interval, key) for key in ("name", "level", "chosen", "known", "notes")},
            "arms": arms,
            "winner": self.winner
            and {k: v if isinstance(v, str) else _or_none(v) for k, v in self.winner._asdict().items()},
            "replays": self.replays
            and {name: value for name, value in self.replays._asdict().items() if name != "effective"},
            "path": self.path
            and {
                "rounds": self.path.rounds.tolist(),
                "pulls": self.path.pulls.tolist(),
                "means": [[_or_none(mean) for mean in arm] for arm in self.path.means],
            },
        }

    @classmethod
    def from_json(cls, path: str | pathlib.Path) -> "Debiased":
        """Read what `to_json` wrote. Nothing in the file is ever imported or run."""
        try:
            document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"cannot read the file ({error.strerror})", where=str(path)) from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"not a JSON file ({error})", where=str(path)) from None
        try:
            if document["schema"] != SCHEMA or document["schema_version"] != SCHEMA_VERSION:
                raise InputError(
                    f"schema {document['schema']!r} version {document['schema_version']!r}, "
                    f"but this is made for {SCHEMA!r} version {SCHEMA_VERSION}",
                    where=str(path),
                    remedy="Read it with the version of debandit that wrote it.",
                )
            return cls._from_document(document)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise InputError(f"not a result of debandit (at {error})", where=str(path)) from None

    @classmethod
    def _from_document(cls, document: dict[str, Any]) -> "Debiased":
        arms, path, settings = document["arms"], document["path"], dict(document["settings"])
        if not arms or not all(isinstance(settings[key], int) for key in ("seed", "horizon", "log_index")):
            raise ValueError("arms or settings")
        unseen, replays, winner = settings.pop("unseen"), document.get("replays"), document.get("winner")

        def column(key: str) -> Floats:
            return np.array([np.nan if arm[key] is None else float(arm[key]) for arm in arms])

        return cls(
            labels=tuple(str(arm["arm"]) for arm in arms),
            pulls=np.array([int(arm["pulls"]) for arm in arms]),
            **{key: column(key) for key in ("naive", "sd", "bias", "bias_se", "corrected", "never_pulled")},
            runs=int(document["runs"]),
            stopped_because=str(document["stopped_because"]),
            warnings=tuple(map(str, document["warnings"])),
            settings=Settings(**settings, unseen=None if unseen is None else (float(unseen[0]), float(unseen[1]))),
            histograms=tuple(
                Histogram(float(h["low"]), float(h["high"]), np.array(h["counts"], dtype=np.int64))
                for h in (arm["histogram"] for arm in arms)
            ),
            path=path
            and Path(
                np.array(path["rounds"], dtype=np.int64),
                np.array(path["pulls"], dtype=np.int64),
                np.array(path["means"], dtype=np.float64),  # null becomes NaN
            ),
            interval=_interval(document.get("interval"), arms),
            replays=replays
            and Replays(
                int(replays["walks"]), int(replays["steps"]), float(replays["acceptance"]), column("effective")
            ),
            winner=winner
            and Winner(
                str(winner["arm"]),
                *(np.nan if winner[key] is None else float(winner[key]) for key in Winner._fields[1:]),
            ),
            differences=Differences(
                tuple(str(arm["compared_with"]) for arm in arms),
                *map(column, ("difference", "difference_bias", "difference_se", "corrected_difference")),
            )
            if winner
            else None,
        )


def _interval(found: dict[str, Any] | None, arms: list[dict[str, Any]]) -> Interval:
    """As it was written; a file without intervals has none, and a lower limit without an upper one an infinite one."""
    low, high = (np.array([arm.get(key) for arm in arms], dtype=np.float64) for key in ("low", "high"))
    high = np.where(np.isnan(high) & ~np.isnan(low), np.inf, high)
    if found is None:
        return Interval("none", 0.95, low, high, "", "", ())
    texts = (str(found["chosen"]), str(found["known"]), tuple(map(str, found["notes"])))
    return Interval(str(found["name"]), float(found["level"]), low, high, *texts)


def _or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
