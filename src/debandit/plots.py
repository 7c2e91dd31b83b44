"""Pictures of a study's rows: the figures of the paper, and a default picture of anybody's study."""

import math
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from debandit.errors import InputError, listed, printable, shorten
from debandit.files import write_whole
from debandit.tables import Row

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    Panel = alt.LayerChart | alt.FacetChart  # which alt.layer says it returns

PAGE, GAP, LETTER = 680, 20, 11  # pixels; on a page of 17 cm such letters are 8 points high
LABELS, LINE = 185, 13  # width and height of the names of settings
SURE = 1.96  # standard errors
TRUTH, AVERAGE = "true mean", "average of the estimates"
SHARED = {"scale": dict.fromkeys(("color", "shape", "strokeDash", "fill"), "shared")}
MEAN, MEDIAN, BAND = "mean ± 1.96 s.e.", "median", "5 % to 95 % quantile"


class Look(NamedTuple):
    """How a method is drawn. Shape and dashes tell methods apart where the colour is lost."""

    legend: str
    title: str
    colour: str  # Okabe and Ito's palette, made for the colour-blind
    shape: str
    dash: tuple[int, ...]


KNOWN = {
    "naive": Look("naive (sample mean)", "Sample mean", "#000000", "circle", (1, 0)),
    "gaussian": Look("MB (gaussian)", "MB-corrected mean", "#0072B2", "square", (7, 3)),
    "efron": Look("EB (efron)", "EB-corrected mean", "#D55E00", "triangle-up", (2, 2)),
    "ipw": Look("IPW", "IPW", "#009E73", "diamond", (12, 3, 2, 3)),
    "aipw": Look("AIPW", "AIPW", "#CC79A7", "triangle-down", (4, 2)),
}
# of coprime numbers, so that many methods are needed before two look the same
SPARE_COLOURS = ("#E69F00", "#56B4E9", "#777777")
SPARE_SHAPES = ("cross", "triangle-right", "triangle-left", "arrow")
SPARE_DASHES = ((9, 2, 2, 2, 2, 2), (1, 3), (14, 4), (5, 5), (3, 6))
# the first four are at equal distances in grey: light, dark, middle, black
ARM_COLOURS = ("#EDB120", "#0072B2", "#C5609A", "#111111", "#009E73", "#56B4E9", "#D55E00", "#999999")


class Block(NamedTuple):
    """Panels that belong together, in lines, under one heading; what stands to their left takes the margin."""

    heading: str
    lines: list[list["Panel"]]
    margin: int
    gap: int = GAP


class Kind(NamedTuple):
    """A kind of picture: how it is drawn, which quantities it cannot do without, what else it shows, its caption."""

    blocks: Callable[["pd.DataFrame"], Iterator[Block]]
    needs: tuple[str, ...]
    shows: tuple[str, ...]
    caption: str


def draw(rows: Sequence[Row], kind: str, title: str, note: str = "") -> "alt.VConcatChart":
    """One picture, as wide as a page; `note` comes under the title, before the caption of the kind."""
    if kind not in KINDS:
        raise InputError(f"there is no kind of picture {shorten(kind)!r}", remedy=f"The kinds are: {', '.join(KINDS)}.")
    _check_installed()
    import altair as alt

    blocks = [_stacked(block) for block in KINDS[kind].blocks(_frame(rows, kind))]
    text = [line for part in (note, KINDS[kind].caption) for line in _wrapped(part, PAGE)]
    heading = alt.TitleParams(
        _wrapped(title, PAGE, 16),
        subtitle=text,
        fontSize=16,
        subtitleFontSize=LETTER,
        subtitlePadding=6,
        offset=16,
        frame="bounds",
    )
    # all at once, because every method of a chart copies all of it
    return alt.vconcat(
        *blocks, title=heading, background="white", padding=10, spacing=20, config=_config(), resolve=SHARED
    )


