"""The log of an adaptive experiment, valid by construction."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from debandit.errors import InputError, listed, shorten

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_AT_ONCE = 2**16
Coded = tuple[Sequence[str], NDArray[Any]]  # names, and the place of each round's among them


@dataclass(frozen=True, eq=False)
class Rounds:
    """Who was pulled when, and what came of it."""

    arms: Ints  # index into the labels
    rewards: Floats
    propensities: Floats | None = None  # P(this arm | the past) as the experiment recorded it
    batch_sizes: tuple[int, ...] | None = None  # of the batches in which the rule heard of its rewards


@dataclass(frozen=True, eq=False)
class Batches:
    """What each batch says of each arm (batches, arms), where only that is known."""

    names: tuple[str, ...]
    pulls: Ints
    means: Floats  # NaN without a pull
    variances: Floats  # with divisor n; NaN without a pull


@dataclass(frozen=True, eq=False, init=False)
class ExperimentLog:
    """What happened: per-arm summaries always, the ordered rounds or the batches unless only summaries are known.

    The order of the labels decides ties and initial pulls. It is that of first appearance, unless `labels` gives it;
    `labels` may name arms that never appear. `batches` names the batch of every round.
    """

    labels: tuple[str, ...]
    pulls: Ints
    means: Floats  # NaN without a pull
    variances: Floats  # with divisor n, as in eq:mb-dist; NaN without a pull
    binary: bool  # all rewards are 0 or 1
    rounds: Rounds | None
    batches: Batches | None

    def __init__(
        self,
        arms: Iterable[Any],
        rewards: ArrayLike,
        *,
        labels: Sequence[Any] | None = None,
        propensities: ArrayLike | None = None,
        batches: Iterable[Any] | None = None,
    ) -> None:
        names = [_checked_label(arm) for arm in arms]
        places = {name: place for place, name in enumerate(dict.fromkeys(names))}
        codes = np.fromiter((places[name] for name in names), np.int32, len(names))
        named: Coded | None = None
        if batches is not None:
            texts = [str(batch) for batch in batches]
            numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
            named = list(numbers), np.fromiter((numbers[text] for text in texts), np.int32, len(texts))
        self._fill(list(places), codes, rewards, labels, propensities, named)

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
    ) -> "ExperimentLog":
        """The same where each round's arm, and its batch, is a place in a list of names."""
        log = cls.__new__(cls)
        log._fill(names, np.asarray(codes), rewards, labels, propensities, batches)
        return log

    def _fill(
        self,
        names: Sequence[str],
        codes: NDArray[Any],
        rewards: ArrayLike,
        labels: Sequence[Any] | None,
        propensities: ArrayLike | None,
        batches: Coded | None,
    ) -> None:
        values = _checked_rewards(rewards)
        if len(codes) != len(values):
            raise InputError(f"{len(codes)} arms but {len(values)} rewards", remedy="Give one reward for each pull.")
        sizes = None if batches is None else _batch_sizes(*batches, len(values))
        recorded = None if propensities is None else _checked_propensities(propensities, len(values))
        appeared = [names[code] for code in in_order_of_appearance(codes, len(names))]
        known = _checked_labels(appeared if labels is None else labels, given=labels is not None)
        place = {label: index for index, label in enumerate(known)}
        strangers = sorted(set(appeared) - set(known))
        if strangers:
            raise InputError(
                f"the arm {shorten(strangers[0])!r} is in the log but not in the list of arms",
                remedy="List every arm of the experiment.",
            )
        index = np.array([place.get(name, -1) for name in names], np.int64)[codes]
        pulls = np.bincount(index, minlength=len(known))
        with np.errstate(invalid="ignore"):
            means = np.bincount(index, values, len(known)) / pulls
            variances = np.bincount(index, (values - means[index]) ** 2, len(known)) / pulls
        lowest, highest = np.full(len(known), np.inf), np.full(len(known), -np.inf)
        np.minimum.at(lowest, index, values)
        np.maximum.at(highest, index, values)
        constant = lowest == highest  # rounding must not make a variance out of nothing
        self._set(
            labels=known,
            pulls=pulls,
            means=np.where(constant, lowest, means),
            variances=np.where(constant, 0.0, variances),
            binary=bool(np.isin(values, (0.0, 1.0)).all()),
            rounds=Rounds(index, values, recorded, sizes),
            batches=None,
        )

    @classmethod
    def of(cls, given: Any, **columns: Any) -> "ExperimentLog":
        """The log in a data frame, a mapping of columns or a file; see `read_log` for the names of `columns`."""
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
    ) -> "ExperimentLog":
        """A log of which only counts, means and variances (divisor n) are known; 0/1 rewards need no variances."""
        known = _checked_labels(labels, given=True)
        if variances is None and not binary:
            raise InputError("summaries of rewards that are not 0/1 need variances", where="variances")
        counts, centers = _numbers(pulls, "pulls"), _numbers(means, "means")
        spreads = centers * (1 - centers) if variances is None else _numbers(variances, "variances")
        if not counts.shape == centers.shape == spreads.shape == (len(known),):
            raise InputError(f"each summary needs one value for each of the {len(known)} arms")
        pulled = counts > 0
        if not ((counts >= 0) & (counts == np.rint(counts)) & (counts < 2**53)).all() or not pulled.any():
            raise InputError("pulls must be whole numbers of 0 or more, and not all 0", where="pulls")
        if binary and ((centers[pulled] < 0) | (centers[pulled] > 1)).any():
            raise InputError("the mean of 0/1 rewards lies between 0 and 1", where="means")
        if not np.isfinite(centers[pulled]).all() or not ((spreads[pulled] >= 0) & np.isfinite(spreads[pulled])).all():
            raise InputError("means must be finite and variances 0 or more", where="means, variances")
        wins = np.rint(centers * counts)
        if binary and not np.allclose(wins[pulled], (centers * counts)[pulled], rtol=0, atol=1e-6):
            raise InputError("no 0/1 rewards have such a mean with this many pulls", where="means")
        log = cls.__new__(cls)
        missing = np.where(pulled, 1.0, np.nan)
        log._set(
            labels=known,
            pulls=counts.astype(np.int64),
            means=centers * missing,
            variances=spreads * missing,
            binary=binary,
            rounds=None,
            batches=None,
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
    ) -> "ExperimentLog":
        """A log of which each batch's counts, means and variances (divisor n) are known, one row for a batch and arm.

        Batches are in the order of first appearance, and so are arms unless `labels` gives it. An arm without a row in
        a batch had no pulls there. 0/1 rewards need no variances.
        """
        days, names = [str(batch) for batch in batches], [_checked_label(arm) for arm in arms]
        counts, centers = _numbers(pulls, "pulls"), _numbers(means, "means")
        if variances is None and not binary:
            raise InputError("batches of rewards that are not 0/1 need variances", where="variances")
        spreads = centers * (1 - centers) if variances is None else _numbers(variances, "variances")
        if not len(days) == len(names) == len(counts) == len(centers) == len(spreads):
            raise InputError("each row needs a batch, an arm, pulls, a mean and a variance", where="batches")
        known = _checked_labels(dict.fromkeys(names) if labels is None else labels, given=labels is not None)
        places = [{name: i for i, name in enumerate(each)} for each in (dict.fromkeys(days), known)]
        if set(names) - set(known):
            stranger = sorted(set(names) - set(known))[0]
            raise InputError(f"the arm {shorten(stranger)!r} is not in the list of arms", where="arms")
        cells = np.array([places[0][day] for day in days]), np.array([places[1][name] for name in names])
        if len(set(zip(*cells, strict=True))) < len(days):
            seen = [*zip(days, names, strict=True)]
            day, name = next(cell for i, cell in enumerate(seen) if cell in seen[:i])
            what = f"the arm {shorten(name)!r} has two rows in the batch {shorten(day)!r}"
            raise InputError(what, where="batches", remedy="Give one row for each batch and arm.")
        table = np.zeros((3, len(places[0]), len(known)))
        table[:, cells[0], cells[1]] = counts, np.where(counts > 0, centers, 0.0), np.where(counts > 0, spreads, 0.0)
        n, m, v = table
        if not (n.sum(axis=1) > 0).all():
            empty = days[int(np.flatnonzero(n.sum(axis=1)[cells[0]] == 0)[0])]
            raise InputError(f"nobody was in the batch {shorten(empty)!r}", where="batches", remedy="Leave it out.")
        total = n.sum(axis=0)
        with np.errstate(invalid="ignore"):
            mean = (n * m).sum(axis=0) / total
            variance = (n * (v + (m - mean) ** 2)).sum(axis=0) / total
        log = cls.from_summaries(known, total, mean, None if binary else variance, binary=binary)
        seldom = np.where(n > 0, 1.0, np.nan)
        log._set(batches=Batches(tuple(places[0]), n.astype(np.int64), m * seldom, v * seldom))
        return log

    def _set(self, **values: Any) -> None:
        """Give the log its values; nobody can write to its arrays."""
        for name, value in values.items():
            object.__setattr__(self, name, value)
        inside = [vars(each) for each in values.values() if isinstance(each, (Rounds, Batches))]
        for value in [*values.values(), *(part for each in inside for part in each.values())]:
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

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
    def unseen(self) -> list[str]:
        """Arms without a reward."""
        return [label for label, n in zip(self.labels, self.pulls, strict=True) if n == 0]

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
        digest = hashlib.sha256("\0".join(self.labels).encode("utf-8", "surrogatepass"))
        rounds = self.rounds
        told = self if self.batches is None else self.batches
        summaries = (told.pulls, told.means, told.variances)
        for part in summaries if rounds is None else (rounds.arms, rounds.rewards, rounds.propensities):
            if part is None:
                continue
            digest.update(np.ascontiguousarray(part).astype(part.dtype.newbyteorder("<")).tobytes())
        digest.update(str(self.batch_sizes).encode() if self.batch_sizes else b"")
        return digest.hexdigest()


