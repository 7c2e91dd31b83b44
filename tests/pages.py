"""The pages that people read, played: what their commands and scripts print now.

In a block ```console every command runs, and what is shown below it is what it prints. ```python runs from top to
bottom of the page, and a ```text right after it is what it prints. A block that begins with `# my_file.py`, and
```toml, are files. Between `<!-- $ debandit ... -->` and `<!-- end -->` stands what that command prints. In all other
blocks, and in the text, a command is not run, because it takes long or needs more than a folder; but it and its options
must exist.
"""

import contextlib
import io
import re
import shlex
import shutil
import sqlite3
from pathlib import Path

import click
import duckdb
import pandas as pd
from commands import run

from debandit.cli import commands
from debandit.demo import save_log

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/*.md")), "examples/README.md"]
NEEDS_A_CLUSTER = "docs/cluster.md"  # tests/e2e/test_executors.py has one
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MADE = re.compile(r"<!-- \$ debandit (.*?) -->\n(.*?)<!-- end -->", re.DOTALL)
INLINE = re.compile(r"(?<!`)`(debandit [^`]+)`(?!`)")


def text_of(name):
    """A page as it is."""
    return (ROOT / name).read_text(encoding="utf-8")


def prepare(folder):
    """The files that pages use without making them: the examples, the trial in databases, and a drifting week."""
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(folder / "examples" / "days.csv", folder)
    save_log(folder / "trial.csv")
    rounds = pd.read_csv(folder / "trial.csv").rename_axis("id").reset_index()
    with contextlib.closing(sqlite3.connect(folder / "trial.db")) as connection:
        rounds.to_sql("rounds", connection)
    with duckdb.connect(folder / "trial.duckdb") as connection:
        connection.execute("CREATE TABLE rounds AS FROM rounds")
    week = re.search(r"```text\n(day,.*?)```", text_of("docs/drift.md"), re.DOTALL)
    (folder / "week.csv").write_text(week[1])


def played(name, folder):
    """The page with what its commands and scripts print now. All of them must end well."""
    page, names, last = text_of(name), {"__name__": "__main__"}, (0, "")

    def block(found):
        nonlocal last
        kind, text = found.groups()
        if kind == "console":
            return f"```console\n{console(text, folder)}```"
        if kind == "toml":
            small = re.sub(r"^((?:experiments|runs) *=) *\d+", r"\1 10", text, flags=re.MULTILINE)
            (folder / "my.toml").write_text(small)
        if kind == "python" and (file := re.match(r"# (my_\w+\.py)\n", text)):
            (folder / file[1]).write_text(text)
        elif kind == "python":
            code = compile(text, f"{name}, python", "exec")
            last = found.end(), "" if name == NEEDS_A_CLUSTER else printed(code, names, folder)
        elif kind == "text" and last[0] and page[last[0] : found.start()].isspace():
            return f"```text\n{last[1].rstrip()}\n```"
        return found[0]

    return MADE.sub(made, BLOCK.sub(block, page))


def made(found):
    """A part of a page that a command has made, as it would make it now."""
    done = run(*shlex.split(found[1]))
    assert done.returncode == 0, done.stderr
    return f"<!-- $ debandit {found[1]} -->\n\n{done.stdout.rstrip()}\n\n<!-- end -->"


def console(text, folder):
    """A block of commands with what they print, where it shows something."""
    parts = []
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        program, *words = shlex.split(command)
        assert program == "debandit", command
        if words[0] == "demo":  # another page has made the file
            Path(folder / words[-1]).unlink(missing_ok=True)
        done = run(*words, cwd=folder)
        assert done.returncode in ((0, 1) if words[0] == "check" else (0,)), f"{command}\n{done.stderr}"
        gap = "\n" if shown.endswith("\n\n") else ""
        parts.append(f"$ {command}\n" + (f"{done.stdout.rstrip()}\n{gap}" if shown.strip() else shown))
    return "".join(parts)


def printed(code, names, folder):
    """What code prints."""
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, names)
    return out.getvalue()


def mentioned(page):
    """The commands of the page that are not run."""
    blocks = [text for kind, text in BLOCK.findall(page) if kind not in ("console", "python", "toml")]
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    yield from (line.removeprefix("$ ") for line in lines if re.match(r"(\$ )?debandit [a-z]", line))
    yield from INLINE.findall(BLOCK.sub("", page))


def mistakes(command):
    """What does not exist of a command and its options."""
    words = shlex.split(" ".join(command.split()).partition(" | ")[0])[1:]
    if words[0].startswith("-"):
        return [] if words[0] in ("--help", "--version") else words[:1]
    if words[0] not in commands.commands:
        return words[:1]
    with click.Context(commands.commands[words[0]]) as context:
        known = {option for each in context.command.get_params(context) for option in each.opts}
        known |= {option for each in context.command.get_params(context) for option in each.secondary_opts}
    return [word for word in words if word.startswith("--") and word.partition("=")[0] not in known]
