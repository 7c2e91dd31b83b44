"""From files to `ExperimentLog`."""

from debandit.readers.csv import read_log

__all__ = ["read_log"]
