"""The site in a browser: quiet, accessible, readable on a phone and in the dark, and searched without a server."""

import pytest
from browsing import DARK, PHONE, fits_its_width, no_serious_findings
from site_of_docs import built

PAGES = ("index", "rules", "method", "coverage", "api/functions")  # one of each kind


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return built(tmp_path_factory)


@pytest.mark.parametrize("name", PAGES)
def test_main_pages(site, visit, name):
    no_serious_findings(visit(site / f"{name}.html"))
    fits_its_width(visit(site / f"{name}.html", **PHONE))


@pytest.mark.parametrize("how", [DARK, PHONE], ids=["in the dark", "on a phone"])
def test_elsewhere(site, visit, how):
    page = visit(site / "method.html", **how)
    no_serious_findings(page)
    assert page.evaluate("document.documentElement.dataset.theme") == ("dark" if how is DARK else "light")


def test_tables_open(site, visit):
    page = visit(site / "coverage.html")
    table = page.locator("details table").first
    assert not table.is_visible()
    page.locator("summary").first.press("Enter")
    assert table.is_visible()


def test_search_finds_a_rule(site, visit):
    page = visit(f"file://{site}/search.html?q=play_the_winner")
    page.wait_for_selector("#search-results li a")
    assert "rules.html" in " ".join(page.locator("#search-results a").evaluate_all("links => links.map(a => a.href)"))
