"""The answer: each arm's naive mean, its estimated bias and the corrected mean, with all that made them."""

import json
import math
import pathlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.errors import InputError, printable
from debandit.files import write_whole
from debandit.tables import Column, decimals_for, render

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
            }
            for k, label in enumerate(self.labels)
        ]

    def to_frame(self) -> "pd.DataFrame":
        """The rows as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def __str__(self) -> str:
        columns = [*_COLUMNS, _NEVER_PULLED] if (self.never_pulled > 0).any() else list(_COLUMNS)
        settings = self.settings
        lines = [
            printable(
                f"{len(self.labels)} arms, {settings.horizon:,} rounds; rule {settings.policy}, world {settings.world}"
                + (f" (auto: {settings.world_because})" if settings.world_because else "")
            ),
            "",
            render(self.rows(), columns, decimals_for(self.bias_se.tolist())),
            "",
            printable(f"{self.runs:,} runs, seed {settings.seed}; {self.stopped_because}."),
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
            "arms": arms,
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
        unseen = settings.pop("unseen")

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
        )


def _or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