def save(chart: "alt.TopLevelMixin", stem: str | Path) -> list[Path]:
    """Write stem.svg, stem.png and stem.pdf, each whole or not at all."""
    import altair as alt
    import vl_convert

    spec = chart.to_dict()  # once, as it takes longer than the drawing; chart.save would do it for each format
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    contents: dict[str, str | bytes] = {
        "svg": vl_convert.vegalite_to_svg(spec, vl_version=version),
        "png": vl_convert.vegalite_to_png(spec, vl_version=version, scale=2),
        "pdf": vl_convert.vegalite_to_pdf(spec, vl_version=version),
    }
    paths = {ending: Path(f"{stem}.{ending}") for ending in contents}  # with_suffix would cut the end off "gap-0.5"
    for ending, content in contents.items():
        write_whole(paths[ending], content)
    return list(paths.values())


# figures 1 and 2


def _histograms(frame: "pd.DataFrame") -> Iterator[Block]:
    """A block for each setting, in it a panel for each method."""
    names = [f"arm {arm}" for arm in sorted(frame["arm"].unique())]
    several = frame["horizon"].nunique() > 1
    for (setting, _, horizon), group in _groups(frame, "setting", "world", "horizon"):
        bars = _bars(group, setting)
        methods = list(dict.fromkeys(bars["method"]))
        columns = min(len(methods), 3)
        space = _Space(bars["at"].min(), bars["end"].max(), bars["percent"].max(), _width(columns, margin=50))
        panels = [
            _histogram(bars[bars["method"] == method], group[group["method"] == method], names, space, i % columns == 0)
            for i, method in enumerate(methods)
        ]
        yield Block(_heading(setting, horizon, several), _lines(panels, columns), margin=50)


class _Space(NamedTuple):
    """What the histograms of a setting have in common."""

    low: float
    high: float
    top: float
    width: float


def _bars(group: "pd.DataFrame", setting: str) -> "pd.DataFrame":
    bars = group[group["quantity"] == "share"].sort_values(["arm", "at"], kind="stable")
    begins = bars.groupby(["method", "arm"])["at"].agg(["min", "max", "count"])
    if (begins["count"] < 2).any():
        raise InputError("a histogram has a single bin", where=setting, remedy="Run the study with more bins.")
    width = ((begins["max"] - begins["min"]) / (begins["count"] - 1)).iloc[0]
    return bars.assign(end=bars["at"] + width, percent=100 * bars["value"])


def _histogram(bars: "pd.DataFrame", group: "pd.DataFrame", names: list[str], space: _Space, first: bool) -> "Panel":
    """Each arm's histogram filled and outlined, its truth and its average as lines, its name above its truth."""
    import altair as alt
    import pandas as pd

    ends = bars.groupby("arm").tail(1)  # a step begins where a bin begins; after the last it must come down
    steps = pd.concat([bars, ends.assign(at=ends["end"], percent=0.0)])
    truths = group.drop_duplicates("arm").assign(line=TRUTH, place=lambda part: part["truth"])
    averages = group[group["quantity"] == "mean"].assign(line=AVERAGE, place=lambda part: part["value"])
    lines = pd.concat([truths, averages]).dropna(subset="place")

    scale = alt.Scale(domain=[space.low, space.high], nice=False, zero=False)
    axis = alt.Axis(title="estimate (units of the rewards)", tickCount=int(space.width / 45), labelFlush=False)
    x, place = (alt.X(f"{key}:Q", axis=axis, scale=scale) for key in ("at", "place"))
    y = alt.Y(
        "percent:Q", axis=_y_axis("experiments (%)", first), scale=alt.Scale(domain=[0, 1.05 * space.top]), stack=None
    )
    square = alt.Legend(symbolType="square")
    colour = alt.Color(
        "name:N",
        title=None,
        scale=alt.Scale(domain=names, range=list(islice(cycle(ARM_COLOURS), len(names)))),
        legend=square,
    )
    dash = alt.StrokeDash("line:N", title=None, scale=alt.Scale(domain=[TRUTH, AVERAGE], range=[[1, 0], [4, 3]]))
    layers = [
        alt.Chart(_data(steps, "at", "percent", "name"))
        .mark_area(interpolate="step-after", fillOpacity=0.45, line={"strokeWidth": 1.2})
        .encode(x, y, colour),
        alt.Chart(_data(lines, "place", "line", "name"))
        .mark_rule(clip=True, strokeWidth=2)
        .encode(place, colour, dash),
        alt.Chart(_data(_names_at(truths, space), "place", "names"))
        .mark_text(baseline="bottom", dy=-2, fontSize=LETTER - 1)
        .encode(place, alt.Text("names:N"), y=alt.value(0)),
    ]
    method = group["method"].iloc[0]
    title = alt.TitleParams(
        _wrapped(_looks([method])[method].title, space.width),
        subtitle=_wrapped(_outside(bars, averages, space), space.width) or alt.Undefined,
        offset=4,
    )
    return alt.layer(*layers, title=title, width=space.width, height=150)


