"""Pictures of a study's rows: the figures of the paper, and a default picture of anybody's study.

Each kind of picture is drawn by the function of its name in the file that `KINDS` names. A file is imported when it is
first needed, because altair takes long to load.
"""

import contextlib
import math
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from debandit.errors import InputError, printable, shorten, with_few_sizes
from debandit.files import write_whole
from debandit.tables import Row

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd


_TAG, _ID = re.compile("<[^>]*>"), re.compile(r"""( id="|url\(#)""")  # < and > in texts and attributes are escaped
_CLIP = re.compile(r"""( id="|url\(#)clip(\d+)""")
ENDINGS = ("svg", "png", "pdf")
ALONE = (*ENDINGS, "html")  # of a picture that stands alone
_ADDRESSES = 70 * 2**30  # bytes; with 60 it ended, with 72 not
OF_GRID = ("curve", "x", "name_of_x")  # what rows have besides, where methods are drawn over a variable of a grid


class Kind(NamedTuple):
    """Where a kind of picture is drawn, which quantity it cannot do without, what else it shows, and its caption."""

    file: str
    needs: str
    shows: tuple[str, ...]
    caption: str
    averages: bool = False  # not of a study's rows, but of averages over them


_FINER = "on an axis that is finer above 0.9"
KINDS = {
    "histograms": Kind(
        "histograms",
        "share",
        ("mean",),
        "The estimates of the experiments, one histogram for each arm, whose name stands above its true mean. Outside: "
        "the share of the experiments whose estimate lies beyond the axis or does not exist.",
    ),
    "squared errors": Kind(
        "curves",
        "mse",
        ("median_squared_error",),
        "Squared error of the estimates, in squared units of the rewards, on a logarithmic axis, without zeros; bars "
        "are ± one standard error. The methods are drawn a little beside each other.",
    ),
    "ratios": Kind(
        "curves",
        "ratio",
        ("ratio_q05", "ratio_q50", "ratio_q95", "limit", "bound"),
        "The ratio that tends to the theorem's limit as m grows: mean and quantiles over the experiments.",
    ),
    "biases": Kind(
        "dots",
        "bias",
        (),
        "Bias: mean of estimate minus true mean over the experiments, in the units of the rewards; bars are ± 1.96 "
        "standard errors. Each kind of world has its own axis.",
    ),
    "methods": Kind(
        "lines",
        "bias",
        ("rmse", "coverage"),
        "Bias and RMSE of the estimates, in the units of the rewards, and how often their intervals cover the truth, "
        f"{_FINER}; bars are ± 1.96 standard errors, cut off where they leave the panel. The methods are drawn a "
        "little beside each other.",
    ),
    "methods by arm": Kind(
        "dots",
        "bias",
        ("rmse", "coverage"),
        "Bias and RMSE of the estimates, in the units of the rewards, and how often their intervals cover the truth, "
        f"{_FINER}; bars are ± 1.96 standard errors. A method without a point for an arm has no estimate of it, or no "
        "interval.",
    ),
    "accuracy": Kind(
        "dots",
        "bias_index",
        ("rmse_ratio",),
        "Left: how biased the estimates are, in units of the naive mean's RMSE. Right: how far from the truth. "
        "Less is better. Averages over random settings; bars are ± 1.96 standard errors.",
        averages=True,
    ),
    "coverage": Kind(
        "dots",
        "coverage",
        ("low_share",),
        f"Intervals that should cover the truth in 95 of 100 experiments. Left: how often they do, {_FINER}. Right: "
        "the share of the arms where they do in less than 93. Averages over the arms of random settings; bars are ± "
        "1.96 standard errors.",
        averages=True,
    ),
}


def draw(rows: Sequence[Row], kind: str, title: str, note: str = "") -> "alt.VConcatChart":
    """One picture, as wide as a page; `note` comes under the title, before the caption of the kind."""
    if kind not in KINDS:
        raise InputError(f"there is no kind of picture {shorten(kind)!r}", remedy=f"The kinds are: {', '.join(KINDS)}.")
    from debandit.plots.page import page

    drawn = getattr(import_module(f"{__name__}.{KINDS[kind].file}"), kind.replace(" ", "_"))
    return page(drawn(_frame(rows, kind)), title, note, KINDS[kind].caption)


def draw_comparison(rows: Sequence[Row], control: str | None, level: float) -> "alt.VConcatChart":
    """A picture of all methods on one log, from the rows of a `Comparison`."""
    from debandit.plots.page import page
    from debandit.plots.side_by_side import panels

    caption = (
        f"What each method says of the mean of an arm, with its {100 * level:g} % interval where it has one. The "
        "dashed line is the naive mean. Very long bars are cut off at the edge."
    )
    return page(panels(rows, control), "All methods side by side", caption)


def draw_result(result: Any) -> "alt.VConcatChart":
    """A picture of one `Debiased`: its arms, its experiment over time, and its runs."""
    from debandit.plots.answer import panels
    from debandit.plots.page import page

    level = f"{100 * result.interval.level:g} %"
    limits = f" with {level} intervals" if result.interval.name != "none" else ""
    rule = with_few_sizes(result.settings.policy)
    caption = (
        f"{result.settings.horizon:,} rounds of {rule}. Above: the arms' means{limits}. Below: {result.runs:,} "
        "simulated experiments; the dashed line is the mean in the log."
    )
    return page(panels(result), "What the arms are worth", caption, legends="independent")


def draw_panels(result: Any, figure: str, width: float) -> "list[alt.VConcatChart]":
    """The panels of one figure of that picture, means, course or simulated, each as a picture of its own."""
    from debandit.plots.answer import FIGURES, Drawn
    from debandit.plots.page import page

    return [page([line], "") for line in FIGURES[figure](Drawn.of(result, width, alone=True))]


