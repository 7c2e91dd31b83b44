"""What all methods say of a log: rows, and the table, file and picture made from them."""

import math
import pathlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from debandit.comparing.advice import Advice
from debandit.comparing.methods import Found, Method
from debandit.errors import shorten, with_few_sizes
from debandit.files import json_text, write_whole
from debandit.result import Debiased
from debandit.tables import Column, Part, Printed, Row, Table, decimals_for, plain
from debandit.version import __version__

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

SCHEMA, SCHEMA_VERSION = "debandit.comparison", 1
MEAN, DIFFERENCE = "mean", "difference"
_LABEL = 60  # characters of an arm in a heading
_INTERVALS = "The interval beside quoted and corrected means is the one of debias, centred on the observed mean."
_KEPT = ("policy", "horizon", "level", "control", "seed", "log_sha256")


class Answer(NamedTuple):
    """What one method says, or why it says nothing."""

    method: Method
    refused: str  # empty if it was possible
    found: dict[str, Found]  # of the means, and of the differences to the control


@dataclass(frozen=True, eq=False)
class Comparison(Printed):
    """All methods on one log.

    Attributes
    ----------
    answers : tuple of Answer
        What each method says, or why it says nothing.
    advice : Advice
        Which one is recommended, and why.
    result : Debiased
        That of `debias`, whose means and intervals are among the answers.
    """

    answers: tuple[Answer, ...]
    advice: Advice
    result: Debiased

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per quantity, arm and method; missing values are None, and `refused` says why."""
        quantities = (MEAN,) if self.result.settings.control is None else (MEAN, DIFFERENCE)
        return [
            self._row(quantity, k, answer)
            for quantity in quantities
            for k, label in enumerate(self.result.labels)
            for answer in self.answers
            if _speaks_of(answer.method, quantity) and (quantity == MEAN or label != self.result.settings.control)
        ]

    def _row(self, quantity: str, arm: int, answer: Answer) -> dict[str, Any]:
        method, found = answer.method, answer.found.get(quantity)
        values = (
            dict.fromkeys(Found._fields) if found is None else {k: _known(v[arm]) for k, v in found._asdict().items()}
        )
        missing = "the arm was never pulled" if self.result.pulls[arm] == 0 else method.missing
        return {
            "quantity": quantity,
            "arm": self.result.labels[arm],
            "pulls": int(self.result.pulls[arm]),
            "method": method.name,
            "title": method.title,
            **values,
            "recommended": quantity == MEAN and method.name == self.advice.estimates[arm],
            "recommended_interval": quantity == MEAN and method.name == self.advice.interval,
            "refused": answer.refused or (missing if values["estimate"] is None else ""),
            "assumes": method.assumes,
        }

    def to_frame(self) -> "pd.DataFrame":
        """The rows as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows()).astype(dict.fromkeys(Found._fields, float))

    def to_json(self, path: str | pathlib.Path) -> None:
        """Write the rows and what they were made from, whole or not at all."""
        write_whole(path, json_text(self.document()))

    def document(self) -> dict[str, Any]:
        """What such a file has."""
        settings = self.result.settings
        return {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "settings": {**{key: getattr(settings, key) for key in _KEPT}, "version": __version__},
            "advice": list(self.advice.because),
            "warnings": list(self.result.warnings),
            "rows": self.rows(),
        }

    def plot(self) -> "alt.VConcatChart":
        """An Altair chart: each method's estimate and interval, a panel for each arm."""
        from debandit.plots import draw_comparison

        return draw_comparison(self.rows(), self.result.settings.control, self.result.settings.level)

    def save_plot(self, path: str | pathlib.Path) -> None:
        """Draw it to a file that ends in .svg, .png or .pdf."""
        from debandit.plots import save_as

        save_as(self.plot(), path)

    def __str__(self) -> str:
        return plain(self.parts())

    def parts(self) -> list[Part]:
        """The pieces of what is printed."""
        settings = self.result.settings
        head = f"{len(self.result.labels)} arms, {settings.horizon:,} rounds; rule {with_few_sizes(settings.policy)}"
        intervals = [_INTERVALS] if self.result.interval.name != "none" else []
        used = [answer.method for answer in self.answers if not answer.refused]
        return [
            Part("head", head),
            *self._tables(),
            *(Part("advice", text) for text in (*self.advice.because, *intervals)),
            *_list("What each assumes:", [(method.title, method.assumes) for method in used]),
            *_list("Not possible here:", self._refusals()),
            *(Part("warning", f"warning: {with_few_sizes(warning)}") for warning in self.result.warnings),
        ]

    def _tables(self) -> Iterator[Part]:
        """A table for each arm, and for each difference, of the methods that say something of it."""
        rows, control = self.rows(), self.result.settings.control
        columns = [
            Column("title", "method", "text"),
            Column("estimate", "estimate", "number"),
            Column("recommended", "", "mark"),
            Column("se", "s.e.", "number"),
            Column("limits", f"{100 * self.result.interval.level:g} % interval", "interval"),
            Column("recommended_interval", "", "mark"),
        ]
        errors = [0.03 * row["se"] for row in rows if row["method"] == "naive" and row["se"]]
        for key in dict.fromkeys((row["quantity"], row["arm"]) for row in rows):
            block = [row for row in rows if (row["quantity"], row["arm"]) == key and row["estimate"] is not None]
            against = "" if key[0] == MEAN else f" minus {shorten(str(control), _LABEL)}"
            pulls = _pulls(self.result.pulls[self.result.labels.index(key[1])]) if key[0] == MEAN else ""
            shown = [row | {"limits": _limits(row)} for row in block]
            yield Part(str(key), f"{shorten(key[1], _LABEL)}{against}{pulls}", strong=True)
            yield Part(str(key), Table(shown, columns, decimals_for(errors)) if shown else "no method has an estimate")

    def _refusals(self) -> list[tuple[str, str]]:
        """Why methods say nothing of the log, or of an arm; those with one reason stand together."""
        impossible = {answer.method.name for answer in self.answers if answer.refused}
        of_log = [(answer.refused, answer.method.title) for answer in self.answers if answer.refused]
        of_arms = [
            (row["refused"], f"{row['title']} of {shorten(row['arm'], _LABEL)}")
            for row in self.rows()
            if row["refused"] and row["method"] not in impossible
        ]
        reasons: dict[str, list[str]] = {}
        for reason, title in dict.fromkeys([*of_log, *of_arms]):
            reasons.setdefault(reason, []).append(title)
        return [("; ".join(titles), reason) for reason, titles in reasons.items()]


def _speaks_of(method: Method, quantity: str) -> bool:
    return (method.means if quantity == MEAN else method.differences) is not None


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _limits(row: Row) -> tuple[float, float]:
    """Those of a row; an upper limit that is missing alone is infinite."""
    low, high = row["low"], row["high"]
    if low is None:
        return math.nan, math.nan
    return low, math.inf if high is None else high


def _pulls(count: int) -> str:
    return f", {count:,} {'pull' if count == 1 else 'pulls'}"


def _list(heading: str, items: list[tuple[str, str]]) -> list[Part]:
    return (
        [Part(heading, text) for text in (heading, *(f"- {title}: {text}" for title, text in items))] if items else []
    )
