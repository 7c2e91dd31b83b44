"""The page that every kind of picture is drawn on: its measures, its panels, and how a method looks on it."""

import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import altair as alt
import pandas as pd

from debandit.errors import printable

Panel = alt.LayerChart | alt.FacetChart  # which alt.layer says it returns

PAGE, GAP, LETTER = 680, 20, 11  # pixels; on a page of 17 cm such letters are 8 points high
AXIS = 55  # width of what is written on a vertical axis
SURE = 1.96  # standard errors
NUMBER_HIGH, NUMBER_WIDE = 14, 24  # pixels that a number takes on an axis
KINK, BELOW = 0.9, 0.25  # coverage below which the axis is coarse, and the share of the axis that it has there
FINE = 200  # pixels that the axis needs for ticks at 0.93 and 0.97


class Look(NamedTuple):
    """How a method is drawn. Shape and dashes tell methods apart where the colour is lost."""

    legend: str
    title: str
    colour: str  # of Okabe and Ito's and of Tol's palettes, made for the colour-blind; the worlds differ in grey too
    shape: str
    dash: tuple[int, ...]


KNOWN = {
    "naive": Look("naive (sample mean)", "Sample mean", "#000000", "circle", (1, 0)),
    "gaussian": Look("MB (gaussian)", "MB-corrected mean", "#0072B2", "square", (7, 3)),
    "efron": Look("EB (efron)", "EB-corrected mean", "#D55E00", "triangle-up", (2, 2)),
    "smoothed": Look("smoothed", "Corrected mean, smoothed world", "#882255", "cross", (9, 2, 2, 2, 2, 2)),
    "jeffreys": Look("jeffreys", "Corrected mean, jeffreys world", "#88CCEE", "triangle-right", (14, 4)),
    "auto": Look("auto (default world)", "Corrected mean, default world", "#E69F00", "triangle-left", (5, 5)),
    "ipw": Look("IPW", "IPW", "#009E73", "diamond", (12, 3, 2, 3)),
    "aipw": Look("AIPW", "AIPW", "#CC79A7", "triangle-down", (4, 2)),
}
# beside the sample mean, the default world, the paper's MB, IPW and AIPW, where our studies have them, their colours
# differ; beside the other worlds shapes and dashes do
RIVALS = {
    "quoted": Look("quoted", "Quoted mean", "#D55E00", "triangle-right", (1, 3)),
    "aw_aipw": Look("AW-AIPW, constant", "AW-AIPW, constant", "#332288", "cross", (3, 6)),
    "aw_aipw_two_point": Look("AW-AIPW, two-point", "AW-AIPW, two-point", "#DDCC77", "triangle-up", (2, 2, 6, 2)),
}
# what others are called, where their name says too little; they take the looks that are left
NAMES = {
    "w_decorrelation": "W-decorrelation",
    "batch_weighted": "batch-weighted",
    "confidence_sequence": "confidence sequence",
    "rao_blackwell": "Rao-Blackwell",
    "naive_difference": "naive, minus arm 1 (Welch)",
    "batched_ols": "batched OLS, minus arm 1",
    "batch_weighted_difference": "batch-weighted, minus arm 1",
}
# intervals, and arms where these are told apart: never beside the methods above, and so they may look like them
OTHERS = {
    "debandit": Look("debandit", "debandit", "#0072B2", "circle", (1, 0)),
    "the textbook": Look("the textbook", "The textbook", "#777777", "cross", (7, 3)),
    "wald": Look("wald", "Wald", "#000000", "circle", (1, 0)),
    "moderated-t": Look("plain t (moderated-t)", "Plain t", "#0072B2", "square", (7, 3)),
    "pooled-t": Look("pooled-t", "Pooled t", "#D55E00", "triangle-up", (2, 2)),
    "two-part": Look("two-part", "Two-part", "#009E73", "diamond", (12, 3, 2, 3)),
    "binary": Look("binary", "Binary", "#CC79A7", "triangle-down", (4, 2)),
    "arm 1": Look("arm 1", "Arm 1", "#000000", "circle", (1, 0)),
    "arm 2": Look("arm 2", "Arm 2", "#0072B2", "square", (7, 3)),
    "arm 3": Look("arm 3", "Arm 3", "#D55E00", "triangle-up", (2, 2)),
}
# of coprime numbers, so that many methods are needed before two look the same
SPARE_COLOURS = ("#999933", "#777777", "#661100")
HOURGLASS, BOW, STAR = "M-1,-1H1L-1,1H1Z", "M-1,-1V1L1,-1V1Z", "M0,-1.2L.3,-.3L1.2,0L.3,.3L0,1.2L-.3,.3L-1.2,0L-.3,-.3Z"
SPARE_SHAPES = (HOURGLASS, STAR, BOW, "arrow")
SPARE_DASHES = ((10, 8), (1, 6), (8, 2, 1, 2), (4, 6), (6, 1))