def left_out(result: Any, figure: str) -> str:
    """How many arms a figure of that picture does not show, as a sentence; empty if it shows all of them."""
    from debandit.plots import answer

    said = answer.left_out(result, answer.ROOM[figure])
    return f" Of {len(result.labels):,} arms, {said}." if said else ""


def draw_plans(rows: Sequence[Row]) -> "alt.VConcatChart":
    """A picture of plans side by side, from the rows of `Plans`."""
    from debandit.plots.page import page
    from debandit.plots.plans import panels

    caption = (
        "Regret: rewards lost against always pulling the best arm. Right winner: how often the highest mean is the "
        "best arm's. Power: how often the p-value is below 5 %. Width: of the widest interval. Bars are ± 1.96 "
        "standard errors."
    )
    return page(panels(rows), "What to expect of the experiment", caption)


def save(chart: "alt.TopLevelMixin", stem: str | Path) -> list[Path]:
    """Write stem.svg, stem.png and stem.pdf, each whole or not at all."""
    svg = svg_of(chart)
    paths = [Path(f"{stem}.{ending}") for ending in ENDINGS]  # with_suffix would cut the end off "gap-0.5"
    for path in paths:
        write_whole(path, _converted(svg, path))
    return paths


def save_as(chart: "alt.TopLevelMixin", path: str | Path) -> None:
    """Write one file, whole or not at all, of the kind that its name says."""
    write_whole(path, _converted(svg_of(chart), checked_picture(path)))


def checked_picture(path: str | Path, where: str = "") -> Path:
    """The path, if it is that of a picture."""
    if Path(path).suffix.lower().removeprefix(".") not in ALONE:
        remedy = f"Name a file that ends in {', '.join(f'.{ending}' for ending in ALONE)}."
        raise InputError(f"{shorten(str(path))!r} is not the name of a picture", where=where, remedy=remedy)
    return Path(path)


def svg_of(chart: "alt.TopLevelMixin", prefix: str = "") -> str:
    """The picture as SVG; on a page with others its ids need a `prefix`."""
    import altair as alt

    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    svg = str(_renderer().vegalite_to_svg(chart.to_dict(validate=False), vl_version=version))
    numbers: dict[str, int] = {}  # of the clips: what is drawn before in the same process must not show in them

    def renumbered(found: re.Match[str]) -> str:
        return f"{found[1]}clip{numbers.setdefault(found[2], len(numbers))}"

    return _TAG.sub(lambda tag: _ID.sub(rf"\1{prefix}", _CLIP.sub(renumbered, tag[0])), svg)


def _converted(svg: str, path: Path) -> str | bytes:
    """The picture in the format of the path."""
    ending = path.suffix.lower()
    if ending == ".svg":
        return svg
    if ending == ".html":
        return f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>debandit</title>\n{svg}\n</html>\n'
    converted: bytes = _renderer().svg_to_png(svg, scale=2) if ending == ".png" else _renderer().svg_to_pdf(svg)
    return converted


def _renderer() -> Any:
    """What draws: a browser's engine, which ends the whole process where it cannot reserve many addresses."""
    import vl_convert

    with contextlib.suppress(ImportError):  # Windows has no such limits
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most != resource.RLIM_INFINITY and most < _ADDRESSES:
            what = f"nothing can be drawn where a process may have only {most / 2**30:,.1f} GB of addresses"
            raise InputError(what, where="picture", remedy="Take the limit off: ulimit -v unlimited")
    return vl_convert


def _frame(rows: Sequence[Row], kind: str) -> "pd.DataFrame":
    """The rows that the kind shows, with the names of their arms, settings and methods in the picture."""
    import pandas as pd

    from debandit.plots.page import looks

    _, needs, shows, *_ = KINDS[kind]
    texts, numbers = ("setting", "world", "method", "quantity"), ("truth", "value", "se")
    identity = [*texts, "arm", "horizon", "at"]
    columns = [*identity, *numbers, *(OF_GRID if kind == "methods" else ())]
    if kind == "methods":
        rows = [{"curve": row["setting"], "x": row["horizon"], "name_of_x": "horizon", **row} for row in rows]
    frame = pd.DataFrame([[row[key] for key in columns] for row in rows], columns=columns)
    frame = frame[frame["quantity"].isin([needs, *shows])].astype(dict.fromkeys((*numbers, "at"), float))
    frame = frame[frame["value"].abs() < math.inf]  # NaN too is left out
    if needs not in set(frame["quantity"]):
        remedy = f"{kind} need rows with the quantity {needs} and finite values."
        raise InputError(f"the rows have no {needs}", where=f"picture of {kind}", remedy=remedy)
    twins = frame[frame.duplicated(identity)]
    if len(twins):
        raise InputError(
            f"two rows have the same {', '.join(identity)}",
            where=twins["setting"].iloc[0],
            remedy="Draw the rows of one study at a time, and give its settings different labels.",
        )
    frame = frame.assign(**{key: frame[key].map(printable) for key in texts})
    several, seen = frame["horizon"].nunique() > 1, looks(frame["method"])
    return frame.assign(
        name=[f"arm {arm}" for arm in frame["arm"]],
        label=[
            f"{s}, {_horizon(h)}" if several else s for s, h in zip(frame["setting"], frame["horizon"], strict=True)
        ],
        legend=[seen[method].legend for method in frame["method"]],
    )


def _horizon(rounds: int) -> str:
    return f"T = {rounds:,}".replace(" ", "\N{NO-BREAK SPACE}")
