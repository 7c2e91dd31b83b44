"""One result: what it says of each arm, how the experiment went, and how the means came out in the runs."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from debandit.errors import printable, shorten
from debandit.plots.page import AXIS, LETTER, PAGE, Panel, block, pixels, wrapped, y_axis
from debandit.words.values import Values, by_mean

LINE, MOST_ARMS, MOST_PANELS = 28, 20, 9  # height of an arm's line; arms with a line; arms with a histogram
LABEL = 24  # letters of an arm's name
RAW, QUOTED, CORRECTED, WEIGHTED = "raw mean", "quoted mean", "corrected mean", "period-weighted mean"
LOOKS = {  # colour, shape and size; what lies behind is larger
    RAW: ("#999999", "circle", 150),
    QUOTED: ("#D55E00", "diamond", 90),
    CORRECTED: ("#D55E00", "diamond", 90),
    WEIGHTED: ("#0072B2", "square", 60),
}
COLOURS, GREY = ("#0072B2", "#009E73", "#C5609A", "#111111", "#56B4E9", "#EDB120", "#D55E00"), "#999999"
PULLS, MEANS = "pulls so far", "mean so far"
PERCENT = "format(100 * datum.value, '.6~g') + ' %'"
EARLY, MANY = 0.1, 50  # share of the experiment in which a mean may leave the panel, if there are many points

Lines = Iterator[alt.HConcatChart]


class Drawn(NamedTuple):
    """A result, and how its arms are called and coloured."""

    result: Any  # Debiased
    arms: list[int]  # in the order of the log; of very many the best, the control and those with the most pulls
    first: list[int]  # of these, those with a histogram
    names: list[str]
    legend: list[str]  # of the arms; those that share a colour share an entry
    colours: dict[str, str]  # of the entries
    percent: bool
    width: float
    alone: bool  # whether each panel stands alone, without a heading

    @classmethod
    def of(cls, result: Any, width: float = PAGE, *, alone: bool = False) -> "Drawn":
        """The best arm, the control and the next ones in pulls have colours; if there are more, the others are grey."""
        by_pulls, settings = np.argsort(-result.pulls, kind="stable").tolist(), result.settings
        first = [by_mean(result)[0], *([result.labels.index(settings.control)] if settings.control else [])]
        order = list(dict.fromkeys([*first, *by_pulls]))[:MOST_ARMS]
        arms = sorted(order)
        names = _told_apart([printable(shorten(result.labels[k], LABEL)) for k in arms])
        own = len(COLOURS) + (len(arms) == len(COLOURS) + 1)  # a single other one keeps its name
        name_of = dict(zip(arms, names, strict=True))
        entry = {k: name_of[k] if i < own else f"the other {len(arms) - own}" for i, k in enumerate(order)}
        colours = dict(zip(entry.values(), (*COLOURS, GREY), strict=False))
        legend = [entry[k] for k in arms]
        return cls(result, arms, order[:MOST_PANELS], names, legend, colours, settings.binary, width, alone)

    def block(self, heading: str, groups: Sequence[pd.DataFrame], columns: int, gap: int, panel: Any) -> Lines:
        """A block of panels. All have the same margin if they stand below each other, or they would not align."""
        if self.alone:
            margin = AXIS if len(groups) > 1 else self.margin
            return block("", groups, 1, panel, margin=margin, page=self.width)
        return block(heading, groups, columns, panel, margin=self.margin, gap=gap, page=self.width)

    @property
    def margin(self) -> int:
        """The width of the names."""
        return int(min(0.47 * self.width, max(AXIS, max(map(pixels, self.names)) + 25)))

    def left_out(self, most: int) -> str:
        """How many arms a panel does not show that has room for this many."""
        said = left_out(self.result, most)
        return f" ({said})" if said else ""

    def colour(self, *, legend: bool) -> alt.Color:
        """The colours of the arms."""
        names = sorted(dict.fromkeys(self.legend), key=lambda name: name not in self.names)  # others come last
        scale = {"domain": names, "range": [self.colours[name] for name in names]}
        columns = max(1, int(self.width / (max(map(pixels, names)) + 35)))
        place = {"orient": "bottom"} if self.alone else {"offset": 10}
        shown = {"symbolType": "stroke", "symbolStrokeWidth": 3, "columns": columns, **place} if legend else None
        return alt.Color("legend:N", title=None, scale=scale, legend=shown)

    def axis(self, title: str, width: float, **more: Any) -> dict[str, Any]:
        """The axis of values of a panel."""
        shown = {"labelExpr": PERCENT} if self.percent else {}
        return {"title": title, "tickCount": max(2, int(width / 60)), **shown, **more}

    def possible(self, values: Any) -> Any:
        """The values; a share is never below 0 or above 1, whatever a correction says."""
        return np.clip(np.asarray(values, dtype=float), 0, 1) if self.percent else np.asarray(values, dtype=float)


def panels(result: Any) -> Lines:
    """The arms, the experiment over time, and the simulated means."""
    for each in FIGURES.values():
        yield from each(Drawn.of(result))


def means(drawn: Drawn) -> Lines:
    """A line for each arm: its means as points, and the interval."""
    title = f"Each arm's mean{drawn.left_out(MOST_ARMS)}"
    yield from drawn.block(title, [pd.DataFrame()], 1, 0, lambda _, width, __: _means(drawn, width))


def course(drawn: Drawn) -> Lines:
    """Pulls, and running means, over time; nothing where they are not known."""
    path = drawn.result.path
    if path is None or len(path.rounds) < 2:
        return
    arms = zip(drawn.arms, drawn.names, drawn.legend, strict=True)
    frame = pd.concat(
        pd.DataFrame({"round": path.rounds, "name": name, "legend": legend, PULLS: path.pulls[k], MEANS: path.means[k]})
        for k, name, legend in arms
    )
    both = [frame.assign(what=what, value=frame[what]) for what in (PULLS, MEANS)]
    yield from drawn.block("How the experiment went", both, 2, 75, lambda part, width, _: _course(drawn, part, width))


def simulated(drawn: Drawn) -> Lines:
    """A histogram of each arm's means in the runs, with its mean in the log; nothing where there were no runs."""
    result, said = drawn.result, Values.in_sentences(drawn.result)
    arms = zip(drawn.arms, drawn.names, drawn.legend, strict=True)
    bins = [
        _bins(result.histograms[k], name, legend, result.naive[k], f"in the log: {said.one(result.naive[k])}")
        for k, name, legend in arms
        if k in drawn.first and result.histograms[k].counts.sum() > 0
    ]
    title = f"The arms' means in the simulated experiments{drawn.left_out(MOST_PANELS)}"
    colour, columns = drawn.colour(legend=False), 2 if len(bins) == 4 else 3
    if bins:
        yield from drawn.block(
            title, bins, columns, 40, lambda part, width, first: _simulated(drawn, part, width, first, colour)
        )


