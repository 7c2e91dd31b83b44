"""Methods over a variable of a study's grid: bias, RMSE and coverage of each arm."""

import json
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import altair as alt
import pandas as pd

from debandit.errors import printable, shorten
from debandit.plots.curves import log_ticks
from debandit.plots.page import LETTER, PAGE, SURE, Panel, block, coverage_axis, method_channels, parts, with_bars


class Words(NamedTuple):
    """What stands above a panel, where a line is and what it means, and whether the axis is logarithmic."""

    title: str
    rule: float | None = None
    label: str = ""
    logarithmic: bool = False


QUANTITIES = {
    "bias": Words("Bias", 0.0, "none"),
    "rmse": Words("RMSE, logarithmic", logarithmic=True),
    "coverage": Words("Coverage of 95 % intervals", 0.95, "95 %"),
}
FEW, HEIGHT = 6, 150  # values that are all written on the axis; pixels of a panel
BESIDE, GAP_OF_PANELS = 26, 68  # pixels of what is written beside a line, and between panels


def methods(frame: pd.DataFrame) -> Iterator[alt.HConcatChart]:
    """A block for each setting and arm, in it a panel for each quantity."""
    frame = with_bars(frame[(frame["quantity"] != "rmse") | (frame["value"] > 0)], SURE)
    places = _places(list(frame["x"].unique()))
    legends = list(frame["legend"].unique())
    gaps = [after - before for before, after in pairwise(sorted(places.values()))]
    step = 0.5 * min(gaps, default=1.0) / len(legends)
    aside = step * (frame["legend"].map(legends.index) - (len(legends) - 1) / 2)
    frame = frame.assign(beside=frame["x"].map(places) + aside)
    several = frame["horizon"].nunique() > 1 and frame["name_of_x"].iloc[0] != "horizon"
    x = _axis(frame, places)
    panel = partial(_panel, x=x, channels=method_channels(frame))
    order = list(QUANTITIES)
    for group in parts(frame, "curve", *(["horizon"] if several else []), "arm"):
        rounds = f", T = {group['horizon'].iloc[0]:,}" if several else ""
        heading = f"{shorten(group['curve'].iloc[0], 90)}{rounds}, {group['name'].iloc[0]}"
        ranked = group.assign(rank=group["quantity"].map(order.index)).sort_values("rank", kind="stable")
        yield from block(heading, parts(ranked, "quantity"), len(order), panel, gap=GAP_OF_PANELS, page=PAGE - BESIDE)


def _places(values: list[Any]) -> dict[Any, float]:
    """Where the values stand on the axis: numbers where they are, others side by side."""
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return {value: float(value) for value in values}
    return {value: float(place) for place, value in enumerate(values)}


def _axis(frame: pd.DataFrame, places: dict[Any, float]) -> alt.X:
    """The horizontal axis; texts are looked up by their place, as data and never as an expression."""
    axis: dict[str, Any] = {
        "title": printable(frame["name_of_x"].iloc[0]),
        "grid": False,
        "labelOverlap": "greedy",
        "format": ".4~g",
    }
    if len(places) <= FEW:
        axis["values"] = sorted(places.values())
    if any(place != value for value, place in places.items()):
        texts = json.dumps([printable(shorten(str(value), 20)) for value in places])
        axis |= {"values": sorted(places.values()), "labelExpr": f"{texts}[datum.value]"}
    scale = {"domain": [frame["beside"].min(), frame["beside"].max()], "padding": 8, "nice": False}
    return alt.X("beside:Q", axis=axis, scale=scale)


def _panel(
    part: pd.DataFrame,
    width: float,
    _first: bool,
    x: alt.X,
    channels: tuple[alt.Color, alt.Shape, alt.StrokeDash],
) -> Panel:
    quantity = part["quantity"].iloc[0]
    words, low, high = QUANTITIES[quantity], part["value"].min(), part["value"].max()
    axis: dict[str, Any] = {"tickCount": 5}
    if words.rule is not None:
        low, high = min(low, words.rule), max(high, words.rule)
    room = 0.05 * (high - low or abs(high) or 1.0)
    scale: dict[str, Any] = {"domain": (low - room, high + room), "nice": False}
    if words.logarithmic:
        span = (low / 1.15, high * 1.15)
        axis, scale = {"values": log_ticks(*span), "format": "~g"}, {"type": "log", "domain": span, "nice": False}
    elif quantity == "coverage":
        axis, scale = coverage_axis(low, high, HEIGHT, upward=True)
    span = scale["domain"][0], scale["domain"][-1]
    part = part.assign(low=part["low"].clip(*span), high=part["high"].clip(*span))
    axis = {"title": None, "minExtent": 30, **axis}
    y, bottom = (alt.Y(f"{key}:Q", axis=axis, scale=scale) for key in ("value", "low"))
    colour, shape, dash = channels
    base = alt.Chart(part[["beside", "low", "value", "high", "legend"]])
    layers = [
        base.mark_rule().encode(x, bottom, alt.Y2("high:Q"), colour),
        base.mark_line(strokeWidth=1.4).encode(x, y, colour, dash),
        base.mark_point(filled=True, size=40, opacity=1).encode(x, y, colour, shape),
    ]
    if words.rule is not None:
        line = alt.Chart(pd.DataFrame({"value": [words.rule], "label": words.label})).encode(y)
        text = line.mark_text(align="left", dx=3, fontSize=LETTER - 1)
        layers = [line.mark_rule(color="#555555"), *layers, text.encode(text="label:N", x=alt.value(width))]
    return alt.layer(*layers, title=words.title, width=width, height=HEIGHT)
