"""The report in a browser: everybody can read it, it needs nothing, and it says what result.json says."""

import json
import re

import numpy as np
import pytest
from browsing import (
    DARK,
    NO_SCRIPTS,
    PHONE,
    fits_its_width,
    fits_on_paper,
    no_serious_findings,
    tables_of,
)
from commands import run

RIGHT_TO_LEFT = "مرحبا بالعالم"
HOSTILE = [
    "<script>document.title = 'evil'</script>",
    "</svg></style></table><img src=x onerror=alert(1)>",
    '" onfocus="alert(1)" autofocus="',
    "'quotes' & <b>bold</b> &amp;",
    RIGHT_TO_LEFT,
    "🎉 {{ 7 * 7 }} {% raw %}",
    "x" * 300,
]
LONG = [f"variant-number-{k:05d}" for k in range(10)]  # of 20 characters
DAYS = (
    "day,variant,users,conversions\n1,long_form,500,22\n1,short_form,500,24\n2,long_form,200,8\n"
    "2,short_form,800,39\n3,long_form,90,4\n3,short_form,910,44\n"
)


def table(path, arms, rewards, **more):
    """A log of one row per round; the arms are chosen at random, which is the rule uniform."""
    columns = {"arm": arms, "reward": rewards, **more}
    quoted = [['"' + str(cell).replace('"', '""') + '"' for cell in row] for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join(",".join(row) for row in [list(columns), *quoted]) + "\n", encoding="utf-8")


