"""What was measured over a random population of settings: tables of groups of them, and a picture of the same."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from debandit.study.population import DESCRIPTION, family_of
from debandit.study.rows import StudyRows, range_of
from debandit.tables import Column, Row, markdown, render

if TYPE_CHECKING:
    import altair as alt


class Table(NamedTuple):
    """A table and its title."""

    title: str
    rows: Sequence[Row]
    columns: Sequence[Column]


class Average(NamedTuple):
    """The average over a random sample, with its standard error."""

    value: float
    se: float

    @classmethod
    def of(cls, values: Iterable[float]) -> "Average":
        """The average of the values; NaN where there are too few."""
        known = np.array(list(values), dtype=np.float64)
        if not len(known):
            return cls(np.nan, np.nan)
        return cls(float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else np.nan)

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "–"
        return f"{self.value:.3f}" + ("" if np.isnan(self.se) else f" ± {self.se:.3f}")


@dataclass(frozen=True)
class MeasuredRows(StudyRows):
    """The rows of a study over a random population. Subclasses say what the tables and the picture show."""

    command: ClassVar[str]
    explanation: ClassVar[str]
    remark: ClassVar[str]  # on the settings

    @abstractmethod
    def tables(self) -> Iterator[Table]:
        """The tables, of good groups of settings and bad ones alike."""

    @abstractmethod
    def averages(self) -> Iterator[Row]:
        """The rows that the picture shows."""

    def __str__(self) -> str:
        shown = [f"{title}\n\n{render(rows, columns, 4)}" for title, rows, columns in self.tables()]
        return "\n\n".join([self.what_was_done(), *shown])

    def to_markdown(self) -> str:
        """All tables as Markdown."""
        parts = [f"## {title}\n\n{markdown(rows, columns, 4)}" for title, rows, columns in self.tables()]
        about = [f"{self.what_was_done()} {self.explanation}", f"The settings: {self.settings}"]
        return "\n\n".join([f"# {self.study.title}", *about, *parts]) + "\n"

    def plot(self, kind: str | None = None) -> "alt.VConcatChart":
        """An Altair chart of the averages."""
        from debandit.plots import draw

        note = self.what_was_done().replace("`", "")
        return draw(tuple(self.averages()), kind or self.study.figure, self.study.title, note)

    @property
    def settings(self) -> str:
        """What the settings are like."""
        return f"{DESCRIPTION} {self.remark}".rstrip()

    def options(self) -> dict[str, str]:
        """Those of the command line that make this study, from the rows; empty if not needed."""
        families = Counter(family_of(world) for _, world in {(row["setting"], row["world"]) for row in self.rows})
        keys = ("experiments", "runs", "seed")
        found = {key: range_of(row[key] for row in self.rows if row[key] is not None) for key in keys}
        return {"settings": range_of(families.values())} | found

    def what_was_done(self) -> str:
        """How many settings and experiments, and the command that does it again."""
        options = self.options()
        runs, seed = options["runs"], options["seed"].replace(",", "")
        command = " ".join(f"--{name} {text.replace(',', '')}" for name, text in options.items() if text)
        return (
            f"{options['settings']} random settings of each family, {options['experiments']} experiments in each"
            f"{f', each debiased with {runs} runs' if runs else ''}, seed {seed} "
            f"(`debandit study {self.command} {command}`)."
        )


def average_row(block: str, group: str, method: str, quantity: str, average: Average) -> Row:
    """A point of the picture: which block of it, which line, and which panel."""
    place = {"world": block, "setting": group, "method": method, "quantity": quantity}
    return {**place, "arm": 0, "horizon": 0, "at": None, "truth": None, "value": average.value, "se": average.se}
