"""Points with bars: a row for each setting with a point for each method, or one for each method with all arms."""

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import altair as alt
import pandas as pd

from debandit.errors import shorten
from debandit.plots.page import (
    LETTER,
    SURE,
    Panel,
    block,
    coverage_axis,
    method_channels,
    parts,
    plain_axis,
    with_bars,
    wrapped,
)

LABELS, LINE = 185, 13  # width and height of the names of settings
SPREAD = 0.8  # share of a lane that its methods take
ENDS = ("least", "most")


class Words(NamedTuple):
    """What stands above the panel and on its axis, where a line is and what it means, and the limits of the values."""

    title: str
    axis: str
    rule: float
    label: str
    least: float = -math.inf
    most: float = math.inf


ACCURACY = {
    "bias_index": Words("Bias that is left", "|bias| / RMSE of the naive mean", 0.0, "none", 0.0),
    "rmse_ratio": Words("Error", "RMSE / RMSE of the naive mean", 1.0, "naive mean"),
}
COVERAGE = {
    "coverage": Words("Coverage", "mean over arms", 0.95, "95 %", 0.0, 1.0),
    "low_share": Words("Arms covered too seldom", "share of the arms below 93 %", 0.0, "none", 0.0, 1.0),
}
BY_ARM = {
    "bias": Words("Bias", "estimate - truth", 0.0, "none"),
    "rmse": Words("RMSE", "in units of the rewards", 0.0, "0", 0.0),
    "coverage": Words("Coverage of 95 % intervals", "share", 0.95, "95 %", 0.0, 1.0),
}
COVERED = "coverage"  # which has an axis of its own


def biases(frame: pd.DataFrame) -> Iterator[alt.HConcatChart]:
    """A block for each kind of world, whose biases are of a size; in it a panel for each arm."""
    frame = with_bars(frame.assign(family=frame["world"].str.partition("(")[0]), SURE)
    worlds = frame.groupby(["family", "label"])["world"].transform("nunique")
    frame = _with_places(frame, frame["label"].where(worlds == 1, frame["label"] + ", " + frame["world"]))
    for group in parts(frame, "family"):
        single = group["world"].unique()
        heading = shorten(single[0], 110) if len(single) == 1 else f"{group['family'].iloc[0]} worlds"
        arms = parts(group.sort_values("arm", kind="stable"), "arm")
        yield from block(heading, arms, 4, partial(_panel_of_arm, group=group, frame=frame), margin=LABELS)


def _panel_of_arm(part: pd.DataFrame, width: float, first: bool, group: pd.DataFrame, frame: pd.DataFrame) -> Panel:
    return _panel(part, width, first, Words(part["name"].iloc[0], "bias", 0.0, "none"), group, frame)


def methods_by_arm(frame: pd.DataFrame) -> Iterator[alt.HConcatChart]:
    """A block for each setting, in it a panel for each quantity: a row for each method, a point for each arm."""
    named = _with_places(frame, frame["legend"])
    named = named.assign(world=frame["label"], method=frame["name"], legend=frame["name"])
    rank = named["quantity"].map(list(BY_ARM).index)
    return _blocks(named.assign(rank=rank).sort_values("rank", kind="stable"), BY_ARM)


def accuracy(frame: pd.DataFrame) -> Iterator[alt.HConcatChart]:
    """The bias that methods leave, and their error."""
    return _blocks(_with_places(frame, frame["label"]), ACCURACY)


def coverage(frame: pd.DataFrame) -> Iterator[alt.HConcatChart]:
    """How often intervals cover the truth."""
    return _blocks(_with_places(frame, frame["label"]), COVERAGE)


def _blocks(frame: pd.DataFrame, words: dict[str, Words]) -> Iterator[alt.HConcatChart]:
    """A block for each world, or way to group the settings; in it a panel for each quantity."""
    frame = with_bars(frame, SURE)
    least, most = (frame["quantity"].map({key: getattr(each, end) for key, each in words.items()}) for end in ENDS)
    frame = frame.assign(low=frame["low"].clip(lower=least), high=frame["high"].clip(upper=most))
    for group in parts(frame, "world"):

        def draw(part: pd.DataFrame, width: float, first: bool, group: pd.DataFrame = group) -> Panel:
            return _panel(part, width, first, words[part["quantity"].iloc[0]], group, frame)

        yield from block(group["world"].iloc[0], parts(group, "quantity"), len(words), draw, margin=LABELS)


def _panel(
    part: pd.DataFrame, width: float, names: bool, words: Words, group: pd.DataFrame, frame: pd.DataFrame
) -> Panel:
    """One panel: the group has all rows of its line, and the frame all of the picture.

    Each place is a lane, in the middle of which stand the methods of the group.
    """
    places, legends = list(group["place"].unique()), list(group["legend"].unique())
    quantity = part["quantity"].iloc[0]
    shown = group[group["quantity"] == quantity]
    low, high = min(shown["low"].min(), words.rule), max(shown["high"].max(), words.rule)
    axis, scale = coverage_axis(low, high, width) if quantity == COVERED else plain_axis(low, high, width)
    x, left = (alt.X(f"{key}:Q", axis={"title": words.axis, **axis}, scale=scale) for key in ("value", "low"))
    edges = {"title": None, "labels": False, "ticks": False, "values": list(range(len(places) + 1))}
    y = alt.Y("row:Q", axis=edges, scale={"domain": [0, len(places)], "reverse": True, "nice": False})
    aside = (part["legend"].map(legends.index) - (len(legends) - 1) / 2) * SPREAD / len(legends)
    part = part.assign(row=part["place"].map(places.index) + 0.5 + aside)
    colour, shape, _ = method_channels(frame)
    base = alt.Chart(part[["place", "row", "low", "value", "high", "legend"]])
    line = alt.Chart(pd.DataFrame({"value": [words.rule], "label": words.label})).encode(x)
    layers = [
        base.mark_rule(strokeWidth=1.4).encode(left, alt.X2("high:Q"), y, colour),
        base.mark_point(filled=True, size=55, opacity=1).encode(x, y, colour, shape),
        line.mark_rule(color="#555555"),
        line.mark_text(baseline="bottom", fontSize=LETTER - 1, dy=-2).encode(text="label:N", y=alt.value(0)),
    ]
    if names:  # an axis does not centre labels of several lines
        rises = [-LINE / 2 * place.count("\n") for place in places]
        middles = [row + 0.5 for row in range(len(places))]
        written = alt.Chart(pd.DataFrame({"place": places, "row": middles, "rise": rises}))
        rise = {"expr": "datum.rise"}
        marks = written.mark_text(align="right", baseline="middle", lineBreak="\n", lineHeight=LINE, dy=rise)
        layers.append(marks.encode(y, text="place:N", x=alt.value(-8)))
    lane = 4 + max(9 * len(legends), LINE * (1 + max(place.count("\n") for place in places)))
    return alt.layer(*layers, title=words.title, width=width, height=lane * len(places))


def _with_places(frame: pd.DataFrame, names: "pd.Series[str]") -> pd.DataFrame:
    """The frame with `place`: the name that a row of the panel has, on as many lines as it needs."""
    return frame.assign(place=["\n".join(wrapped(name, LABELS - 10)) for name in names])
