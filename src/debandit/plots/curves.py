"""Curves over rounds and over pulls: squared errors (figures 3 and 4) and the ratios of theorems 1 and 2."""

import math
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import altair as alt
import pandas as pd

from debandit.errors import InputError
from debandit.plots.page import (
    AXIS,
    SURE,
    Panel,
    block,
    method_channels,
    parts,
    with_bars,
    wrapped,
    y_axis,
)

MEAN, MEDIAN, BAND = "mean ± 1.96 s.e.", "median", "5 % to 95 % quantile"
NAMES = 75  # width of the names of limit and bound


def squared_errors(frame: pd.DataFrame) -> Iterator[alt.HConcatChart]:
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
        panel = partial(_errors_panel, span=span, x=x, channels=method_channels(frame))
        means_first = group.sort_values(["arm", "quantity"], ascending=[True, False])
        yield from block(group["setting"].iloc[0], parts(means_first, "arm", "quantity"), 4, panel)


def _errors_panel(
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


def ratios(frame: pd.DataFrame) -> Iterator[alt.HConcatChart]:
    """A panel for each setting and arm, two in a line, all with the same vertical axis."""
    arms = ", " + frame["name"] if frame["arm"].nunique() > 1 else ""
    frame = frame.assign(title=frame["setting"] + arms)
    means = with_bars(frame[frame["quantity"] == "ratio"], SURE)
    span = (min(frame["value"].min(), means["low"].min()), max(frame["value"].max(), means["high"].max()))
    groups = parts(frame, "setting", "world", "method", "arm")
    yield from block("", groups, 2, partial(_ratios_panel, span=span), margin=AXIS + NAMES, gap=NAMES)


def _ratios_panel(part: pd.DataFrame, width: float, first: bool, span: tuple[float, float]) -> Panel:
    """The mean with its bars, the median and the band of the quantiles, and what they tend to."""
    quantities = ("ratio", "ratio_q50", "ratio_q05", "ratio_q95")
    mean, median, low, high = (part[part["quantity"] == quantity] for quantity in quantities)
    band = low.merge(high, on="at").rename(columns={"value_x": "low", "value_y": "high"}).assign(band=BAND)
    curves = pd.concat([mean.assign(line=MEAN), median.assign(line=MEDIAN)])

    x = alt.X(
        "at:Q",
        title="pulls m of each arm in exploration",
        axis={"values": sorted(part["at"].unique()), "format": ",d", "grid": False, "labelOverlap": "greedy"},
        scale={"type": "log", "nice": False, "padding": 10},
    )
    axis, scale = y_axis("ratio (no unit)", first) | {"labelFlush": 5}, {"domain": span, "nice": False, "padding": 8}
    y, bottom = (alt.Y(f"{key}:Q", axis=axis, scale=scale) for key in ("value", "low"))
    dash = alt.StrokeDash("line:N", title=None, scale={"domain": [MEAN, MEDIAN], "range": [[1, 0], [2, 2]]})
    blue = {"domain": [BAND], "range": ["#8fbfdd"]}
    fill = alt.Fill("band:N", title=None, scale=blue, legend={"symbolType": "square"})
    base = alt.Chart(with_bars(mean, SURE)[["at", "low", "value", "high"]])
    layers = [
        alt.Chart(band[["at", "low", "high", "band"]])
        .mark_area(opacity=0.55)
        .encode(x, bottom, alt.Y2("high:Q"), fill),
        *_named_rules(part, y, width),
        alt.Chart(curves[["at", "value", "line"]]).mark_line(color="black", strokeWidth=1.6).encode(x, y, dash),
        base.mark_rule(strokeWidth=1.6).encode(x, bottom, alt.Y2("high:Q")),
        base.mark_point(color="black", filled=True, size=35, opacity=1).encode(x, y),
    ]
    title = wrapped(part["title"].iloc[0], width + NAMES - 10)
    return alt.layer(*layers, title=title, width=width, height=170)


def _named_rules(part: pd.DataFrame, y: alt.Y, width: float) -> Iterator[alt.Chart]:
    """The limit and the bound. A limit is never above its bound: the names stay apart however close the lines are."""
    below: dict[str, Any] = {"baseline": "top", "dy": 1}
    above: dict[str, Any] = {"baseline": "bottom", "dy": -1}
    for quantity, side, dash in (("limit", below, [1, 0]), ("bound", above, [6, 3])):
        values = part.loc[part["quantity"] == quantity, "value"].unique()
        base = alt.Chart(pd.DataFrame({"value": values, "text": [f"{quantity} {value:.4g}" for value in values]}))
        yield base.mark_rule(color="#D55E00", strokeWidth=1.4, strokeDash=dash).encode(y)
        yield base.mark_text(align="left", dx=5, **side).encode(y, alt.Text("text:N"), x=alt.value(width))