CONFIG: Any = {
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "axis": {
        "labelFontSize": LETTER,
        "titleFontSize": LETTER,
        "titleFontWeight": "normal",
        "gridColor": "#e6e6e6",
        "labelSeparation": 4,
        "labelBound": GAP / 2,  # or the numbers of neighbours could meet
    },
    "legend": {"labelFontSize": LETTER, "labelLimit": PAGE - 40, "orient": "top", "symbolSize": 90},
    "title": {"anchor": "start", "frame": "group", "fontSize": LETTER, "subtitleFontSize": LETTER},
    "view": {"stroke": "#bbbbbb"},
    "text": {"fontSize": LETTER},
}


def page(lines: Iterable[alt.HConcatChart], title: str, *texts: str, legends: str = "shared") -> alt.VConcatChart:
    """Lines of panels below each other, with one legend, or with `independent` ones for each line."""
    heading = {
        "text": wrapped(title, PAGE, 16),
        "subtitle": [line for text in texts for line in wrapped(text, PAGE)],
        "fontSize": 16,
        "subtitlePadding": 6,
        "offset": 16,
        "frame": "bounds",
    }
    shared: Any = {"scale": dict.fromkeys(("color", "shape", "strokeDash", "fill", "size"), legends)}
    # all at once, because every method of a chart copies all of it
    return alt.vconcat(
        *lines,
        title=heading if title else alt.Undefined,
        background="white",
        padding=10,
        spacing=GAP,
        config=CONFIG,
        resolve=shared,
    )


def block(
    heading: str,
    groups: Sequence[pd.DataFrame],
    columns: int,
    panel: Callable[[pd.DataFrame, float, bool], Panel],
    margin: int = AXIS,
    gap: int = GAP,
    page: float = PAGE,
) -> Iterator[alt.HConcatChart]:
    """Lines of panels under a heading, as wide as the page. What stands to the left of a line takes the margin.

    A panel is drawn from its rows, its width and whether it is the first of its line.
    """
    columns = min(len(groups), columns)
    width = (page - margin - gap * (columns - 1)) / columns
    title: Any = {"text": wrapped(heading, page, 13), "fontSize": 13, "offset": 8, "dx": -margin}
    for start in range(0, len(groups), columns):
        panels = [panel(group, width, i == 0) for i, group in enumerate(groups[start : start + columns])]
        above = title if heading and start == 0 else alt.Undefined
        yield alt.hconcat(*panels, spacing=gap, bounds="flush", title=above)


def y_axis(title: str, first: bool) -> dict[str, Any]:
    """Only the first panel of a line writes on its axis."""
    return {"title": title, "minExtent": 38} if first else {"title": None, "labels": False, "ticks": False}


