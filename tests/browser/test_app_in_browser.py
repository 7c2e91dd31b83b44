"""The page in a browser: from a file to a downloaded report, by mouse, keyboard and phone, with and without scripts."""

import json
import subprocess
import sys

import pytest
from batch_tables import DAYS
from browsing import DARK, NO_SCRIPTS, PHONE, fits_its_width, no_serious_findings
from commands import run

EVIL = '<img src=x onerror="alert(1)"><script>alert(1)</script>'
RULE = "batched(beta_thompson)"
PATIENCE = 240_000  # milliseconds: kernels may have to be compiled first, and the machine may be busy


@pytest.fixture(scope="module")
def address():
    command = [sys.executable, "-m", "debandit", "app", "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    yield process.stdout.readline().split()[3]
    process.terminate()
    process.communicate()


@pytest.fixture
def opened(visit, address):
    """Opens the page, for which one waits as long as it takes."""

    def begin(**options):
        page = visit(address, **options)
        page.set_default_timeout(PATIENCE)
        return page

    return begin


@pytest.fixture
def days(tmp_path):
    path = tmp_path / "days.csv"
    path.write_text(DAYS)
    return path


def is_good(page):
    """Accessible, and no wider than a phone."""
    no_serious_findings(page)
    screen = page.viewport_size
    page.set_viewport_size({"width": 360, "height": 740})
    fits_its_width(page)
    page.set_viewport_size(screen)


def heading(page, text):
    page.get_by_role("heading", level=1, name=text).wait_for()
    page.wait_for_load_state()


def report_of(page):
    page.get_by_text("Download the report").wait_for()
    page.wait_for_load_state()


def to_rule(page, file):
    page.set_input_files("#file", file)
    heading(page, "What is in the log")
    page.get_by_text("Continue to the rule").click()
    heading(page, "Which rule chose the arms?")


def to_options(page, rule):
    page.get_by_role("link", name="Write it").click()
    page.get_by_label("The rule").fill(rule)
    page.get_by_text("Check this rule").click()
    heading(page, "Does the rule fit the log?")
    page.get_by_text("Continue to the options").click()
    heading(page, "Options")


def test_from_a_file_to_a_report(opened, visit, days, tmp_path):
    """The numbers are those of the command that the page shows, and of no other seed."""
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    is_good(page)
    page.set_input_files("#file", days)
    heading(page, "What is in the log")
    page.get_by_text("2 arms, 2,000 rounds in 2 batches of 1,000").wait_for()
    is_good(page)
    page.get_by_text("Continue to the rule").click()
    heading(page, "Which rule chose the arms?")
    is_good(page)
    page.get_by_role("link", name="It ran on a platform").click()
    is_good(page)
    page.get_by_role("link", name="Choose it from a list").click()
    page.get_by_role("link", name="Thompson sampling, 0/1 rewards").click()
    is_good(page)
    page.fill("#o-alpha", "0")
    page.get_by_text("Check this rule").click()
    page.locator(".field.bad #o-alpha").wait_for()
    is_good(page)
    page.fill("#o-alpha", "1")
    page.get_by_text("Check this rule").click()
    heading(page, "Does the rule fit the log?")
    page.get_by_text("may have made this log").wait_for()
    is_good(page)
    page.get_by_text("Continue to the options").click()
    page.get_by_label("Control", exact=True).select_option("old")
    page.get_by_label("Seed").fill("5")
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Runs", exact=True).fill("300")
    is_good(page)
    page.get_by_text("Correct the means").click()
    report_of(page)
    is_good(page)

    typed = ["--policy", RULE, "--control", "old", "--runs", "300"]
    for seed, same in (("5", True), ("6", False)):
        run("debias", "days.csv", *typed, "--seed", seed, "--json", "result.json", cwd=tmp_path)
        with page.expect_download() as download:
            page.get_by_text("Download result.json").click()
        assert (
            json.loads(download.value.path().read_text()) == json.loads((tmp_path / "result.json").read_text())
        ) is same
    with page.expect_download() as download:
        page.get_by_text("Download the report").click()
    assert download.value.suggested_filename == "days-report.html"
    download.value.save_as(tmp_path / "report.html")
    report = visit(tmp_path / "report.html")
    assert report.locator(".answer").inner_text() == page.locator(".answer").inner_text()

    page.get_by_role("button", name="Copy").first.click()
    page.get_by_role("button", name="Copied").wait_for()
    command = page.evaluate("navigator.clipboard.readText()")
    assert command == f"debandit debias days.csv --policy '{RULE}' --control old --seed 5 --runs 300"


def test_progress_and_cancelling(opened, days):
    page = opened(**DARK)
    to_rule(page, days)
    to_options(page, RULE)
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Runs", exact=True).fill("1000000000")
    page.get_by_text("Correct the means").click()
    heading(page, "One moment")
    bar, seen = page.locator("progress"), set()
    while len(seen) < 3:  # it grows
        seen.add(bar.evaluate("bar => bar.value"))
        page.wait_for_timeout(50)
    assert " of 1,000,0" in page.locator("#count").inner_text()
    is_good(page)
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled. Nothing was kept of it.").wait_for()
    is_good(page)


def test_by_keyboard(opened):
    page = opened()

    def press(name):
        """Go to what has this name with the tabulator, and press it."""
        for _ in range(100):
            page.keyboard.press("Tab")
            focused = page.evaluate("document.activeElement.innerText || ''")
            if focused.strip() == name:
                assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
                page.keyboard.press("Enter")
                return
        raise AssertionError(f"{name} cannot be reached")

    press("ecmo")
    heading(page, "What is in the log")
    press("Continue to the rule")
    heading(page, "Which rule chose the arms?")
    press("Check this rule")
    heading(page, "Does the rule fit the log?")
    press("Continue to the options")
    heading(page, "Options")
    press("Correct the means")
    report_of(page)


def test_without_scripts_on_a_phone(opened, days):
    page = opened(**PHONE, **NO_SCRIPTS)
    page.set_input_files("#file", days)
    page.get_by_text("Read the file").click()
    heading(page, "What is in the log")
    page.get_by_text("Continue to the rule").click()
    to_options(page, RULE)
    page.get_by_text("Correct the means").click()
    report_of(page)
    fits_its_width(page)


def test_hostile_names_and_labels_do_nothing(opened):
    """A file that is dropped, whose name, columns and labels are all HTML."""
    page, said = opened(), []
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    quoted = '"' + EVIL.replace('"', '""') + '"'
    table = f"arm,reward,{quoted}\n" + "".join(f"{quoted if t % 2 else 'b'},{t % 3 % 2},{quoted}\n" for t in range(30))
    dropped = page.evaluate_handle(
        """([name, table]) => {
            const data = new DataTransfer()
            data.items.add(new File([table], name))
            return data
        }""",
        [f"{EVIL.replace('/', '')}.csv", table],
    )
    page.dispatch_event("form.drop", "drop", {"dataTransfer": dropped})
    heading(page, "What is in the log")
    assert EVIL in page.inner_text("main")
    is_good(page)
    page.get_by_text("Continue to the rule").click()
    to_options(page, "uniform")
    page.get_by_label("Control", exact=True).select_option(EVIL)
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Runs", exact=True).fill("50")
    page.get_by_text("Correct the means").click()
    report_of(page)
    assert EVIL in page.inner_text("main")
    is_good(page)
    assert not said
