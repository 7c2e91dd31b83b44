"""The documentation builds as a site, without warnings, and loads nothing from elsewhere."""

import re
import subprocess
from html.parser import HTMLParser

import pytest
from public_names import EXPLAINED
from site_of_docs import DOCS, built

import debandit as db

LOADING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}
MAKEFILE = (DOCS.parent / "Makefile").read_text()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return built(tmp_path_factory)


class Loads(HTMLParser):
    """What a page loads by itself, and the names of its places."""

    def __init__(self, text):
        super().__init__()
        self.found, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places.add(given.get("id"))
        if tag in LOADING and given.get("rel") not in ("next", "prev", "index", "search", "author", "help"):
            self.found += filter(None, [given.get(LOADING[tag])])


def test_it_has_all_pages_and_loads_nothing_from_elsewhere(site):
    files = [
        path for path in site.rglob("*.html") if "_static" not in path.parts
    ]  # which has a template of the theme's
    pages = {path.relative_to(site).with_suffix(""): Loads(path.read_text()) for path in files}
    written = {path.relative_to(DOCS).with_suffix("") for end in ("md", "rst") for path in DOCS.rglob(f"*.{end}")}
    assert written <= set(pages)
    assert {f"debandit.{name}" for name in EXPLAINED} <= {place for page in pages.values() for place in page.places}
    for name, page in pages.items():
        assert page.found
        for address in page.found:
            assert not re.match(r"(\w+:)?//", address), f"{name} loads {address}"
            assert (site / name.parent / re.sub(r"[?#].*", "", address)).exists(), f"{name} lacks {address}"
    for path in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", path.read_text()), path


def test_it_has_what_only_the_site_shows(site):
    """The other files, the links of docstrings, and tables behind a line."""
    assert "Where things live" in (site / "contributing.html").read_text()
    assert 'href="wrappers.html' in (site / "changes.html").read_text()
    assert 'href="../worlds.html' in (site / "api" / "functions.html").read_text()
    text = (site / "coverage.html").read_text()
    assert text.index("<table") < text.index("<details>")
    assert text.count("<details>") == text.count("<table") - 1
    assert {"ucb", "batched"} <= Loads((site / "rules.html").read_text()).places


def test_the_numbers_of_the_method_are_those_of_its_pictures(monkeypatch):
    """Its page rounds them to two decimals, which are far more than their errors."""
    monkeypatch.syspath_prepend(DOCS / "scripts")
    import draw_figures

    words = " ".join((DOCS / "method.md").read_text().split())
    rows = [row for row in draw_figures.MANY.run(progress="none").rows if row["quantity"] == "mean"]
    a, b, corrected_a, corrected_b = (f"{row['value']:.2f}" for row in rows)
    assert f"its sample mean is {b} on average; that of drug A is {a} instead of 1.5" in words
    assert f"drug B is now {corrected_b} instead of {b}, that for drug A {corrected_a} instead of {a}" in words
    log = db.read_log(draw_figures.TRIAL, arm="drug", reward="response")
    result = db.debias(log, db.UCB(c=1.0), seed=1)
    assert f"drug B got {log.pulls[1]} patients and has the mean {log.means[1]:.2f}" in words
    assert f"The runs end {-result.bias[1]:.2f} below it" in words
    assert f"{log.means[1]:.2f} + {-result.bias[1]:.2f} gives {result.corrected[1]:.2f} for drug B" in words


def test_make_site_does_the_same():
    done = subprocess.run(
        ["make", "--dry-run", "site"], capture_output=True, text=True, cwd=DOCS.parent, timeout=60, check=True
    )
    assert "-m sphinx -q -W --keep-going -d build/doctrees docs build/site" in done.stdout
    assert ".[docs]" in MAKEFILE
