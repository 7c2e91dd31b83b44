"""Writes what commands and scripts print now into the README, the docs and the notebook of the examples.

python tests/refresh_pages.py [README.md docs/logs.md ...]
"""

import sys
import tempfile
from pathlib import Path

from notebooks import NOTEBOOK, executed
from pages import PAGES, ROOT, played, prepare

if __name__ == "__main__":
    for name in sys.argv[1:] or [*PAGES, NOTEBOOK]:
        with tempfile.TemporaryDirectory() as folder:
            prepare(Path(folder))
            new = executed(Path(folder)) if name == NOTEBOOK else played(name, Path(folder))
        (ROOT / name).write_text(new, encoding="utf-8")
        print(name, flush=True)
