"""Pictures show the numbers of the rows, and nothing else."""

import itertools
import math
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from debandit.errors import InputError
from debandit.plots import KINDS, draw, save
from debandit.plots.curves import log_ticks
from debandit.plots.page import KNOWN, RIVALS, looks, pixels, wrapped

SCRIPT = "<script>alert(1)</script> & co"
NAN = float("nan")


def row(**keys):
    """A row of a study; the tests say only what they are about."""
    return {
        "setting": "ETC, Normal",
        "rule": "etc(pulls=10)",
        "world": "normal(means=[1.0, 1.5], sds=[1.0, 1.0])",
        "horizon": 100,
        "method": "naive",
        "arm": 1,
        "truth": 1.0,
        "quantity": "bias",
        "at": None,
        "value": 0.0,
        "se": None,
        "n": 1000,
        **keys,
    }


def histogram(shares, **keys):
    return [row(quantity="share", at=0.5 * i, value=share, **keys) for i, share in enumerate(shares)]


def ratios(**keys):
    values = {"ratio": 1.2, "ratio_q05": 0.8, "ratio_q50": 1.1, "ratio_q95": 1.9, "limit": 1.116, "bound": 1.124}
    return [
        row(method="theorem2", quantity=quantity, at=m, horizon=4 * m, value=value, se=0.01, **keys)
        for m in (10, 100)
        for quantity, value in values.items()
    ]


def picture(rows, kind):
    """What altair hands to the renderer."""
    return draw(rows, kind, "Some title").to_dict(validate=False)  # `save` does


def layers(spec):
    """(panel's title, mark, rows) of every layer of every panel, from top left to bottom right."""

    def walk(part, title, data):
        data, title = part.get("data", data), part.get("title", title)
        for children in (part.get(key, []) for key in ("vconcat", "hconcat", "layer")):
            for child in children:
                yield from walk(child, title, data)
        if "mark" in part:
            yield _text(title), part["mark"]["type"], spec["datasets"][data["name"]]

    return list(walk(spec, None, None))


def _text(title):
    text = title["text"] if isinstance(title, dict) else title
    return text if isinstance(text, str) else " ".join(text)


def marks(spec, mark, *columns):
    """{title of the panel: the values of these columns that it draws with this mark}."""
    found = {}
    for title, kind, rows in layers(spec):
        if kind == mark and all(set(columns) <= set(r) for r in rows):
            found.setdefault(title, []).extend(tuple(r[c] for c in columns) for r in rows)
    return found


def test_histograms_show_the_shares_the_truth_and_the_average():
    rows = [
        *histogram([0.1, 0.9, 0.0], arm=1),
        *histogram([0.0, 0.25, 0.75], arm=2, truth=1.5),
        row(quantity="mean", value=0.95, se=0.01),
        row(quantity="mean", value=1.4, se=0.01, arm=2, truth=1.5),
    ]
    spec = picture(rows, "histograms")
    one = [(0.0, 10.0, "arm 1"), (0.5, 90.0, "arm 1"), (1.0, 0.0, "arm 1")]
    two = [(0.0, 0.0, "arm 2"), (0.5, 25.0, "arm 2"), (1.0, 75.0, "arm 2")]
    down = [(1.5, 0.0, "arm 1"), (1.5, 0.0, "arm 2")]
    assert marks(spec, "area", "at", "percent", "name") == {"Sample mean": one + two + down}
    assert marks(spec, "rule", "place", "line", "name")["Sample mean"] == [
        (1.0, "true mean", "arm 1"),
        (1.5, "true mean", "arm 2"),
        (0.95, "average of the estimates", "arm 1"),
        (1.4, "average of the estimates", "arm 2"),
    ]
    assert marks(spec, "text", "place", "names") == {"Sample mean": [(1.0, "arm 1"), (1.5, "arm 2")]}


def test_histograms_have_a_panel_for_each_method_in_the_order_of_the_rows():
    methods = ["aipw", "naive", "multiplier(weights='rademacher')", "gaussian"]
    rows = [bar for method in methods for bar in histogram([0.5, 0.5], method=method)]
    assert list(marks(picture(rows, "histograms"), "area", "at")) == [
        "AIPW",
        "Sample mean",
        "corrected mean, multiplier(weights='rademacher')",
        "MB-corrected mean",
    ]


