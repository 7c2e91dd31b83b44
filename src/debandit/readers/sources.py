"""Where rows come from: files, standard input and data frames, all as pieces of Arrow columns."""

import glob
import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from debandit.errors import InputError, shorten
from debandit.readers.formats import file_source
from debandit.readers.pieces import Source, typed_source


def source_of(given: Any, query: str | None = None) -> Source:
    """A path, a pattern such as logs/*.parquet, `-` for standard input, a list of paths, or a data frame.

    With a query, `given` is the address of a database.
    """
    if query is not None:
        from debandit.readers.databases import queried  # only then: loading it takes longer than reading a small file

        return queried(given, query)
    for each in given if isinstance(given, (list, tuple)) else [given]:
        if isinstance(each, str) and re.match(r"[a-z][\w+.-]+://|.*password=", each, re.I | re.S):
            remedy = "A database needs --db and --query; in Python read_log(address, query=...)."
            raise InputError("this is an address, not a file", where="log", remedy=remedy)
    if isinstance(given, (str, Path)):
        return _joined([file_source(path) for path in paths_of(str(given))])
    if isinstance(given, (list, tuple)) and given and all(isinstance(each, (str, Path)) for each in given):
        paths = [path for each in given for path in paths_of(str(each))]
        twice = [path for i, path in enumerate(paths) if path in paths[:i]]
        if twice:
            raise InputError("this file is given twice", where=str(twice[0]), remedy="Give it once.")
        return _joined([file_source(path) for path in paths])
    return _frame(given)


def paths_of(name: str) -> list[Path]:
    """The files that a name or a pattern stands for."""
    if name == "-" or not glob.has_magic(name) or Path(name).exists():
        return [Path(name)]
    found = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - the pattern may be absolute
    if not found:
        raise InputError("no file has such a name", where=name, remedy="Check the pattern and the directory.")
    return [Path(each) for each in found]


def _joined(sources: list[Source]) -> Source:
    """Several files, one after the other."""
    if len(sources) == 1:
        return sources[0]
    first = sources[0]
    for other in sources[1:]:
        if set(other.columns) != set(first.columns):
            odd = sorted(set(other.columns) ^ set(first.columns))[0]
            what = f"the column {shorten(odd)!r} is in only one of {first.name} and {other.name}"
            raise InputError(what, where=other.name, remedy="All files need the same columns.")
    name = f"{first.name} and {len(sources) - 1} more"
    return Source(name, first.columns, lambda *wanted: itertools.chain.from_iterable(s.read(*wanted) for s in sources))


def _frame(given: Any) -> Source:
    """Whatever speaks the Arrow C stream interface, or is a mapping of columns."""
    table = _table(given)
    return typed_source("the table", Path(), table.schema, lambda columns, _: iter(table.select(columns).to_batches()))


def _table(given: Any) -> pa.Table:
    if isinstance(given, Mapping):
        columns = {str(key): _one_by_one(value) for key, value in given.items() if _is_column(value)}
        sizes = {key: len(each) for key, each in columns.items()}
        if len(set(sizes.values())) > 1:
            shown = ", ".join(f"{shorten(key, 30)}: {size:,}" for key, size in [*sizes.items()][:20])
            what = "the columns have different lengths"
            raise InputError(what, where="the table", remedy=f"Give one value for each row. There are {shown}")
        return pa.table({key: _column(each) for key, each in columns.items()})
    if not hasattr(given, "__arrow_c_stream__"):
        raise InputError(
            f"{shorten(type(given).__name__)} is not a log",
            where="log",
            remedy="Give an ExperimentLog, a data frame, a mapping of columns, or the path of a file.",
        )
    try:
        return pa.table(given)
    except (pa.ArrowException, TypeError, ValueError) as error:
        if hasattr(given, "items"):  # a pandas frame: one of its columns holds objects of several types
            return pa.table([_column(each) for _, each in given.items()], [str(name) for name, _ in given.items()])
        what = f"cannot be read as a table ({shorten(str(error), 200)})"
        raise InputError(what, where="the table", remedy="Its columns need text, numbers or dates.") from None


def _is_column(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or np.ndim(value) == 1


def _one_by_one(value: Any) -> Any:
    """A column; numpy would make text of a NaN among text, and so do without it in a list."""
    return list(value) if isinstance(value, (list, tuple)) else np.asarray(value)


def _column(values: Any) -> pa.Array:
    """Values as a column; as text if they are of several types, so that the odd one can be shown."""
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        from pandas import isna

        cells = list(values)
        return pa.array([None if np.ndim(cell) == 0 and isna(cell) else str(cell) for cell in cells])
