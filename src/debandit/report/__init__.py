"""The report: one page that stands alone, for people who decide.

It has the sentences and tables of the printed answer, the picture, what speaks for and against the rule, how much
depends on the assumptions, the method in short, and how to do it again.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from debandit.checking import Fit
from debandit.errors import printable, shorten
from debandit.files import write_whole
from debandit.report.again import codes_of, settings_part
from debandit.report.method import method_parts
from debandit.result import Debiased
from debandit.tables import Part, in_html
from debandit.version import __version__
from debandit.words import details
from debandit.words.assumptions import Assumption, assumption_parts
from debandit.words.values import has_quoted

if TYPE_CHECKING:
    from jinja2 import Environment

_CAPTIONS = {
    "means": "The raw and the {corrected} mean of each arm{limits}. The table below has the numbers.",
    "course": "How often each arm had been pulled, and the mean of its rewards up to then.",
    "simulated": "Each arm's mean in {runs:,} runs of the rule in the world that was made from the log; the dashed "
    "line is the raw mean in the log.",
}
# the pixels for which panels are drawn: the main picture for a desk and for a phone, others so that they suit both
_WIDTHS = {"means": (620, 330), "course": (320,), "simulated": (165,)}


class Figure(NamedTuple):
    """A picture of one or several panels."""

    name: str
    panels: Sequence[Any]  # Markup
    caption: str


class Section(NamedTuple):
    """A part of the page under a heading."""

    title: str
    text: Any = ""  # Markup
    figure: Figure | None = None  # before the text
    codes: Sequence[dict[str, str]] = ()


def write_report(path: str | Path, result: Debiased, **known: Any) -> None:
    """Write the report, whole or not at all; see `content_of` for what may be `known` besides the result."""
    write_whole(path, report_of(result, **known))


def report_of(result: Debiased, **known: Any) -> str:
    """The page as HTML; see `content_of` for what may be `known` besides the result."""
    return str(templates().get_template("template.html").render(content_of(result, **known)))


def templates() -> "Environment":
    """The page's templates: `template.html` around `body.html`, with pieces of `macros.html`, and its `style.css`."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("debandit.report", "")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def content_of(
    result: Debiased,
    *,
    fit: Fit | None = None,
    others: Sequence[Assumption] = (),
    source: str = "",
    read: str = "",
    command: str = "",
) -> dict[str, Any]:
    """What stands on the page.

    `fit` is what `check` says, `others` what `sensitivity` says, `source` names the log, `read` is the Python code that
    reads it, and `command` is what was typed; without them they are made from the settings.
    """
    log = f"{printable(shorten(source))}: " if source else ""
    parts, figures = result.parts(), _figures(result)
    lead, more = _divided([part for part in parts if part.kind in ("sentence", "difference")])
    doubts = [part for part in parts if part.kind in ("warning", "note")]
    rest = [part for part in parts if part not in (*lead, *more, *doubts) and part.kind != "next"]
    sections = [
        Section("The numbers", _shown(rest), figures.get("means")),
        Section("The other arms", _shown(more)),
        Section("What to look out for", _shown(doubts)),
        Section("How the experiment went", figure=figures.get("course")),
        Section("Does the rule fit the log?", _shown(fit.parts()) if fit is not None else ""),
        Section("How much depends on the assumptions", _shown(assumption_parts(result, others)) if others else ""),
        Section("How it works", _shown(method_parts(reordered=result.replays is not None))),
        Section("How far to trust it", _shown(details(result)), figures.get("simulated")),
        Section("Settings", _shown([settings_part(result, source)])),
        Section("Do it again", codes=codes_of(result, source or "LOG", read, command)),
    ]
    return {
        "title": f"What {len(result.labels)} arms are worth",
        "about": f"{log}{len(result.labels):,} arms, {result.settings.horizon:,} rounds",
        "lead": _shown(lead),
        "sections": [each for each in sections if each.text or each.figure or each.codes],
        "footer": f"debandit {__version__}; log {result.settings.log_sha256[:12]}",
    }


def _divided(said: Sequence[Part]) -> tuple[list[Part], list[Part]]:
    """The sentence of the arm that looks best, with the first difference, and all others."""
    first = [next((part for part in said if part.kind == kind), None) for kind in ("sentence", "difference")]
    lead = [part for part in first if part is not None]
    return lead, [part for part in said if part not in lead]


def _figures(result: Debiased) -> dict[str, Figure]:
    """The parts of the result's picture, which has escaped what it draws."""
    from markupsafe import Markup

    from debandit.plots import draw_panels, left_out, svg_of

    limits = f" with its {100 * result.interval.level:g} % interval" if result.interval.name != "none" else ""
    corrected, figures = "quoted" if has_quoted(result) else "corrected", {}
    for name, widths in _WIDTHS.items():
        charts = [chart for width in widths for chart in draw_panels(result, name, width)]
        panels = [Markup(svg_of(chart, f"{name}-{i}-")) for i, chart in enumerate(charts)]
        if panels:
            caption = _CAPTIONS[name].format(corrected=corrected, limits=limits, runs=result.runs) + left_out(
                result, name
            )
            figures[name] = Figure(name, panels, caption)
    return figures


def _shown(parts: Iterable[Part]) -> Any:
    from markupsafe import Markup

    return Markup(in_html(parts))  # which escapes


__all__ = ["content_of", "report_of", "templates", "write_report"]