@pytest.mark.parametrize(
    ("shares", "mean", "said"),
    [
        ([0.5, 0.5], 0.7, None),
        ([0.5, 0.4998], 0.7, None),
        ([0.5, 0.464], 0.7, "outside: arm 1 3.6\N{NO-BREAK SPACE}%"),
        ([0.5, 0.5], 53.21, "outside: arm 1 on average 53.2"),
    ],
)
def test_what_a_histogram_leaves_out_is_said(shares, mean, said):
    spec = picture([*histogram(shares), row(quantity="mean", value=mean)], "histograms")
    panel = spec["vconcat"][0]["hconcat"][0]
    assert " ".join(panel["title"].get("subtitle", [])) == (said or "")


def test_arms_of_one_mean_share_their_name():
    rows = [bar for arm in (1, 2, 3) for bar in histogram([0.5, 0.5], arm=arm, truth=0.2 if arm == 3 else 0.8)]
    assert marks(picture(rows, "histograms"), "text", "place", "names")["Sample mean"] == [
        (0.2, "arm 3"),
        (0.8, "arm 1, 2"),
    ]


def test_squared_errors_show_means_with_bars_and_medians():
    rows = [
        row(quantity=quantity, horizon=horizon, method=method, value=value * 25 / horizon, se=se)
        for quantity, se in (("mse", 0.125), ("median_squared_error", NAN))
        for method, value in (("naive", 0.5), ("ipw", 400.0))
        for horizon in (25, 100)
    ]
    spec = picture(rows, "squared errors")
    naive, ipw = "naive (sample mean)", "IPW"  # 3 % of the way from 25 to 100 apart
    points = [(23.875, 0.5, naive), (98.875, 0.125, naive), (26.125, 400.0, ipw), (101.125, 100.0, ipw)]
    assert marks(spec, "point", "beside", "value", "legend") == {"arm 1, mean": points, "arm 1, median": points}
    lowest = pytest.approx(0.125 / 1.5)  # the bar from 0 to 0.25 ends at the floor of the logarithmic axis
    bars = marks(spec, "rule", "low", "high")
    assert bars["arm 1, mean"] == [(0.375, 0.625), (lowest, 0.25), (399.875, 400.125), (99.875, 100.125)]
    assert bars["arm 1, median"] == [(value, value) for _, value, _ in points]
    x, y = (spec["vconcat"][0]["hconcat"][0]["layer"][1]["encoding"][axis] for axis in "xy")
    assert x["axis"]["values"] == [25, 100]
    assert y["scale"]["type"] == "log"
    assert y["axis"]["values"] == [0.1, 1.0, 10.0, 100.0]


@pytest.mark.parametrize(("low", "high", "ticks"), [(0.5, 150, [1, 10, 100]), (0.02, 0.11, [0.02, 0.05, 0.1])])
def test_ticks_of_a_logarithmic_axis(low, high, ticks):
    assert log_ticks(low, high) == ticks


def test_ratios_show_mean_band_limit_and_bound():
    spec = picture(ratios(), "ratios")
    (title,) = marks(spec, "area", "at")
    assert title == "ETC, Normal"
    assert marks(spec, "area", "at", "low", "high")[title] == [(10, 0.8, 1.9), (100, 0.8, 1.9)]
    assert marks(spec, "point", "at", "value")[title] == [(10, 1.2), (100, 1.2)]
    assert marks(spec, "line", "at", "value", "line")[title] == [
        (10, 1.2, "mean ± 1.96 s.e."),
        (100, 1.2, "mean ± 1.96 s.e."),
        (10, 1.1, "median"),
        (100, 1.1, "median"),
    ]
    bar = (pytest.approx(1.2 - 1.96 * 0.01), pytest.approx(1.2 + 1.96 * 0.01))
    assert marks(spec, "rule", "low", "high")[title] == [bar, bar]
    assert marks(spec, "text", "value", "text")[title] == [(1.116, "limit 1.116"), (1.124, "bound 1.124")]


def test_ratios_of_several_arms_have_a_panel_each():
    spec = picture([*ratios(), *ratios(arm=2)], "ratios")
    assert list(marks(spec, "point", "at")) == ["ETC, Normal, arm 1", "ETC, Normal, arm 2"]