def _names_at(truths: "pd.DataFrame", space: _Space) -> "pd.DataFrame":
    """The names to write above the true means; arms with the same mean share a place."""
    seen = truths[truths["truth"].between(space.low, space.high)].sort_values("arm")
    names = seen.groupby("truth")["arm"].agg(lambda arms: ", ".join(map(str, arms))).reset_index()
    gap = names["truth"].diff().min() * space.width / (space.high - space.low)
    prefix = "" if gap < 40 else "arm "
    return names.assign(place=names["truth"], names=prefix + names["arm"])


def _outside(bars: "pd.DataFrame", averages: "pd.DataFrame", space: _Space) -> str:
    """What the panel does not show."""
    missing = 1 - bars.groupby("name", sort=False)["value"].sum()
    parts = [f"{name} {100 * share:.1f}\N{NO-BREAK SPACE}%" for name, share in missing.items() if share > 0.0005]
    away = averages[~averages["value"].between(space.low, space.high)]
    means = [f"{name} on average {value:.3g}" for name, value in zip(away["name"], away["value"], strict=True)]
    return "outside: " + ", ".join(parts + means) if parts or means else ""


# figures 3 and 4


def _squared_errors(frame: "pd.DataFrame") -> Iterator[Block]:
    """A block for each setting, in it each arm's mean and median squared error."""
    frame = frame[frame["value"] > 0]
    if frame.empty:
        raise InputError(
            "every squared error is 0, which has no place on a logarithmic axis",
            where="picture of squared errors",
            remedy="Draw the biases.",
        )
    for (setting, _), group in _groups(frame, "setting", "world"):
        parts = [part for _, part in group.sort_values(["arm", "order"]).groupby(["arm", "order"])]
        columns = min(len(parts), 4)
        low, high = group["value"].min() / 1.5, (group["value"] + group["se"].fillna(0)).max() * 1.3
        panels = [
            _error_curves(part, frame, (low, high), _width(columns, margin=55), first=i % columns == 0)
            for i, part in enumerate(parts)
        ]
        yield Block(setting, _lines(panels, columns), margin=55)


def _error_curves(
    part: "pd.DataFrame", frame: "pd.DataFrame", span: tuple[float, float], width: float, first: bool
) -> "Panel":
    import altair as alt

    horizons = sorted(int(horizon) for horizon in frame["horizon"].unique())
    legends = list(dict.fromkeys(frame["legend"]))
    step = (horizons[-1] - horizons[0] or 1) * 0.018
    beside = [step * (legends.index(legend) - (len(legends) - 1) / 2) for legend in part["legend"]]
    part = part.assign(beside=part["horizon"] + beside)
    known = part[part["se"] > 0]
    bars = known.assign(low=(known["value"] - known["se"]).clip(lower=span[0]), high=known["value"] + known["se"])
    pad = step * (len(legends) / 2 + 2.5)
    x = alt.X(
        "beside:Q",
        title="rounds T",
        axis=alt.Axis(values=horizons, format=",d", grid=False),
        scale=alt.Scale(domain=[horizons[0] - pad, horizons[-1] + pad], nice=False, zero=False),
    )
    axis = _y_axis("squared error", first, values=_log_ticks(*span), format="~g")
    scale = alt.Scale(type="log", domain=list(span), nice=False)
    y, low = (alt.Y(f"{key}:Q", axis=axis, scale=scale) for key in ("value", "low"))
    colour, shape, dash = _method_channels(frame)
    base = alt.Chart(_data(part, "beside", "horizon", "value", "legend"))
    layers = [
        alt.Chart(_data(bars, "beside", "low", "high", "legend")).mark_rule().encode(x, low, alt.Y2("high:Q"), colour),
        base.mark_line(strokeWidth=1.6).encode(x, y, colour, dash),
        base.mark_point(filled=True, size=45, opacity=1).encode(x, y, colour, shape),
    ]
    what = "mean ± s.e." if part["quantity"].iloc[0] == "mse" else "median"
    return alt.layer(*layers, title=f"{part['name'].iloc[0]}, {what}", width=width, height=170)


