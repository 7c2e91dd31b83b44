"""A study: cells to run, and what to say about them; and the studies that come with debandit."""

import dataclasses
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, ClassVar

from debandit.checks import checked_seed, checked_workers
from debandit.errors import InputError
from debandit.files import write_new
from debandit.study.cell import HORIZON, Cell
from debandit.study.rows import StudyRows, rows_of
from debandit.study.scheduling import Progress, run_cells

PAPER = ("table1", "table2", "figure1", "figure2", "figure3", "figure4", "theorem1", "theorem2")
_EXAMPLE = "example"


@dataclass(frozen=True)
class Study:
    """A study: many cells, in each of which experiments are simulated and every method is applied to all of them.

    Attributes
    ----------
    title, source : str
        What it is, and where it comes from.
    cells : tuple of Cell
        The cells.
    seed : int
        Same seed, same rows.
    paper_experiments : int
        How many experiments the paper's numbers are averages of.
    figure : str
        What its picture shows.
    x : str
        What a figure of methods is drawn over: "horizon", or the name of a variable in the grids.

    Examples
    --------
    >>> import debandit as db
    >>> study = db.Study.shipped("table1").with_settings(experiments=10, runs=10)
    >>> study.title, len(study.cells)
    ('Table 1: a two-armed bandit problem', 10)
    >>> found = study.run(progress="none")
    >>> found.to_frame().shape
    (340, 19)
    """

    found: ClassVar[type[StudyRows]] = StudyRows
    title: str
    cells: tuple[Cell, ...]
    seed: int = 0
    source: str = ""
    paper_experiments: int = 1000
    figure: str = "biases"
    x: str = HORIZON

    @classmethod
    def from_toml(cls, path: str | Path, before_running: Callable[[str], None] = lambda _: None) -> "Study":
        """Read a file like that of `debandit study new my.toml`.

        If it names Python files with rules, they are run, and `before_running` is told of each before.
        """
        from debandit.study.reading import read_study

        return read_study(Path(path), before_running)

    @classmethod
    def shipped(cls, name: str) -> "Study":
        """One of the studies that come with debandit (`debandit study list`)."""
        from debandit.study.reading import read_study

        return read_study(shipped_file(name))

    def with_settings(
        self, *, experiments: int | None = None, runs: int | None = None, seed: int | None = None
    ) -> "Study":
        """The same study with other numbers in every cell. Experiments asked for outright override `until_se`."""
        changes: dict[str, Any] = {}
        if experiments is not None:
            changes |= {"experiments": experiments, "until_se": None}
        if runs is not None:
            changes["runs"] = runs
        cells = tuple(dataclasses.replace(cell, **changes) for cell in self.cells)
        return dataclasses.replace(self, cells=cells, seed=self.seed if seed is None else checked_seed(seed))

    def run(
        self,
        directory: str | Path | None = None,
        *,
        threads: int | None = None,
        executor: Executor | None = None,
        progress: Progress = "bar",
    ) -> StudyRows:
        """The rows of all cells: the same bits whatever the threads or the executor, and however often they stopped.

        In `directory` finished work is kept, and found again: after an interruption only the rest is computed, after
        a change of settings, seed or version only the cells that it concerns.
        """
        checked_workers(threads, executor)
        runs = run_cells(
            self.cells,
            self.seed,
            None if directory is None else Path(directory),
            executor=executor,
            threads=threads,
            progress=progress,
            title=self.title,
        )
        done = ((cell, run.total) for cell, run in zip(self.cells, runs, strict=True))
        return self.found(self, tuple(row for cell, total in done if total for row in rows_of(self, cell, total)))


def shipped_names() -> list[str]:
    """The names of the studies that come with debandit."""
    names = (file.name.removesuffix(".toml") for file in _folder().iterdir() if file.name.endswith(".toml"))
    return sorted(name for name in names if name != _EXAMPLE)


def shipped_file(name: str) -> Traversable:
    """The TOML file of a study that comes with debandit."""
    if name not in shipped_names():
        remedy = f"There are {', '.join(shipped_names())}; or give a file that ends in .toml."
        raise InputError(f"there is no study {name!r}", remedy=remedy)
    return _folder() / f"{name}.toml"


def write_example(path: str | Path) -> None:
    """Write a commented study to start from."""
    if not str(path).endswith(".toml"):
        raise InputError("the name of a study must end in .toml", where=str(path))
    write_new(path, (_folder() / f"{_EXAMPLE}.toml").read_text(encoding="utf-8"))


def _folder() -> Traversable:
    return files("debandit") / "studies"
