"""The answer: each arm's naive mean, its estimated bias and the corrected mean, with all that made them."""

import json
import math
import pathlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from debandit.errors import InputError
from debandit.files import json_text, write_whole
from debandit.intervals import Interval
from debandit.log_parts import checked_labels
from debandit.metrics import MetricResult
from debandit.periods import Adjusted
from debandit.result_parts import Differences, Floats, Histogram, Path, Replays, Winner
from debandit.settings import INTERVALS, Settings
from debandit.tables import Part, Printed, plain
from debandit.words import answer, details

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

SCHEMA, SCHEMA_VERSION, READABLE = "debandit.result", 2, (1, 2)  # version 1 has no values to quote

_MOST = 1e200  # no number in a result is larger

_QUOTED_VALUES = ("quoted", "quoted_bias", "quoted_bias_se")
_LIFT = ("lift", "lift_low", "lift_high")
_VALUES = ("naive", "sd", *_QUOTED_VALUES, "bias", "bias_se", "corrected", "never_pulled", "pulls_cv")
# the names that a row has for the parts of `Differences` and of `Winner`
_OF_DIFFERENCES = {
    "difference": "naive",
    "quoted_difference": "quoted",
    "difference_bias": "bias",
    "difference_se": "bias_se",
    "corrected_difference": "corrected",
    "difference_low": "low",
    "difference_high": "high",
    "p_value": "p_value",
    "p_adjusted": "p_adjusted",
    "lift": "lift",
    "lift_low": "lift_low",
    "lift_high": "lift_high",
}
_OF_ADJUSTED = {
    "adjusted": "means",
    "adjusted_se": "se",
    "adjusted_low": "low",
    "adjusted_high": "high",
    "adjusted_difference": "difference",
    "adjusted_difference_low": "difference_low",
    "adjusted_difference_high": "difference_high",
}
_TEXTS = ("world", "policy", "world_because", "log_sha256", "reward", "version")  # in the settings
_P_VALUES = ("p_value", "p_adjusted")
_NOT_IN_VERSION_1 = (
    *(*_QUOTED_VALUES, "pulls_cv"),
    *("quoted_difference", "difference_low", "difference_high", *_P_VALUES, *_LIFT),
)
_OF_WINNER = {"best_bias": "bias", "best_se": "bias_se", "best_corrected": "corrected"}


