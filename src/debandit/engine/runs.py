"""The table of runs, and everything that is made of it, whichever way the runs were simulated.

A table has shape (S, K, runs): what one run says of one arm, in the order of `STATISTICS`. With e the error (reward
minus the world's mean) of a pull and n the arm's pulls up to and with it, the last three are the sums of e / n, of
e (sum of earlier e) / n, and of (e^2 - variance) / n. Like the sum of all e, each has terms that are 0 on average
whatever happened before, so that each is 0 on average whatever the rule: they are martingales, and serve as control
variates. Where several pulls are drawn at once, e is the sum of their errors.
"""

from typing import Any, NamedTuple

import numpy as np

from debandit.engine.control_variates import ERROR, FEATURES, PULLED, Fitted, fit, fit_best, fit_differences, rare_run
from debandit.engine.data import Floats, Ints
from debandit.engine.places import CLASSES, OF_LEADER, Places, Quoted, placed, quoted_biases

STATISTICS = ("pulls", "sums", "squares", "shares", "products", "spreads")  # squares: of errors
TOTALS, WITH_SQUARES, ALL = 2, 3, 6  # how many of them are kept


class Added(NamedTuple):
    """What several pulls of an arm at once add to its statistics; arrays of equal shape."""

    count: Any
    sums: Floats
    squares: Floats


def add_pulls(table: Floats, added: Added, truth: Floats, variance: Floats) -> None:
    """Add pulls to a table (S, ...) of the same arms and runs, in place."""
    count, sums, squares = added
    errors, earlier = sums - count * truth, table[1] - table[0] * truth
    table[0] += count
    table[1] += sums
    if len(table) >= WITH_SQUARES:
        table[2] += squares
    if len(table) == ALL:
        share = 1.0 / np.maximum(table[0], 1)
        table[3] += share * errors
        table[4] += share * errors * earlier
        table[5] += share * (errors * errors - count * variance)


def table_of(arms: Ints, rewards: Floats, truth: Floats, variance: Floats, kept: int) -> Floats:
    """The statistics (S, K) of one run from its rounds, added up in their order, as the compiled loop does."""
    table = np.zeros((kept, len(truth)))
    table[0] = np.bincount(arms, minlength=len(truth))
    table[1] = np.bincount(arms, rewards, len(truth))
    errors = rewards - truth[arms]
    if kept >= WITH_SQUARES:
        table[2] = np.bincount(arms, errors * errors, len(truth))
    if kept == ALL:
        for arm in range(len(truth)):
            own = errors[arms == arm]
            share = 1.0 / np.arange(1, len(own) + 1)
            table[3, arm] = (share * own).sum()
            table[4, arm] = (share * own * (own.cumsum() - own)).sum()
            table[5, arm] = (share * (own * own - variance[arm])).sum()
    return table


class Wish(NamedTuple):
    """What is to be added up over runs, besides pulls and errors. Arrays have a row for each world."""

    edges: Floats | None = None  # (W, K, 2) of histograms of the means
    bins: int = 0
    controls: Ints | None = None  # (W, K) the arm that each is compared with
    martingales: bool = False
    places: Places | None = None  # (W, K) where the arms stand in the log

    def within(self, first: int, end: int) -> "Wish":
        """The same for the worlds first, ..., end - 1 alone."""
        rows = slice(first, end)
        return self._replace(
            edges=None if self.edges is None else self.edges[rows],
            controls=None if self.controls is None else self.controls[rows],
            places=None if self.places is None else self.places.within(first, end),
        )


NOTHING_MORE = Wish()


