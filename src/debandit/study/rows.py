"""What a study found: tidy rows, and the tables, files and pictures made from them."""

import csv
import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from debandit.errors import InputError, shorten
from debandit.files import made_directory, write_whole
from debandit.plots import ENDINGS
from debandit.study.cell import Cell
from debandit.study.methods import WITHOUT_RUNS, binomial_se, limits
from debandit.study.placed import PLACES
from debandit.study.rivals import truths_of
from debandit.study.summary import Series, Summary
from debandit.tables import Column, Part, Printed, Row, Table, markdown, render
from debandit.version import __version__

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from debandit.study.plan import Study

# every row has these, and nothing else: the type is that of the Parquet column
FIELDS = {
    "setting": "string",
    "rule": "string",
    "world": "string",
    "horizon": "int64",
    "method": "string",
    "arm": "int64",
    "truth": "double",
    "quantity": "string",
    "at": "double",  # where a bin begins; how often explore-then-commit explores
    "value": "double",
    "se": "double",
    "n": "int64",  # experiments behind the value
    "experiments": "int64",  # experiments that were simulated, also those that never pulled the arm
    "runs": "int64",  # bootstrap runs for each of them
    "paper": "double",
    "z": "double",  # (paper - value) / standard error of the difference
    "remark": "string",
    "seed": "uint64",
    "version": "string",
}
COLUMNS = (
    Column("setting", "setting", "text"),
    Column("horizon", "rounds", "count"),
    Column("method", "method", "text"),
    Column("quantity", "quantity", "text"),
    Column("arm", "arm", "count"),
    Column("value", "value", "number"),
    Column("se", "± s.e.", "number"),
    Column("paper", "paper", "number"),
    Column("z", "z", "score"),
    Column("remark", "", "mark"),
)
TABLE, ROWS, PARQUET, FIGURE = "table.md", "rows.csv", "rows.parquet", "figure"
WRITTEN = (TABLE, ROWS, PARQUET, *(f"{FIGURE}.{ending}" for ending in ENDINGS))
_HEADER = "setting,rule,world,horizon,method,"  # how the rows of every version begin
SHARES = {"coverage", "type_1", "power"}
QUANTILES = {"ratio_q05": 0.05, "ratio_q50": 0.5, "ratio_q95": 0.95}


