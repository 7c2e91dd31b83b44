"""What is printed: sentences that fit the page, and rows as aligned text, rounded to what is known of them."""

import html
import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from debandit.errors import printable, shorten

Row = Mapping[str, Any]
WIDTH, NARROW = 100, 80  # of sentences, and of tables that can do without some columns
_LEAST_ROOM = 20  # characters of a column of texts that is folded
_LONGEST = 200  # characters of a text; nobody reads on
_LONGEST_WORD = 14  # characters of a word that stays whole, also on a phone
_HEADINGS = {"section": "## ", "heading": "### "}  # in Markdown


class Column(NamedTuple):
    """Which value of a row to show, under which title; the role decides how."""

    key: str
    title: str
    role: str  # text, mark (* if there is something), count, average, number, share, score, interval, percent, percents


class Table(NamedTuple):
    """Rows and how to show them."""

    rows: Sequence[Row]
    columns: Sequence[Column]
    decimals: int

    def without(self, *keys: str) -> "Table":
        """The table without these columns, in this order, as far as it is too wide with them."""
        if not keys or text_width(str(self).split("\n")[1]) <= NARROW:
            return self
        kept = [column for column in self.columns if column.key != keys[0]]
        return self._replace(columns=kept).without(*keys[1:])

    @property
    def cells(self) -> list[list[str]]:
        """What stands in each row."""
        return [[_cell(row[each.key], each.role, self.decimals) for each in self.columns] for row in self.rows]

    def __str__(self) -> str:
        return render(*self)


class Part(NamedTuple):
    """A piece of an answer. Pieces of one kind stand together; the command line has colours for some kinds."""

    kind: str
    content: str | Table | tuple[str, ...]  # a sentence, or lines that stay as they are
    strong: bool = False

    def __str__(self) -> str:
        if isinstance(self.content, str):
            return wrapped(self.content)
        return str(self.content) if isinstance(self.content, Table) else "\n".join(map(printable, self.content))

    def in_markdown(self) -> str:
        """The piece as a paragraph, a table or a block of text."""
        if isinstance(self.content, str):
            return _HEADINGS.get(self.kind, "") + printable(self.content)
        return markdown(*self.content) if isinstance(self.content, Table) else f"```text\n{self}\n```"


def plain(parts: Iterable[Part]) -> str:
    """The pieces as text for a page of 100 characters."""
    return laid_out((part, str(part)) for part in parts)


def laid_out(shown: Iterable[tuple[Part, str]]) -> str:
    """The texts of pieces below each other, with a line between those of different kinds."""
    text, last = "", ""
    for part, piece in shown:
        together = part.kind == last and isinstance(part.content, str)
        text += f"{piece}\n" if together or not text else f"\n{piece}\n"
        last = part.kind if isinstance(part.content, str) else ""
    return text.removesuffix("\n")


def in_markdown(parts: Iterable[Part]) -> str:
    """The pieces as Markdown, each a paragraph or a table."""
    return "\n\n".join(part.in_markdown() for part in parts)


def in_html(parts: Iterable[Part]) -> str:
    """The pieces as HTML, each a paragraph or a table, with their kinds as classes; what is in them is escaped.

    A caption, or a sentence that ends in a colon, goes to the table after it.
    """
    shown, caption, pieces = [], "", list(parts)
    for part, following in zip_longest(pieces, pieces[1:]):
        content = part.content
        if isinstance(content, Table):
            shown.append(_html_table(content, caption))
        elif not isinstance(content, str):
            shown.append(f"<pre>{html.escape(str(part))}</pre>")
        elif _announces(part, following):
            caption = content.removesuffix(":")
            continue
        else:
            kind = html.escape(f"{part.kind} strong" if part.strong else part.kind)
            shown.append(f'<p class="{kind}">{_in_page(content)}</p>')
        caption = ""
    return "\n".join(shown)


def _announces(part: Part, following: Part | None) -> bool:
    """Whether a sentence is the caption of what follows."""
    captioned = part.kind == "caption" or str(part.content).endswith(":")
    return captioned and following is not None and isinstance(following.content, Table)


