"""How one writes what was said about columns: on the command line, and in Python."""

import csv
import io
from collections.abc import Mapping
from typing import Any

from debandit.settings import AVAILABLE, MISSING

_USUAL = {"missing": MISSING[0], "available": AVAILABLE[0]}


def named(columns: Mapping[str, Any]) -> dict[str, Any]:
    """What was said about columns."""
    return {name: value for name, value in columns.items() if value and value != _USUAL.get(name)}


def as_options(columns: Mapping[str, Any]) -> list[str]:
    """The options that say it, as words of a command."""
    told = named(columns)
    metrics = [("metric", metric) for metric in told.pop("metrics", ())]
    arms = [("arms", _listed(told.pop("arms")))] if "arms" in told else []
    return [word for name, value in [*told.items(), *arms, *metrics] for word in (f"--{name.replace('_', '-')}", value)]


def as_code(source: Any, columns: Mapping[str, Any], *, batched: bool) -> str:
    """The Python code that reads the same log."""
    told = named(columns) | ({"batched": True} if batched else {})
    return f"db.read_log({source!r}{''.join(f', {name}={value!r}' for name, value in told.items())})"


def _listed(labels: list[str]) -> str:
    """With commas, and quoted where a label has one."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(labels)
    return text.getvalue()
