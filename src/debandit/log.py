"""The log of an adaptive experiment, valid by construction."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from debandit.errors import InputError, listed, shorten
from debandit.log_parts import (
    Floats,
    Ints,
    Metric,
    are_binary,
    batch_sizes_of,
    check_once,
    check_text,
    checked_available,
    checked_label,
    checked_labels,
    checked_metric,
    checked_metrics,
    checked_propensities,
    checked_rewards,
    checked_summaries,
    in_order_of_appearance,
    in_pieces,
    places_of,
    pooled,
    pooled_metric,
    summarised,
    summarised_metric,
)
from debandit.settings import AVAILABLE
from debandit.tables import Column, Part, Printed, Table, decimals_for

Coded = tuple[Sequence[str], NDArray[Any]]  # names, and the place of each round's among them


@dataclass(frozen=True, eq=False)
class LoggedRounds:
    """Who was pulled when, and what came of it."""

    arms: Ints  # index into the labels
    rewards: Floats
    propensities: Floats | None = None  # P(this arm | the past) as the experiment recorded it
    batch_sizes: tuple[int, ...] | None = None  # of the batches in which the rule heard of its rewards
    metrics: dict[str, Floats] = field(default_factory=dict)  # outcomes besides the reward


@dataclass(frozen=True, eq=False)
class Batches:
    """What each batch says of each arm (batches, arms), where only that is known."""

    names: tuple[str, ...]
    pulls: Ints
    means: Floats  # NaN without a pull
    variances: Floats  # with divisor n; NaN without a pull
    available: NDArray[np.bool_]  # whether the rule could choose the arm
    guessed: bool  # from the rows that there are
    metrics: dict[str, Metric] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, init=False)
class ExperimentLog(Printed):
    """What happened in an experiment, valid by construction.

    It always has totals for each arm. It has the rounds in their order, or what each batch says of each arm, unless
    only the totals are known (`from_batches`, `from_summaries`). Nobody can write to its arrays.

    Parameters
    ----------
    arms : iterable
        The arm of each round, in the order of time.
    rewards : array of float
        The reward of each round.
    labels : list, optional
        All arms in the rule's order, which decides ties and initial pulls; some may never appear. By default the order
        is that of first appearance.
    propensities : array of float, optional
        The probability that the arm of the round had of being chosen, as the experiment recorded it.
    batches : iterable, optional
        The batch of each round, if the rule heard of rewards only between batches.
    metrics : mapping of arrays, optional
        Outcomes that the rule did not look at, by name, with a value for each round.

    Attributes
    ----------
    labels : tuple of str
        The arms.
    pulls : array of int
        How often each was pulled.
    means, variances : array of float
        Of each arm's rewards; variances have the divisor n. NaN without a pull.
    binary : bool
        Whether all rewards are 0 or 1.
    rounds : LoggedRounds or None
        Every round.
    batches : Batches or None
        What each batch says of each arm, where only that is known.
    metrics : dict of str to Metric
        The same for outcomes besides the reward.
    notes : tuple of str
        What there is to say about how it was read.
    batchings : tuple of (str, tuple of int)
        Batches in which it may have been: what one types for them, and their sizes.
    reward : str
        The name of the column with the rewards or successes, if the log was read from a table.

    Examples
    --------
    >>> import debandit as db
    >>> log = db.ExperimentLog(["A", "B", "B", "A"], [1.2, 0.7, 0.4, 1.0])
    >>> log
    ExperimentLog(4 rounds; A: 2, B: 2)
    >>> log.pulls, log.means
    (array([2, 2]), array([1.1 , 0.55]))
    """

    labels: tuple[str, ...]
    pulls: Ints
    means: Floats
    variances: Floats
    binary: bool
    rounds: LoggedRounds | None
    batches: Batches | None
    metrics: dict[str, Metric]
    notes: tuple[str, ...] = ()
    batchings: tuple[tuple[str, tuple[int, ...]], ...] = ()
    reward: str = ""

    def __init__(
        self,
        arms: Iterable[Any],
        rewards: ArrayLike,
        *,
        labels: Sequence[Any] | None = None,
        propensities: ArrayLike | None = None,
        batches: Iterable[Any] | None = None,
        metrics: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        names = [checked_label(arm) for arm in arms]
        places = {name: place for place, name in enumerate(dict.fromkeys(names))}
        codes = np.fromiter((places[name] for name in names), np.int32, len(names))
        named: Coded | None = None
        if batches is not None:
            texts = [str(batch) for batch in batches]
            numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
            named = list(numbers), np.fromiter((numbers[text] for text in texts), np.int32, len(texts))
        self._fill(list(places), codes, rewards, labels, propensities, named, metrics, copy=True)

    @classmethod
    def of_codes(
        cls,
        names: Sequence[str],
        codes: ArrayLike,
        rewards: ArrayLike,
        *,
        labels: Sequence[Any] | None = None,
        propensities: ArrayLike | None = None,
        batches: Coded | None = None,
        metrics: Mapping[str, ArrayLike] | None = None,
    ) -> "ExperimentLog":
        """The same where arms and batches are places in lists of names. The arrays become the log's own."""
        log = cls.__new__(cls)
        log._fill(names, np.asarray(codes), rewards, labels, propensities, batches, metrics, copy=None)
        return log

    def _fill(
        self,
        names: Sequence[str],
        codes: NDArray[Any],
        rewards: ArrayLike,
        labels: Sequence[Any] | None,
        propensities: ArrayLike | None,
        batches: Coded | None,
        metrics: Mapping[str, ArrayLike] | None,
        *,
        copy: bool | None,
    ) -> None:
        values = checked_rewards(rewards, copy=copy)
        if len(codes) != len(values):
            raise InputError(f"{len(codes)} arms but {len(values)} rewards", remedy="Give one reward for each pull.")
        sizes = None if batches is None else batch_sizes_of(*batches, len(values))
        recorded = None if propensities is None else checked_propensities(propensities, len(values))
        others = checked_metrics(metrics, len(values), copy=copy)
        place = places_of([names[code] for code in in_order_of_appearance(codes, len(names))], labels)
        index = np.array([place.get(name, -1) for name in names], np.int64)[codes]
        told = summarised(index, values, len(place))
        self._set(
            labels=tuple(place),
            pulls=told.pulls.astype(np.int64),
            means=told.means,
            variances=told.variances,
            binary=are_binary(values),
            rounds=LoggedRounds(index, values, recorded, sizes, others),
            batches=None,
            metrics={name: summarised_metric(index, values, each, told) for name, each in others.items()},
        )

    @classmethod
    def of(cls, given: Any, **columns: Any) -> "ExperimentLog":
        """Read the log in a data frame, a mapping of columns or a file.

        Parameters
        ----------
        given : ExperimentLog, data frame, mapping of columns or path
            What has the log.
        **columns
            Which column is what; see `read_log`.

        Returns
        -------
        ExperimentLog
            The log.

        Examples
        --------
        >>> import debandit as db
        >>> db.ExperimentLog.of({"arm": ["A", "B", "A"], "reward": [1, 0, 0]})
        ExperimentLog(3 rounds; A: 2, B: 1)
        """
        from debandit.readers import read_log

        return read_log(given, **columns)

    @classmethod
    def from_summaries(
        cls,
        labels: Sequence[Any],
        pulls: ArrayLike,
        means: ArrayLike,
        variances: ArrayLike | None = None,
        *,
        binary: bool = False,
        metrics: Mapping[str, Any] | None = None,
    ) -> "ExperimentLog":
        """Make a log of which only counts, means and variances are known.

        Parameters
        ----------
        labels : list
            The arms in the rule's order.
        pulls, means : array
            How often each arm was pulled, and its mean reward.
        variances : array of float, optional
            Of each arm's rewards, with the divisor n; 0/1 rewards need none.
        binary : bool, default False
            Whether all rewards are 0 or 1.
        metrics : mapping, optional
            Outcomes besides the reward, each with means, variances, and covariances with the reward; the last two may
            be None.

        Returns
        -------
        ExperimentLog
            The log.

        Examples
        --------
        >>> import debandit as db
        >>> log = db.ExperimentLog.from_summaries(["A", "B"], [100, 300], [0.25, 0.3], binary=True)
        >>> log.horizon, log.variances
        (400, array([0.1875, 0.21  ]))
        """
        known = checked_labels(labels, given=True)
        told = checked_summaries(pulls, means, variances, binary)
        if len(told.pulls) != len(known):
            raise InputError(f"each summary needs one value for each of the {len(known)} arms")
        log = cls.__new__(cls)
        log._set(
            labels=known,
            pulls=told.pulls.astype(np.int64),
            means=told.means,
            variances=told.variances,
            binary=binary,
            rounds=None,
            batches=None,
            metrics={str(name): checked_metric(name, each, told) for name, each in (metrics or {}).items()},
        )
        return log

    @classmethod
    def from_batches(
        cls,
        batches: Iterable[Any],
        arms: Iterable[Any],
        pulls: ArrayLike,
        means: ArrayLike,
        variances: ArrayLike | None = None,
        *,
        labels: Sequence[Any] | None = None,
        binary: bool = False,
        metrics: Mapping[str, Any] | None = None,
        available: Any = AVAILABLE[0],
    ) -> "ExperimentLog":
        """Make a log of which each batch's counts, means and variances are known, one row for a batch and arm.

        Batches are in the order of first appearance. An arm without a row in a batch had no pulls there.

        Parameters
        ----------
        batches, arms : iterable
            The batch and the arm of each row.
        pulls, means : array
            How often the arm was pulled in the batch, and its mean reward there.
        variances : array of float, optional
            Of its rewards there, with the divisor n; 0/1 rewards need none.
        labels : list, optional
            All arms in the rule's order; by default that of first appearance.
        binary : bool, default False
            Whether all rewards are 0 or 1.
        metrics : mapping, optional
            Outcomes besides the reward, each with means, variances, and covariances with the reward.
        available : {"auto", "all"} or array of bool
            In which batches the rule could choose which arms (batches, arms). "all": everywhere. "auto": not before an
            arm's first row, if earlier batches had 10 users per arm, nor after its last row, if it had so many users
            there that at least 10 would have followed; in either case only if the rule would have chosen it. A row
            without pulls says that the arm was available.

        Returns
        -------
        ExperimentLog
            The log.

        Examples
        --------
        >>> import debandit as db
        >>> log = db.ExperimentLog.from_batches(
        ...     batches=["Mon", "Mon", "Tue", "Tue"],
        ...     arms=["A", "B", "A", "B"],
        ...     pulls=[500, 500, 200, 800],
        ...     means=[0.04, 0.05, 0.04, 0.06],
        ...     binary=True,
        ... )
        >>> log.batch_sizes, log.pulls
        ((1000, 1000), array([ 700, 1300]))
        """
        days, names = [str(batch) for batch in batches], [checked_label(arm) for arm in arms]
        rows = checked_summaries(pulls, means, variances, binary)
        if not len(days) == len(names) == len(rows.pulls):
            raise InputError("each row needs a batch, an arm, pulls and a mean", where="batches")
        arm_place, day_place = places_of(names, labels), {day: i for i, day in enumerate(dict.fromkeys(days))}
        cells = np.array([day_place[day] for day in days]), np.array([arm_place[name] for name in names])
        check_text(day_place, "batches")
        check_once(days, names, [f"row {i}" for i in range(1, len(days) + 1)])
        others = {str(name): checked_metric(name, each, rows) for name, each in (metrics or {}).items()}

        def table(column: Floats) -> Floats:
            values = np.full((len(day_place), len(arm_place)), np.nan)
            values[cells] = column
            return values

        counts = np.nan_to_num(table(rows.pulls))
        empty = [day for day, count in zip(day_place, counts.sum(axis=1), strict=True) if count == 0]
        if empty:
            raise InputError(f"the batch {shorten(empty[0])!r} has no users", where="batches", remedy="Leave it out.")
        told = pooled(rows, cells[1], len(arm_place), binary)
        log = cls.from_summaries(
            list(arm_place), told.pulls, told.means, None if binary else told.variances, binary=binary
        )
        has_row = np.zeros(counts.shape, bool)
        has_row[cells] = True
        log._set(
            metrics={name: pooled_metric(rows, each, cells[1], told) for name, each in others.items()},
            batches=Batches(
                tuple(day_place),
                counts.astype(np.int64),
                table(rows.means),
                table(rows.variances),
                checked_available(available, counts.astype(np.int64), has_row),
                isinstance(available, str) and available == AVAILABLE[0],
                {name: Metric(*map(table, each)) for name, each in others.items()},
            ),
        )
        return log

    def _set(self, **values: Any) -> None:
        """Give the log its values; nobody can write to its arrays."""
        for name, value in values.items():
            object.__setattr__(self, name, value)
        inside = [vars(each) for each in values.values() if isinstance(each, (LoggedRounds, Batches))]
        parts = [*values.values(), *(part for each in inside for part in each.values())]
        metrics = [metric for part in parts if isinstance(part, dict) for metric in part.values()]
        for array in [
            *parts,
            *(part for metric in metrics for part in (metric if isinstance(metric, tuple) else [metric])),
        ]:
            if isinstance(array, np.ndarray):
                array.setflags(write=False)

    def parts(self) -> list[Part]:
        """What a notebook shows of it."""
        columns = [Column("arm", "arm", "text"), Column("pulls", "pulls", "count")]
        columns += [Column("mean", "mean", "number"), Column("sd", "standard deviation", "number")]
        sds = np.sqrt(self.variances)
        rows = [
            dict(zip(("arm", "pulls", "mean", "sd"), row, strict=True))
            for row in zip(self.labels, self.pulls.tolist(), self.means.tolist(), sds.tolist(), strict=True)
        ]
        errors = 0.1 * sds / np.sqrt(np.maximum(self.pulls, 1))
        size = f"A log of {self.horizon:,} rounds of {len(self.labels):,} arms."
        return [Part("log", size), Part("arms", Table(rows, columns, decimals_for(errors.tolist())))]

    def __repr__(self) -> str:
        shown = ", ".join(f"{label}: {n}" for label, n in zip(self.labels[:6], self.pulls[:6], strict=True))
        return f"ExperimentLog({self.horizon} rounds; {shown}{', …' if len(self.labels) > 6 else ''})"

    @property
    def horizon(self) -> int:
        """The number of rounds."""
        return int(self.pulls.sum())

    @property
    def batch_sizes(self) -> tuple[int, ...] | None:
        """The sizes of the batches in which the policy heard of its rewards, if the log says so."""
        if self.batches is not None:
            return tuple(self.batches.pulls.sum(axis=1).tolist())
        return None if self.rounds is None else self.rounds.batch_sizes

    @property
    def batch_sums(self) -> Floats:
        """The sum of each batch's rewards of each arm (batches, arms), where only batches are known."""
        if self.batches is None:
            raise InputError("this log is not a table of batches", where="batches")
        sums: Floats = np.nan_to_num(self.batches.means * self.batches.pulls)
        return np.rint(sums) if self.binary else sums

    @property
    def batch_squares(self) -> Floats:
        """The sum of squared deviations of each batch's rewards from the mean of the arm in all batches."""
        assert self.batches is not None
        means, variances = (np.nan_to_num(each) for each in (self.batches.means, self.batches.variances))
        return np.asarray(self.batches.pulls * (variances + (means - np.nan_to_num(self.means)) ** 2))

    @property
    def unseen(self) -> list[str]:
        """Arms without a reward."""
        return [label for label, n in zip(self.labels, self.pulls, strict=True) if n == 0]

    @property
    def absences(self) -> list[str]:
        """What to say about arms that were not available in every batch."""
        if self.batches is None or self.batches.available.all():
            return []
        names, found = self.batches.names, []
        for label, there in zip(self.labels, self.batches.available.T, strict=True):
            first, *_, last = np.flatnonzero(there)[[0, -1]] if there.any() else (0, 0)
            came = f" before {shorten(names[first])!r}" if first > 0 else ""
            went = f" after {shorten(names[last])!r}" if last + 1 < len(names) else ""
            both = " and" if came and went else ""
            found += [f"{shorten(label)}{came}{both}{went}"] * bool(came or went)
            found += [f"{shorten(label)} in some batches"] * (not (came or went or there.all()))
        if not self.batches.guessed:
            return [f"not available: {listed(found, 5)}"]
        return [f"no rows of {listed(found, 5)}; whether that means that an arm was not available depends on the rule"]

    @property
    def has_rewards(self) -> bool:
        """Whether `samples` knows the rewards; of 0/1 rewards the counts are enough."""
        return self.rounds is not None or self.binary

    def samples(self) -> list[Floats]:
        """Each arm's rewards in the order of time."""
        if self.rounds is not None:
            return [self.rounds.rewards[self.rounds.arms == arm] for arm in range(len(self.labels))]
        if self.binary:  # the order is lost, the rewards are not
            wins = np.rint(np.nan_to_num(self.means * self.pulls)).astype(np.int64)
            return [np.repeat((1.0, 0.0), (w, n - w)) for w, n in zip(wins, self.pulls, strict=True)]
        raise InputError(
            "this log has per-arm summaries only, not the rewards themselves", remedy="Use the world gaussian."
        )

    def pool(self) -> Floats:
        """All rewards, arm after arm."""
        return np.concatenate(self.samples())

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of the content, whatever file it came from."""
        rounds, told = self.rounds, self if self.batches is None else self.batches
        if rounds is None:
            parts = [told.pulls, told.means, told.variances]
            metrics = {name: list(metric) for name, metric in told.metrics.items()}
        else:
            parts = [rounds.arms, rounds.rewards] + ([] if rounds.propensities is None else [rounds.propensities])
            metrics = {name: [values] for name, values in rounds.metrics.items()}
        columns = {name: [[part] for part in metric] for name, metric in metrics.items()}
        if rounds is None:  # 0/1 counts are not treated like the same means and variances
            parts.append(np.array([self.binary]))
        available = None if self.batches is None else self.batches.available
        return fingerprint(self.labels, [[part] for part in parts], self.batch_sizes, columns, available)


Numbers = Iterable[NDArray[Any]]  # of numbers, in pieces


def fingerprint(
    labels: Sequence[str],
    columns: Iterable[Numbers],
    batch_sizes: Sequence[int] | None,
    metrics: Mapping[str, Iterable[Numbers]],
    available: NDArray[np.bool_] | None = None,
) -> str:
    """The sha256 of a log's content."""
    digest = hashlib.sha256("\0".join(labels).encode("utf-8", "surrogatepass"))

    def absorb(columns: Iterable[Numbers]) -> None:
        for column in columns:
            for numbers in column:
                flat = numbers.ravel()
                for piece in in_pieces(len(flat)):
                    digest.update(flat[piece].astype(flat.dtype.newbyteorder("<"), copy=False).data)

    absorb(columns)
    digest.update(str(batch_sizes).encode() if batch_sizes else b"")
    if available is not None and not available.all():
        digest.update(np.packbits(available).tobytes())
    for name, parts in metrics.items():
        digest.update(name.encode("utf-8", "surrogatepass"))
        absorb(parts)
    return digest.hexdigest()