def in_order_of_appearance(codes: NDArray[Any], count: int) -> list[int]:
    """The different ones of many numbers 0, ..., count - 1; usually the first few thousand show all of them."""
    left = np.bincount(codes, minlength=count) > 0
    found: list[int] = []
    for start in range(0, len(codes), _AT_ONCE):
        seen, first = np.unique(codes[start : start + _AT_ONCE], return_index=True)
        found += [int(code) for code in seen[np.argsort(first)] if left[code]]
        left[seen] = False
        if not left.any():
            break
    return found


def _numbers(values: ArrayLike, where: str) -> Floats:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{where} must be numbers ({shorten(str(error))})", where=where) from None


def _checked_rewards(rewards: ArrayLike) -> Floats:
    values = _numbers(rewards, "rewards")
    if values.ndim != 1 or len(values) == 0:
        raise InputError("rewards must be a list with one number for each round", where="rewards")
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise InputError(
            f"reward {values[bad[0]]} in round {bad[0] + 1} is missing or infinite"
            + (f" ({len(bad)} such rounds)" if len(bad) > 1 else ""),
            where="rewards",
            remedy="Repair or leave out such rounds; leaving out is right only if the rule did not see them either.",
        )
    largest = np.abs(values).max()
    if largest > 1e100 or 0 < largest < 1e-100:
        raise InputError(
            f"rewards of size {largest:.1g} cannot be squared in floating point",
            where="rewards",
            remedy="Use another unit of measurement, in the log and in the rule's options.",
        )
    return values


