"""Output files are written whole or not at all."""

import json
import math
import os
import secrets
import stat
from pathlib import Path
from typing import Any

from debandit.errors import InputError


def check_target(path: str | Path) -> Path:
    """Where to write, links followed; refused before any work is done for it if it cannot be a file."""
    target = Path(os.path.realpath(path))
    remedy = "Name a file in a directory that can be written."
    if not target.parent.is_dir():
        raise InputError("cannot write the file: there is no such directory", where=str(path), remedy=remedy)
    if target.exists() and not target.is_file():
        raise InputError("cannot write the file: this is a directory or a device", where=str(path), remedy=remedy)
    return target


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
    new = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        try:
            with open(new, "xb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
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
            "a file of this name exists, and it would be lost", where=str(path), remedy="Choose another name."
        )
    write_whole(path, content)


def made_directory(path: str | Path) -> Path:
    """The directory, made if it does not exist."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the directory ({error.strerror})", where=str(path)) from None
    return folder
