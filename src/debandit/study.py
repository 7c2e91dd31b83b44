"""Studies as data: a TOML file of settings in, tidy rows out, with a paper's printed values beside them."""

import functools
import math
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from debandit.debiasing import estimated_biases
from debandit.engine.data import Floats
from debandit.errors import InputError, shorten
from debandit.files import write_whole
from debandit.policies import Policy, as_policy
from debandit.simulation import MOST_RUNS, checked_count, checked_seed, checked_threads, simulate
from debandit.tables import Column, Row, markdown, render
from debandit.version import __version__
from debandit.worlds import Bootstrap, Unseen, World, as_bootstrap, as_world

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    Column("setting", "setting", "text"),
    Column("method", "method", "text"),
    Column("quantity", "quantity", "text"),
    Column("arm", "arm", "count"),
    Column("value", "value", "number"),
    Column("se", "± s.e.", "number"),
    Column("paper", "paper", "number"),
    Column("z", "z", "score"),
    Column("remark", "", "mark"),
)


@dataclass(frozen=True)
class Cell:
    """One rule in one world, with what a paper printed: {quantity: values} or {method: {quantity: values}}."""

    label: str
    policy: Policy
    world: World
    unseen: tuple[float, float] | None = None
    remark: str = ""
    paper: dict[str, Any] = field(default_factory=dict)

    def printed(self, method: str, quantity: str) -> list[float] | None:
        """The paper's values, one per arm."""
        table = self.paper if method == "real" else self.paper.get(method, {})
        values: list[float] | None = table.get(quantity)
        return values


@dataclass(frozen=True)
class Study:
    """Many cells: simulate experiments in each, debias every one of them, average."""

    title: str
    cells: tuple[Cell, ...]
    horizon: int
    experiments: int = 1000
    runs: int = 1000
    seed: int = 0
    bootstraps: tuple[Bootstrap, ...] = ()
    source: str = ""
    paper_experiments: int = 1000

    @classmethod
    def from_toml(cls, path: str | Path) -> "Study":
        """Read a file like the shipped ones (`debandit study list` names them)."""
        return _read(Path(path))

    @classmethod
    def shipped(cls, name: str) -> "Study":
        """One of the studies that come with debandit."""
        return _read(files("debandit") / "studies" / f"{name}.toml")

    def run(self, threads: int | None = None) -> "StudyRows":
        """All rows. The same bits whatever the threads."""
        checked_threads(threads)
        rows: list[Row] = []
        for index, cell in enumerate(
            tqdm(self.cells, desc=shorten(self.title, 30), unit=" cells", delay=1, disable=None)
        ):
            rows.extend(self._cell_rows(cell, index, threads))
        return StudyRows(self, tuple(rows))

    def _cell_rows(self, cell: Cell, index: int, threads: int | None) -> Iterator[Row]:
        seed = _cell_seed(self.seed, index)
        runs = simulate(
            cell.policy, cell.world, horizon=self.horizon, runs=self.experiments, seed=seed, paths=True, threads=threads
        )
        naive, truth = runs.means, cell.world.means
        yield from self._rows(cell, "real", "bias", naive - truth)
        yield from self._rows(cell, "real", "mean", naive)
        yield from self._rows(cell, "real", "mse", (naive - truth) ** 2)
        logs = [runs.log(i) for i in range(self.experiments)]
        for bootstrap in self.bootstraps:
            bias = estimated_biases(
                logs, cell.policy, world=bootstrap, runs=self.runs, seed=seed, unseen=cell.unseen, threads=threads
            )
            yield from self._rows(cell, str(bootstrap), "bias", bias)
            yield from self._rows(cell, str(bootstrap), "corrected", naive - bias)
            yield from self._rows(cell, str(bootstrap), "mse", (naive - bias - truth) ** 2)

    def _rows(self, cell: Cell, method: str, quantity: str, values: Floats) -> Iterator[Row]:
        """One row per arm: the mean over the experiments that pulled it."""
        printed = cell.printed(method, quantity)
        for arm in range(cell.world.arm_count):
            known = values[np.isfinite(values[:, arm]), arm]
            n, sd = len(known), float(known.std(ddof=1)) if len(known) > 1 else math.nan
            value, se = float(known.mean()) if n else math.nan, sd / math.sqrt(n) if n else math.nan
            paper = None if printed is None else float(printed[arm])
            noise = math.hypot(se, sd / math.sqrt(self.paper_experiments))
            yield {
                "setting": cell.label,
                "rule": str(cell.policy),
                "world": cell.world.name,
                "method": method,
                "arm": arm + 1,
                "quantity": quantity,
                "value": value,
                "se": se,
                "n": n,
                "paper": paper,
                "z": None if paper is None or not noise > 0 else (paper - value) / noise,
                "remark": cell.remark,
                "seed": self.seed,
                "version": __version__,
            }


