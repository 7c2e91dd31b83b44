"""A browser for the tests of pages; without Chromium they are skipped, and pytest says so at the end."""

import pytest
from browsing import NoBrowserError, Visits, chromium


@pytest.fixture(scope="session")
def browser():
    """One for all tests of a worker."""
    try:
        with chromium() as started:
            yield started
    except NoBrowserError as error:
        pytest.skip(f"Pages are not tested in a browser: {error}")


@pytest.fixture
def visit(browser):
    """Opens pages, none of which may complain or fetch anything from elsewhere."""
    visits = Visits(browser)
    yield visits
    visits.close()
    assert not visits.complaints
