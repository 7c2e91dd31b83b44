"""Photographs the page for app.md: the columns of the README's table, in a headless Chromium."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from browsing import Visits, chromium  # noqa: E402

VIEW = {"viewport": {"width": 900, "height": 905}, "device_scale_factor": 1.5}


def main() -> None:
    """Write figures/app.png."""
    table = re.search(r"```text\n(day,variant.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert table is not None
    command = [sys.executable, "-m", "debandit", "app", "--no-browser"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as app,
        tempfile.TemporaryDirectory() as folder,
        chromium() as browser,
    ):
        assert app.stdout is not None
        (file := Path(folder) / "days.csv").write_text(table[1], encoding="utf-8")
        page = Visits(browser)(app.stdout.readline().split()[3], **VIEW)
        page.set_input_files("#file", file)
        page.get_by_role("heading", name="What is in the log").wait_for()
        page.screenshot(path=ROOT / "docs" / "figures" / "app.png")
        app.terminate()


if __name__ == "__main__":
    main()
