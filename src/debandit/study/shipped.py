"""The studies that come with debandit."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from debandit.errors import InputError
from debandit.files import write_new

PAPER = ("table1", "table2", "figure1", "figure2", "figure3", "figure4", "theorem1", "theorem2")
_EXAMPLE = "example"


def shipped_names() -> list[str]:
    """Their names."""
    names = (file.name.removesuffix(".toml") for file in _folder().iterdir() if file.name.endswith(".toml"))
    return sorted(name for name in names if name != _EXAMPLE)


def shipped_file(name: str) -> Traversable:
    """The TOML file of one of them."""
    if name not in shipped_names():
        remedy = f"There are {', '.join(shipped_names())}; or name a file that ends in .toml."
        raise InputError(f"there is no study {name!r}", remedy=remedy)
    return _folder() / f"{name}.toml"


def write_example(path: str | Path) -> None:
    """A commented study to start from."""
    if not str(path).endswith(".toml"):
        raise InputError("the name of a study must end in .toml", where=str(path))
    write_new(path, (_folder() / f"{_EXAMPLE}.toml").read_text(encoding="utf-8"))


def _folder() -> Traversable:
    return files("debandit") / "studies"
