"""The documentation as a site, built once for all tests that look at it."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def built(tmp_path_factory):
    """The directory of the site, built as `make site` does: any warning is an error."""
    home = tmp_path_factory.getbasetemp()
    home = home.parent if "PYTEST_XDIST_WORKER" in os.environ else home
    site = home / "site"
    with (home / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # whichever worker comes first
        if not site.exists():
            words = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", home / "doctrees", DOCS, site]
            done = subprocess.run(words, capture_output=True, text=True, timeout=600)
            (home / "site.txt").write_text(done.stdout + done.stderr if done.returncode else "")
    assert not (said := (home / "site.txt").read_text()), said
    return site