class Tally(NamedTuple):
    """Sums over runs, with one row for each world (or, on the way there, for each unit of runs of one world)."""

    runs: Ints  # (W,)
    pull_totals: Floats  # (W, K)
    pull_squares: Floats  # (W, K) of each run's pulls
    moments: Floats  # (W, K, 2, F, F) products of each arm's features, in even and in odd runs
    histogram: Ints  # (W, K, bins) of the mean
    difference_sums: Floats  # (W, K, 3) runs that pulled both arms, errors and squares of the difference
    cross: Floats  # (W, K, 2, F, F) products of each arm's features with those of its control
    winner: Floats  # (W, 2, F, F) products of the features of the highest mean
    classes: Floats  # (W, K, CLASSES, 3) runs with an arm in its place, errors and squares
    leader: Floats  # (W, 2, F + 1, F + 1) products of the features of the leader
    controls: Ints  # (W, K) the arm that each is compared with, or (W, 0): then what needs them has no arms
    places: Places | None  # of the arms in the log; without them the two sums have no arms

    @classmethod
    def empty(cls, rows: int, arm_count: int, wish: Wish) -> "Tally":
        """Nothing added up yet."""
        square, compared = (2, FEATURES, FEATURES), 0 if wish.controls is None else arm_count
        ranked = 0 if wish.places is None else arm_count
        return cls(
            runs=np.zeros(rows, np.int64),
            pull_totals=np.zeros((rows, arm_count)),
            pull_squares=np.zeros((rows, arm_count)),
            moments=np.zeros((rows, arm_count, *square)),
            histogram=np.zeros((rows, arm_count, wish.bins), np.int64),
            difference_sums=np.zeros((rows, compared, 3)),
            cross=np.zeros((rows, compared, *square)),
            winner=np.zeros((rows, *square)),
            classes=np.zeros((rows, ranked, CLASSES, 3)),
            leader=np.zeros((rows, 2, OF_LEADER, OF_LEADER)),
            controls=np.zeros((rows, 0), np.int64) if wish.controls is None else wish.controls,
            places=wish.places,
        )

    def add(self, rows: Ints, parts: "Tally") -> None:
        """Add each row of `parts` to the named row, in the order in which they come."""
        for total, part in zip(self[:-2], parts[:-2], strict=True):
            np.add.at(total, rows, part)

    @property
    def pulled(self) -> Ints:
        """The number of runs that pulled the arm at least once (W, K)."""
        return np.asarray(self.moments[..., PULLED, PULLED].sum(axis=-1), np.int64)

    @property
    def pulls_cv(self) -> Floats:
        """The standard deviation of each arm's pulls over the runs, divided by their mean (W, K); NaN without any."""
        runs = self.runs[:, None]
        with np.errstate(invalid="ignore"):
            mean = self.pull_totals / runs
            cv: Floats = np.sqrt(np.maximum(self.pull_squares / runs - mean**2, 0.0)) / mean
        return cv

    @property
    def arms(self) -> Fitted:
        """The bias of each arm over the runs that pulled it (W, K); NaN if none did."""
        return fit(self.moments, self.rare)

    @property
    def bias(self) -> Floats:
        """The mean of estimate minus truth, of each arm."""
        return self.arms.bias

    @property
    def bias_se(self) -> Floats:
        """The Monte-Carlo standard error of `bias`; NaN with too few runs."""
        return self.arms.se

    @property
    def differences(self) -> tuple[Floats, Floats]:
        """Bias of each arm's difference to its control over the runs that pulled both, and its error (W, K)."""
        return fit_differences(self.runs, self.arms, self.controls, self.cross, self.difference_sums)

    @property
    def best(self) -> Fitted:
        """The bias of the highest mean, whichever arm has it (W,)."""
        return fit_best(self.winner, self.rare.mean(axis=1))

    def quoted(self, arms: Fitted, best: Fitted) -> Quoted:
        """The bias of each arm given its place in the log (W, K), from `arms` and `best`, which take a while."""
        if self.places is None:
            raise ValueError("no places were asked for")
        return quoted_biases(self.classes, self.leader, self.places, self.moments, arms, best)

    @property
    def rare(self) -> Floats:
        """What a run that was not seen may be like (W, K, 2, F, F)."""
        return rare_run(self.moments, self.pull_totals)


