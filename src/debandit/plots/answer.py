"""One result: what it says of each arm, how the experiment went, and how the means came out in the runs."""

from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from debandit.errors import printable, shorten
from debandit.plots.histograms import COLOURS
from debandit.plots.page import AXIS, Panel, block, pixels, wrapped, y_axis
from debandit.tables import Row

LINE, MOST_ARMS, MOST_PANELS = 26, 20, 9  # height of an arm's line; arms with a line; arms with a histogram
LABEL = 24  # letters of an arm's name
RAW, QUOTED, CORRECTED, WEIGHTED = "raw mean", "quoted mean", "corrected mean", "period-weighted mean"
LOOKS = {  # colour and shape
    RAW: ("#777777", "circle"),
    QUOTED: ("#D55E00", "diamond"),
    CORRECTED: ("#D55E00", "diamond"),
    WEIGHTED: ("#0072B2", "square"),
}


def panels(result: Any) -> Iterator[alt.HConcatChart]:
    """The arms, the experiment over time, and the simulated means."""
    rows, percent = result.rows(), result.settings.binary
    most = sorted(range(len(rows)), key=lambda k: -rows[k]["pulls"])[:MOST_ARMS]
    shown = [rows[k] | {"name": _name(rows[k]["arm"])} for k in sorted(most)]
    names = _told_apart([row["name"] for row in shown])
    shown = [row | {"name": name} for row, name in zip(shown, names, strict=True)]
    left = f" ({len(rows) - len(shown)} with fewer pulls are left out)" if len(rows) > len(shown) else ""
    margin = int(
        min(220, max(AXIS, max(pixels(name) for name in names) + 20))
    )  # of all blocks, or they would not align
    table = pd.DataFrame(shown)
    yield from block(f"Each arm's mean{left}", [table], 1, lambda _, width, __: _means(shown, width, percent), margin)
    scale = {"domain": names, "range": list(islice(cycle(COLOURS), len(names)))}
    colour = alt.Color("name:N", title=None, scale=scale, legend={"symbolType": "square", "columns": 4})
    if result.path is not None and len(result.path.rounds) > 1:
        frame = _over_time(result.path, dict(zip(sorted(most), names, strict=True)))
        both = [frame.assign(what=what, value=frame[what]) for what in ("pulls", "means")]
        yield from block(
            "How the experiment went", both, 2, lambda part, width, _: _course(part, width, colour, percent), margin, 75
        )
    drawn = [(k, name) for k, name in zip(sorted(most), names, strict=True) if result.histograms[k].counts.sum() > 0]
    if drawn:
        bins = [_bins(result.histograms[k], name, result.naive[k]) for k, name in drawn[:MOST_PANELS]]
        title = "The arms' means in the simulated experiments, and the one that was observed"
        yield from block(
            title, bins, 3, lambda part, width, first: _simulated(part, width, first, colour, percent), margin, 40
        )


def _name(label: str) -> str:
    return printable(shorten(label, LABEL))


def _told_apart(names: Sequence[str]) -> list[str]:
    """Names that were cut to the same letters get numbers."""
    return [f"{name} ({i + 1})" if names.count(name) > 1 else name for i, name in enumerate(names)]


def _axis(title: str, width: float, percent: bool) -> dict[str, Any]:
    shown = {"format": "~%"} if percent else {}
    return {"title": title, "tickCount": int(width / 60), **shown}