def _checked_propensities(propensities: ArrayLike, count: int) -> Floats:
    values = _numbers(propensities, "propensities")
    if values.shape != (count,):
        raise InputError(
            f"propensities of shape {values.shape} for {count} rounds",
            where="propensities",
            remedy="Give one for each round: the probability with which the arm that was pulled had been chosen.",
        )
    bad = np.flatnonzero(~((values > 0) & (values <= 1)))
    if len(bad):
        raise InputError(
            f"the propensity {values[bad[0]]} in round {bad[0] + 1} is not a probability above 0"
            + (f" ({len(bad)} such rounds)" if len(bad) > 1 else ""),
            where="propensities",
            remedy="It is the probability of the arm that was pulled: more than 0, since it was pulled, and at most 1.",
        )
    return values


def _batch_sizes(names: Sequence[str], batches: NDArray[Any], count: int) -> tuple[int, ...]:
    """The lengths of runs of equal numbers, each of which must be one batch."""
    if len(batches) != count:
        raise InputError(
            f"{len(batches)} batches for {count} rounds", where="batches", remedy="Name that of every round."
        )
    starts = np.append(0, np.flatnonzero(np.diff(batches)) + 1)
    _, first = np.unique(batches[starts], return_index=True)
    if len(first) < len(starts):
        again = starts[np.setdiff1d(np.arange(len(starts)), first)[0]]
        raise InputError(
            f"the batch {shorten(names[batches[again]])!r} goes on in round {again + 1}, after another one",
            where="batches",
            remedy="Sort the rounds by time (--time), and give batches different names.",
        )
    return tuple(np.diff(np.append(starts, count)).tolist())


def _checked_label(label: Any) -> str:
    text = str(label)
    if label is None or label != label or not text:  # None, NaN, empty
        raise InputError(f"an arm is missing ({label!r})", where="arms", remedy="Name the arm of every round.")
    return text


def _checked_labels(labels: Iterable[Any], *, given: bool) -> tuple[str, ...]:
    names = [_checked_label(label) for label in labels]
    known = tuple(dict.fromkeys(names))
    if given and len(known) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(f"the arm {shorten(twice)!r} is listed twice", where="arms")
    if len(known) < 2:
        raise InputError(
            f"fewer than two arms: {listed(list(known)) or 'none'}",
            where="arms",
            remedy="An experiment compares at least two. List an arm that was never pulled as well: --arms A,B",
        )
    return known