FIGURES: dict[str, Callable[[Drawn], Lines]] = {"means": means, "course": course, "simulated": simulated}
ROOM = {"means": MOST_ARMS, "course": MOST_ARMS, "simulated": MOST_PANELS}


def left_out(result: Any, most: int) -> str:
    """How many arms are not shown where there is room for this many; empty if all are."""
    left = len(result.labels) - most
    return f"{left:,} with fewer pulls {'is' if left == 1 else 'are'} left out" if left > 0 else ""


def _told_apart(names: Sequence[str]) -> list[str]:
    """Names that were cut to the same letters get numbers."""
    return [f"{name} ({i + 1})" if names.count(name) > 1 else name for i, name in enumerate(names)]


def _means(drawn: Drawn, width: float) -> Panel:
    rows, limits = drawn.result.arm_rows(), list(zip(*drawn.result.limits, strict=True))
    quoted = any(row["quoted"] is not None for row in rows)
    kinds = {"naive": RAW, **({"quoted": QUOTED} if quoted else {"corrected": CORRECTED}), "adjusted": WEIGHTED}
    shown = list(zip(drawn.arms, drawn.names, strict=True))
    found = [(name, kind, rows[k].get(key)) for key, kind in kinds.items() for k, name in shown]
    points = pd.DataFrame(found, columns=["name", "kind", "value"]).dropna()
    points["value"] = drawn.possible(points["value"])
    bars = pd.DataFrame([(name, *limits[k]) for k, name in shown], columns=["name", "low", "high"]).dropna()
    values = pd.concat([points["value"], bars["low"], bars["high"].replace(np.inf, np.nan)]).dropna()
    span = _span(drawn, values)
    bars["high"] = bars["high"].clip(upper=span[1])  # there may be no upper limit
    seen = list(dict.fromkeys(points["kind"]))
    colours, shapes, sizes = zip(*(LOOKS[kind] for kind in seen), strict=True)
    title = "share of users" if drawn.percent else "mean, in the units of the rewards"
    axis, scale = drawn.axis(title, width), {"domain": span, "nice": False}
    x, low = (alt.X(f"{key}:Q", axis=axis, scale=scale) for key in ("value", "low"))
    lanes = {
        "title": None,
        "ticks": False,
        "domain": False,
        "grid": True,
        "labelPadding": 12,
        "labelLimit": drawn.margin,
    }
    y = alt.Y("name:N", axis=lanes, sort=None, scale={"domain": drawn.names, "padding": 0})
    fill = alt.Fill(
        "kind:N", title=None, scale={"domain": seen, "range": colours}, legend={"symbolStrokeWidth": 0, "offset": 10}
    )
    shape = alt.Shape("kind:N", title=None, scale={"domain": seen, "range": shapes})
    size = alt.Size("kind:N", title=None, scale={"domain": seen, "range": sizes})
    layers = [
        alt.Chart(bars).mark_rule(strokeWidth=2, color="#333333").encode(low, alt.X2("high:Q"), y),
        alt.Chart(points).mark_point(opacity=1, strokeWidth=0).encode(x, y, fill, shape, size),
    ]
    return alt.layer(*layers, width=width, height=LINE * len(shown))


