"""In which batches a log may have been, as far as its columns say: hours, days or weeks, or those of a column."""

import shlex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from debandit.errors import InputError
from debandit.log_parts import batch_sizes_of
from debandit.readers.columns import Roles, candidates
from debandit.readers.pieces import Source
from debandit.readers.values import Labels, dates, starts_of, times
from debandit.settings import PERIODS

FEWEST, FEWEST_ROUNDS = 3, 2  # batches of a log, and rounds of a batch on average


def batchings(
    source: Source, roles: Roles, moments: NDArray[Any] | None, confirmed: list[str]
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """What one types to have each of them, and their sizes.

    `moments` are the times by which the rows are sorted; else rows are in order, as columns have `confirmed`.
    """
    found: dict[tuple[int, ...], str] = {}
    times_known = _moments(source, confirmed[0]) if moments is None and len(confirmed) == 1 else moments
    if times_known is not None and times_known.dtype.kind == "M":
        for period in PERIODS:
            found.setdefault(_lengths(starts_of(times_known, period)), f"--batch-by {period}")
    for column in candidates("batch", source.columns)[0] if moments is None else ():
        if column not in roles.columns.values():
            found.setdefault(_sizes(source, column), f"--batch {shlex.quote(column)}")
    several = (sizes for sizes in found if len(sizes) >= FEWEST and sum(sizes) >= FEWEST_ROUNDS * len(sizes))
    return tuple((found[sizes], sizes) for sizes in several)


def _moments(source: Source, column: str) -> NDArray[Any]:
    parts = [times(piece.columns.column(column)) for piece in source.read([column], [])]
    kinds = {part.dtype.kind for part in parts}
    if kinds == {"O"}:
        parts = [dates(part, column, source.name, 1) for part in parts]
    return np.concatenate(parts) if len(kinds) == 1 else np.empty(0)


def _lengths(values: NDArray[Any]) -> tuple[int, ...]:
    """How many equal ones stand together."""
    ends = np.append(np.flatnonzero(values[1:] != values[:-1]) + 1, len(values))
    return tuple(np.diff(ends, prepend=0).tolist())


def _sizes(source: Source, column: str) -> tuple[int, ...]:
    """The sizes of the batches in a column; none if it has gaps, or a batch that goes on after another one."""
    labels = Labels()
    parts = [labels.codes(piece.columns.column(column)) for piece in source.read([column], [])]
    codes = np.concatenate(parts) if parts else np.empty(0, np.int32)
    try:
        return () if (codes < 0).any() else batch_sizes_of(labels.names, codes, len(codes))
    except InputError:
        return ()
