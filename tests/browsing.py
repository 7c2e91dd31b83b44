"""A headless Chromium, and what its pages are asked: do they complain, fetch anything, or fail their readers?"""

import contextlib
import shutil
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # nothing leaves this machine
]
DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
DARK, NO_SCRIPTS = {"color_scheme": "dark"}, {"java_script_enabled": False}
PAPER = {"width": 680, "height": 960}  # A4 with margins of 15 mm, in CSS pixels
AT_HOME = ("file", "data", "blob", "about")


class NoBrowserError(Exception):
    """Why there is no browser."""


@contextlib.contextmanager
def chromium():
    """Start one; its pages are opened by `Visits`."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        raise NoBrowserError(f"none of {', '.join(NAMES)} is on the PATH")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS, timeout=120_000)
        try:
            yield browser
        finally:
            browser.close()


class Visits:
    """Opens pages, each in a window of its own, and notes what they complain of and what they fetch from elsewhere."""

    def __init__(self, browser):
        self.browser, self.windows, self.complaints = browser, [], []

    def __call__(self, address, **options):
        """The page at an address (or a file); the options are those of playwright's new_context."""
        window = self.browser.new_context(**{**DESKTOP, **options})
        self.windows.append(window)
        page = window.new_page()
        page.set_default_timeout(60_000)  # the machine may be busy
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(f"page error: {error}"))
        page.on("request", self._asked)
        page.goto(address if "://" in str(address) else f"file://{address}")
        return page

    def _said(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(f"console {message.type}: {message.text}")

    def _asked(self, request):
        address = urlsplit(request.url)
        if address.scheme not in AT_HOME and address.hostname != "127.0.0.1":
            self.complaints.append(f"fetched from elsewhere: {request.url}")

    def close(self):
        for window in self.windows:
            window.close()


def no_serious_findings(page):
    """axe-core finds nothing that is serious or critical."""
    found = Axe().run(page, options={"preload": False}).response["violations"]  # or it asks for style sheets itself
    serious = [
        f"{finding['id']} ({finding['impact']}): {finding['help']}: {node['html'][:150]}"
        for finding in found
        if finding["impact"] in ("serious", "critical")
        for node in finding["nodes"]
    ]
    assert not serious, "\n".join(serious)


def fits_its_width(page):
    """The page cannot be moved sideways; a table or a text may have a bar of its own."""
    needed = page.evaluate("document.documentElement.scrollWidth")
    assert needed <= page.viewport_size["width"], f"{needed} pixels wide: {_sticking_out(page)}"


def fits_on_paper(page):
    """On A4 nothing is cut off: neither by the edge of the paper nor by a box that would have a bar on a screen."""
    screen = page.viewport_size
    page.emulate_media(media="print")
    page.set_viewport_size(PAPER)
    cut = _sticking_out(page)
    page.set_viewport_size(screen)
    page.emulate_media(media="screen")
    assert not cut, cut


def _sticking_out(page):
    """What ends right of the window, or of a box that hides it."""
    return page.evaluate(
        """() => {
            const edge = document.documentElement.clientWidth, found = []
            for (const each of document.body.querySelectorAll("*")) {
                const box = each.getBoundingClientRect()
                const hides = getComputedStyle(each).overflowX != "visible"
                if (box.width && box.right > edge + 1) found.push(`beyond the edge: ${each.outerHTML.slice(0, 150)}`)
                else if (hides && each.scrollWidth > each.clientWidth + 1 && each.clientWidth)
                    found.push(`cut off inside of: ${each.outerHTML.slice(0, 150)}`)
            }
            return found.slice(0, 5)
        }"""
    )


def tables_of(page):
    """Each table of the page as rows of texts, the header first."""
    return page.evaluate(
        """() => [...document.querySelectorAll("table")].map(table =>
            [...table.rows].map(row => [...row.cells].map(cell => cell.textContent.trim())))"""
    )