def _log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten, or finer where there are too few of them."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7)):
        ticks = [float(f"{step}e{power}") for power in powers for step in steps]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) >= 3:
            break
    return inside


# theorems 1 and 2


def _ratios(frame: "pd.DataFrame") -> Iterator[Block]:
    """A panel for each setting and arm, two in a line."""
    several = frame["arm"].nunique() > 1
    panels = []
    for (setting, _, _, arm), group in _groups(frame, "setting", "world", "method", "arm"):
        if (group["quantity"] == "ratio").any():
            panels.append(_ratio(group, f"{setting}, arm {arm}" if several else setting))
    yield Block("", _lines(panels, 2), margin=50, gap=125)


def _ratio(group: "pd.DataFrame", heading: str) -> "Panel":
    import altair as alt
    import pandas as pd

    width = (PAGE - 250) / 2
    of = {quantity: part.sort_values("at") for quantity, part in group.groupby("quantity")}
    mean, median = of["ratio"], of.get("ratio_q50", group[:0])
    bars = mean[mean["se"] > 0]
    bars = bars.assign(low=bars["value"] - SURE * bars["se"], high=bars["value"] + SURE * bars["se"])
    band = of.get("ratio_q05", group[:0]).merge(of.get("ratio_q95", group[:0]), on="at").assign(band=BAND)
    band = band.rename(columns={"value_x": "low", "value_y": "high"})
    curves = pd.concat([mean.assign(line=MEAN), median.assign(line=MEDIAN)])
    lines = list(dict.fromkeys(curves["line"]))

    x = alt.X(
        "at:Q",
        title="pulls m of each arm in exploration",
        axis=alt.Axis(
            values=sorted(mean["at"].unique()), format=",d", grid=False, labelOverlap="greedy", labelSeparation=6
        ),
        scale=alt.Scale(type="log", nice=False, padding=10),
    )
    axis, scale = alt.Axis(title="ratio (no unit)", minExtent=34), alt.Scale(zero=False, nice=False, padding=8)
    y, low = (alt.Y(f"{key}:Q", axis=axis, scale=scale) for key in ("value", "low"))
    dash = alt.StrokeDash("line:N", title=None, scale=alt.Scale(domain=lines, range=[[1, 0], [2, 2]][: len(lines)]))
    fill = alt.Fill(
        "band:N", title=None, scale=alt.Scale(domain=[BAND], range=["#8fbfdd"]), legend=alt.Legend(symbolType="square")
    )
    shade = alt.Chart(_data(band, "at", "low", "high", "band")).mark_area(opacity=0.55)
    layers = [
        *([shade.encode(x, low, alt.Y2("high:Q"), fill)] if len(band) else []),
        *_named_rules(group, y, width),
        alt.Chart(_data(curves, "at", "value", "line")).mark_line(color="black", strokeWidth=1.6).encode(x, y, dash),
        alt.Chart(_data(bars, "at", "low", "high")).mark_rule(strokeWidth=1.6).encode(x, low, alt.Y2("high:Q")),
        alt.Chart(_data(mean, "at", "value")).mark_point(color="black", filled=True, size=35, opacity=1).encode(x, y),
    ]
    return alt.layer(*layers, title=alt.TitleParams(_wrapped(heading, width + 60)), width=width, height=170)


