"""Anybody's study: the bias of every method, arm by arm."""

from collections.abc import Iterator
from functools import partial

import altair as alt
import pandas as pd

from debandit.errors import shorten
from debandit.plots.page import SURE, Panel, block, method_channels, parts, with_bars, wrapped

LABELS, LINE = 185, 13  # width and height of the names of settings


def lines(frame: pd.DataFrame) -> Iterator[alt.HConcatChart]:
    """A block for each kind of world, whose biases are of a size; in it a panel for each arm."""
    frame = with_bars(frame.assign(family=frame["world"].str.partition("(")[0]), SURE)
    worlds = frame.groupby(["family", "label"])["world"].transform("nunique")
    places = frame["label"].where(worlds == 1, frame["label"] + ", " + frame["world"])
    frame = frame.assign(place=["\n".join(wrapped(place, LABELS - 10)) for place in places])
    for group in parts(frame, "family"):
        single = group["world"].unique()
        heading = shorten(single[0], 110) if len(single) == 1 else f"{group['family'].iloc[0]} worlds"
        arms = parts(group.sort_values("arm", kind="stable"), "arm")
        yield from block(heading, arms, 4, partial(_panel, group=group, frame=frame), margin=LABELS)


def _panel(part: pd.DataFrame, width: float, first: bool, group: pd.DataFrame, frame: pd.DataFrame) -> Panel:
    """A row for each setting."""
    places, legends = list(group["place"].unique()), list(frame["legend"].unique())
    span = [min(group["low"].min(), 0.0), max(group["high"].max(), 0.0)]
    axis, scale = {"title": "bias", "tickCount": int(width / 50)}, {"domain": span, "padding": 8, "nice": False}
    x, low = (alt.X(f"{key}:Q", axis=axis, scale=scale) for key in ("value", "low"))
    rows = {"title": None, "labels": False, "ticks": False, "grid": True, "tickBand": "extent"}
    y = alt.Y("place:N", axis=rows, scale={"domain": places, "padding": 0})
    offset = alt.YOffset("legend:N", scale={"domain": legends, "paddingOuter": 0.5})
    colour, shape, _ = method_channels(frame)
    base = alt.Chart(part[["place", "low", "value", "high", "legend"]])
    layers = [
        base.mark_rule(strokeWidth=1.4).encode(low, alt.X2("high:Q"), y, offset, colour),
        base.mark_point(filled=True, size=38, opacity=1).encode(x, y, offset, colour, shape),
        alt.Chart(pd.DataFrame({"value": [0.0]})).mark_rule(color="#555555").encode(x),
    ]
    if first:  # to write their names, as an axis does not centre labels of several lines
        rises = [-LINE / 2 * place.count("\n") for place in places]
        names = alt.Chart(pd.DataFrame({"place": places, "rise": rises})).encode(y, text="place:N", x=alt.value(-8))
        rise = {"expr": "datum.rise"}
        layers.append(names.mark_text(align="right", baseline="middle", lineBreak="\n", lineHeight=LINE, dy=rise))
    # the same height in all blocks, as they share the scale of the offsets
    row = 4 + max(9 * len(legends), LINE * (1 + int(frame["place"].str.count("\n").max())))
    return alt.layer(*layers, title=part["name"].iloc[0], width=width, height=row * len(places))
