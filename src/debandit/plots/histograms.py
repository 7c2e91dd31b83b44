"""Figures 1 and 2: how the estimates are distributed."""

from collections.abc import Iterator
from functools import partial
from itertools import cycle, islice

import altair as alt
import pandas as pd

from debandit.errors import InputError
from debandit.plots.page import LETTER, Panel, block, looks, parts, wrapped, y_axis

TRUTH, AVERAGE = "true mean", "average of the estimates"
# the first four are at equal distances in grey: light, dark, middle, black
COLOURS = ("#EDB120", "#0072B2", "#C5609A", "#111111", "#009E73", "#56B4E9", "#D55E00", "#999999")
NAME = 32  # pixels for "arm 1" and a space


def histograms(frame: pd.DataFrame) -> Iterator[alt.HConcatChart]:
    """A block for each setting, in it a panel for each method."""
    names = [f"arm {arm}" for arm in sorted(frame["arm"].unique())]
    colours = {"domain": names, "range": list(islice(cycle(COLOURS), len(names)))}
    colour = alt.Color("name:N", title=None, scale=colours, legend={"symbolType": "square", "columns": 6})
    for group in parts(frame, "label", "world"):
        label, shares = group["label"].iloc[0], group[group["quantity"] == "share"]
        starts = sorted(shares["at"].unique())
        if len(starts) < 2:
            raise InputError("a histogram needs two bins or more", where=label, remedy="Run the study with more bins.")
        end = starts[-1] + (starts[-1] - starts[0]) / (len(starts) - 1)
        panel = partial(_panel, span=(starts[0], end), top=105 * shares["value"].max(), colour=colour)
        yield from block(label, parts(group, "method"), 3, panel)


def _panel(
    part: pd.DataFrame, width: float, first: bool, span: tuple[float, float], top: float, colour: alt.Color
) -> Panel:
    """Each arm's histogram filled and outlined, its truth and its average as lines, its name above its truth."""
    shares = part[part["quantity"] == "share"].assign(percent=lambda bars: 100 * bars["value"])
    down = shares.drop_duplicates("arm").assign(at=span[1], percent=0.0)  # a step begins where a bin begins
    truths = part.drop_duplicates("arm").assign(line=TRUTH, place=lambda arms: arms["truth"])
    averages = part[part["quantity"] == "mean"].assign(line=AVERAGE, place=lambda means: means["value"])
    rules = pd.concat([truths, averages])

    axis = {"title": "estimate (units of the rewards)", "tickCount": int(width / 45)}
    x, place = (alt.X(f"{key}:Q", axis=axis, scale={"domain": span, "nice": False}) for key in ("at", "place"))
    y = alt.Y("percent:Q", axis=y_axis("experiments (%)", first), scale={"domain": [0, top]}, stack=None)
    dash = alt.StrokeDash("line:N", title=None, scale={"domain": [TRUTH, AVERAGE], "range": [[1, 0], [4, 3]]})
    layers = [
        alt.Chart(pd.concat([shares, down])[["at", "percent", "name"]])
        .mark_area(interpolate="step-after", fillOpacity=0.45, line={"strokeWidth": 1.2})
        .encode(x, y, colour),
        alt.Chart(rules[["place", "line", "name"]]).mark_rule(clip=True, strokeWidth=2).encode(place, colour, dash),
        alt.Chart(_names(truths[truths["truth"].between(*span)], width / (span[1] - span[0])))
        .mark_text(baseline="bottom", dy=-2, fontSize=LETTER - 1)
        .encode(place, alt.Text("names:N"), y=alt.value(0)),
    ]
    method = part["method"].iloc[0]
    outside = wrapped(_outside(shares, averages[~averages["value"].between(*span)]), width)
    title = {"text": wrapped(looks([method])[method].title, width), "subtitle": outside or alt.Undefined, "offset": 4}
    return alt.layer(*layers, title=title, width=width, height=150)


def _names(truths: pd.DataFrame, scale: float) -> pd.DataFrame:
    """What to write above the true means; arms with the same mean share a place."""
    arms = truths.sort_values("arm").groupby("truth")["arm"].agg(lambda equal: ", ".join(map(str, equal)))
    places = arms.index.to_series()
    return pd.DataFrame({"place": places, "names": ("" if places.diff().min() * scale < NAME else "arm ") + arms})


def _outside(shares: pd.DataFrame, away: pd.DataFrame) -> str:
    """What the panel does not show."""
    missing = 1 - shares.groupby("name", sort=False)["value"].sum()
    items = [f"{name} {100 * share:.1f}\N{NO-BREAK SPACE}%" for name, share in missing.items() if share > 0.0005]
    items += [f"{name} on average {value:.3g}" for name, value in zip(away["name"], away["value"], strict=True)]
    return f"outside: {', '.join(items)}" if items else ""