def tallied(table: Floats, units: Ints, truth: Floats, variance: Floats, wish: Wish) -> Tally:
    """Add up each unit's runs, which lie end to end in the table. Units are rows (world, first run, number of runs).

    No bit depends on which other units are in the table: those of one length are added up side by side.
    """
    total = Tally.empty(len(units), table.shape[1], wish)
    places = np.cumsum(units[:, 2]) - units[:, 2]
    for count in np.unique(units[:, 2]).tolist():
        rows = np.flatnonzero(units[:, 2] == count)
        worlds, odd = units[rows, 0], units[rows, 1] % 2 == 1
        part = table[:, :, places[rows, None] + np.arange(count)].transpose(0, 2, 1, 3)  # (S, units, K, runs)
        described = features(part, truth[worlds, :, None], variance[worlds, :, None], wish.martingales)
        total.runs[rows] = count
        total.pull_totals[rows] = part[0].sum(axis=-1)
        total.pull_squares[rows] = (part[0] ** 2).sum(axis=-1)
        total.moments[rows] = _products(described, described, odd)
        if wish.bins and wish.edges is not None:
            total.histogram[rows] = _histogram(part[0], part[1], wish.edges[worlds], wish.bins)
        if wish.controls is not None:
            _compare(total, rows, part, described, wish.controls[worlds], odd)
        if wish.places is not None:
            own = Places(wish.places.place[worlds], wish.places.most_pulled[worlds])
            total.classes[rows], top = placed(part, described, own)
            total.leader[rows] = _products(top, top, odd, OF_LEADER)
    return total


def features(table: Floats, truth: Floats, variance: Floats, martingales: bool) -> Floats:
    """What a run says of an arm: that it was pulled, the error of its mean, and four sums that are 0 on average.

    Of a table (S, ..., runs), in the order (F, ..., runs); the sums only with martingales. Of an arm whose rewards do
    not vary, what differs from the truth is rounding, and counts as 0.
    """
    described = np.zeros((FEATURES if martingales else ERROR + 1, *table.shape[1:]))
    varies = variance > 0
    described[PULLED] = table[0] > 0
    np.divide(table[1], table[0], out=described[ERROR], where=table[0] > 0)
    described[ERROR] -= described[PULLED] * truth
    described[ERROR] *= varies
    if martingales:
        described[2] = (table[1] - table[0] * truth) * varies
        described[3:] = table[3:] * varies
    return described


def _products(one: Floats, two: Floats, odd: Any, size: int = FEATURES) -> Floats:
    """Summed products (units, ..., 2, F, F) of features (F, units, ..., runs), over the even and over the odd runs.

    `odd` (units,) are those whose first run has an odd number. Features that are left out have 0.
    """
    found = np.zeros((*one.shape[1:-1], 2, size, size))
    for half in (0, 1):
        left = np.moveaxis(one[..., half::2], 0, -2).copy()
        right = left if two is one else np.moveaxis(two[..., half::2], 0, -2).copy()
        found[..., half, : len(one), : len(two)] = left @ right.swapaxes(-1, -2)
    found[odd] = found[odd][..., ::-1, :, :]
    return found


def _histogram(pulls: Floats, sums: Floats, edges: Floats, bins: int) -> Ints:
    """How many runs have a mean in each bin, of shape (units, K, bins); what lies beyond is in the first or last."""
    low, high = edges[..., :1], edges[..., 1:]
    seen = pulls > 0
    at = (np.divide(sums, pulls, out=np.zeros_like(sums), where=seen) - low) * (bins / (high - low))
    at = np.clip(at, 0, bins - 1).astype(np.int64)
    rows = np.arange(seen[..., 0].size).reshape(*seen.shape[:-1], 1) * bins
    counts = np.bincount((rows + at)[seen], minlength=seen[..., 0].size * bins)
    return counts.reshape(*seen.shape[:-1], bins)


def _compare(total: Tally, rows: Ints, table: Floats, described: Floats, controls: Ints, odd: Any) -> None:
    """Differences between arms that a run pulled both, and its highest mean; of equals the first is highest."""
    other = np.take_along_axis(described, controls[None, :, :, None], axis=2)
    total.cross[rows] = _products(described, other, odd)
    both = described[PULLED] * other[PULLED]
    gaps = (described[ERROR] - other[ERROR]) * both
    total.difference_sums[rows] = np.stack((both, gaps, gaps * gaps), axis=-1).sum(axis=-2)
    means = np.divide(table[1], table[0], out=np.full(table[1].shape, -np.inf), where=table[0] > 0)
    best = means.argmax(axis=1)[:, None]
    top = described.sum(axis=2)
    top[PULLED], top[ERROR] = 1.0, np.take_along_axis(described[ERROR], best, axis=1)[:, 0]
    total.winner[rows] = _products(top, top, odd)
