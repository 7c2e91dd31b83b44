"""The report: one page that stands alone, for people who decide.

It has the sentences and tables of the printed answer, the picture, what speaks for and against the rule, how much
hangs on the assumptions, the method in short, and how to do it again.
"""

import shlex
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from debandit.checking import Fit
from debandit.engine.data import Floats
from debandit.errors import printable, shorten, with_few_sizes
from debandit.files import write_whole
from debandit.result import Debiased
from debandit.settings import OPTIONS
from debandit.tables import Column, Part, Table, decimals_for
from debandit.version import __version__
from debandit.words import details

MOST_ARMS = 8  # columns of the table of sensitivity
_NUMERIC = ("count", "number", "share", "score", "interval", "percent", "percents")
METHOD = (
    "A bandit chooses its arms by the rewards that it saw before. An arm with bad luck at first is given up, and "
    "its mean keeps the bad luck. So sample means are biased, mostly downward, and most for the arms that were "
    "given up.",
    "debandit builds a world from the log, in which the true means are known, and runs the same rule in it many "
    "times. How far the sample means are off there, on average, is the estimate of how far they are off here, and "
    "it is taken away (Chen, Gao and Xiong, Debiasing Samples from Online Learning Using Bootstrap).",
    "The quoted mean uses only runs in which the arm came out at the same place as in the log: it is the number "
    "to quote from one experiment. The corrected mean uses all runs, as the paper does: take it to put many "
    "experiments together. Neither is exact, because the world is made from the data.",
    "All of it rests on the rule. If another one chose the arms, the correction is worthless. That is why the "
    "rule is checked against the log.",
)


class Section(NamedTuple):
    """A part of the page under a heading."""

    title: str
    parts: Sequence[dict[str, Any]] = ()
    picture: str = ""
    described: str = ""
    codes: Sequence[dict[str, str]] = ()


def write_report(path: str | Path, result: Debiased, **known: Any) -> None:
    """Write the report, whole or not at all; see `report_of` for what may be `known` besides the result."""
    write_whole(path, report_of(result, **known))


def report_of(
    result: Debiased,
    *,
    fit: Fit | None = None,
    others: Sequence[tuple[str, Floats]] = (),
    source: str = "LOG",
    command: str = "",
) -> str:
    """The page as HTML.

    `fit` is what `check` says, `others` what `sensitivity` says, `source` names the log, and `command` is what was
    typed; without it one is made from the settings.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    from debandit.plots import draw_result, svg_of

    parts = result.parts()
    lead = [part for part in parts if part.kind in ("sentence", "difference")]
    doubts = [part for part in parts if part.kind == "warning"]
    rest = [part for part in parts if part not in lead and part not in doubts and part.kind != "next"]
    picture = Markup(svg_of(draw_result(result)))  # which has escaped what it draws
    sections = [
        Section("The numbers", _shown(rest)),
        Section("The picture", picture=picture, described=" ".join(str(part.content) for part in lead)),
        *([Section("What to look out for", _shown(doubts))] if doubts else []),
        *([Section("Does the rule fit the log?", _shown(fit.parts()))] if fit is not None else []),
        *([Section("How much hangs on the assumptions", [_of_others(result, others)])] if others else []),
        Section("How it works", _shown(Part("method", text) for text in METHOD)),
        Section("How far to trust it", _shown(details(result))),
        Section("Do it again", codes=_again(result, source, command)),
    ]
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page = environment.from_string((files(__package__) / "template.html").read_text(encoding="utf-8"))
    return page.render(
        title=f"What {len(result.labels)} arms are worth",
        about=_about(result, source),
        lead=_shown(lead),
        sections=sections,
        footer=f"debandit {__version__}; log {result.settings.log_sha256[:12]}",
    )


def _about(result: Debiased, source: str) -> str:
    settings = result.settings
    rule = with_few_sizes(settings.policy)
    return printable(f"{shorten(source)}: {settings.horizon:,} rounds of {rule}")


def _shown(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """The pieces as the template takes them; a caption goes to the table after it."""
    shown: list[dict[str, Any]] = []
    caption = ""
    for part in parts:
        if part.kind == "caption":
            caption = str(part.content)
        elif isinstance(part.content, Table):
            shown.append({"kind": part.kind, "table": _html_table(part.content, caption)})
            caption = ""
        else:
            text = printable(str(part.content))
            shown.append({"kind": part.kind, "text": text, "strong": part.strong, "table": None})
    return shown


def _html_table(table: Table, caption: str = "") -> dict[str, Any]:
    like_text = [column.role not in _NUMERIC for column in table.columns]
    head = [{"text": column.title, "text_like": like} for column, like in zip(table.columns, like_text, strict=True)]
    rows = [
        [{"text": text, "text_like": like} for text, like in zip(row, like_text, strict=True)] for row in table.cells
    ]
    return {"caption": printable(caption), "head": head, "rows": rows}


def _of_others(result: Debiased, others: Sequence[tuple[str, Floats]]) -> dict[str, Any]:
    """A line for each assumption, a column for each of the arms with the most pulls."""
    most = sorted(np.argsort(-result.pulls, kind="stable")[:MOST_ARMS].tolist())
    role = "percent" if result.settings.binary else "number"
    columns = [Column("what", "assumption", "text")]
    columns += [Column(str(k), printable(shorten(result.labels[k], 24)), role) for k in most]
    rows = [{"what": what, **{str(k): float(values[k]) for k in most}} for what, values in others]
    spread = result.sd / np.sqrt(np.maximum(result.pulls, 1))
    decimals = decimals_for((0.03 * (100 if role == "percent" else 1) * spread[most]).tolist())
    left = "" if len(most) == len(result.labels) else f"The {len(most)} arms with the most pulls."
    return {"kind": "table", "table": _html_table(Table(rows, columns, decimals), left)}


def _again(result: Debiased, source: str, command: str) -> list[dict[str, str]]:
    """The command and the Python code that give this result."""
    settings = result.settings
    given = {
        name: getattr(settings, name)
        for name in ("world", "runs", "unseen", "interval", "level", "method", "control", "adjust", "seed")
        if getattr(settings, name) != OPTIONS[name].default
    }
    flags = [part for name, value in given.items() for part in (f"--{name}", _as_text(value))]
    typed = command or shlex.join(["debandit", "debias", source, "--policy", settings.policy, *flags])
    options = "".join(f",\n    {name}={value!r}" for name, value in given.items())
    code = (
        f"import debandit as db\n\nlog = db.read_log({source!r})\n"
        f"result = db.debias(\n    log,\n    {settings.policy!r}{options},\n)\nprint(result)"
    )
    return [
        {"title": "On the command line:", "text": printable(typed)},
        {"title": "In Python:", "text": code},
    ]


def _as_text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


__all__ = ["report_of", "write_report"]