def test_averages_have_a_panel_for_each_quantity_and_bars_within_what_is_possible():
    def average(quantity, value, se, group="t5"):
        return row(setting=group, world="By rewards", method="wald", quantity=quantity, value=value, se=se)

    rows = [average("coverage", 0.75, 0.01), average("low_share", 0.9, 0.5), average("low_share", 0.1, 0.5, "normal")]
    spec = picture(rows, "coverage")
    assert marks(spec, "point", "place", "value") == {
        "Coverage": [("t5", 0.75)],
        "Arms covered too seldom": [("t5", 0.9), ("normal", 0.1)],
    }
    bars = marks(spec, "rule", "low", "high")
    assert bars["Coverage"] == [(pytest.approx(0.75 - 0.0196), pytest.approx(0.75 + 0.0196))]
    assert bars["Arms covered too seldom"] == [(0, 1), (0, 1)]


def test_biases_show_each_method_with_its_bar():
    rows = [
        row(value=-0.5, se=0.1),
        row(value=-0.25, se=NAN, method="gaussian"),
        row(value=0.125, se=None, method="smooth"),
        row(value=-0.75, se=0.2, arm=2),
        row(value=NAN, se=NAN, arm=2, method="gaussian"),
    ]
    spec = picture(rows, "biases")
    assert marks(spec, "point", "place", "value", "legend") == {
        "arm 1": [
            ("ETC, Normal", -0.5, "naive (sample mean)"),
            ("ETC, Normal", -0.25, "MB (gaussian)"),
            ("ETC, Normal", 0.125, "smooth"),
        ],
        "arm 2": [("ETC, Normal", -0.75, "naive (sample mean)")],
    }
    assert marks(spec, "rule", "low", "high") == {
        "arm 1": [(pytest.approx(-0.5 - 0.196), pytest.approx(-0.5 + 0.196)), (-0.25, -0.25), (0.125, 0.125)],
        "arm 2": [(pytest.approx(-0.75 - 0.392), pytest.approx(-0.75 + 0.392))],
    }


def test_biases_name_the_horizon_and_the_world_where_the_setting_is_not_enough():
    rows = [
        row(horizon=50),
        row(horizon=1000),
        row(setting="A", world="bernoulli(means=[0.3])", horizon=50),
        row(setting="A", world="bernoulli(means=[0.4])", horizon=50),
    ]
    names = [place.replace("\n", " ") for (place,) in marks(picture(rows, "biases"), "point", "place")["arm 1"]]
    assert names == [
        "ETC, Normal, T\u00a0=\u00a050",
        "ETC, Normal, T\u00a0=\u00a01,000",
        "A, T\u00a0=\u00a050, bernoulli(means=[0.3])",
        "A, T\u00a0=\u00a050, bernoulli(means=[0.4])",
    ]


def test_every_kind_of_world_has_its_own_axis():
    rows = [row(value=-5.0), row(value=-0.01, world="bernoulli(means=[0.3, 0.6])")]
    lines = picture(rows, "biases")["vconcat"]
    domains = [line["hconcat"][0]["layer"][1]["encoding"]["x"]["scale"]["domain"] for line in lines]
    assert [domain[0] for domain in domains] == [-5.0, -0.01]


def test_a_dozen_unknown_methods_look_different():
    """Also beside all that have their own looks."""
    seen = looks([*RIVALS, *(f"method {i}" for i in range(12))]).values()
    assert len({(look.colour, look.shape) for look in seen}) == len(seen) == 12 + len(KNOWN) + len(RIVALS)


# linear RGB as the colour-blind see it (Machado, Oliveira and Fernandes 2009, severity 1)
SEEN = {
    "all colours": np.eye(3),
    "protanopia": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
    "deuteranopia": [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    "tritanopia": [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]],
}


