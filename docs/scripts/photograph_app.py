"""Photographs the page for app.md: the columns of examples/days.csv, in a headless Chromium."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from browsing import Visits, chromium  # noqa: E402

VIEW = {"viewport": {"width": 900, "height": 905}, "device_scale_factor": 1.5}


def main() -> None:
    """Write figures/app.png."""
    command = [sys.executable, "-m", "debandit", "app", "--no-browser"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as app,
        chromium() as browser,
    ):
        assert app.stdout is not None
        page = Visits(browser)(app.stdout.readline().split()[3], **VIEW)
        page.set_input_files("#file", ROOT / "examples" / "days.csv")
        page.get_by_role("heading", name="What is in the log").wait_for()
        page.screenshot(path=ROOT / "docs" / "figures" / "app.png")
        app.terminate()


if __name__ == "__main__":
    main()
