"""All methods on one log: a line for each with its estimate and interval, a panel for each arm."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import altair as alt
import pandas as pd

from debandit.errors import printable, shorten
from debandit.plots.page import Panel, block, parts, wrapped
from debandit.tables import Row

LABELS, LINE = 150, 20  # width of the methods' names, height of their lines
TAKEN, OTHER = "recommended here", "other"
COLOURS, SHAPES = ("#D55E00", "#333333"), ("diamond", "circle")
REACH = 1.0  # how far a panel goes beyond the estimates and the usual intervals, as a multiple of what these take
USUAL = ("naive", "quoted", "corrected")  # methods whose intervals are always seen whole


def panels(rows: Sequence[Row], control: str | None) -> Iterator[alt.HConcatChart]:
    """Two panels in a line; first the means, then the differences to the control. Each kind has one axis."""
    for quantity, heading in (("mean", "Means"), ("difference", f"Differences to {shorten(str(control))}")):
        shown = [row for row in rows if row["quantity"] == quantity and row["estimate"] is not None]
        if shown:
            frame = _frame(shown)
            methods = list(dict.fromkeys(row["title"] for row in rows if row["title"] in set(frame["title"])))
            panel = partial(_panel, methods=methods, span=_span(frame), told=any(row["recommended"] for row in rows))
            yield from block(heading if control is not None else "", parts(frame, "arm"), 2, panel, margin=LABELS)


def _frame(rows: Sequence[Row]) -> pd.DataFrame:
    columns = ["arm", "pulls", "method", "title", "estimate", "low", "high"]
    frame = pd.DataFrame([[row[key] for key in columns] for row in rows], columns=columns)
    frame = frame.astype(dict.fromkeys(("estimate", "low", "high"), float))
    return frame.assign(
        dot=[TAKEN if row["recommended"] else OTHER for row in rows],
        bar=[TAKEN if row["recommended_interval"] else OTHER for row in rows],
    )


def _span(frame: pd.DataFrame) -> tuple[float, float]:
    """From the lowest to the highest value that is drawn; of very long bars only a part."""
    usual = frame[frame["method"].isin(USUAL)]
    low = pd.concat([frame["estimate"], usual["low"]]).min()
    high = pd.concat([frame["estimate"], usual["high"]]).max()
    room = REACH * ((high - low) or abs(low) or 1.0)
    lowest, highest = frame["low"].fillna(low).min(), frame["high"].fillna(high).max()
    return max(low - room, min(low, lowest)), min(high + room, max(high, highest))


def _panel(
    part: pd.DataFrame, width: float, names: bool, methods: list[str], span: tuple[float, float], told: bool
) -> Panel:
    """One arm; `told` says whether anything is recommended in the picture, and so has a legend."""
    place: dict[str, Any] = {"domain": span, "padding": 8, "nice": False}
    axis = {"title": "estimate and interval, in the units of the rewards", "tickCount": int(width / 50)}
    x, low = (alt.X(f"{key}:Q", axis=axis, scale=place) for key in ("estimate", "low"))
    rows = {"title": None, "ticks": False, "labels": names, "labelLimit": LABELS, "domain": False, "grid": True}
    rows["labelPadding"] = 8  # or names would touch the panel
    y = alt.Y("title:N", axis=rows, scale={"domain": methods, "padding": 0}, sort=None)
    legend = {"symbolStrokeWidth": 0, "values": [TAKEN]} if told else None
    scale = {"domain": [TAKEN, OTHER], "range": COLOURS}
    dot = alt.Color("dot:N", title=None, scale=scale, legend=legend)
    shape = alt.Shape("dot:N", title=None, scale=scale | {"range": SHAPES}, legend=legend)
    part = part.assign(high=part["high"].where(part["high"].notna() | part["low"].isna(), span[1]))  # no upper limit
    bars = part[part["low"].notna()].assign(low=part["low"].clip(*span), high=part["high"].clip(*span))
    base, naive = alt.Chart(part[["title", "estimate", "dot"]]), part[part["method"] == "naive"]
    layers = [alt.Chart(naive[["estimate"]]).mark_rule(color="#999999", strokeDash=[3, 3]).encode(x)]
    for kind, colour, width_of_bar in zip((TAKEN, OTHER), COLOURS, (3.5, 1.4), strict=True):
        drawn = alt.Chart(bars.loc[bars["bar"] == kind, ["title", "low", "high"]])
        layers.append(drawn.mark_rule(color=colour, strokeWidth=width_of_bar).encode(low, alt.X2("high:Q"), y))
    size = alt.condition(alt.datum.dot == TAKEN, alt.value(160), alt.value(75))
    layers.append(base.mark_point(filled=True, opacity=1).encode(x, y, dot, shape, size=size))
    arm, pulls = printable(shorten(part["arm"].iloc[0])), part["pulls"].iloc[0]
    title = wrapped(f"{arm}, {pulls:,} {'pull' if pulls == 1 else 'pulls'}", width)
    return alt.layer(*layers, title=title, width=width, height=LINE * len(methods))