def lab(colour, seen):
    """CIE L*, a*, b*, in which a distance of 2 can just be noticed."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.clip(seen @ np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4), 0, 1)
    xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]] @ linear
    x, y, z = np.cbrt(np.maximum(xyz / [0.9505, 1, 1.089], 1e-3))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


ALWAYS = ("naive", "gaussian", "auto", "ipw", "aipw")
TOGETHER = {"worlds": KNOWN, "rivals": {method: KNOWN[method] for method in ALWAYS} | RIVALS}


@pytest.mark.parametrize("sight", SEEN)
@pytest.mark.parametrize("which", TOGETHER)
def test_known_methods_differ_to_every_eye(which, sight):
    colours = [lab(look.colour, np.array(SEEN[sight])) for look in TOGETHER[which].values()]
    assert min(np.linalg.norm(one - two) for one, two in itertools.combinations(colours, 2)) > 15
    red, green = (lab(colour, np.array(SEEN["deuteranopia"])) for colour in ("#CC3311", "#777700"))
    assert np.linalg.norm(red - green) < 15  # control


@pytest.mark.parametrize("which", TOGETHER)
def test_known_methods_differ_in_grey(which):
    """Those that are compared most, by their lightness (of 100) alone; all of them by shape and by dashes."""
    methods = TOGETHER[which]
    greys = sorted(lab(methods[method].colour, np.eye(3))[0] for method in methods if method not in ("ipw", "aipw"))
    assert len(greys) == 6
    assert np.diff(greys).min() > 7
    assert greys[-1] < 85  # or it would be lost on the white page
    for part in ("legend", "title", "shape", "dash"):
        assert len({getattr(look, part) for look in methods.values()}) == len(methods)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A picture with hostile labels, saved."""
    rows = [
        row(setting=SCRIPT, value=-0.5, se=0.1),
        row(setting="zero \x00 byte", value=-0.5, se=0.1),
        row(setting=SCRIPT, value=-0.2, se=0.1, method=f"own\x00{SCRIPT}"),
    ]
    stem = tmp_path_factory.mktemp("pictures") / "gap-0.5"
    return save(draw(rows, "biases", f"Title {SCRIPT}", "A note."), stem)


def test_three_files_are_saved(files):
    assert [path.name for path in files] == ["gap-0.5.svg", "gap-0.5.png", "gap-0.5.pdf"]
    assert files[1].read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert files[2].read_bytes().startswith(b"%PDF-")
    assert sorted(files[0].parent.iterdir()) == sorted(files)


def test_the_picture_says_what_it_is_and_shows_markup_as_text(files):
    svg = files[0].read_text(encoding="utf-8")
    assert "<script" not in svg
    shown = "".join(ElementTree.fromstring(svg).itertext())  # well-formed, too
    for text in (
        f"Title {SCRIPT}",
        "A note.",
        "± 1.96 standard errors",
        "units of the rewards",
        f"own\N{REPLACEMENT CHARACTER}{SCRIPT}",
        "naive (sample mean)",
        "arm 1",
        "zero \N{REPLACEMENT CHARACTER} byte",
    ):
        assert text in shown


@pytest.mark.parametrize(
    ("rows", "kind", "legends"),
    [
        (histogram([0.5, 0.5]), "histograms", ["arm 1", "true mean", "average of the estimates", "experiments (%)"]),
        ([row(quantity="mse", value=1.0, method="efron")], "squared errors", ["EB (efron)", "rounds T"]),
        (ratios(), "ratios", ["5 % to 95 % quantile", "median", "limit 1.116", "pulls m of each arm"]),
    ],
)
def test_legends_and_axes_are_drawn(rows, kind, legends, tmp_path):
    svg, _, _ = save(draw(rows, kind, "Some title"), tmp_path / "picture")
    shown = "".join(ElementTree.fromstring(svg.read_text(encoding="utf-8")).itertext())
    assert [text for text in ["Some title", *legends] if text not in shown] == []


def test_an_unknown_kind_is_refused():
    with pytest.raises(InputError, match=r"'pie'\n.*histograms, squared errors, ratios, biases"):
        draw([row()], "pie", "")


@pytest.mark.parametrize("kind", KINDS)
def test_rows_without_what_a_kind_needs_are_refused(kind):
    for rows in ([], [row(quantity="other")], [row(quantity=KINDS[kind].needs, value=math.inf)]):
        with pytest.raises(InputError, match=f"the rows have no {KINDS[kind].needs}\n  {kind} need rows with"):
            draw(rows, kind, "")


@pytest.mark.parametrize(
    ("rows", "kind", "what"),
    [
        ([row(), row(value=1.0)], "biases", "two rows have the same setting"),
        (histogram([1.0]), "histograms", "two bins or more"),
        ([row(quantity="mse")], "squared errors", "every squared error is 0"),
    ],
)
def test_rows_that_cannot_be_drawn_are_refused(rows, kind, what):
    with pytest.raises(InputError, match=what):
        draw(rows, kind, "")


def test_importing_the_module_does_not_import_altair():
    code = "import sys, debandit.plots; sys.exit(bool({'altair', 'pandas'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_long_texts_are_wrapped_and_wide_letters_count_double():
    assert wrapped("one two\nthree", 1000) == ["one two", "three"]
    assert wrapped("", 1000) == []
    latin, wide = wrapped("ab " * 30, 110), wrapped("药物 " * 30, 110)
    assert max(map(pixels, latin)) <= 110
    assert max(map(pixels, wide)) <= 110
