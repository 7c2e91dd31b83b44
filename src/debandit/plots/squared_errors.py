"""Figures 3 and 4: squared errors over the number of rounds."""

import math
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import altair as alt
import pandas as pd

from debandit.errors import InputError
from debandit.plots.page import Panel, block, method_channels, parts, with_bars, y_axis


def lines(frame: pd.DataFrame) -> Iterator[alt.HConcatChart]:
    """A block for each setting, in it each arm's mean and median squared error."""
    frame = frame[frame["value"] > 0]
    if frame.empty:
        raise InputError("every squared error is 0, for which a logarithmic axis has no place")
    legends, horizons = list(frame["legend"].unique()), sorted(map(int, frame["horizon"].unique()))
    gaps = [(after - before) / 2 / len(legends) for before, after in pairwise(horizons)]
    step = min([0.03 * (horizons[-1] - horizons[0] or 1), *gaps])
    aside = step * (frame["legend"].map(legends.index) - (len(legends) - 1) / 2)
    frame = with_bars(frame.assign(beside=frame["horizon"] + aside), 1)
    x = alt.X(
        "beside:Q",
        axis={"title": "rounds T", "values": horizons, "format": ",d", "grid": False},
        scale={"domain": [frame["beside"].min(), frame["beside"].max()], "padding": 8, "nice": False},
    )
    for group in parts(frame, "setting", "world"):
        span = (group["value"].min() / 1.5, group["high"].max() * 1.3)
        group = group.assign(low=group["low"].clip(lower=span[0]))
        panel = partial(_panel, span=span, x=x, channels=method_channels(frame))
        means_first = group.sort_values(["arm", "quantity"], ascending=[True, False])
        yield from block(group["setting"].iloc[0], parts(means_first, "arm", "quantity"), 4, panel)


def _panel(
    part: pd.DataFrame,
    width: float,
    first: bool,
    span: tuple[float, float],
    x: alt.X,
    channels: tuple[alt.Color, alt.Shape, alt.StrokeDash],
) -> Panel:
    axis = y_axis("squared error", first) | {"labelFlush": 5, "values": log_ticks(*span), "format": "~g"}
    scale = {"type": "log", "domain": span, "nice": False}
    y, low = (alt.Y(f"{key}:Q", axis=axis, scale=scale) for key in ("value", "low"))
    colour, shape, dash = channels
    base = alt.Chart(part[["beside", "low", "value", "high", "legend"]])
    layers = [
        base.mark_rule().encode(x, low, alt.Y2("high:Q"), colour),
        base.mark_line(strokeWidth=1.6).encode(x, y, colour, dash),
        base.mark_point(filled=True, size=45, opacity=1).encode(x, y, colour, shape),
    ]
    what = "mean" if part["quantity"].iloc[0] == "mse" else "median"
    return alt.layer(*layers, title=f"{part['name'].iloc[0]}, {what}", width=width, height=130)


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten, or finer where there are too few of them."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7)):
        ticks = [float(f"{step}e{power}") for power in powers for step in steps]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) >= 3:
            break
    return inside