@dataclass(frozen=True)
class StudyRows(Printed):
    """The rows of a study, in the order of its cells.

    Attributes
    ----------
    study : Study
        What was run.
    rows : tuple of dict
        What came out; docs/studies.md explains the columns.
    """

    study: "Study"
    rows: tuple[Row, ...]

    @classmethod
    def load(cls, study: "Study", directory: str | Path) -> "StudyRows":
        """Read what `save` wrote there."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = Path(directory) / PARQUET
        try:
            rows = pq.read_table(path).to_pylist()
        except FileNotFoundError:
            remedy = "Run the study first, with the same -o; it draws as well."
            raise InputError("there are no rows to draw", where=str(path), remedy=remedy) from None
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"cannot read the rows ({error})", where=str(path)) from None
        if not rows or set(rows[0]) != set(FIELDS):
            remedy = "Were they written by another version? Run the study again."
            raise InputError("these are not the rows of a study", where=str(path), remedy=remedy)
        return cls(study, tuple(rows))

    def to_frame(self) -> "pd.DataFrame":
        """The rows as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=list(FIELDS))

    def plot(self, kind: str | None = None) -> "alt.VConcatChart":
        """An Altair chart: histograms, squared errors, ratios, biases or methods; without `kind` the study's own."""
        from debandit.plots import draw

        kind = kind or self.study.figure
        rows = tuple(self._over_grid()) if kind == "methods" else self.rows
        return draw(rows, kind, self.study.title, self.what_was_done())

    def _over_grid(self) -> Iterator[Row]:
        """The rows with their place on the horizontal axis, and the curve that they belong to."""
        cells = {(cell.label, cell.horizon): cell for cell in self.study.cells}
        for row in self.rows:
            cell = cells.get((row["setting"], row["horizon"]))
            if cell is None:
                remedy = "The file of the study has changed since then. Run the study again."
                raise InputError(
                    "there are rows of a setting that the study does not have", where=row["setting"], remedy=remedy
                )
            x = cell.point.get(self.study.x, cell.horizon)
            yield {**row, "x": x, "name_of_x": self.study.x, "curve": cell.curve or cell.label}

    def __str__(self) -> str:
        return "\n\n".join([self._heading(), render(*self._shown(), 4), *self._remarks()])

    def to_markdown(self) -> str:
        """The table and its remarks."""
        table = markdown(*self._shown(), 4)
        return "\n\n".join([f"# {self.study.title}", self._heading(), table, *self._remarks()]) + "\n"

    def save(self, directory: str | Path) -> list[Path]:
        """Write table.md, rows.csv and rows.parquet, each whole or not at all."""
        check_folder(directory)
        folder = made_directory(directory)
        contents: dict[str, str | bytes] = {
            TABLE: self.to_markdown(),
            ROWS: csv_of(self.rows),
            PARQUET: parquet_of(self.rows),
        }
        for name, content in contents.items():
            write_whole(folder / name, content)
        return [folder / name for name in contents]

    def draw(self, directory: str | Path) -> list[Path]:
        """Write figure.svg, figure.png and figure.pdf."""
        from debandit.plots import save

        check_links(directory)
        return save(self.plot(), Path(directory) / FIGURE)

    def parts(self) -> list[Part]:
        """What a notebook shows of it."""
        return [Part("done", self.what_was_done()), Part("rows", Table(*self._shown(), 4))]

    def _shown(self) -> tuple[list[Row], list[Column]]:
        """Everything but histograms; columns only where there is something to show."""
        rows = [row for row in self.rows if row["quantity"] != "share"]
        printed = any(row["paper"] is not None for row in rows)
        several = len({row["horizon"] for row in rows}) > 1
        left_out = {*(() if printed else ("paper", "z")), *(() if several else ("horizon",))}
        return rows, [column for column in COLUMNS if column.key not in left_out]

    def what_was_done(self) -> str:
        """How many experiments of how many rounds: from the rows, for they may be older than the study's file."""
        experiments, rounds, runs, seeds = (
            range_of(row[name] for row in self.rows if row[name] is not None)
            for name in ("experiments", "horizon", "runs", "seed")
        )
        source = f"{self.study.source}. " if self.study.source else ""
        debiased = f", each debiased with {runs} runs" if runs else ""
        stop = any("stop_when(" in row["rule"] for row in self.rows)  # before they have all their rounds
        of = "of at most" if stop else "of"
        return f"{source}{experiments} experiments {of} {rounds} rounds{debiased}, seed {seeds}."

    def _heading(self) -> str:
        if all(row["paper"] is None for row in self.rows):
            return self.what_was_done()
        return (
            f"{self.what_was_done()} z = (paper - value) / standard error of the difference, where the paper's value "
            f"counts as an average over {self.study.paper_experiments:,} experiments."
        )

    def _remarks(self) -> list[str]:
        """What the marked rows are about."""
        remarks: dict[str, list[str]] = {}
        for cell in self.study.cells:
            if cell.remark:
                remarks.setdefault(cell.remark, []).append(cell.label)
        return [f"(*) {'; '.join(dict.fromkeys(labels))}: {remark}" for remark, labels in remarks.items()]


def check_folder(directory: str | Path) -> None:
    """Refuse a directory in which files of other people have the names of a study's, before any work is done."""
    check_links(directory)
    folder = Path(directory)
    taken = [name for name in WRITTEN if (folder / name).exists()]
    if not taken:
        return
    try:
        with (folder / ROWS).open(encoding="utf-8", newline="") as file:
            ours = file.read(len(_HEADER)) == _HEADER
    except FileNotFoundError:  # it may have been stopped before it was written
        ours = any(folder.glob("cells/*.jsonl"))
    except (OSError, ValueError):
        ours = False
    if not ours:
        what = f"there is a file {ROWS if ROWS in taken else taken[0]} of something else, and it would be lost"
        raise InputError(what, where=str(directory), remedy="Choose another directory with -o.")


def check_links(directory: str | Path) -> None:
    """Refuse links in place of what a study writes, which would lead out of its directory."""
    for name in WRITTEN:
        if (Path(directory) / name).is_symlink():
            remedy = "Remove the link, or choose another directory with -o."
            raise InputError(
                "this is a link, and what it leads to would be lost", where=f"{directory}/{name}", remedy=remedy
            )


def csv_of(rows: Iterable[Row]) -> str:
    """The rows as a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(FIELDS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def parquet_of(rows: Iterable[Row]) -> bytes:
    """The rows as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in FIELDS.items()])
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), sink)
    return sink.getvalue()