_UNIT = re.compile(r"(?<=\d) %")
_RIGHT_TO_LEFT = re.compile(
    r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+(?:\s+[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+)*"
)


def _in_page(text: str) -> str:
    """The text escaped; a number stays with its unit.

    Words that are written from right to left are kept apart, or numbers after them would change places.
    """
    escaped = _UNIT.sub("\N{NO-BREAK SPACE}%", html.escape(printable(text)))
    return _RIGHT_TO_LEFT.sub(lambda words: f"<bdi>{words[0]}</bdi>", escaped)


def _html_table(table: Table, caption: str) -> str:
    """What is text stands to the left, and a wide table has a bar of its own to move it, which the keyboard reaches."""
    texts = [column.role in ("text", "mark") for column in table.columns]
    titles = (_in_page(column.title) for column in table.columns)
    sides = [' class="text"' if text else "" for text in texts]
    head = "".join(
        f'<th scope="col"{side}>{title}</th>' if title else "<td></td>"
        for side, title in zip(sides, titles, strict=True)
    )
    rows = []
    for first, *others in table.cells:
        cells = (_html_cell(cell, text=text) for cell, text in zip(others, texts[1:], strict=True))
        rows.append(f'<tr><th scope="row" class="{_class_of(first)}">{_in_page(first)}</th>{"".join(cells)}</tr>')
    body = f"<thead><tr>{head}</tr></thead>\n<tbody>{''.join(rows)}</tbody>"
    titled = f"<caption>{_in_page(caption)}</caption>{body}" if caption else body
    name = html.escape(printable(caption) or ", ".join(column.title for column in table.columns if column.title))
    return f'<div class="scroll" tabindex="0" role="group" aria-label="Table: {name}"><table>{titled}</table></div>'


def _html_cell(cell: str, *, text: bool) -> str:
    return f'<td class="{_class_of(cell)}">{_in_page(cell)}</td>' if text else f"<td>{_in_page(cell)}</td>"


def _class_of(text: str) -> str:
    """Only words that are too long for a phone may break within a line of letters."""
    return "text long" if max(map(len, text.split()), default=0) > _LONGEST_WORD else "text"


class Printed:
    """Something that people read: as text, and as HTML in a notebook. Its pieces are the same."""

    def parts(self) -> list[Part]:
        """The pieces."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return in_html(self.parts())


def wrapped(text: str, width: int = WIDTH, indent: str = "  ") -> str:
    """A text on lines that fit the page; a number stays with its unit."""
    kept = printable(text).replace(" %", "\N{NO-BREAK SPACE}%")
    lines = textwrap.fill(kept, max(width, 20), subsequent_indent=indent, break_on_hyphens=False)
    return lines.replace("\N{NO-BREAK SPACE}%", " %")


def render(rows: Sequence[Row], columns: Sequence[Column], decimals: int) -> str:
    """A table with a rule under its header; numbers are aligned to the right.

    If the table is too wide for the page, the widest texts go on below, if there is room for them.
    """
    cells = Table(rows, columns, decimals).cells
    widths = [
        max(text_width(column.title), *(text_width(line[i]) for line in cells)) for i, column in enumerate(columns)
    ]
    texts = [i for i, column in enumerate(columns) if column.role == "text"]
    room = WIDTH - sum(widths) - 2 * (len(widths) - 1)
    if room < 0 and texts and len(columns) > 1:
        widest = max(texts, key=lambda i: (widths[i], i))
        if (room := room + widths[widest]) >= _LEAST_ROOM:
            cells = [piece for line in cells for piece in _folded(line, widest, room)]
            widths[widest] = max(text_width(columns[widest].title), *(text_width(line[widest]) for line in cells))

    def line(texts: Sequence[str]) -> str:
        gaps = (" " * (width - text_width(text)) for text, width in zip(texts, widths, strict=True))
        parts = (t + gap if c.role == "text" else gap + t for t, gap, c in zip(texts, gaps, columns, strict=True))
        return "  ".join(parts).rstrip()

    header = line([column.title for column in columns])
    return "\n".join([header, "-" * (sum(widths) + 2 * (len(widths) - 1)), *map(line, cells)])


def _folded(cells: list[str], which: int, room: int) -> list[list[str]]:
    """A line of a table as several, in which this cell has room."""
    pieces = wrapped(cells[which], room, indent="" if which else "  ").split("\n")
    lines = [cells, *([""] * len(cells) for _ in pieces[1:])]
    return [[*line[:which], piece, *line[which + 1 :]] for line, piece in zip(lines, pieces, strict=True)]


def markdown(rows: Sequence[Row], columns: Sequence[Column], decimals: int) -> str:
    """The same as a Markdown table."""
    lines = [
        [column.title for column in columns],
        ["---" if column.role == "text" else "---:" for column in columns],
        *([_cell(row[c.key], c.role, decimals).replace("|", "\\|") for c in columns] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def decimals_for(uncertainties: Sequence[float]) -> int:
    """As many decimals as show the smallest uncertainty with one digit, or two if it begins with 1 or 2; else 4."""
    known = [u for u in uncertainties if math.isfinite(u) and u > 0]
    return max(0, -math.floor(math.log10(min(known) / 3))) if known else 4


def text_width(text: str) -> int:
    """Columns on a terminal: East Asian characters take two, accents none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _cell(value: Any, role: str, decimals: int) -> str:
    if role == "text":
        return printable(shorten(str(value), _LONGEST))
    if role == "mark":
        return "*" if value else ""
    if role in ("interval", "percents"):
        low, high = value
        return limits_text(low, high, decimals, percents=role == "percents")
    if value is None or not math.isfinite(value):
        return "–"
    if role == "count":
        return f"{value:,.0f}"
    if role == "average":
        return f"{value:,.1f}"
    if role == "score":
        return f"{value:.1f}"
    if role == "share":
        return f"{100 * value:.1f} %"
    return number(value, decimals) if role == "number" else percent(value, decimals)


def number(value: float, decimals: int) -> str:
    """The number with this many decimals, or in scientific notation where these are many or the number is large."""
    if decimals > 8 or abs(value) >= 1e9:
        return f"{value + 0.0:.5g}"
    return f"{round(value, decimals) + 0.0:,.{decimals}f}"  # a zero has no sign


def percent(value: float, decimals: int) -> str:
    """A share with this many decimals as a percentage, which has two fewer."""
    return f"{number(100 * value, max(0, decimals - 2))} %"


def limits_text(low: float, high: float, decimals: int, *, percents: bool = False) -> str:
    """Limits in words."""
    if math.isnan(low):
        return "–"
    below, above = (_cell(limit, "percent" if percents else "number", decimals) for limit in (low, high))
    return f"{below}, no upper limit" if math.isinf(high) else f"{below.removesuffix(' %')} to {above}"
