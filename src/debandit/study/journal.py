"""Results on disk, kept as they are finished.

Every cell has a file, named by everything that decides its bits, and every chunk a line in it, with a checksum of the
line and of that name. Lines are only ever appended. A line that was cut off by a kill or a full disk, damaged later, or
comes from another cell's file, fails its checksum and counts as not there; so nothing needs to be locked, repaired or
trusted.
"""

import contextlib
import hashlib
import json
import os
from pathlib import Path

from debandit.errors import InputError
from debandit.study.summary import Summary


class Journal:
    """The finished chunks of one cell, by (index, number of experiments)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._places = self._scan()

    def _scan(self) -> dict[tuple[int, int], int]:
        """Where each finished chunk's line begins."""
        places: dict[tuple[int, int], int] = {}
        if self.path.exists():
            with self.path.open("rb") as file:
                place = 0
                for line in file:
                    if (found := self._checked(line)) is not None:
                        places.setdefault(found[0], place)
                    place += len(line)
        return places

    def __contains__(self, chunk: tuple[int, int]) -> bool:
        return chunk in self._places

    def read(self, chunk: tuple[int, int]) -> Summary:
        """A finished chunk."""
        for _ in range(2):  # twice, for another process may have written to the file as well
            with self.path.open("rb") as file:
                file.seek(self._places.get(chunk, 0))
                found = self._checked(file.readline())
            if found is not None and found[0] == chunk:
                try:
                    return Summary.from_json(json.loads(found[1]))
                except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
                    raise self.not_ours() from None
            self._places = self._scan()
        raise InputError("the file changed while it was used", where=str(self.path), remedy="Run the study again.")

    def not_ours(self) -> InputError:
        """The complaint about a line with a right checksum that says something else than results."""
        what = "there are lines that debandit has not written"
        return InputError(what, where=str(self.path), remedy="Remove the file; what was in it is computed again.")

    def add(self, chunk: tuple[int, int], summary: Summary) -> None:
        """Keep a chunk, on the disk before this returns."""
        content = f"{chunk[0]} {chunk[1]} {json.dumps(summary.to_json(), separators=(',', ':'))}".encode()
        line = self._checksum(content) + b" " + content + b"\n"
        new = not self.path.exists()
        try:
            with self.path.open("a+b") as file:
                place = file.seek(0, os.SEEK_END)
                if place:  # what was cut off must not run into this line
                    file.seek(place - 1)
                    if file.read(1) != b"\n":
                        line, place = b"\n" + line, place + 1
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
            if new:
                _sync_directory(self.path.parent)
        except OSError as error:
            raise InputError(
                f"cannot keep the results ({error.strerror})",
                where=str(self.path),
                remedy="Make room or choose another directory with -o; what is finished is kept.",
            ) from None
        self._places[chunk] = place

    def _checksum(self, content: bytes) -> bytes:
        return hashlib.sha256(f"{self.path.stem} ".encode() + content).hexdigest()[:32].encode()

    def _checked(self, line: bytes) -> tuple[tuple[int, int], bytes] | None:
        """((index, experiments), the summary's text), or None if the line is not whole or not this cell's."""
        checksum, _, content = line.rstrip(b"\n").partition(b" ")
        if not line.endswith(b"\n") or self._checksum(content) != checksum:
            return None
        try:
            index, experiments, text = content.split(b" ", 2)
            return (int(index), int(experiments)), text
        except ValueError:  # somebody else's line
            return None


def _sync_directory(folder: Path) -> None:
    """The name of a new file, too, must survive a power cut. (Not all systems can open a directory.)"""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