def choices(labels, rounds, seed):
    return np.array(labels, dtype=object)[np.random.default_rng(seed).integers(0, len(labels), rounds)].tolist()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Some logs, each with its report and its result."""
    made, rng = tmp_path_factory.mktemp("reports"), np.random.default_rng(7)
    (made / "days.csv").write_text(DAYS)
    table(made / "hostile.csv", choices(HOSTILE, 300, 1), rng.integers(0, 2, 300))
    many = rng.gamma(2.0, 1.0, 400).round(3)
    table(made / "ten.csv", choices(LONG, 400, 2), many, revenue=(10 * many + rng.normal(size=400)).round(2))
    for words in (
        ["days.csv", "--policy", "batched(beta_thompson)", "--control", "long_form", "--adjust", "batches"],
        ["hostile.csv", "--policy", "uniform"],
        ["ten.csv", "--policy", "uniform", "--control", LONG[3], "--metric", "revenue"],
        ["ecmo"],
    ):
        name = words[0].removesuffix(".csv")
        done = run("debias", *words, "--runs", 64, "--report", f"{name}.html", "--json", f"{name}.json", cwd=made)
        assert done.returncode == 0, done.stderr
    return made


MAIN_PICTURE = {False: [True, False], True: [False, True]}  # what is seen of its two forms, by whether it is a phone
REPORTS = ("days", "hostile", "ten", "ecmo")
named = pytest.mark.parametrize("name", REPORTS)


def text_of(page):
    """What is seen of the page, with ordinary spaces."""
    return re.sub(r"\s+", " ", page.inner_text("body"))


@pytest.mark.parametrize(
    ("name", "window"), [*((name, {}) for name in REPORTS), ("hostile", DARK), ("days", PHONE), ("ten", PHONE)]
)
def test_everybody_can_read_it(folder, visit, name, window):
    page = visit(folder / f"{name}.html", **window)
    fits_its_width(page)
    no_serious_findings(page)
    assert [panel.is_visible() for panel in page.locator(".means .panels > div").all()] == MAIN_PICTURE[window is PHONE]
    letters = page.locator("figure svg:visible text").evaluate_all(
        "all => Math.min(...all.map(each => each.getBoundingClientRect().height))"
    )
    assert letters >= 10  # pixels high, with the room of a line


@named
def test_on_paper_nothing_is_cut_off(folder, visit, name):
    page = visit(folder / f"{name}.html")
    fits_on_paper(page)
    page.emulate_media(media="print")
    assert [panel.is_visible() for panel in page.locator(".means .panels > div").all()] == MAIN_PICTURE[False]
    assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") >= 2


@named
def test_it_needs_no_scripts(folder, visit, name):
    with_scripts, without = (visit(folder / f"{name}.html", **window) for window in ({}, NO_SCRIPTS))
    assert without.locator("script").count() == 0
    assert text_of(without) == text_of(with_scripts)
    assert (folder / f"{name}.html").stat().st_size < 2_000_000


def number(text):
    """A printed number, and half a unit of its last digit."""
    percent, digits = text.endswith("%"), text.rstrip("\xa0 %").replace(",", "")
    decimals = len(digits.partition(".")[2])
    scale = 100 if percent else 1
    return float(digits) / scale, 0.5000001 * 10**-decimals / scale


def agree(text, value):
    if value is None:
        assert text == "–"
        return
    shown, half = number(text)
    assert abs(shown - value) <= half, (text, value)


@named
def test_the_numbers_are_those_of_the_result(folder, visit, name):
    """Every number of every table that has a row for each arm, as far as the result has it."""
    page, document = visit(folder / f"{name}.html"), json.loads((folder / f"{name}.json").read_text())
    arms, winner = {each["arm"]: each for each in document["arms"]}, document["winner"]
    keys = {
        "pulls": "pulls",
        "raw rate": "naive",
        "raw mean": "naive",
        "quoted": "quoted",
        "corrected": "corrected",
        "never pulled": "never_pulled",
    }
    compared = 0
    for header, *rows in tables_of(page)[:1]:
        assert [row[0].rstrip("…") for row in rows] == [label[:199] if len(label) > 200 else label for label in arms]
        for row, (label, arm) in zip(rows, arms.items(), strict=True):
            for title, text in zip(header, row, strict=True):
                if title in keys:
                    agree(text, arm[keys[title]])
                    compared += 1
                elif title.endswith("interval"):
                    limits = winner if label == winner["arm"] and winner["low"] is not None else arm
                    low, high = text.split(" to ")
                    for shown, key in ((f"{low}\xa0%" if high.endswith("%") else low, "low"), (high, "high")):
                        agree(shown, limits[key])
                        compared += 1
    assert compared >= 5 * len(arms)


def test_a_wrong_number_would_be_noticed():
    agree("12.3\xa0%", 0.1234)
    agree("1,234", 1234)
    for text, value in (("12.3\xa0%", 0.1236), ("1,234", 1235), ("0.50", 0.506)):
        with pytest.raises(AssertionError):
            agree(text, value)


def test_hostile_labels_are_text(folder, visit):
    page = visit(folder / "hostile.html")
    dialogs = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.dismiss()))
    page.wait_for_timeout(50)
    assert page.title() == f"What {len(HOSTILE)} arms are worth"
    assert not dialogs
    for tag in ("script", "img", "b", "[onfocus]", "[onerror]", "[autofocus]"):
        assert page.locator(tag).count() == 0, tag
    seen = text_of(page)
    for label in HOSTILE[:-1]:
        assert label in seen
    assert "x" * 59 + "…" in seen
    assert page.locator("section").count() > 8  # </table> has ended nothing


def test_numbers_after_words_from_right_to_left_stay_where_they_are(folder, visit):
    """Seen from left to right: the label, then what is said of it."""
    page = visit(folder / "hostile.html")
    label, percent = page.evaluate(
        """label => {
            const said = [...document.querySelectorAll("p")].find(each => each.textContent.startsWith(label))
            const place = (node, at) => {
                const range = document.createRange(); range.setStart(node, at); range.setEnd(node, at + 1)
                return range.getBoundingClientRect().left
            }
            const rest = said.lastChild
            return [said.querySelector("bdi").getBoundingClientRect().right, place(rest, rest.data.indexOf("(95"))]
        }""",
        RIGHT_TO_LEFT,
    )
    assert percent > label


def test_by_keyboard_and_screen_reader(folder, visit):
    page = visit(folder / "ten.html", **PHONE)
    assert page.locator("html").get_attribute("lang") == "en"
    levels = page.locator("h1, h2, h3").evaluate_all("all => all.map(each => each.tagName)")
    assert levels[0] == "H1"
    assert set(levels[1:]) == {"H2"}
    titles = page.locator("h2").all_inner_texts()
    for wanted in ("The numbers", "How the experiment went", "Does the rule fit the log?", "Settings", "Do it again"):
        assert wanted in titles
    tables = page.locator(".scroll").count()
    assert tables == page.locator("table").count() == page.locator(".scroll[role=group][aria-label]").count()
    assert page.locator("thead th:not([scope=col]), tbody th:not([scope=row])").count() == 0
    assert all(len(row[0]) > 0 for each in tables_of(page) for row in each)
    for figure in page.locator("figure").all():
        assert (
            figure.locator("[role=img]:visible").get_attribute("aria-label")
            == figure.locator("figcaption").inner_text()
        )
    visited = []
    for _ in range(tables):  # each table can be reached, in the order of the page, and moved
        page.keyboard.press("Tab")
        visited.append(page.evaluate("[...document.querySelectorAll('.scroll')].indexOf(document.activeElement)"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert visited == list(range(tables))
    wide = page.locator(".scroll").first
    wide.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("each => each.scrollLeft > 0", arg=wide.element_handle())
