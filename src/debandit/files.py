"""Output files are written whole or not at all."""

import json
import math
import os
import secrets
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from debandit.errors import InputError, quoted

_LONGEST_NAME = 255  # bytes, on nearly all file systems
_BEGINNINGS = {"--json": b"{", "--report": b"<", "--output": b"<"}  # of what is written with these options


def check_target(path: str | Path) -> Path:
    """Where to write, links followed; refused before any work is done for it if it cannot be a file."""
    remedy = "Name a file in a directory that can be written."
    try:
        target, why = Path(os.path.realpath(path)), ""
    except ValueError:  # it has a NUL, or half a letter
        raise InputError("no file can have this name", where=str(path), remedy=remedy) from None
    if not target.parent.is_dir():
        why = "there is no such directory"
    elif not os.access(target.parent, os.W_OK | os.X_OK):
        why = "nothing can be written to this directory"
    elif len(os.fsencode(target.name)) > _LONGEST_NAME:
        why = "its name is too long"
    elif target.exists() and not target.is_file():
        why = "this is a directory or a device"
    if why:
        raise InputError(f"cannot write the file: {why}", where=str(path), remedy=remedy)
    return target


def check_targets(targets: Mapping[str, str | Path | None], read: Iterable[str | Path] = ()) -> None:
    """Check what options name, before any work is done: no file may be written twice, nor any that is `read`."""
    taken = {_real(each): "this file is read, and the result would replace it" for each in read}
    for option, path in targets.items():
        if path is None:
            continue
        target = check_target(path)
        if target in taken:
            raise InputError(taken[target], where=option, remedy="Name another file.")
        if _is_of_others(target, _BEGINNINGS.get(option, b"")):
            what = f"{quoted(str(path))} exists and is something else, which would be lost"
            raise InputError(what, where=option, remedy="Name another file, or remove it first.")
        taken[target] = f"{option} names the same file"


def _real(path: str | Path) -> Path:
    """Where a file really is; where no file can have this name, reading it will say so."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        return Path(path)


def _is_of_others(target: Path, beginning: bytes) -> bool:
    """Whether there is a file that begins otherwise than what an option writes: a table, say."""
    try:
        with target.open("rb") as file:
            return not (file.read(1) or beginning).startswith(beginning)
    except OSError:
        return False


def json_text(document: dict[str, Any]) -> str:
    """The text of a JSON file."""
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def known(value: Any) -> Any:
    """The value as JSON can have it: numbers that are not finite become None, tuples lists."""
    if isinstance(value, dict):
        return {key: known(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [known(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write to a new file beside `path` and rename it, so that no reader ever sees half a file."""
    target = check_target(path)
    new = target.with_name(f".debandit-{secrets.token_hex(8)}.tmp")
    try:
        try:
            with open(new, "xb") as file:
                # half letters, as of a command line in another code than UTF-8, become escapes, which JSON can read
                file.write(content.encode(errors="backslashreplace") if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                os.chmod(new, stat.S_IMODE(target.stat().st_mode))
            os.replace(new, target)
        finally:
            new.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot write the file ({error.strerror})", where=str(path), remedy="Name a place that can be written."
        ) from None


def write_new(path: str | Path, content: str) -> None:
    """Write a new file, whole or not at all; never over one that exists."""
    if check_target(path).exists():
        raise InputError(
            "a file of this name exists, and would be overwritten", where=str(path), remedy="Choose another name."
        )
    write_whole(path, content)


def made_directory(path: str | Path) -> Path:
    """The directory, made if it does not exist."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the directory ({error.strerror})", where=str(path)) from None
    except ValueError:
        raise InputError("no directory can have this name", where=str(path)) from None
    return folder
