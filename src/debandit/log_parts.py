"""What makes a log valid: its parts are checked here, and rows that belong together are added up."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from debandit.checks import LARGEST, SMALLEST, checked_choice
from debandit.errors import InputError, listed, shorten
from debandit.settings import AVAILABLE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_AT_ONCE = 2**16
ENOUGH_PULLS = 10  # pulls of an arm that are to be expected in a batch, so that having none tells something


def in_pieces(count: int) -> Iterator[slice]:
    """The places 0, ..., count - 1 in pieces, so that working with a long log does not take many times its memory."""
    return (slice(start, min(start + _AT_ONCE, count)) for start in range(0, count, _AT_ONCE))


class Summaries(NamedTuple):
    """Counts, means and variances (divisor n) of some rows; the last two are NaN without a pull."""

    pulls: Floats
    means: Floats
    variances: Floats


class Metric(NamedTuple):
    """What is known of an outcome besides the reward, for each arm (and batch); divisor n, NaN without a pull.

    Tables of counts may say nothing of variances and covariances: then they are NaN everywhere.
    """

    means: Floats
    variances: Floats
    covariances: Floats  # with the reward


def checked_summaries(pulls: ArrayLike, means: ArrayLike, variances: ArrayLike | None, binary: bool) -> Summaries:
    """One value of each for each row; 0/1 rewards need no variances, and their means are shares of the pulls."""
    if variances is None and not binary:
        raise InputError("rewards that are not 0/1 need variances", where="variances")
    counts, centers = checked_numbers(pulls, "pulls"), checked_numbers(means, "means")
    spreads = centers * (1 - centers) if variances is None else checked_numbers(variances, "variances")
    if counts.ndim != 1 or not counts.shape == centers.shape == spreads.shape:
        raise InputError("give one value for each arm (and batch)", where="pulls, means, variances")
    pulled = counts > 0
    if not ((counts >= 0) & (counts == np.rint(counts)) & (counts < 2**53)).all() or not pulled.any():
        raise InputError("pulls must be whole numbers of 0 or more, and not all 0", where="pulls")
    if not np.isfinite(centers[pulled]).all() or not ((spreads[pulled] >= 0) & np.isfinite(spreads[pulled])).all():
        outside = binary and np.isfinite(centers[pulled]).all()
        what = "the mean of 0/1 rewards lies between 0 and 1" if outside else "means are finite and variances 0 or more"
        raise InputError(what, where="means" if binary else "means, variances")
    check_size(centers[pulled], "means")
    check_size(np.sqrt(spreads[pulled]), "variances")
    wins = centers * counts
    if binary and not np.allclose(np.rint(wins)[pulled], wins[pulled], rtol=0, atol=1e-6):
        raise InputError("no 0/1 rewards have such a mean with this many pulls", where="means")
    missing = np.where(pulled, 1.0, np.nan)
    return Summaries(counts, centers * missing, spreads * missing)


def summarised(arms: Ints, values: Floats, arm_count: int) -> Summaries:
    """What the rounds say of each arm; they are added up one after the other."""
    pulls, sums, squares = np.zeros((3, arm_count))
    lowest, highest = np.full(arm_count, np.inf), np.full(arm_count, -np.inf)
    for piece in in_pieces(len(arms)):
        arm, value = arms[piece], values[piece]
        np.add.at(pulls, arm, 1.0)
        np.add.at(sums, arm, value)
        np.minimum.at(lowest, arm, value)
        np.maximum.at(highest, arm, value)
    with np.errstate(invalid="ignore"):
        constant = lowest == highest  # rounding must not make a variance out of nothing
        means = np.where(constant, lowest, sums / pulls)
        for piece in in_pieces(len(arms)):
            np.add.at(squares, arms[piece], (values[piece] - means[arms[piece]]) ** 2)
        return Summaries(pulls, means, squares / pulls)


def summarised_metric(arms: Ints, rewards: Floats, values: Floats, told: Summaries) -> Metric:
    """The same of a metric, whose rewards have these summaries."""
    _, means, variances = summarised(arms, values, len(told.pulls))
    products = np.zeros(len(told.pulls))
    for piece in in_pieces(len(arms)):
        arm = arms[piece]
        np.add.at(products, arm, (rewards[piece] - told.means[arm]) * (values[piece] - means[arm]))
    with np.errstate(invalid="ignore"):
        return Metric(means, variances, products / told.pulls)


def are_binary(values: Floats) -> bool:
    """Whether all are 0 or 1."""
    return all(((values[piece] == 0) | (values[piece] == 1)).all() for piece in in_pieces(len(values)))


def check_once(batches: Sequence[str], arms: Sequence[str], rows: Sequence[str]) -> None:
    """Complain of an arm that has two rows in a batch."""
    seen: dict[tuple[str, str], str] = {}
    for batch, arm, row in zip(batches, arms, rows, strict=True):
        if (batch, arm) in seen:
            what = f"the arm {shorten(arm)!r} has two rows in the batch {shorten(batch)!r}"
            remedy = f"Give one row for each batch and arm; the other is {seen[batch, arm]}."
            raise InputError(what, where=row, remedy=remedy)
        seen[batch, arm] = row


def checked_available(given: Any, pulls: Ints, told: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which arms were available in which batch (batches, arms), as it is `given`, or guessed from the table's rows."""
    if isinstance(given, str):
        checked_choice("available", given, AVAILABLE)
        return _guessed_available(pulls, told) if given == AVAILABLE[0] else np.ones(pulls.shape, bool)
    mask = np.asarray(given)
    if mask.shape != pulls.shape or mask.dtype != np.bool_:
        what = f"{pulls.shape[0]} batches and {pulls.shape[1]} arms need as many rows and columns of true and false"
        raise InputError(what, where="available")
    if (pulls[~mask] > 0).any():
        batch, arm = np.argwhere((pulls > 0) & ~mask)[0] + 1
        raise InputError(f"arm {arm} was pulled in batch {batch}, so it was available there", where="available")
    return mask.copy()