@dataclass(frozen=True, eq=False)
class Debiased(Printed):
    """What `debias` says of one log. Arrays have one value per arm, NaN where there is none.

    Printed, it is the answer in words; `details` says how it was made.

    Attributes
    ----------
    labels : tuple of str
        The arms.
    pulls : array of int
        How often each was pulled.
    naive, sd : array of float
        Each arm's sample mean, and the standard deviation of its rewards with the divisor n.
    quoted : array of float
        The mean, corrected given the arm's place in this log: the number to quote. See docs/quoted.md.
    quoted_bias, quoted_bias_se : array of float
        What was taken off for that, and its Monte-Carlo standard error.
    bias, bias_se : array of float
        The bias on average over experiments, and its Monte-Carlo standard error.
    corrected : array of float
        The mean minus that bias: for many experiments put together.
    interval : Interval
        The limits, their level, and what is known of their coverage.
    differences : Differences or None
        Each arm's difference to another one.
    winner : Winner or None
        The arm that looks best, and the winner's curse. None with the method rao-blackwell.
    adjusted : Adjusted or None
        Period-weighted means, if they were asked for or all arms drift together. See docs/drift.md.
    metrics : dict of str to MetricResult
        Outcomes besides the reward.
    warnings : tuple of str
        What should make you doubt the numbers.
    settings : Settings
        The options, and what they were applied to: everything needed to run it again.
    runs, stopped_because : int, str
        How many experiments were simulated, and why no more.
    never_pulled, pulls_cv : array of float
        The share of the runs without a pull of the arm; the standard deviation of its pulls over the runs, divided by
        their mean.
    histograms : tuple of Histogram
        Each arm's simulated means.
    path : Path or None
        The experiment over time; None if the log has neither rounds nor batches.
    replays : Replays or None
        How the orders were visited, with the method rao-blackwell.

    Examples
    --------
    >>> import debandit as db
    >>> log = db.ExperimentLog.from_summaries(["A", "B"], [100, 300], [0.25, 0.3], binary=True)
    >>> result = db.debias(log, "beta_thompson", control="A", runs=500)
    >>> result.differences.quoted.round(3)
    array([  nan, 0.001])
    >>> result.to_frame()[["arm", "naive", "quoted", "low", "high"]].round(3)
      arm  naive  quoted    low   high
    0   A   0.25   0.293  0.191  0.371
    1   B   0.30   0.294  0.254  0.371
    """

    labels: tuple[str, ...]
    pulls: NDArray[np.int64]
    naive: Floats
    sd: Floats
    quoted: Floats
    quoted_bias: Floats
    quoted_bias_se: Floats
    bias: Floats
    bias_se: Floats
    corrected: Floats
    never_pulled: Floats
    pulls_cv: Floats
    runs: int
    stopped_because: str
    warnings: tuple[str, ...]
    settings: Settings
    histograms: tuple[Histogram, ...]
    path: Path | None
    interval: Interval
    replays: Replays | None = None
    winner: Winner | None = None
    differences: Differences | None = None
    metrics: dict[str, MetricResult] = field(default_factory=dict)
    adjusted: Adjusted | None = None

    @property
    def low(self) -> Floats:
        """Lower confidence limits."""
        return self.interval.low

    @property
    def high(self) -> Floats:
        """Upper confidence limits; infinite where there is none although there is a lower one."""
        return self.interval.high

    @property
    def limits(self) -> tuple[Floats, Floats]:
        """The limits that are shown: `low` and `high`; those of the best-looking arm allow for its selection."""
        low, high = self.low.copy(), self.high.copy()
        if self.winner is not None and not math.isnan(self.winner.low):
            best = self.labels.index(self.winner.arm)
            low[best], high[best] = self.winner.low, self.winner.high
        return low, high

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per arm with all that is known of it, missing values as None."""
        others = {
            key: _known(column) for name, each in self.metrics.items() for key, column in each.columns(name).items()
        }
        return [row | {key: column[k] for key, column in others.items()} for k, row in enumerate(self.arm_rows())]

    def arm_rows(self) -> list[dict[str, Any]]:
        """The rows without the metrics."""
        columns: dict[str, Sequence[Any]] = {"arm": self.labels, "pulls": self.pulls.tolist()}
        columns |= {name: _known(getattr(self, name)) for name in (*_VALUES, "low", "high")}
        if self.replays:
            columns["effective"] = _known(self.replays.effective)
        if self.adjusted:
            columns |= {key: _known(getattr(self.adjusted, name)) for key, name in _OF_ADJUSTED.items()}
        if self.differences:
            columns["compared_with"] = self.differences.to
            columns |= {key: _known(getattr(self.differences, name)) for key, name in _OF_DIFFERENCES.items()}
            for key, name in _OF_WINNER.items():
                value = _known([getattr(self.winner, name, math.nan)])[0]
                columns[key] = [value if self.winner and label == self.winner.arm else None for label in self.labels]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_frame(self) -> "pd.DataFrame":
        """The rows as a pandas data frame."""
        import pandas as pd

        others = {key: column for name, each in self.metrics.items() for key, column in each.columns(name).items()}
        return pd.DataFrame(self.arm_rows()).assign(low=self.low, high=self.high, **others)

    def __str__(self) -> str:
        return plain(self.parts())

    def details(self) -> str:
        """How the numbers were made and how far to trust them: runs, Monte-Carlo errors, coverage of the intervals."""
        return plain(details(self))

    def parts(self, *, with_details: bool = False) -> list[Part]:
        """The pieces of what is printed."""
        return answer(self, details(self) if with_details else ())

    def plot(self, path: str | pathlib.Path | None = None) -> "alt.VConcatChart":
        """A picture of the arms, the experiment over time and the runs; written to `path`, if there is one.

        The path ends in .svg, .png, .pdf or .html.
        """
        from debandit.plots import draw_result, save_as

        chart = draw_result(self)
        if path is not None:
            save_as(chart, path)
        return chart

    def to_json(self, path: str | pathlib.Path) -> None:
        """Write result.json, whole or not at all."""
        write_whole(path, json_text(self.document()))

    def document(self) -> dict[str, Any]:
        """What result.json has."""
        settings = vars(self.settings).copy()
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "settings": {"runs_asked": settings.pop("runs"), **settings},
            "runs": self.runs,
            "stopped_because": self.stopped_because,
            "warnings": list(self.warnings),
            "interval": {key: getattr(self.interval, key) for key in ("name", "level", "chosen", "known", "notes")},
            "arms": [
                {**row, "histogram": {"low": low, "high": high, "counts": counts.tolist()}}
                for row, (low, high, counts) in zip(self.arm_rows(), self.histograms, strict=True)
            ],
            **dict.fromkeys(("winner", "replays", "path", "adjusted")),
            "metrics": {name: {k: _known(v) for k, v in m._asdict().items()} for name, m in self.metrics.items()},
        }
        if self.winner:
            arm, *values = self.winner
            document["winner"] = dict(zip(Winner._fields, (arm, *_known(values)), strict=True))
        if self.replays:
            document["replays"] = {name: getattr(self.replays, name) for name in ("walks", "steps", "acceptance")}
        if self.adjusted:
            parts = {name: np.asarray(value) for name, value in self.adjusted._asdict().items()}
            document["adjusted"] = {k: _known(v) if v.ndim else _known([v.item()])[0] for k, v in parts.items()}
        if self.path:
            rounds, pulls, means = self.path
            known = [_known(arm) for arm in means]
            document["path"] = {"rounds": rounds.tolist(), "pulls": pulls.tolist(), "means": known}
        return document

    @classmethod
    def from_json(cls, path: str | pathlib.Path) -> "Debiased":
        """Read what `to_json` wrote, and nothing else. Nothing in the file is ever imported or run."""
        try:
            text = pathlib.Path(path).read_text(encoding="utf-8")
            document = json.loads(text, parse_float=_number, parse_constant=_number)
        except OSError as error:
            raise InputError(f"cannot read the file ({error.strerror})", where=str(path)) from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"not a JSON file ({error})", where=str(path)) from None
        try:
            schema, version = document["schema"], document["schema_version"]
            if schema == SCHEMA and type(version) is int and version in READABLE:
                with np.errstate(invalid="ignore"):  # whole numbers that are none
                    found = cls._from_document(document)
                if place := next(differences(document, found.document() | {"schema_version": version}), None):
                    raise ValueError(place)
                return found
        except (InputError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise InputError(f"not a result of debandit (at {error})", where=str(path)) from None
        raise InputError(
            f"schema {schema!r} version {version!r}, but this version reads {SCHEMA!r} version {SCHEMA_VERSION}",
            where=str(path),
            remedy="Read it with the version of debandit that wrote it.",
        )

    @classmethod
    def _from_document(cls, document: dict[str, Any]) -> "Debiased":
        path, replays, winner, adjusted = (document.get(key) for key in ("path", "replays", "winner", "adjusted"))
        arms = [dict.fromkeys(_NOT_IN_VERSION_1) | arm for arm in document["arms"]]
        before = {"interval": "none", "control_variates": False, "adjust": "none"}  # there were any
        settings = {**before, **document["settings"]}
        if not arms or not {"policy", "horizon", "log_sha256"} <= set(settings):
            raise ValueError("arms or settings")

        def column(key: str) -> Floats:
            return np.array([arm[key] for arm in arms], dtype=np.float64)  # null becomes NaN

        found = cls(
            labels=tuple(str(arm["arm"]) for arm in arms),
            pulls=np.array([int(arm["pulls"]) for arm in arms], dtype=np.int64),
            **{key: column(key) for key in _VALUES},
            runs=int(document["runs"]),
            stopped_because=str(document["stopped_because"]),
            warnings=tuple(map(str, document["warnings"])),
            settings=Settings(runs=settings.pop("runs_asked"), **settings),
            histograms=tuple(
                Histogram(float(h["low"]), float(h["high"]), np.array(h["counts"], dtype=np.int64))
                for h in (arm["histogram"] for arm in arms)
            ),
            path=path
            and Path(
                np.array(path["rounds"], dtype=np.int64),
                np.array(path["pulls"], dtype=np.int64),
                np.array(path["means"], dtype=np.float64),
            ),
            interval=_interval(document.get("interval"), arms),
            replays=replays
            and Replays(
                int(replays["walks"]), int(replays["steps"]), float(replays["acceptance"]), column("effective")
            ),
            winner=winner and _winner(winner),
            adjusted=adjusted and Adjusted.of_document(adjusted, len(arms)),
            differences=winner
            and Differences(tuple(str(arm["compared_with"]) for arm in arms), *map(column, _OF_DIFFERENCES)),
            metrics={
                str(name): MetricResult.of_document(each, len(arms))
                for name, each in document.get("metrics", {}).items()
            },
        )
        if wrong := found._wrong():
            raise ValueError(wrong)
        return found

    def _wrong(self) -> str:
        """What does not belong together, if anything; of what was computed everything does."""
        checked_labels(self.labels, given=True)
        settings, path, count = self.settings, self.path, len(self.labels)
        named = [settings.control, *([self.winner.arm] if self.winner else [])]
        named += self.differences.to if self.differences else ()
        texts = [getattr(settings, name) for name in _TEXTS]
        ranges = [each for several in settings.absent.values() for each in several]
        holds = {
            "arms": {*named} <= {*self.labels, None} and self.pulls.min() >= 0,
            "settings": all(isinstance(text, str) for text in texts) and isinstance(settings.binary, bool),
            "absent": all(len(each) == 2 and all(isinstance(name, str) for name in each) for each in ranges),
            "interval": self.interval.name in INTERVALS,
            "runs": self.runs >= 0,
            "histogram": all(map(_is_sound, self.histograms)),
            "path": path is None or path.pulls.shape == path.means.shape == (count, len(path.rounds)),
        }
        return next((name for name, well in holds.items() if not well), "")


def _interval(found: dict[str, Any] | None, arms: list[dict[str, Any]]) -> Interval:
    """The interval as it was written; old files have none. An upper limit that is missing alone is infinite."""
    low, high = (np.array([arm.get(key) for arm in arms], dtype=np.float64) for key in ("low", "high"))
    high = np.where(np.isnan(high) & ~np.isnan(low), np.inf, high)
    if found is None:
        return Interval("none", 0.95, low, high, "", "", ())
    texts = (str(found["chosen"]), str(found["known"]), tuple(map(str, found["notes"])))
    return Interval(str(found["name"]), float(found["level"]), low, high, *texts)


def _winner(found: dict[str, Any]) -> Winner:
    values = np.array([found[key] for key in Winner._fields[1:5]], dtype=np.float64).tolist()
    limits = np.array([found.get(key) for key in Winner._fields[5:]], dtype=np.float64).tolist()  # not in version 1
    return Winner(str(found["arm"]), *values, *limits)


def differences(given: Any, written: Any, place: str = "") -> Iterator[str]:
    """Where something is given that is not written as well: another value, or one of another kind."""
    if isinstance(given, dict) and isinstance(written, dict):
        for key, value in given.items():
            inside = f"{place}.{key}" if place else str(key)
            yield from differences(value, written[key], inside) if key in written else [inside]
    elif isinstance(given, list) and isinstance(written, (list, tuple)) and len(given) == len(written):
        for i, pair in enumerate(zip(given, written, strict=True)):
            yield from differences(*pair, f"{place}.{i}")
    else:
        alike = given == written and isinstance(given, bool) == isinstance(written, bool)
        if isinstance(given, (dict, list)) or not alike:
            yield place


def _number(text: str) -> float:
    """A number as results have them; not NaN, for which they have null."""
    number = float(text)
    if not abs(number) <= _MOST:
        raise ValueError(f"{text} is not a number of a result")
    return number


def _is_sound(histogram: Histogram) -> bool:
    """Whether it has a range, unless it is empty."""
    low, high, counts = histogram
    return counts.ndim == 1 and bool((counts >= 0).all()) and (low < high or not len(counts))


def _known(values: Iterable[float]) -> list[float | None]:
    """The values, None where they are not finite."""
    return [float(value) if math.isfinite(value) else None for value in values]
