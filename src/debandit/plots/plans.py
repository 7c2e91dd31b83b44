"""Plans side by side: a panel for each thing to expect, a point for each rule and horizon."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import cycle, islice
from typing import Any

import altair as alt
import pandas as pd

from debandit.errors import printable, shorten, with_few_sizes
from debandit.plots.histograms import COLOURS
from debandit.plots.page import SURE, Panel, block, with_bars
from debandit.tables import Row

SHOWN = {"regret": "regret", "winner": "right winner", "power": "power", "width": "width of the widest interval"}
SHARES = ("winner", "power")


def panels(rows: Sequence[Row]) -> Iterator[alt.HConcatChart]:
    """Two panels in a line."""
    frame = pd.DataFrame(rows)
    names = {rule: printable(shorten(with_few_sizes(rule), 60)) for rule in frame["rule"].unique()}
    frame = frame.assign(name=frame["rule"].map(names))
    widest = frame.sort_values("width").groupby(["name", "horizon"], sort=False).tail(1)
    scale = {"domain": list(names.values()), "range": list(islice(cycle(COLOURS), len(names)))}
    colour = alt.Color("name:N", title=None, scale=scale, legend={"symbolType": "square", "columns": 1})
    groups = [
        widest.assign(value=widest[key], se=widest[f"{key}_se"], what=key)[["name", "horizon", "value", "se", "what"]]
        for key in SHOWN
    ]
    yield from block("", groups, 2, partial(_panel, colour=colour), gap=75)


def _panel(part: pd.DataFrame, width: float, _: bool, colour: alt.Color) -> Panel:
    what = part["what"].iloc[0]
    shown = {"format": "~%"} if what in SHARES else {}
    scale: Any = {"domain": [0, 1]} if what in SHARES else {"zero": True}
    rounds = sorted(part["horizon"].unique().tolist())
    x = alt.X("horizon:O", axis={"title": "rounds", "labelAngle": 0, "format": ",d"}, sort=rounds)
    y, low = (
        alt.Y(f"{key}:Q", axis={"title": SHOWN[what], "minExtent": 38, **shown}, scale=scale)
        for key in ("value", "low")
    )
    aside, base = alt.XOffset("name:N"), alt.Chart(with_bars(part, SURE))
    layers = [
        base.mark_rule(strokeWidth=2, clip=True).encode(x, low, alt.Y2("high:Q"), aside, colour),
        base.mark_point(filled=True, size=80, opacity=1).encode(x, y, aside, colour),
    ]
    return alt.layer(*layers, width=width, height=170)