def _means(rows: Sequence[Row], width: float, percent: bool) -> Panel:
    """A line for each arm: its means as points, and the interval."""
    quoted = any(row["quoted"] is not None for row in rows)
    kinds = {"naive": RAW, **({"quoted": QUOTED} if quoted else {"corrected": CORRECTED}), "adjusted": WEIGHTED}
    found = [(row["name"], kind, row.get(key)) for key, kind in kinds.items() for row in rows]
    points = pd.DataFrame(found, columns=["name", "kind", "value"]).dropna()
    bars = pd.DataFrame([(row["name"], row["low"], row["high"]) for row in rows], columns=["name", "low", "high"])
    bars = bars.astype({"low": float, "high": float})
    highest = float(np.nanmax([points["value"].max(), bars["high"].max()]))
    bars = bars[bars["low"].notna()].fillna({"high": highest})
    seen = list(dict.fromkeys(points["kind"]))
    colours, shapes = zip(*(LOOKS[kind] for kind in seen), strict=True)
    axis = _axis("share of users" if percent else "mean, in the units of the rewards", width, percent)
    x, low = (alt.X(f"{key}:Q", axis=axis, scale={"zero": False, "padding": 8}) for key in ("value", "low"))
    lanes = {"title": None, "ticks": False, "domain": False, "grid": True, "labelLimit": 220}
    y = alt.Y("name:N", axis=lanes, sort=None, scale={"domain": [row["name"] for row in rows], "padding": 0})
    legend = {"symbolStrokeWidth": 0}
    fill = alt.Fill("kind:N", title=None, scale={"domain": seen, "range": colours}, legend=legend)
    shape = alt.Shape("kind:N", title=None, scale={"domain": seen, "range": shapes}, legend=legend)
    layers = [
        alt.Chart(bars).mark_rule(strokeWidth=2, color="#333333").encode(low, alt.X2("high:Q"), y),
        alt.Chart(points).mark_point(size=110, opacity=0.9, strokeWidth=0).encode(x, y, fill, shape),
    ]
    return alt.layer(*layers, width=width, height=LINE * len(rows))


def _over_time(path: Any, names: dict[int, str]) -> pd.DataFrame:
    """Pulls and running means of the named arms at some rounds."""
    return pd.concat(
        pd.DataFrame({"round": path.rounds, "name": name, "pulls": path.pulls[arm], "means": path.means[arm]})
        for arm, name in names.items()
    )


def _course(part: pd.DataFrame, width: float, colour: alt.Color, percent: bool) -> Panel:
    """Pulls, or running means, by round."""
    means = part["what"].iloc[0] == "means"
    title = "mean so far" if means else "pulls so far"
    shown = {"format": "~%"} if means and percent else {}
    axis = {"title": title, "minExtent": 38, **shown}
    x = alt.X("round:Q", axis={"title": "round", "tickCount": int(width / 70)}, scale={"nice": False})
    settled = part.loc[part["round"] >= part["round"].quantile(0.05), "value"]  # the first means may be anywhere
    scale: Any = {"zero": False, "domain": [settled.min(), settled.max()]} if means else {"zero": True}
    y = alt.Y("value:Q", axis=axis, scale=scale)
    return alt.layer(
        alt.Chart(part[["round", "name", "value"]]).mark_line(strokeWidth=1.8, clip=True).encode(x, y, colour),
        width=width,
        height=170,
    )


def _bins(histogram: Any, name: str, observed: float) -> pd.DataFrame:
    """The bins of one arm; the last line ends the last bin."""
    low, high, counts = histogram
    edges = np.linspace(low, high, len(counts) + 1)
    percent = 100 * np.append(counts, 0) / counts.sum()
    return pd.DataFrame({"at": edges, "percent": percent, "name": name, "observed": observed})


def _simulated(part: pd.DataFrame, width: float, first: bool, colour: alt.Color, percent: bool) -> Panel:
    """An arm's histogram, and its mean in the log as a line."""
    axis = _axis("mean in a run", width, percent)
    x, place = (alt.X(f"{key}:Q", axis=axis, scale={"zero": False, "nice": False}) for key in ("at", "observed"))
    y = alt.Y("percent:Q", axis=y_axis("runs (%)", first) | {"labels": True, "ticks": True}, stack=None)
    bars = alt.Chart(part[["at", "percent", "name"]])
    line = alt.Chart(part[["observed"]].head(1))
    layers = [
        bars.mark_area(interpolate="step-after", fillOpacity=0.45, line={"strokeWidth": 1.2}).encode(x, y, colour),
        line.mark_rule(strokeWidth=2, strokeDash=[4, 3], color="#111111").encode(place),
    ]
    return alt.layer(*layers, title=wrapped(part["name"].iloc[0], width), width=width, height=110)
