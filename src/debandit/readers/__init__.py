"""From files and data frames to `ExperimentLog`. What reads them is imported when there is something to read."""

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from debandit.errors import LogWarning
from debandit.log import ExperimentLog


def read_log(given: Any, **columns: Any) -> ExperimentLog:
    """Read a log from a file, several files, a data frame or a database.

    There is one row per round, or there are counts. What is not named is guessed from the names that people use, and
    what was guessed is in `ExperimentLog.notes`. See docs/logs.md.

    Parameters
    ----------
    given : path, list of paths, data frame or mapping of columns
        CSV, TSV, Parquet, Arrow or JSON lines, also compressed; or the address of a database.
    arm, reward : str, optional
        The columns of arms and rewards.
    time : str, optional
        The column to sort by (numbers or dates; equal times keep the order of the rows). Without it rows are in the
        order of time already; a column that looks like a time must agree, unless this is "none".
    arms : list of str, optional
        All arms in the rule's order, which decides ties and initial pulls; some may never appear. By default the order
        is that of first appearance.
    propensity : str, optional
        The column with the probability that the arm of the round had of being chosen.
    batch : str, optional
        The column with the number or name of the batch: the rule heard of a batch's rewards when it was over.
    batch_by : {"hour", "day", "week"}, optional
        Cut the time into batches instead.
    batched : bool, default False
        The rule is known to be batched, so that a column of batches is looked for.
    missing : {"refuse", "drop"}
        What to do with rows that lack a value.
    pulls, successes, mean, sd, sum, squares : str, optional
        The columns of a table of counts, which has one row per arm, or per batch and arm: the number of pulls, and the
        number of successes, or the mean and the standard deviation (divisor n - 1), or the sum and the sum of squares.
        Without `batch` the rows of an arm are added up.
    available : {"auto", "all"} or array of bool
        In which batches of a table of counts there were which arms; see `ExperimentLog.from_batches`.
    metrics : list of str, optional
        Columns with further outcomes. In counts they are sums, and the columns NAME_squares and NAME_products, if there
        are such, have the sums of squares and of products with the reward.
    query : str, optional
        What to ask a database, in SQL. `given` is then its address: sqlite:///file.db, duckdb:///file.duckdb or
        postgresql://user@host/database. It is asked once, and cannot be written to.

    Returns
    -------
    ExperimentLog
        The log. What is doubtful about it is a `LogWarning`.

    Examples
    --------
    One row per round:

    >>> import debandit as db
    >>> trial = {"drug": ["A", "B", "B", "A"], "response": [1.2, 0.7, 0.4, 1.0]}
    >>> log = db.read_log(trial, arm="drug", reward="response")
    >>> log
    ExperimentLog(4 rounds; A: 2, B: 2)
    >>> log.means
    array([1.1 , 0.55])

    Counts per day and variant:

    >>> table = {
    ...     "day": ["Mon", "Mon", "Tue", "Tue"],
    ...     "variant": ["long", "short", "long", "short"],
    ...     "users": [500, 500, 200, 800],
    ...     "conversions": [20, 25, 8, 48],
    ... }
    >>> log = db.read_log(table, batched=True)
    >>> log.batch_sizes, log.means
    ((1000, 1000), array([0.04      , 0.05615385]))
    """
    from debandit.readers.reading import read

    found = read(given, **columns)
    for doubt in found.doubts:
        warnings.warn(doubt, LogWarning, stacklevel=3)
    return found.log


def are_several(given: Any) -> bool:
    """Whether this is a list of logs rather than one; a data frame can be iterated over, too."""
    one = isinstance(given, (ExperimentLog, str, Path, Mapping)) or hasattr(given, "__arrow_c_stream__")
    return not one and isinstance(given, Iterable)


def logs_of(given: Any, **how: Any) -> list[ExperimentLog]:
    """The logs that are given, or in the files and data frames that are, read as the arguments say."""
    every = list(given) if are_several(given) else [given]
    return [each if isinstance(each, ExperimentLog) else read_log(each, **how) for each in every]
