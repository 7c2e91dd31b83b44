"""Anybody's study: the bias of every method, arm by arm."""

from collections.abc import Iterator
from functools import partial

import altair as alt
import pandas as pd

from debandit.errors import shorten
from debandit.plots.dots import LABELS, Words, panel, with_places
from debandit.plots.page import SURE, Panel, block, parts, with_bars


def lines(frame: pd.DataFrame) -> Iterator[alt.HConcatChart]:
    """A block for each kind of world, whose biases are of a size; in it a panel for each arm."""
    frame = with_bars(frame.assign(family=frame["world"].str.partition("(")[0]), SURE)
    worlds = frame.groupby(["family", "label"])["world"].transform("nunique")
    frame = with_places(frame, frame["label"].where(worlds == 1, frame["label"] + ", " + frame["world"]))
    for group in parts(frame, "family"):
        single = group["world"].unique()
        heading = shorten(single[0], 110) if len(single) == 1 else f"{group['family'].iloc[0]} worlds"
        arms = parts(group.sort_values("arm", kind="stable"), "arm")
        yield from block(heading, arms, 4, partial(_panel, group=group, frame=frame), margin=LABELS)


def _panel(part: pd.DataFrame, width: float, first: bool, group: pd.DataFrame, frame: pd.DataFrame) -> Panel:
    return panel(part, width, first, Words(part["name"].iloc[0], "bias", 0.0), group, frame)
