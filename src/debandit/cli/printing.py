"""How commands print what they found: as text, in colours and boxes on a terminal, or in a form for other programs."""

import csv
import io
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import click

from debandit.errors import DebanditError, printable
from debandit.tables import Part, Table, in_markdown, laid_out, text_width

FORMATS = ("table", "markdown", "csv", "json")
_STYLES: dict[str, dict[str, Any]] = {
    "warning": {"fg": "yellow"},
    "note": {"dim": True},
    "details": {"dim": True},
    "next": {"fg": "cyan"},
}
_TOP, _LINE, _RULE, _BOTTOM = _BOX = (("╭", "─", "╮"), ("│", " ", "│"), ("├", "─", "┤"), ("╰", "─", "╯"))


class Found(Protocol):
    """What a command can print: pieces of text for people, rows and a document for programs."""

    def parts(self) -> list[Part]:
        """The pieces of the text."""

    def rows(self) -> list[dict[str, Any]]:
        """What a table has."""

    def document(self) -> dict[str, Any]:
        """What a JSON file has."""


def printed_as(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say how an answer is printed, and where else it is written."""
    form = click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        default=FORMATS[0],
        show_default=True,
        help="The format of what is printed.",
    )
    path = click.option("--json", "json_path", metavar="PATH", help="Also write everything to this JSON file.")
    return form(path(command))


def show(found: Found, form: str, json_path: str | None, parts: Sequence[Part] | None = None) -> None:
    """Print what was found in the form asked for, and write it; `parts` may be more of the text than usual."""
    from debandit.files import json_text, write_whole

    texts: dict[str, Callable[[], str]] = {
        "table": lambda: _coloured(parts or found.parts()),
        "markdown": lambda: in_markdown(parts or found.parts()),
        "csv": lambda: _csv(found.rows()).removesuffix("\n"),
        "json": lambda: json_text(found.document()).removesuffix("\n"),
    }
    steps = [lambda: click.echo(texts[form](), color=False if os.environ.get("NO_COLOR") else None)]
    if json_path is not None:
        steps.insert(0, lambda: write_whole(json_path, json_text(found.document())))
    take_all(steps)


def take_all(steps: Sequence[Callable[[], object]]) -> None:
    """Take every step, also if one before it failed: what was computed must get out in every way that is left."""
    failures = []
    for step in steps:
        try:
            step()
        except DebanditError as error:
            failures.append(error)
    for failure in failures[1:]:
        click.echo(f"error: {failure}", err=True)
    if failures:
        raise failures[0]


def _coloured(parts: Sequence[Part]) -> str:
    """The text in colours, which `click.echo` takes out again if nobody would see them."""
    room = _room_for_boxes()
    return laid_out((part, _styled(part, room)) for part in parts)


def _room_for_boxes() -> int:
    """How wide a box may be: as the terminal, or 0 if there is none, or if it lacks the letters."""
    try:
        "".join(map("".join, _BOX)).encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return 0
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def _styled(part: Part, room: int) -> str:
    if isinstance(part.content, str):
        style = ({"bold": True} if part.strong else {}) | _STYLES.get(part.kind.split()[0], {})
        return click.style(str(part), **style) if style else str(part)
    if not isinstance(part.content, Table):
        return str(part)
    header, rule, *rows = str(part).split("\n")
    wide, title = max(map(text_width, (header, rule, *rows))), click.style(header, bold=True)
    if wide + 4 > room:
        return "\n".join([title, rule, *rows])
    top, under, bottom = (left + fill * (wide + 2) + right for left, fill, right in (_TOP, _RULE, _BOTTOM))
    left, fill, right = _LINE
    lines = [left + fill + line + fill * (wide - text_width(line) + 1) + right for line in (header, *rows)]
    return "\n".join([top, lines[0].replace(header, title, 1), under, *lines[1:], bottom])


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    """The rows as they are, but for letters in texts that a terminal would obey."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: printable(v) if isinstance(v, str) else v for k, v in row.items()} for row in rows)
    return out.getvalue()
