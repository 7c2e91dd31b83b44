"""What the scripts that write pages share."""

import re

TABLE = re.compile(r"^\|.*\|\n\| ?-.*\|\n(?:\|.*\|\n)+", re.MULTILINE)


def folded(page: str) -> str:
    """The page with all of its Markdown tables but the first behind a line that opens them."""
    first = TABLE.search(page)
    end = first.end() if first else 0
    return page[:end] + TABLE.sub(_behind, page[end:])


def _behind(table: re.Match[str]) -> str:
    rows = table[0].count("\n") - 2
    return f"<details>\n<summary>Show the table ({rows} row{'s' * (rows > 1)})</summary>\n\n{table[0]}\n</details>\n"
