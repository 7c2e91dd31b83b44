"""From a table with one row per arm, or per batch and arm, to an `ExperimentLog`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from debandit.errors import InputError, shorten
from debandit.log import ExperimentLog
from debandit.log_parts import Floats, Metric, checked_metric, checked_summaries, places_of, pooled, pooled_metric
from debandit.readers.columns import METRIC, Roles, roles_of
from debandit.readers.sources import Source
from debandit.readers.values import Labels, complain, numbers
from debandit.settings import AVAILABLE

COUNTED = ("pulls", "successes", "mean", "sd", "sum", "squares")
_FORMS = (("successes",), ("mean", "sd"), ("sum", "squares"))  # what must be known besides the pulls
_OF_METRIC = ("_squares", "_products")  # behind its name: sums of squares and of products with the reward
_TOTALS = ("total", "totals", "all", "overall", "sum")  # what people call a sum of all arms
_WANTED = "Besides --pulls name --successes, or --mean and --sd, or --sum and --squares."


def is_counted(source: Source, given: Mapping[str, str | None]) -> bool:
    """Whether the rows are counts: as the options say, or if there are columns of pulls and of successes."""
    if any(given[role] is not None for role in COUNTED):
        return True
    if given["reward"] is not None:
        return False
    found = roles_of(source.columns, {}, (), ("pulls", "successes"), source.name)
    return len(found.guessed) == 2


def read_counts(
    source: Source,
    given: Mapping[str, str | None],
    arms: Sequence[str] | None,
    metrics: Sequence[str] = (),
    *,
    batched: bool,
    available: Any,
) -> tuple[ExperimentLog, Roles]:
    """The log; without a column of batches the rows of an arm are added up."""
    options = {role: given[role] for role in ("arm", "batch", *COUNTED)}
    form = next((form for form in _FORMS if any(given[role] is not None for role in form)), _FORMS[0])
    sums = [name + what for name in metrics for what in ("", *_OF_METRIC)]
    roles = roles_of(source.columns, options, ("arm", "pulls", *form), ["batch"] * batched, source.name, sums)
    if len([role for role in COUNTED[1:] if role in roles.columns]) != len(form):
        raise InputError(
            "these columns are not enough to know means and spreads, or say them twice", where="--pulls", remedy=_WANTED
        )
    labels, batches, values = _collected(source, roles, (*form, *roles.metrics))
    pulls = values["pulls"]
    with np.errstate(invalid="ignore", divide="ignore"):
        if form == _FORMS[0]:
            means, variances = values["successes"] / pulls, None
        elif form == _FORMS[1]:
            means, variances = values["mean"], values["sd"] ** 2 * (pulls - 1) / pulls
        else:
            means = values["sum"] / pulls
            variances = np.maximum(values["squares"] / pulls - means**2, 0.0)
        others = {name: _metric(values, name, pulls, means) for name in metrics}
    binary = variances is None
    if variances is not None:
        variances = np.where(pulls > 1, variances, 0.0)
    try:
        if "batch" in roles.columns:
            log = ExperimentLog.from_batches(
                batches,
                labels,
                pulls,
                means,
                variances,
                labels=arms,
                binary=binary,
                metrics=others,
                available=available,
            )
        else:
            no_table_of_batches(available)
            log = _added_up(labels, pulls, means, variances, arms, others)
    except InputError as error:
        raise InputError(error.what, where=f"{source.name}, {error.where or 'arms'}", remedy=error.remedy) from None
    return log, roles


def notes_on_counts(source: Source, roles: Roles, labels: Sequence[str]) -> list[str]:
    """What is worth a word: batches that were not used, and arms that look like the sum of the others."""
    notes = [
        f"the arm {shorten(label)!r} looks like a sum of the others; if it is, leave its rows out"
        for label in labels
        if label.strip().lower() in _TOTALS
    ]
    unused = roles_of(source.columns, {}, (), ("batch",), source.name).guessed.get("batch")
    if unused is not None and unused not in roles.columns.values():
        notes.append(
            f"the column {shorten(unused)!r} was not used: the rows of each arm are added up. If the rule heard of its "
            f"rewards after each {shorten(unused)}, write batched(RULE) without a size"
        )
    return notes


def no_table_of_batches(available: Any) -> None:
    """Complain if it is said which arms were available in which batch of some other table."""
    if not isinstance(available, str) or available != AVAILABLE[0]:
        what = "which arms were available can be said only for a table of counts with batches"
        raise InputError(what, where="--available", remedy="Leave it out, or name the batches with --batch.")


def _collected(source: Source, roles: Roles, form: Sequence[str]) -> tuple[list[str], list[str], dict[str, Floats]]:
    """The arm and the batch of each row, and its numbers."""
    columns, labels, batches = roles.columns, Labels(), Labels()
    arms, days = [], []
    parts: dict[str, list[Floats]] = {role: [] for role in ("pulls", *form)}
    for piece in source.read(list(columns.values()), []):
        codes = labels.codes(piece.columns.column(columns["arm"]))
        complain(piece, np.flatnonzero(codes < 0), lambda _: "", columns["arm"], "an arm", "Fill them in.")
        arms += [labels.names[code] for code in codes]
        if "batch" in columns:
            codes = batches.codes(piece.columns.column(columns["batch"]))
            complain(piece, np.flatnonzero(codes < 0), lambda _: "", columns["batch"], "a batch", "Fill them in.")
            days += [batches.names[code] for code in codes]
        for role, found in parts.items():
            values, show = numbers(piece.columns.column(columns[role]))
            none = parts["pulls"][-1] == 0 if role != "pulls" else np.zeros(len(values), bool)
            bad = ~np.isfinite(values) & ~none
            if role in ("pulls", "successes"):
                bad |= ~none & ((values < 0) | (values != np.rint(values)))
            if role == "successes":
                bad |= values > parts["pulls"][-1]
            advice = "Pulls and successes are whole numbers, and there are at most as many successes as pulls."
            complain(piece, np.flatnonzero(bad), show, columns[role], "a number that fits", advice)
            found.append(np.where(none, 0.0, values))
    if not arms:
        raise InputError("there is a header but no rows", where=source.name, remedy="It needs one row per arm.")
    return arms, days, {role: np.concatenate(found) for role, found in parts.items()}


def _added_up(
    labels: list[str],
    pulls: Floats,
    means: Floats,
    variances: Floats | None,
    arms: Sequence[str] | None,
    metrics: Mapping[str, Metric],
) -> ExperimentLog:
    """The rows of each arm together."""
    place, binary = places_of(labels, arms), variances is None
    index, rows = np.array([place[label] for label in labels]), checked_summaries(pulls, means, variances, binary)
    told = pooled(rows, index, len(place), binary)
    others = {name: checked_metric(name, each, rows) for name, each in metrics.items()}
    return ExperimentLog.from_summaries(
        list(place),
        told.pulls,
        told.means,
        None if binary else told.variances,
        binary=binary,
        metrics={name: pooled_metric(rows, each, index, told) for name, each in others.items()},
    )


def _metric(values: Mapping[str, Floats], name: str, pulls: Floats, reward_means: Floats) -> Metric:
    sums, squares, products = (values[METRIC + name + what] for what in ("", *_OF_METRIC))
    means = sums / pulls
    return Metric(means, np.maximum(squares / pulls - means**2, 0.0), products / pulls - means * reward_means)
