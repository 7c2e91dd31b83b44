"""Output files are written whole or not at all."""

import os
import tempfile
from pathlib import Path

from debandit.errors import InputError


def write_whole(path: str | Path, text: str) -> None:
    """Write to a temporary file beside `path` and rename it, so that no reader ever sees half a file."""
    target = Path(path)
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile(
            "w", dir=target.parent, prefix=f".{target.name}.", delete=False, encoding="utf-8"
        ) as file:
            temporary = file.name
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except OSError as error:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
        raise InputError(
            f"cannot write the file ({error.strerror})", where=str(path), remedy="Name a place that can be written."
        ) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