def _span(drawn: Drawn, values: "pd.Series[float]") -> list[float]:
    """From the lowest to the highest, with some room; shares stay between 0 and 1."""
    low, high = float(values.min()), float(values.max())
    room = 0.04 * ((high - low) or abs(high) or 1.0)
    low, high = low - room, high + room
    return [max(low, 0.0), min(high, 1.0)] if drawn.percent else [low, high]


def _course(drawn: Drawn, part: pd.DataFrame, width: float) -> Panel:
    """Pulls, or running means, by round; panels that stand alone need the legend once."""
    what = part["what"].iloc[0]
    colour = drawn.colour(legend=what == PULLS or not drawn.alone)
    side = {"minExtent": 38, "labelFlush": drawn.alone}  # a number above the panel would push it down beside the other
    axis = drawn.axis(what, 300, **side) if what == MEANS else {"title": what, **side}
    ticks = {"title": "round", "tickCount": int(width / 70), "format": ",d"}
    x = alt.X("round:Q", axis=ticks, scale={"nice": False})
    early = part["round"].quantile(EARLY if part["round"].nunique() > MANY else 0)
    settled = part.loc[part["round"] >= early, "value"].dropna()
    scale = {"nice": False, "domain": _span(drawn, settled)} if what == MEANS else {"zero": True}
    y = alt.Y("value:Q", axis=axis, scale=scale)
    lines = alt.Chart(part[["round", "name", "legend", "value"]]).mark_line(strokeWidth=1.8, clip=True)
    return alt.layer(lines.encode(x, y, colour, alt.Detail("name:N")), width=width, height=170)


def _bins(histogram: Any, name: str, legend: str, observed: float, label: str) -> pd.DataFrame:
    """The bins of one arm; the last line ends the last bin."""
    low, high, counts = histogram
    edges = np.linspace(low, high, len(counts) + 1)
    percent = 100 * np.append(counts, 0) / counts.sum()
    same = {"name": name, "legend": legend, "observed": observed, "label": label}
    return pd.DataFrame({"at": edges, "percent": percent, **same})


def _simulated(drawn: Drawn, part: pd.DataFrame, width: float, first: bool, colour: alt.Color) -> Panel:
    """An arm's histogram, and its mean in the log as a line with its name above it."""
    axis, scale = drawn.axis("mean in a run", width), {"zero": False, "nice": False}
    x, place = (alt.X(f"{key}:Q", axis=axis, scale=scale) for key in ("at", "observed"))
    y = alt.Y("percent:Q", axis=y_axis("runs (%)", first) | {"labels": True, "ticks": True}, stack=None)
    line = alt.Chart(part[["observed", "label"]].head(1)).encode(place)
    observed, low, high = part["observed"].iloc[0], part["at"].iloc[0], part["at"].iloc[-1]
    side = np.clip((observed - low) / ((high - low) or 1.0), 0, 1)
    align: Literal["left", "center", "right"] = "left" if side < 0.3 else "right" if side > 0.7 else "center"
    layers = [
        alt.Chart(part[["at", "percent", "legend"]])
        .mark_area(interpolate="step-after", fillOpacity=0.45, line={"strokeWidth": 1.2})
        .encode(x, y, colour),
        line.mark_rule(strokeWidth=2, strokeDash=[4, 3], color="#111111"),
        line.mark_text(align=align, baseline="bottom", fontSize=LETTER - 1, dy=-3).encode(
            text="label:N", y=alt.value(0)
        ),
    ]
    title: Any = {"text": wrapped(part["name"].iloc[0], width), "offset": 4}
    return alt.layer(*layers, title=title, width=width, height=110)