def _guessed_available(pulls: Ints, told: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """An arm came late if earlier batches were large enough to show it, and left if it would have had pulls later.

    `told` are the batches in which it has a row; one without pulls says that it was there.
    """
    sizes, available = pulls.sum(axis=1), np.ones(pulls.shape, bool)
    for arm in np.flatnonzero(told.any(axis=0)):
        rows = np.flatnonzero(told[:, arm])
        first, last = rows[0], rows[-1]
        available[:first, arm] = not (sizes[:first] >= ENOUGH_PULLS * pulls.shape[1]).any()
        shared = pulls[last, arm] < sizes[last]
        if shared and last + 1 < len(sizes) and pulls[last, arm] * sizes[last + 1] >= ENOUGH_PULLS * sizes[last]:
            available[last + 1 :, arm] = False
    return available


def pooled(rows: Summaries, arms: Ints, arm_count: int, binary: bool) -> Summaries:
    """The rows of each arm together: squares within rows and between their means."""
    n, m, v = (np.where(rows.pulls > 0, part, 0.0) for part in rows)

    def total(values: Floats) -> Floats:
        return np.bincount(arms, values, arm_count).astype(np.float64, copy=False)

    pulls, lowest, highest = total(n), np.full(arm_count, np.inf), np.full(arm_count, -np.inf)
    np.minimum.at(lowest, arms[n > 0], m[n > 0])
    np.maximum.at(highest, arms[n > 0], m[n > 0])
    with np.errstate(invalid="ignore"):
        same = lowest == highest  # rounding must not make a variance out of nothing
        means = np.where(same, lowest, total(np.rint(n * m) if binary else n * m) / pulls)
        return Summaries(pulls, means, total(n * (v + (m - means[arms]) ** 2)) / pulls)


def pooled_metric(rows: Summaries, metric: Metric, arms: Ints, told: Summaries) -> Metric:
    """The rows of each arm together, of a metric whose rewards have the pooled summaries `told`."""
    pulled, arm_count = rows.pulls > 0, len(told.pulls)
    n, m = (np.where(pulled, part, 0.0) for part in rows[:2])
    y, v, c = (np.where(pulled, part, 0.0) for part in metric)

    def mean(values: Floats) -> Floats:
        means: Floats = np.bincount(arms, n * values, arm_count) / told.pulls
        return means

    with np.errstate(invalid="ignore"):
        means = mean(y)
        apart, apart_y = np.where(pulled, m - told.means[arms], 0.0), np.where(pulled, y - means[arms], 0.0)
        return Metric(means, mean(v + apart_y**2), mean(c + apart * apart_y))


def checked_metric(name: str, metric: Any, rows: Summaries) -> Metric:
    """Means, variances and covariances with the reward, for each of these rows; the last two may be unknown."""
    where = f"metric {shorten(str(name))!r}"
    check_text([str(name)], where)
    try:
        means, variances, covariances = metric
    except (TypeError, ValueError):
        what = "a metric has means, variances and covariances with the reward"
        raise InputError(what, where=where, remedy="Give three lists.") from None
    unknown, pulled = np.full(rows.pulls.shape, np.nan), rows.pulls > 0
    parts = (unknown if part is None else checked_numbers(part, where) for part in (means, variances, covariances))
    found = Metric(*parts)
    if any(
        part.shape != pulled.shape or not (np.isfinite(part[pulled]).all() or (optional and np.isnan(part).all()))
        for part, optional in zip(found, (False, True, True), strict=True)
    ):
        raise InputError("give a finite value for each arm (and batch)", where=where)
    check_size(found.means[pulled], where)
    if (found.variances[pulled] < 0).any() or too_large(rows, found).any():
        what = "a variance is 0 or more, and a covariance at most the product of the standard deviations"
        raise InputError(what, where=where, remedy="Check the sums of squares and of products.")
    return Metric(*(np.where(pulled, part, np.nan) for part in found))


def too_large(rows: Summaries, metric: Metric) -> NDArray[np.bool_]:
    """Which covariances are larger than the product of the standard deviations, by more than rounding."""
    with np.errstate(invalid="ignore"):
        most = np.sqrt(np.maximum(rows.variances * metric.variances, 0)) * (1 + 1e-6)
        rounding = 1e-9 * np.sqrt((rows.variances + rows.means**2) * (metric.variances + metric.means**2))
        return (rows.pulls > 0) & (np.abs(metric.covariances) > most + rounding)


def places_of(appeared: Iterable[str], labels: Sequence[Any] | None) -> dict[str, int]:
    """The place of every arm: in the order of appearance, or of a list that must name all of them."""
    names = list(dict.fromkeys(appeared))
    known = checked_labels(names if labels is None else labels, given=labels is not None)
    strangers = sorted(set(names) - set(known))
    if strangers:
        raise InputError(
            f"the arm {shorten(strangers[0])!r} is in the log but not in the list of arms",
            where="arms",
            remedy="List every arm of the experiment.",
        )
    return {label: place for place, label in enumerate(known)}


def in_order_of_appearance(codes: NDArray[Any], count: int) -> list[int]:
    """The different ones of many numbers 0, ..., count - 1; usually the first few thousand show all of them."""
    left = np.zeros(count, bool)
    for piece in in_pieces(len(codes)):
        left[codes[piece]] = True
    found: list[int] = []
    for piece in in_pieces(len(codes)):
        seen, first = np.unique(codes[piece], return_index=True)
        found += [int(code) for code in seen[np.argsort(first)] if left[code]]
        left[seen] = False
        if not left.any():
            break
    return found


def checked_numbers(values: ArrayLike, where: str, *, copy: bool | None = True) -> Floats:
    """Numbers, or a complaint."""
    try:
        return np.array(values, dtype=np.float64, copy=copy)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{where} must be numbers ({shorten(str(error))})", where=where) from None


def checked_rewards(rewards: ArrayLike, *, copy: bool | None = True) -> Floats:
    """One finite number for each round."""
    values = checked_numbers(rewards, "rewards", copy=copy)
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
    check_size(values, "rewards")
    return values


def check_size(values: Floats, where: str) -> None:
    """Complain of numbers whose powers leave the range of floating point."""
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    if largest > LARGEST or 0 < largest < SMALLEST:
        raise InputError(
            f"numbers of size {largest:.1g} are too {'large' if largest > 1 else 'small'} to compute with",
            where=where,
            remedy="Use another unit of measurement, in the log and in the rule's options: the largest number should "
            f"be between {SMALLEST:g} and {LARGEST:g}.",
        )


def checked_metrics(metrics: Mapping[str, ArrayLike] | None, count: int, *, copy: bool | None) -> dict[str, Floats]:
    """The values of each metric, one finite number for each round."""
    found = {str(name): checked_numbers(values, "metrics", copy=copy) for name, values in (metrics or {}).items()}
    check_text(found, "metrics")
    for name, values in found.items():
        if values.shape != (count,) or not np.isfinite(values).all():
            what = f"the metric {shorten(name)!r} needs a finite number for each of the {count:,} rounds"
            raise InputError(what, where="metrics", remedy="Repair the values, or leave out the metric.")
        check_size(values, f"metric {shorten(name)!r}")
    return found


def checked_propensities(propensities: ArrayLike, count: int) -> Floats:
    """One probability for each round."""
    values = checked_numbers(propensities, "propensities")
    if values.shape != (count,):
        raise InputError(
            f"propensities of shape {values.shape} for {count} rounds",
            where="propensities",
            remedy="Give one for each round: the probability that the rule gave to the arm that was pulled.",
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


def batch_sizes_of(names: Sequence[str], batches: NDArray[Any], count: int) -> tuple[int, ...]:
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


def checked_label(label: Any) -> str:
    """The name of an arm."""
    text = str(label)
    if label is None or label != label or not text:  # None, NaN, empty
        raise InputError(f"an arm is missing ({label!r})", where="arms", remedy="Name the arm of every round.")
    return text


def check_text(names: Iterable[str], where: str) -> None:
    """Complain of half letters, as a command line in another code than UTF-8 has, which no file can keep."""
    for name in names:
        if not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
            raise InputError(
                f"the name {shorten(name)!r} is not text in UTF-8", where=where, remedy="Write it in UTF-8."
            )


def checked_labels(labels: Iterable[Any], *, given: bool) -> tuple[str, ...]:
    """The names of all arms, each once; a list that was `given` must have them so."""
    names = [checked_label(label) for label in labels]
    known = tuple(dict.fromkeys(names))
    check_text(known, "arms")
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