def _named_rules(group: "pd.DataFrame", y: "alt.Y", width: float) -> Iterator["alt.Chart"]:
    """The limit and the bound. A limit is never above its bound: the names stay apart however close the lines are."""
    import altair as alt

    below: dict[str, Any] = {"baseline": "top", "dy": 1}
    above: dict[str, Any] = {"baseline": "bottom", "dy": -1}
    for quantity, side, dash in (("limit", below, [1, 0]), ("bound", above, [6, 3])):
        rules = group[group["quantity"] == quantity].drop_duplicates("value")
        base = alt.Chart(
            _data(rules.assign(text=[f"{quantity} {value:.4g}" for value in rules["value"]]), "value", "text")
        )
        yield base.mark_rule(color="#D55E00", strokeWidth=1.4, strokeDash=dash).encode(y)
        yield base.mark_text(align="left", dx=5, **side).encode(y, alt.Text("text:N"), x=alt.value(width))


# anybody's study


def _biases(frame: "pd.DataFrame") -> Iterator[Block]:
    """A block for each kind of world and number of arms, whose biases are of a size; in it a panel for each arm."""
    several = frame["horizon"].nunique() > 1
    arms = frame.groupby(["setting", "world", "horizon"])["arm"].transform("max")
    frame = frame.assign(family=frame["world"].str.partition("(")[0], arms=arms)
    worlds = frame.groupby(["family", "arms", "setting", "horizon"])["world"].transform("nunique")
    labels = frame["setting"].where(worlds == 1, frame["setting"] + ", " + frame["world"])
    texts = [_heading(label, horizon, several) for label, horizon in zip(labels, frame["horizon"], strict=True)]
    frame = frame.assign(place=["\n".join(_wrapped(text, LABELS - 10)) for text in texts])
    for (family, count), group in _groups(frame, "family", "arms"):
        single = group["world"].unique()
        heading = single[0] if len(single) == 1 else f"{family} worlds, {count} arms"
        parts = [part for _, part in group.groupby("arm")]
        columns = min(len(parts), 4)
        panels = [_bias_dots(part, group, frame, columns, i % columns == 0) for i, part in enumerate(parts)]
        yield Block(shorten(heading, 110), _lines(panels, columns), margin=LABELS)


def _bias_dots(
    part: "pd.DataFrame", group: "pd.DataFrame", frame: "pd.DataFrame", columns: int, first: bool
) -> "Panel":
    import altair as alt
    import pandas as pd

    low, high = group["value"] - SURE * group["se"].fillna(0), group["value"] + SURE * group["se"].fillna(0)
    span = (min(low.min(), 0.0), max(high.max(), 0.0))
    pad = 0.03 * (span[1] - span[0]) or 1.0
    known = part[part["se"] > 0]
    bars = known.assign(low=known["value"] - SURE * known["se"], high=known["value"] + SURE * known["se"])

    places, legends = list(dict.fromkeys(group["place"])), list(dict.fromkeys(frame["legend"]))
    x, start = (
        alt.X(
            f"{key}:Q",
            title="bias",
            axis=alt.Axis(tickCount=4, labelFlush=False, labelBound=GAP / 2, labelSeparation=4),
            scale=alt.Scale(domain=[span[0] - pad, span[1] + pad], nice=False),
        )
        for key in ("value", "low")
    )
    axis = alt.Axis(title=None, labels=False, ticks=False, grid=True, tickBand="extent")
    y = alt.Y("place:N", axis=axis, scale=alt.Scale(domain=places, padding=0))
    offset = alt.YOffset("legend:N", scale=alt.Scale(domain=legends, paddingOuter=0.5))
    colour, shape, _ = _method_channels(frame)
    # the same height in all blocks, as they share the scale of the offsets
    row = max(9 * len(legends), LINE * int(frame["place"].str.count("\n").max() + 1)) + 4
    layers = [
        alt.Chart(_data(bars, "place", "low", "high", "legend"))
        .mark_rule(strokeWidth=1.4)
        .encode(start, alt.X2("high:Q"), y, offset, colour),
        alt.Chart(_data(part, "place", "value", "legend"))
        .mark_point(filled=True, size=38, opacity=1)
        .encode(x, y, offset, colour, shape),
        alt.Chart(pd.DataFrame({"value": [0.0]})).mark_rule(color="#555555").encode(x),
        *([_place_names(places, y)] if first else []),
    ]
    return alt.layer(
        *layers,
        title=part["name"].iloc[0],
        width=_width(columns, margin=LABELS),
        height=row * len(places),
    )


