"""What is kept of a chunk of experiments: sums that can be added up, so that memory does not grow with their number."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from debandit.engine.data import Floats, Ints

WITH_QUANTILES = ("squared_error", "ratio")
_SHIFT = 52 - 8  # 256 buckets for each power of two: 0.3 to 0.4 % wide


class Series(NamedTuple):
    """One quantity of one arm, over experiments."""

    n: int = 0
    center: float = 0.0  # the mean
    deviations: float = 0.0  # the sum of squared deviations from it
    buckets: Ints = np.empty(0, np.int64)  # in increasing order, with the numbers of values; empty without quantiles
    counts: Ints = np.empty(0, np.int64)

    @classmethod
    def of(cls, values: Floats, *, quantiles: bool = False) -> "Series":
        """The series of the known ones among the values."""
        known = values[np.isfinite(values)]
        found = np.unique(_bucket(known), return_counts=True) if quantiles else ()
        if not len(known):
            return cls()
        center = float(known.mean())
        with np.errstate(over="ignore"):
            return cls(len(known), center, float(((known - center) ** 2).sum()), *found)

    def __add__(self, other: "Series") -> "Series":  # type: ignore[override]  # tuples would be joined
        buckets, place = np.unique(np.concatenate((self.buckets, other.buckets)), return_inverse=True)
        counts = np.zeros(len(buckets), np.int64)
        np.add.at(counts, place, np.concatenate((self.counts, other.counts)))
        n, gap = self.n + other.n, other.center - self.center
        center = self.center + gap * other.n / max(n, 1)
        deviations = self.deviations + other.deviations + gap * gap * self.n * other.n / max(n, 1)  # Chan et al. 1979
        return Series(n, center, deviations, buckets, counts)

    @property
    def mean(self) -> float:
        """The mean; NaN if there is nothing to average."""
        return self.center if self.n else np.nan

    @property
    def sd(self) -> float:
        """The standard deviation with n - 1; NaN for fewer than two values."""
        return float(np.sqrt(self.deviations / (self.n - 1))) if self.n > 1 else np.nan

    @property
    def se(self) -> float:
        """The standard error of the mean."""
        return self.sd / float(np.sqrt(self.n)) if self.n else np.nan

    def quantile(self, share: float) -> float:
        """A quantile; within a bucket values are taken to be spread evenly."""
        if not self.n:
            return np.nan
        above = np.cumsum(self.counts)
        rank = min(max(share, 0.0), 1.0) * self.n
        i = min(int(np.searchsorted(above, rank)), len(above) - 1)
        low, high = _edges(self.buckets[i])
        return float(low + (high - low) * (rank - (above[i] - self.counts[i])) / self.counts[i])

    def quantile_se(self, share: float) -> float:
        """The standard error of a quantile: half the distance of the order statistics one s.e. of the rank away."""
        if self.n < 2:
            return np.nan
        step = float(np.sqrt(share * (1 - share) / self.n))
        return (self.quantile(share + step) - self.quantile(share - step)) / 2

    def to_json(self) -> list[Any]:
        """The series as plain numbers."""
        return [self.n, self.center, self.deviations, self.buckets.tolist(), self.counts.tolist()]

    @classmethod
    def from_json(cls, data: list[Any]) -> "Series":
        """What `to_json` wrote."""
        n, center, deviations, buckets, counts = data
        return cls(int(n), float(center), float(deviations), np.array(buckets, np.int64), np.array(counts, np.int64))

    def may_be(self, quantity: str, most: int) -> bool:
        """Whether it may be that of a quantity, of at most so many values."""
        quantiles = self.n if quantity in WITH_QUANTILES else 0
        return (
            0 <= self.n <= most
            and math.isfinite(self.center)
            and self.deviations >= 0
            and (self.center >= 0 or not quantity.startswith("squared_error"))
            and self.buckets.ndim == 1
            and self.buckets.shape == self.counts.shape
            and bool((np.diff(self.buckets) > 0).all() and (self.counts > 0).all())
            and int(self.counts.sum()) == quantiles
        )


class Summary(NamedTuple):
    """Sums over one or many chunks: {method: {quantity: a series for each arm}} and {method: counts (arms, bins)}."""

    experiments: int
    series: dict[str, dict[str, list[Series]]]
    histograms: dict[str, Ints]

    def __add__(self, other: "Summary") -> "Summary":  # type: ignore[override]  # tuples would be joined
        series = {
            method: {
                quantity: [mine + yours for mine, yours in zip(arms, other.series[method][quantity], strict=True)]
                for quantity, arms in quantities.items()
            }
            for method, quantities in self.series.items()
        }
        histograms = {method: counts + other.histograms[method] for method, counts in self.histograms.items()}
        return Summary(self.experiments + other.experiments, series, histograms)

    def to_json(self) -> dict[str, Any]:
        """Plain lists and numbers; floats keep every bit."""
        series = {m: {q: [s.to_json() for s in arms] for q, arms in qs.items()} for m, qs in self.series.items()}
        histograms = {method: counts.tolist() for method, counts in self.histograms.items()}
        return {"experiments": self.experiments, "series": series, "histograms": histograms}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Summary":
        """What `to_json` wrote, or a ValueError, TypeError, LookupError or the like."""
        series = {
            m: {q: [Series.from_json(s) for s in arms] for q, arms in qs.items()} for m, qs in data["series"].items()
        }
        histograms = {method: np.array(counts, np.int64) for method, counts in data["histograms"].items()}
        found = cls(int(data["experiments"]), series, histograms)
        if found.to_json() != data:
            raise ValueError("not a summary")
        return found

    def suits(self, experiments: int, methods: Iterable[str], arm_count: int, bins: int) -> bool:
        """Whether it may be that of so many experiments, with these methods, arms and bins of histograms."""
        quantities = [quantity for quantities in self.series.values() for quantity in quantities.items()]
        drawn = {method for method, quantities in self.series.items() if bins and "error" in quantities}
        return (
            self.experiments == experiments
            and set(self.series) == set(methods)
            and set(self.histograms) == drawn
            and all(len(arms) == arm_count for _, arms in quantities)
            and all(arm.may_be(name, experiments) for name, arms in quantities for arm in arms)
            and all(_are_together(names) for names in self.series.values())
            and all(counts.shape == (arm_count, bins) for counts in self.histograms.values())
            and all(((counts >= 0) & (counts <= experiments)).all() for counts in self.histograms.values())
        )

    def has_all_of(self, other: "Summary") -> bool:
        """Whether it has the same quantities, so that both can be added up."""
        return all(self.series[method].keys() == names.keys() for method, names in other.series.items())


def _are_together(quantities: Iterable[str]) -> bool:
    """Whether what one cannot be without is there, too."""
    names = set(quantities)
    errors = {name for name in names if name.partition("@")[0] in ("error", "squared_error")}
    both = errors == {f"{square}{name.removeprefix('squared_')}" for name in errors for square in ("", "squared_")}
    return bool(names) and both and ("covered" in names) == ("limits_width" in names)


def _bucket(values: Floats) -> Ints:
    """Whole numbers in the order of the values: the leading bits of a float, which say how large it is."""
    bits = (values + 0.0).view(np.int64)  # -0.0 becomes 0.0
    return np.where(bits >= 0, bits >> _SHIFT, -((bits & np.int64(2**63 - 1)) >> _SHIFT) - 1)


def _edges(bucket: int) -> tuple[float, float]:
    """Where a bucket begins and ends."""
    positive = bucket if bucket >= 0 else -bucket - 1
    low, high = (np.array([positive, positive + 1], np.int64) << _SHIFT).view(np.float64)
    return (float(low), float(high)) if bucket >= 0 else (-float(high), -float(low))
