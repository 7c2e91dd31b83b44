"""Standard output and standard error that never stop the work: no result is lost because nobody reads the terminal."""

import errno
import io
import os
import sys
import time
from typing import Any

import click


class Forgiving(io.RawIOBase):
    """A stream around that of the system. It remembers why that could not be written to, and then drops everything."""

    failure: OSError | None = None

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, data: Any) -> int:
        """Write what the system takes; everything, if it takes nothing any more."""
        while self.failure is None:
            try:
                written: int | None = self._stream.write(data)
            except OSError as error:
                self.failure = error
                break
            if written is not None:
                return written
            time.sleep(0.01)  # a full pipe that does not wait
        return memoryview(data).nbytes

    def writable(self) -> bool:
        """It always is."""
        return True

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return bool(self._stream.isatty())

    def fileno(self) -> int:
        """The number of the system's stream."""
        return int(self._stream.fileno())


def forgive() -> None:
    """Make the streams of this process forgiving. Where they were closed, nothing is written."""
    for place in range(3):  # a file opened later must not be taken for a closed stream
        try:
            os.fstat(place)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    sys.stdout, sys.stderr = _forgiving(sys.stdout, 1), _forgiving(sys.stderr, 2)


def _forgiving(stream: Any, place: int) -> io.TextIOWrapper:
    if stream is None:  # it was closed
        return io.TextIOWrapper(io.BufferedWriter(io.FileIO(place, "w", closefd=False)), encoding="utf-8")
    return io.TextIOWrapper(
        io.BufferedWriter(Forgiving(getattr(stream.buffer, "raw", stream.buffer))),
        encoding=stream.encoding,
        errors="replace",  # a label must not fail to print because a terminal lacks a letter
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def unwritten() -> int:
    """The exit code of output that could not be written: 0 if there is none, or if its reader did not want more."""
    sys.stdout.flush()
    raw: Any = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    failure = getattr(raw, "failure", None)
    if failure is None or failure.errno == errno.EPIPE:  # as in `debandit ... | head`
        return 0
    click.echo(f"error: cannot write the output ({failure.strerror})", err=True)
    return 2