def _place_names(places: list[str], y: "alt.Y") -> "alt.Chart":
    """Instead of the labels of an axis, which are not centred if they have several lines."""
    import altair as alt
    import pandas as pd

    names = pd.DataFrame({"place": places, "rise": [-LINE / 2 * place.count("\n") for place in places]})
    base = alt.Chart(names).encode(y, alt.Text("place:N"), x=alt.value(-8))
    chart: alt.Chart = base.mark_text(
        align="right", baseline="middle", lineBreak="\n", lineHeight=LINE, dy={"expr": "datum.rise"}
    )
    return chart


KINDS = {
    "histograms": Kind(
        _histograms,
        ("share",),
        ("mean",),
        "The estimates of the experiments, one histogram for each arm, whose name stands above its true mean. Outside: "
        "the share of the experiments whose estimate lies beyond the axis or does not exist.",
    ),
    "squared errors": Kind(
        _squared_errors,
        ("mse",),
        ("median_squared_error",),
        "Squared error of the estimates, in squared units of the rewards, on a logarithmic axis, without zeros; bars "
        "are ± 1 standard error of the mean. The methods are drawn a little beside each other.",
    ),
    "ratios": Kind(
        _ratios,
        ("ratio",),
        ("ratio_q05", "ratio_q50", "ratio_q95", "limit", "bound"),
        "The ratio that tends to the theorem's limit as m grows: mean and quantiles over the experiments.",
    ),
    "biases": Kind(
        _biases,
        ("bias",),
        (),
        "Bias: mean of estimate minus true mean over the experiments, in the units of the rewards; bars are ± 1.96 "
        "standard errors. Each kind of world has its own axis.",
    ),
}


# what the kinds share


def _config() -> dict[str, Any]:
    return {
        "font": "Liberation Sans, Arial, Helvetica, sans-serif",
        "axis": {
            "labelFontSize": LETTER,
            "titleFontSize": LETTER,
            "titleFontWeight": "normal",
            "gridColor": "#e6e6e6",
        },
        "legend": {"labelFontSize": LETTER, "labelLimit": PAGE - 40, "orient": "bottom", "symbolSize": 90},
        "title": {"anchor": "start", "frame": "group", "fontSize": LETTER, "subtitleFontSize": LETTER},
        "view": {"stroke": "#bbbbbb"},
        "text": {"fontSize": LETTER},
    }


def _check_installed() -> None:
    missing = [name for name in ("altair", "vl_convert") if find_spec(name) is None]
    if missing:
        raise InputError(
            f"pictures need packages that are not installed: {listed(missing)}",
            remedy="pip install altair vl-convert-python",
        )


def _frame(rows: Sequence[Row], kind: str) -> "pd.DataFrame":
    """The rows that the kind shows, with each arm's and method's name and the place of the quantity in the kind."""
    import pandas as pd

    order = [*KINDS[kind].needs, *KINDS[kind].shows]
    columns = ("setting", "world", "horizon", "method", "arm", "truth", "quantity", "at", "value", "se")
    frame = pd.DataFrame([[row.get(key) for key in columns] for row in rows], columns=list(columns))
    frame = frame[frame["quantity"].isin(order)]
    frame = frame.astype(dict.fromkeys(("horizon", "arm"), int) | dict.fromkeys(("truth", "at", "value", "se"), float))
    frame = frame[frame["value"].abs() < math.inf]  # NaN too is left out
    missing = [quantity for quantity in KINDS[kind].needs if quantity not in set(frame["quantity"])]
    if missing:
        raise InputError(
            f"the rows have no {listed(missing)}",
            where=f"picture of {kind}",
            remedy=f"{kind} need rows with the quantity {' and '.join(KINDS[kind].needs)} and finite values.",
        )
    frame = frame.assign(**{key: frame[key].astype(str).map(printable) for key in ("setting", "world", "method")})
    identity = [column for column in columns if column not in ("truth", "value", "se")]
    twins = frame[frame.duplicated(identity)]
    if len(twins):
        raise InputError(
            f"two rows have the same {', '.join(identity)}",
            where=twins["setting"].iloc[0],
            remedy="Draw the rows of one study at a time, and give its settings different labels.",
        )
    looks = _looks(frame["method"])
    return frame.assign(
        name=[f"arm {arm}" for arm in frame["arm"]],
        legend=[looks[method].legend for method in frame["method"]],
        order=[order.index(quantity) for quantity in frame["quantity"]],
    )