def rows_of(study: "Study", cell: Cell, total: Summary) -> Iterator[dict[str, Any]]:
    """A cell's rows: method by method, quantity by quantity, arm by arm."""
    common: dict[str, Any] = dict.fromkeys(FIELDS) | {
        "setting": cell.label,
        "rule": str(cell.policy),
        "world": shorten(str(cell.world), 1000),
        "horizon": cell.horizon,
        "experiments": total.experiments,
        "remark": cell.remark,
        "seed": study.seed,
        "version": __version__,
    }
    for method in cell.methods:
        for quantity, arm, values in _quantities(cell, method, total):
            row = common | {"method": method, "arm": arm + 1, "quantity": quantity} | values
            row["truth"] = float(truths_of(method, cell)[arm])
            row["runs"] = None if method in WITHOUT_RUNS else cell.runs
            printed = cell.paper.get(method, {}).get(quantity)
            if printed is not None:
                sd = values["se"] * math.sqrt(values["n"])
                noise = math.hypot(values["se"], sd / math.sqrt(study.paper_experiments))
                row["paper"] = float(printed[arm])
                row["z"] = (row["paper"] - row["value"]) / noise if noise > 0 else None
            yield row


def _quantities(cell: Cell, method: str, total: Summary) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """(quantity, arm, {value, se, n and perhaps at})."""
    series, arms = total.series[method], range(cell.world.arm_count)
    for k in arms if "covered" in series else ():
        covered, width = series["covered"][k], series["limits_width"][k]
        if covered.n:
            yield "coverage", k, _mean(covered) | {"se": binomial_se(covered.mean, covered.n)}
            yield "width", k, _mean(width)
    if "error" in series:
        for k in arms:
            yield "bias", k, _mean(series["error"][k])
        for k in arms:
            yield "mean", k, _mean(series["error"][k], float(truths_of(method, cell)[k]))
        for k in arms if "estimated_bias" in series else ():
            yield "estimated_bias", k, _mean(series["estimated_bias"][k])
        for k in arms:
            yield "mse", k, _mean(series["squared_error"][k])
        for k in arms:
            yield "rmse", k, _root(series["squared_error"][k])
        for k in arms:
            yield "median_squared_error", k, _quantile(series["squared_error"][k], 0.5)
    for place in PLACES if "error@leader" in series else ():
        for quantity, errors in (("bias", "error"), ("mse", "squared_error")):
            for k, arm in enumerate(series[f"{errors}@{place}"]):
                if arm.n:
                    yield f"{quantity}_of_{place}", k, _mean(arm)
    for k in arms if "ratio" in series else ():
        ratio, at = series["ratio"][k], {"at": float(cell.policy.opening)}
        if ratio.n:
            yield "ratio", k, _mean(ratio) | at
            for name, share in QUANTILES.items():
                yield name, k, _quantile(ratio, share) | at
            for name, limit in limits(method, cell).items():
                yield name, k, {"value": limit, "se": 0.0, "n": ratio.n} | at
    if SHARES & series.keys():
        yield from _of_interval(series)
    if method in total.histograms and cell.histogram is not None:
        low, high, bins = cell.histogram
        for k in arms:
            n = series["error"][k].n
            for i, count in enumerate(total.histograms[method][k].tolist() if n else ()):
                share, begins = count / n, low + (high - low) * i / bins
                yield "share", k, {"at": begins, "value": share, "se": math.sqrt(share * (1 - share) / n), "n": n}


def _of_interval(series: dict[str, list[Series]]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Coverage, perhaps with the number of pulls that it begins `at`, and widths."""
    for name, arms in series.items():
        quantity, _, at = name.partition("@")
        for k, arm in enumerate(arms):
            if arm.n:
                se = binomial_se(arm.mean, arm.n) if quantity in SHARES else arm.se
                yield quantity, k, {"at": float(at) if at else None, "value": arm.mean, "se": se, "n": arm.n}


def _mean(series: Series, shift: float = 0.0) -> dict[str, Any]:
    return {"value": shift + series.mean, "se": series.se, "n": series.n}


def _root(series: Series) -> dict[str, Any]:
    """The root of the mean, whose standard error is half of that of the mean, divided by the root."""
    root = math.sqrt(series.mean)
    return {"value": root, "se": series.se / (2 * root) if root > 0 else 0.0, "n": series.n}


def _quantile(series: Series, share: float) -> dict[str, Any]:
    return {"value": series.quantile(share), "se": series.quantile_se(share), "n": series.n}


def range_of(values: Iterable[int]) -> str:
    """The range of the values in words, from the least to the most."""
    several = sorted(set(values))
    return f"{several[0]:,}" + (f" to {several[-1]:,}" if len(several) > 1 else "") if several else ""
