"""How values of a result are written, and what its arms are called."""

import math
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.errors import shorten
from debandit.tables import Column, decimals_for, limits_text, number, percent

if TYPE_CHECKING:
    from debandit.result import Debiased

LONGEST = 60  # characters of a label in a sentence
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")  # of a name, also in CamelCase
_CONVERSION = re.compile(" (conver|click|purchas|bought|order|sign ?up|subscri)")


class Values(NamedTuple):
    """How values are written: as percentages where rewards are 0 or 1, and rounded."""

    percents: bool
    decimals: int
    level: float

    @classmethod
    def in_sentences(cls, result: "Debiased") -> "Values":
        """Rounded to what the standard errors of the means leave of them."""
        return cls(result.settings.binary, decimals_for(_errors(result).tolist()), result.interval.level)

    @classmethod
    def in_tables(cls, result: "Debiased") -> "Values":
        """With the decimals that show Monte-Carlo errors, but none below 3 % of the standard error of an arm's mean."""
        relevant = np.fmax(result.bias_se, 0.03 * _errors(result))
        return cls(result.settings.binary, decimals_for(relevant.tolist()), result.interval.level)

    def one(self, value: float) -> str:
        """A mean, or the rate of successes."""
        return (percent if self.percents else number)(value, self.decimals)

    def limits(self, low: float, high: float) -> str:
        """An interval in brackets, with the space before them; nothing if there is none."""
        return (
            ""
            if math.isnan(low)
            else f" ({self.title} {limits_text(low, high, self.decimals, percents=self.percents)})"
        )

    def finer(self, *values: float) -> "Values":
        """With so many decimals more that none of these values looks like zero, if three are enough for that."""
        for more in range(4):
            said = self._replace(decimals=self.decimals + more)
            if all(value == 0 or not math.isfinite(value) or said._points(value).strip("-0.") for value in values):
                return said
        return self

    def difference(self, value: float) -> str:
        """How far apart two means are."""
        return f"{self._points(abs(value))} percentage points" if self.percents else number(abs(value), self.decimals)

    def difference_limits(self, low: float, high: float) -> str:
        """The interval of a difference in brackets, with the space before them."""
        if math.isnan(low):
            return ""
        return f" ({self.title} {self._points(low)} to {self._points(high)})"

    def _points(self, value: float) -> str:
        return number(100 * value, max(0, self.decimals - 2)) if self.percents else number(value, self.decimals)

    @property
    def title(self) -> str:
        """The name of the interval."""
        return f"{100 * self.level:g} % interval"

    @property
    def mean(self) -> str:
        """The word for the mean of such rewards."""
        return "rate" if self.percents else "mean"

    def column(self, key: str, title: str) -> Column:
        """A column of means."""
        return Column(key, title, "percent" if self.percents else "number")

    def interval_column(self, key: str = "limits") -> Column:
        """A column of intervals."""
        return Column(key, self.title, "percents" if self.percents else "interval")


def _errors(result: "Debiased") -> NDArray[np.float64]:
    """The standard error of each arm's mean; of 0/1 rewards as if there had been half a success and failure more."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = (result.naive * result.pulls + 0.5) / (result.pulls + 1)
        sd = np.sqrt(rate * (1 - rate)) if result.settings.binary else result.sd
        errors: NDArray[np.float64] = sd / np.sqrt(result.pulls)
    return errors


def by_mean(result: "Debiased") -> list[int]:
    """The arms, the one that looks best first; those without a reward last."""
    order = np.argsort(-np.where(result.pulls > 0, result.naive, -np.inf), kind="stable")
    return [int(k) for k in order]


def has_quoted(result: "Debiased") -> bool:
    """Whether there are means to quote."""
    return bool(np.isfinite(result.quoted).any())


def called(label: str, *, first: bool = False) -> str:
    """What a sentence calls an arm, at its beginning or in it; a letter or a number alone would not be understood."""
    alone = len(label) < 3 or label.isdecimal()
    return f"{'Arm' if first else 'arm'} {label}" if alone else shorten(label, LONGEST)


def verb(result: "Debiased") -> str:
    """What an arm does before its mean; only those whose 0/1 rewards are called so convert."""
    if not result.settings.binary:
        return "averages"
    words = " ".join(["", *_WORD.findall(result.settings.reward)]).lower()
    return "converts at" if _CONVERSION.search(words) else "has a rate of"


def known(values: NDArray[np.float64]) -> bool:
    """Whether there is any."""
    return bool(np.isfinite(values).any())
