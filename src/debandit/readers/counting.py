"""From a table with one row per arm, or per batch and arm, to an `ExperimentLog`."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.errors import InputError, shorten
from debandit.log import ExperimentLog
from debandit.log_parts import (
    Floats,
    Metric,
    Summaries,
    check_once,
    checked_metric,
    checked_summaries,
    places_of,
    pooled,
    pooled_metric,
    too_large,
)
from debandit.readers.columns import METRIC, Roles, candidates, roles_of, typed
from debandit.readers.pieces import Piece, Source
from debandit.readers.values import Labels, complain, lacking, numbers, order_in_time
from debandit.settings import AVAILABLE

COUNTED = ("pulls", "successes", "mean", "sd", "sum", "squares")
_FORMS = (("successes",), ("mean", "sd"), ("sum", "squares"))  # what must be known besides the pulls
_OF_METRIC = ("_squares", "_products")  # behind its name: sums of squares and of products with the reward, if known
_TOTALS = ("total", "totals", "all", "overall", "sum")  # what people call a sum of all arms
_WANTED = "Besides --pulls give --successes, or --mean and --sd, or --sum and --squares."
_ADDED_UP = "arms have several rows, which are added up. If these are batches, name their column: --batch COLUMN"
_ROUNDING = 1e-9  # relative, of sums of squares


class _Rows(NamedTuple):
    """The arm and the batch of each row, its numbers by role, and where it stands."""

    arms: list[str]
    batches: list[str]
    values: dict[str, Floats]
    places: list[str]
    labels: Labels
    dropped: int


def is_counted(source: Source, given: Mapping[str, str | None]) -> bool:
    """Whether the rows are counts: as the options say, else if there are columns of pulls and of successes.

    A column such as `converted` beside one of pulls is that of the successes if some value is above 1. Otherwise the
    rows are rounds if some of the same arm, batch and time are repeated. What is neither is asked for.
    """
    if any(given[role] is not None for role in COUNTED):
        return True
    arm, pulls, batches, times = (candidates(role, source.columns)[0] for role in ("arm", "pulls", "batch", "time"))
    arm = arm if given["arm"] is None else [given["arm"]]
    if given["reward"] is not None or not pulls or len(arm) != 1:
        return False
    sure, perhaps = candidates("successes", source.columns)
    if sure:
        return True
    rewards = [column for rank in candidates("reward", source.columns) for column in rank]
    if rewards:
        keys = [*arm, *batches, *times]
        for piece in source.read(list(dict.fromkeys([*keys, *perhaps])), []):
            if any((numbers(piece.columns.column(column))[0] > 1).any() for column in perhaps):
                return True
            codes = [Labels().codes(piece.columns.column(column)) for column in keys]
            if len(np.unique(codes, axis=1).T) < len(codes[0]):
                return False
            break
    counts = f"--pulls {typed(pulls[0])} --successes {typed((perhaps or ['COLUMN'])[0])}"
    raise InputError(
        f"it is not clear whether the rows are rounds, or counts with {shorten(pulls[0])!r} users each",
        where=source.name,
        remedy=f"If they are rounds, name the reward: --reward {typed((rewards or ['COLUMN'])[0])}\n"
        f"If they are counts, say {counts} (or --mean and --sd, or --sum and --squares)",
    )


def read_counts(
    source: Source,
    given: Mapping[str, str | None],
    arms: Sequence[str] | None,
    metrics: Sequence[str] = (),
    *,
    batched: bool,
    available: Any,
    drop: bool,
) -> tuple[ExperimentLog, Roles]:
    """The log; without a column of batches the rows of an arm are added up."""
    options = {role: given[role] for role in ("arm", "batch", *COUNTED)}
    form = next((form for form in _FORMS if any(given[role] is not None for role in form)), _FORMS[0])
    sums = [*metrics, *(name + what for name in metrics for what in _OF_METRIC if name + what in source.columns)]
    dated = candidates("time", source.columns)[0]  # often the batch of an export
    by_date = batched and options["batch"] is None and not candidates("batch", source.columns)[0] and len(dated) == 1
    options |= {"batch": dated[0]} if by_date else {}
    roles = roles_of(source.columns, options, ("arm", "pulls", *form), ["batch"] * batched, source.name, sums)
    roles.guessed.update({"batch": dated[0]} if by_date else {})
    if len([role for role in COUNTED[1:] if role in roles.columns]) != len(form):
        what = "the table must give means and spreads in exactly one way"
        raise InputError(what, where="--pulls", remedy=_WANTED)
    rows = _collected_counts(source, roles, ("pulls", *form, *roles.metrics), drop)
    if rows.dropped:
        roles.doubts.append(left_out(rows.dropped))
    told = _summaries(rows, roles, form)
    others = {name: _metric(rows, roles, name, told) for name in metrics}
    order = rows.labels.names if arms is None else arms
    try:
        if "batch" in roles.columns:
            log = _of_batches(rows, roles, told, others, order, available)
        else:
            no_table_of_batches(available)
            if len(set(rows.arms)) < len(rows.arms) and not candidates("batch", source.columns)[0] and not dated:
                roles.notes.append(_ADDED_UP)
            log = _added_up(rows.arms, told, others, order, binary=form == _FORMS[0])
    except InputError as error:
        raise InputError(error.what, where=f"{source.name}, {error.where or 'arms'}", remedy=error.remedy) from None
    return log, roles


def notes_on_counts(source: Source, roles: Roles, labels: Sequence[str]) -> list[str]:
    """What is worth a word: batches that were not used, and arms that look like the sum of the others."""
    notes = [
        f"the arm {shorten(label)!r} looks like the total of the others; if it is, leave out its rows"
        for label in labels
        if label.strip().lower() in _TOTALS
    ]
    unused = roles_of(source.columns, {}, (), ("batch",), source.name).guessed.get("batch")
    if unused is not None and unused not in roles.columns.values():
        notes.append(
            f"the column {shorten(unused)!r} was not used, and the rows of each arm are added up. If the rule learned "
            f"after each {shorten(unused)}, write batched(RULE) without a size"
        )
    return notes


def left_out(dropped: int) -> str:
    """What to say of rows with missing values."""
    return f"{dropped:,} {'row was' if dropped == 1 else 'rows were'} left out because of missing values"


def no_table_of_batches(available: Any) -> None:
    """Complain if it is said which arms were available in which batch of some other table."""
    if not isinstance(available, str) or available != AVAILABLE[0]:
        what = "this option is only for tables of counts with batches"
        raise InputError(what, where="--available", remedy="Leave it out, or name the batches with --batch.")


def _collected_counts(source: Source, roles: Roles, wanted: Sequence[str], drop: bool) -> _Rows:
    """All rows, each of which is sound by itself."""
    columns, labels, batches, dropped = roles.columns, Labels(), Labels(), 0
    arms, days, places = [], [], []
    parts: dict[str, list[Floats]] = {role: [] for role in wanted}
    for piece in source.read(list(dict.fromkeys(columns.values())), []):
        codes = {"arm": labels.codes(piece.columns.column(columns["arm"]))}
        if "batch" in columns:
            codes["batch"] = batches.codes(piece.columns.column(columns["batch"]))
        keep = np.ones(len(codes["arm"]), bool)
        for role, found in codes.items():
            if not drop:
                complain(piece, found < 0, columns[role])
            keep &= found >= 0
        values: dict[str, Floats] = {}
        for role in wanted:
            values[role], gone = _fitting(piece, role, columns[role], values, drop)
            keep &= ~gone
        dropped += int((~keep).sum())
        arms += [labels.names[code] for code in codes["arm"][keep]]
        days += [batches.names[code] for code in codes["batch"][keep]] if "batch" in columns else []
        places += [f"{piece.source}, row {piece.first_row + i}" for i in np.flatnonzero(keep)]
        for role, column in values.items():
            parts[role].append(column[keep])
    if not arms:
        raise InputError("there is a header but no rows", where=source.name, remedy="It needs one row per arm.")
    return _Rows(arms, days, {role: np.concatenate(found) for role, found in parts.items()}, places, labels, dropped)


def _fitting(
    piece: Piece, role: str, column: str, others: Mapping[str, Floats], drop: bool
) -> tuple[Floats, NDArray[np.bool_]]:
    """The numbers of a column, 0 where there were no pulls; and which are missing and to be dropped."""
    values, show = numbers(piece.columns.column(column))
    pulls, wanted, bad = others.get("pulls", np.full(len(values), np.inf)), "a finite number", ~np.isfinite(values)
    if role in ("pulls", "successes"):
        wanted = "a whole number of 0 or more" + ", and no more than the pulls" * (role == "successes")
        bad |= (values < 0) | (values != np.rint(values)) | (values > pulls)
    if role == "sd":
        wanted, bad = "a number of 0 or more", bad | (values < 0)
    gone = lacking(values, show) & (pulls > 0)
    needless = (pulls == 0) | (gone & (pulls == 1)) if role == "sd" else pulls == 0  # one reward has no spread
    gone &= ~needless
    complain(piece, bad & ~needless & ~(gone & drop), column, show, wanted)
    return np.where(needless, 0.0, values), gone


def _summaries(rows: _Rows, roles: Roles, form: Sequence[str]) -> Summaries:
    """The means and the variances (divisor n) of the rows."""
    values, pulls = rows.values, rows.values["pulls"]
    with np.errstate(invalid="ignore", divide="ignore"):
        if form == _FORMS[0]:
            means = values["successes"] / pulls
            return Summaries(pulls, means, means * (1 - means))
        if form == _FORMS[1]:
            return Summaries(pulls, values["mean"], np.where(pulls > 1, values["sd"] ** 2 * (pulls - 1) / pulls, 0.0))
    return Summaries(pulls, *_moments(rows, roles, "sum", "squares"))


def _moments(rows: _Rows, roles: Roles, total: str, squares: str) -> tuple[Floats, Floats]:
    """Means and variances from sums and sums of squares."""
    pulls, sums, found = (rows.values[role] for role in ("pulls", total, squares))
    what = "is less than the square of the sum divided by the number of pulls, which no rewards give"
    _refuse(found * pulls < sums**2 * (1 - _ROUNDING), rows, roles, squares, what)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / pulls
        return means, np.where(pulls > 1, np.maximum(found / pulls - means**2, 0.0), 0.0)


def _metric(rows: _Rows, roles: Roles, name: str, told: Summaries) -> Metric:
    """What the sums say of a metric; nothing of what there is no column for."""
    total, squares, products = (METRIC + name + what for what in ("", *_OF_METRIC))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = rows.values[total] / told.pulls
        variances = covariances = np.full(means.shape, np.nan)
        if squares in rows.values:
            _, variances = _moments(rows, roles, total, squares)
        if products in rows.values:
            covariances = np.where(told.pulls > 1, rows.values[products] / told.pulls - means * told.means, 0.0)
    metric = Metric(means, variances, covariances)
    what = "is too far from the product of the sums divided by the number of pulls for these sums of squares"
    _refuse(too_large(told, metric), rows, roles, products, what)
    return metric


def _refuse(bad: NDArray[np.bool_], rows: _Rows, roles: Roles, role: str, what: str) -> None:
    if bad.any():
        row, column = int(np.argmax(bad)), shorten(roles.columns[role])
        what = f"{rows.values[role][row]:.10g} in column {column!r} {what}"
        raise InputError(
            what, where=rows.places[row], remedy="Sums are those of all users in the row, not about means."
        )


def _of_batches(
    rows: _Rows, roles: Roles, told: Summaries, metrics: Mapping[str, Metric], order: Sequence[str], available: Any
) -> ExperimentLog:
    """The log, with its batches in the order of time if their names tell."""
    check_once(rows.batches, rows.arms, rows.places)
    names = list(dict.fromkeys(rows.batches))
    in_time = order_in_time(names) or names
    if in_time != names:
        roles.doubts.append(
            f"the batches are in the order of the column {shorten(roles.columns['batch'])}, not of the rows"
        )
    place = {name: i for i, name in enumerate(in_time)}
    sort = np.argsort([place[batch] for batch in rows.batches], kind="stable")
    binary = "successes" in roles.columns
    return ExperimentLog.from_batches(
        [rows.batches[i] for i in sort],
        [rows.arms[i] for i in sort],
        told.pulls[sort],
        told.means[sort],
        None if binary else told.variances[sort],
        labels=order,
        binary=binary,
        metrics={name: Metric(*(part[sort] for part in metric)) for name, metric in metrics.items()},
        available=available,
    )


def _added_up(
    labels: list[str], told: Summaries, metrics: Mapping[str, Metric], order: Sequence[str], *, binary: bool
) -> ExperimentLog:
    """The rows of each arm together."""
    place = places_of(labels, order)
    index = np.array([place[label] for label in labels])
    rows = checked_summaries(told.pulls, told.means, None if binary else told.variances, binary)
    every = pooled(rows, index, len(place), binary)
    others = {name: checked_metric(name, each, rows) for name, each in metrics.items()}
    return ExperimentLog.from_summaries(
        list(place),
        every.pulls,
        every.means,
        None if binary else every.variances,
        binary=binary,
        metrics={name: pooled_metric(rows, each, index, every) for name, each in others.items()},
    )
