"""From files and data frames to `ExperimentLog`. What reads them is imported when there is something to read."""

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from debandit.errors import LogWarning
from debandit.log import ExperimentLog


def read_log(given: Any, **columns: Any) -> ExperimentLog:
    """Read a log from a file, several files or a data frame; see `reading.read`, which also says what was guessed."""
    from debandit.readers.reading import read

    log, doubts = read(given, **columns)
    for doubt in doubts:
        warnings.warn(doubt, LogWarning, stacklevel=3)
    return log


def are_several(given: Any) -> bool:
    """Whether this is a list of logs rather than one; a data frame can be iterated over, too."""
    one = isinstance(given, (ExperimentLog, str, Path, Mapping)) or hasattr(given, "__arrow_c_stream__")
    return not one and isinstance(given, Iterable)


def logs_of(given: Any, **how: Any) -> list[ExperimentLog]:
    """The logs that are given, or in the files and data frames that are, read as the arguments say."""
    every = list(given) if are_several(given) else [given]
    return [each if isinstance(each, ExperimentLog) else read_log(each, **how) for each in every]