def _groups(frame: "pd.DataFrame", *keys: str) -> Iterator[tuple[tuple[Any, ...], "pd.DataFrame"]]:
    """In the order of the rows."""
    return iter(frame.groupby(list(keys), sort=False))


def _looks(methods: Iterable[str]) -> dict[str, Look]:
    """Known methods look the same in every picture; others go by their own name and take what is left."""
    unknown = [method for method in dict.fromkeys(methods) if method not in KNOWN]
    spare = zip(cycle(SPARE_COLOURS), cycle(SPARE_SHAPES), cycle(SPARE_DASHES), strict=False)
    return KNOWN | {m: Look(m, f"corrected mean, {m}", *rest) for m, rest in zip(unknown, spare, strict=False)}


def _method_channels(frame: "pd.DataFrame") -> tuple["alt.Color", "alt.Shape", "alt.StrokeDash"]:
    """Colour, shape and dashes of all methods of the picture, so that its panels share one legend."""
    import altair as alt

    methods = list(dict.fromkeys(frame["method"]))
    looks = [_looks(methods)[method] for method in methods]
    names = [look.legend for look in looks]
    widths = [_pixels(name) + 35 for name in names]
    columns = len(names) if sum(widths) < PAGE else max(1, int(PAGE / max(widths)))
    legend = alt.Legend(columns=columns, symbolStrokeWidth=0)  # the dashes of the line would fray its symbol

    def scale(values: list[Any]) -> "alt.Scale":
        return alt.Scale(domain=names, range=values)

    return (
        alt.Color("legend:N", title=None, scale=scale([look.colour for look in looks]), legend=legend),
        alt.Shape("legend:N", title=None, scale=scale([look.shape for look in looks]), legend=legend),
        alt.StrokeDash("legend:N", title=None, scale=scale([list(look.dash) for look in looks]), legend=None),
    )


def _y_axis(title: str, first: bool, **options: Any) -> "alt.Axis":
    """Only the first panel of a line writes on its axis."""
    import altair as alt

    if first:
        return alt.Axis(title=title, minExtent=34, **options)
    return alt.Axis(title=None, labels=False, ticks=False, **options)


def _stacked(block: Block) -> "alt.VConcatChart":
    import altair as alt

    lines = [alt.hconcat(*line, spacing=block.gap, bounds="flush") for line in block.lines]
    if not block.heading:
        return alt.vconcat(*lines, spacing=GAP)
    title = alt.TitleParams(_wrapped(block.heading, PAGE, 13), fontSize=13, offset=8, dx=-block.margin)
    return alt.vconcat(*lines, spacing=GAP, title=title)


def _lines(panels: list["Panel"], columns: int) -> list[list["Panel"]]:
    return [panels[start : start + columns] for start in range(0, len(panels), columns)]


def _width(columns: int, margin: int) -> float:
    """Of a panel, if the names and numbers to the left of the line take `margin`."""
    return (PAGE - margin - GAP * (columns - 1)) / columns


def _heading(setting: str, horizon: int, several: bool) -> str:
    return f"{setting}, T = {horizon:,}" if several else setting


def _data(frame: "pd.DataFrame", *columns: str) -> "pd.DataFrame":
    return frame[list(columns)].reset_index(drop=True)


def _wrapped(text: str, pixels: float, size: int = LETTER) -> list[str]:
    """Lines of at most about so many pixels. Breaks that the text has are kept."""
    lines: list[str] = []
    for line in text.splitlines():
        clean = printable(line)
        letters = int(pixels * len(clean) / _pixels(clean, size)) if clean else 1
        lines.extend(textwrap.wrap(clean, max(letters, 8)))
    return lines


def _pixels(text: str, size: int = LETTER) -> float:
    """About how wide the text is: East Asian letters are square, others half as wide as high."""
    return size * sum(1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.5 for letter in text)