@dataclass(frozen=True)
class StudyRows:
    """What a study found."""

    study: Study
    rows: tuple[Row, ...]

    def to_frame(self) -> "pd.DataFrame":
        """The rows as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(list(self.rows))

    def __str__(self) -> str:
        return "\n\n".join([self._heading(), render(self.rows, COLUMNS, 4), *self._remarks()])

    def to_markdown(self) -> str:
        """The table and its remarks."""
        table = markdown(self.rows, COLUMNS, 4)
        return "\n\n".join([f"# {self.study.title}", self._heading(), table, *self._remarks()]) + "\n"

    def save(self, directory: str | Path) -> list[Path]:
        """Write table.md, rows.csv and rows.parquet, each whole or not at all."""
        folder = Path(directory)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the directory ({error.strerror})", where=str(directory)) from None
        frame = self.to_frame()
        contents: dict[str, str | bytes] = {
            "table.md": self.to_markdown(),
            "rows.csv": frame.to_csv(index=False, lineterminator="\n"),
            "rows.parquet": frame.to_parquet(index=False),
        }
        for name, content in contents.items():
            write_whole(folder / name, content)
        return [folder / name for name in contents]

    def _heading(self) -> str:
        study = self.study
        source = f"{study.source}. " if study.source else ""
        return (
            f"{source}{study.experiments:,} experiments of {study.horizon:,} rounds, each debiased with {study.runs:,} "
            f"runs, seed {study.seed}. z = (paper - value) / standard error of the difference, "
            f"where the paper's value counts as an average over {study.paper_experiments:,} experiments."
        )

    def _remarks(self) -> list[str]:
        """What the marked rows are about."""
        remarks: dict[str, list[str]] = {}
        for cell in self.study.cells:
            if cell.remark:
                remarks.setdefault(cell.remark, []).append(cell.label)
        return [f"(*) {'; '.join(labels)}: {remark}" for remark, labels in remarks.items()]


def shipped_names() -> list[str]:
    """The studies that come with debandit."""
    folder = files("debandit") / "studies"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def _cell_seed(seed: int, index: int) -> int:
    """Cells of one study share no random stream."""
    return int(np.random.SeedSequence([seed, index]).generate_state(1, np.uint64)[0])


def _read(path: Path | Traversable) -> Study:
    where = str(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the file ({error.strerror})", where=where) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"not a TOML file ({error})", where=where) from None
    cells = data.pop("cell", None)
    if not isinstance(cells, list) or not cells:
        raise InputError("no [[cell]] with a policy and a world", where=where)
    known = ("title", "source", "paper_experiments", "horizon", "experiments", "runs", "seed", "bootstraps")
    _only(data, known, ("horizon",), where)
    count = functools.partial(checked_count, most=MOST_RUNS)
    return Study(
        title=str(data.get("title", getattr(path, "stem", path.name))),
        source=str(data.get("source", "")),
        cells=tuple(_cell(cell, f"{where}, cell {i + 1}") for i, cell in enumerate(cells)),
        horizon=count("horizon", data["horizon"]),
        experiments=count("experiments", data.get("experiments", 1000), least=2),
        runs=count("runs", data.get("runs", 1000), least=2),
        seed=checked_seed(data.get("seed", 0)),
        bootstraps=tuple(as_bootstrap(text, f"{where}, bootstraps") for text in _texts(data, "bootstraps", where)),
        paper_experiments=count("paper_experiments", data.get("paper_experiments", 1000)),
    )


def _cell(data: Any, where: str) -> Cell:
    _only(data, ("label", "policy", "world", "unseen", "remark", "paper"), ("policy", "world"), where)
    policy, world = as_policy(data["policy"], f"{where}, policy"), as_world(data["world"], f"{where}, world")
    if world.means.ndim != 1:
        raise InputError("one world for each cell, please, not a stack of them", where=f"{where}, world")
    unseen = Unseen.of(data["unseen"]) if "unseen" in data else None
    return Cell(
        label=str(data.get("label", f"{policy} in {world.name}")),
        policy=policy,
        world=world,
        unseen=None if unseen is None else (unseen.mean, unseen.sd),
        remark=str(data.get("remark", "")),
        paper=_printed(data.get("paper", {}), world.arm_count, f"{where}, paper"),
    )


def _printed(table: Any, arms: int, where: str) -> dict[str, Any]:
    """Tables of tables of lists with one number for each arm."""
    if not isinstance(table, dict):
        raise InputError("printed values are written as bias = [...] or gaussian.bias = [...]", where=where)
    for key, values in table.items():
        if isinstance(values, dict):
            _printed(values, arms, f"{where}.{key}")
        elif not (isinstance(values, list) and len(values) == arms and all(type(v) in (int, float) for v in values)):
            raise InputError(f"needs one number for each of the {arms} arms", where=f"{where}.{key}")
    return table


def _texts(data: dict[str, Any], key: str, where: str) -> list[str]:
    texts = data.get(key, ["gaussian"])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError('must be a list of names, such as ["gaussian", "efron"]', where=f"{where}, {key}")
    return texts


def _only(data: Any, known: Sequence[str], needed: Sequence[str], where: str) -> None:
    if not isinstance(data, dict):
        raise InputError("not a table of settings", where=where, remedy=f"The keys are: {', '.join(known)}")
    strange, missing = [key for key in data if key not in known], [key for key in needed if key not in data]
    if strange or missing:
        what = f"unknown key {shorten(strange[0])!r}" if strange else f"no {missing[0]}"
        raise InputError(what, where=where, remedy=f"The keys are: {', '.join(known)}")