def plain_axis(low: float, high: float, length: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Axis and scale from the lowest to the highest value."""
    return {"tickCount": int(length / 50)}, {"domain": [low, high], "padding": 8, "nice": False}


def coverage_axis(
    low: float, high: float, length: float, *, upward: bool = False
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Axis and scale of shares that should be 0.95, on which 0.93 and 0.97 are told apart whatever else there is.

    What lies below 0.9 takes a part of the axis, without being left out.
    """
    low, high = min(low, 0.93) - 0.005, min(max(high, 0.97) + 0.005, 1.0)
    fine = (0.9, 0.93, 0.95, 0.97, 1.0) if upward or length > FINE else (0.9, 0.95, 1.0)
    ticks = [tick for tick in fine if low <= tick <= high]
    if low >= KINK:
        return {"values": ticks, "format": ".2~f"}, {"domain": [low, high], "nice": False, "zero": False}
    apart = (NUMBER_HIGH if upward else NUMBER_WIDE) / (BELOW * length) * (KINK - low)
    for tick in (tenths / 10 for tenths in range(8, -1, -1)):
        if low <= tick <= ticks[0] - apart:
            ticks = [tick, *ticks]
    places = [0.0, BELOW * length, length]
    range_ = [length - place for place in places] if upward else places
    scale = {"domain": [low, KINK, high], "range": range_, "nice": False, "zero": False}
    return {"values": ticks, "format": ".2~f", "labelOverlap": False}, scale


def parts(frame: pd.DataFrame, *keys: str) -> list[pd.DataFrame]:
    """The rows that agree in the keys, in the order of the rows."""
    return [part for _, part in frame.groupby(list(keys), sort=False)]


def with_bars(frame: pd.DataFrame, times: float) -> pd.DataFrame:
    """The frame with `low` and `high`, this many standard errors to each side."""
    half = times * frame["se"].fillna(0)
    return frame.assign(low=frame["value"] - half, high=frame["value"] + half)


def looks(methods: Iterable[str]) -> dict[str, Look]:
    """Known methods look the same in every picture; others go by their own name and take what is left."""
    more = RIVALS | OTHERS
    others = [method for method in dict.fromkeys(methods) if method not in KNOWN]
    known = KNOWN | {method: more[method] for method in others if method in more}
    unknown = [method for method in others if method not in known]
    spare = zip(cycle(SPARE_COLOURS), cycle(SPARE_SHAPES), cycle(SPARE_DASHES), strict=False)
    return known | {
        m: Look(NAMES.get(m, m), f"corrected mean, {m}", *rest) for m, rest in zip(unknown, spare, strict=False)
    }


def method_channels(frame: pd.DataFrame) -> tuple[alt.Color, alt.Shape, alt.StrokeDash]:
    """Colour, shape and dashes of all methods of the picture, so that its panels share one legend."""
    seen = looks(frame["method"])
    names, _, colours, shapes, dashes = zip(*(seen[method] for method in frame["method"].unique()), strict=True)
    widths, room = [pixels(name) + 35 for name in names], 0.7 * PAGE  # it begins where the panels do
    columns = len(names) if sum(widths) < room else max(1, int(room / max(widths)))
    legend = {"columns": columns, "symbolStrokeWidth": 0}  # the dashes of the line would fray its symbol
    return (
        alt.Color("legend:N", title=None, scale={"domain": names, "range": colours}, legend=legend),
        alt.Shape("legend:N", title=None, scale={"domain": names, "range": shapes}, legend=legend),
        alt.StrokeDash("legend:N", title=None, scale={"domain": names, "range": dashes}, legend=None),
    )


def wrapped(text: str, width: float, size: int = LETTER) -> list[str]:
    """The text in lines of at most about this many pixels. Breaks that it has are kept."""
    lines: list[str] = []
    for line in map(printable, text.splitlines()):
        letters = int(width * len(line) / max(pixels(line, size), 1))
        lines.extend(textwrap.wrap(line, max(letters, 8)))
    return lines


def pixels(text: str, size: int = LETTER) -> float:
    """About how wide the text is: East Asian letters are square, others half as wide as high."""
    return size * sum(1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.5 for letter in text)
