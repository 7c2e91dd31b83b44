"""Writes what commands and scripts print into the README and the docs, where tests/e2e/test_readme.py looks for it.

python tests/refresh_pages.py [README.md docs/logs.md ...]
"""

import re
import shlex
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT / "tests"), str(ROOT / "tests" / "e2e")]

from test_readme import CONSOLE, SHOWN, prepare, printed, run  # noqa: E402

CHECK = "docs/check.md"  # of tests/unit/test_check.py


def console(block, directory, both):
    """The block with what its commands print now, where it shows something; `both`: also to standard error."""
    parts = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        done = run(*shlex.split(command)[1:], cwd=directory)
        said = re.sub(r"^debandit: compiling .*\n", "", done.stderr, flags=re.MULTILINE)
        told = (done.stdout + said * both).rstrip()
        gap = "\n" if shown.endswith("\n\n") else ""
        output = f"{told}\n{gap}" if shown.strip() else shown
        parts.append(f"$ {command}\n{output}")
    return "".join(parts)


def refresh(name, directory):
    """The page again, with new output."""
    page = (ROOT / name).read_text(encoding="utf-8")
    if name in (*CONSOLE, CHECK):
        prepare(directory, page)
        page = re.sub(
            r"```console\n(.*?)```",
            lambda m: f"```console\n{console(m[1], directory, name == CHECK)}```",
            page,
            flags=re.DOTALL,
        )
    if name in SHOWN:
        page = re.sub(
            r"```python\n(.*?)```\n\n```text\n(.*?)```",
            lambda m: f"```python\n{m[1]}```\n\n```text\n{printed(m[1], directory).rstrip()}\n```",
            page,
            flags=re.DOTALL,
        )
    (ROOT / name).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or sorted({*CONSOLE, *SHOWN, CHECK}):
            refresh(name, Path(folder))
            print(name, flush=True)
