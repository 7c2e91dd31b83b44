"""On which line of a TOML file a key stands, which the standard library's parser does not say."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

Place = tuple[int | None, tuple[str, ...]]  # which [[cell]], counted from 0, and the names down to the key

_KEY = re.compile(r"\s*[\w\"'.-]+\s*(=|\.)")
_HEADER = re.compile(r"\[\[?\s*([A-Za-z_][\w.\- ]*?)\s*\]\]?\s*(#.*)?")


def key_lines(text: str) -> dict[Place, int]:
    """Of every key and header. A key stands on the first line without which the text up to it has not got it."""
    found: dict[Place, int] = {}
    cell = -1
    for first, block in _blocks(text.replace("\r\n", "\n").split("\n")):
        header = _HEADER.fullmatch(block[0].strip())
        name = header[1] if header else ""
        if name == "cell":
            cell += 1
        inside = cell if name == "cell" or name.startswith("cell.") else None
        start = 0
        for end in range(1, len(block) + 1):
            if end < len(block) and not _KEY.match(block[end]):
                continue  # only before a new key can a text be complete; a long list need not be tried line by line
            try:
                data = tomllib.loads("\n".join([*block[: 1 if start else 0], *block[start:end]]))
            except (tomllib.TOMLDecodeError, RecursionError, ValueError):
                continue
            for names in _paths(data):
                found.setdefault((inside, names[1:] if inside is not None else names), first + start)
            start = end
    return found


def _blocks(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The file cut before each header, with the number of each block's first line."""
    starts = [0, *(i for i, line in enumerate(lines) if i and _HEADER.fullmatch(line.strip()))]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if lines[start:end]:
            yield start + 1, lines[start:end]


def _paths(data: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Of every key, without the numbers of list entries."""
    if names:
        yield names
    for key, value in data.items() if isinstance(data, dict) else ():
        yield from _paths(value, (*names, key))
    for value in data if isinstance(data, list) else ():
        if isinstance(value, dict):
            yield from _paths(value, names)
