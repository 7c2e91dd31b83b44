"""Shares of experiments, such as coverages, of many arms: what is too seldom, and the line of a table."""

import math
from dataclasses import dataclass

from debandit.engine.data import Floats
from debandit.study.comparisons import LEVEL
from debandit.study.measured import Average
from debandit.study.methods import binomial_se
from debandit.tables import Column, Row


def columns_of(level: float) -> list[Column]:
    """The columns of a table of coverages; what is too seldom depends on the level."""
    least, most = bounds(level)
    return [
        Column("intervals", "interval", "text"),
        Column("arms", "arms", "count"),
        Column("mean", "mean", "number"),
        Column("mean_se", "± s.e.", "number"),
        Column("worst", "worst arm", "number"),
        Column("worst_se", "± s.e.", "number"),
        Column("low", f"below {100 * least:g} %", "share"),
        Column("surely", "by > 2 s.e.", "count"),
        Column("good", f"{100 * least:g} to {100 * most:g} %", "share"),
        Column("width", "width", "number"),
    ]


def bounds(level: float) -> tuple[float, float]:
    """Between 1.4 times and 0.6 times the error that the level allows: 93 and 97 % at the level of 95 %."""
    return round(1 - 1.4 * (1 - level), 6), round(1 - 0.6 * (1 - level), 6)


@dataclass(frozen=True)
class Arms:
    """Coverages of many arms with their binomial errors, and their relative widths."""

    values: Floats
    errors: Floats
    widths: Floats
    level: float = LEVEL

    def mean(self) -> Average:
        """The average over the arms."""
        return Average(float(self.values.mean()), math.sqrt((self.errors**2).sum()) / len(self.values))

    def low(self) -> Average:
        """The share that is covered too seldom."""
        share = float((self.values < bounds(self.level)[0]).mean())
        return Average(share, binomial_se(share, len(self.values)))

    def summary(self) -> Row:
        """The arms as a line of a table."""
        worst, (least, most) = int(self.values.argmin()), bounds(self.level)
        return {
            "arms": len(self.values),
            "mean": self.mean().value,
            "mean_se": self.mean().se,
            "worst": self.values[worst],
            "worst_se": self.errors[worst],
            "low": self.low().value,
            "surely": (self.values + 2 * self.errors < least).sum(),
            "good": ((self.values >= least) & (self.values <= most)).mean(),
            "width": self.widths.mean() if len(self.widths) else None,
        }

    def highest(self) -> Average:
        """The arm with the largest share."""
        most = int(self.values.argmax())
        return Average(float(self.values[most]), float(self.errors[most]))
