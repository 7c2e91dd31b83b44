"""What workers do for the page: the same that the commands do, with the same functions."""

import itertools
import shlex
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from debandit.app import BODY, REPORT, RESULT
from debandit.app.wording import described, for_page
from debandit.app.worker import Progress
from debandit.errors import DebanditError, InputError, printable, shorten
from debandit.files import json_text, write_whole
from debandit.tables import Part, Table, in_html

if TYPE_CHECKING:
    from debandit.describing import Description
    from debandit.log import ExperimentLog
    from debandit.policies import Policy
    from debandit.readers.pieces import Source
    from debandit.result import Debiased

Request = dict[str, Any]  # task, path and name of the log (no path: a data set), columns, policy, options, folder
STAGES = (  # of a correction
    "Read the log",
    "Run the rule again in worlds built from the log",
    "Check the rule against the log",
    "Try other assumptions",
    "Write the report",
)
PREVIEW_ROWS, PREVIEW_COLUMNS = 8, 50
MOST_LABELS = 200  # to choose a control from, and rows of a table that is shown before there is a report
MOST_COURSES, MOST_RULES = 10, 6
MOST_COLUMNS, LONGEST_NAME = 1000, 200  # to choose from
MOST_LETTERS = 50_000  # of a rule, which may list the sizes of its batches


def prepare() -> None:
    """Load what most tasks need, and never run a Python file: a rule is a text from a web page."""
    import debandit.checking
    import debandit.debiasing
    import debandit.describing
    import debandit.readers.reading  # noqa: F401
    from debandit.policies import run_no_files

    run_no_files()


def look(request: Request, progress: Progress) -> dict[str, Any]:
    """The first rows of a table and what is in it; also if it cannot be read with these columns."""
    from debandit.describing import Description
    from debandit.readers.reading import read
    from debandit.readers.sources import source_of

    progress.stage("Reading the table")
    found: dict[str, Any] = {"names": [], "rows": [], "guessed": {}}
    if request["path"] is None:
        log = _dataset(request).log
    else:
        source = source_of(request["path"])
        names = [name for name in source.columns if len(name) <= LONGEST_NAME][:MOST_COLUMNS]
        found |= {"names": names, "rows": _first_rows(source, names)}
        try:
            reading = read(request["path"], **request["columns"], batched=True)
        except DebanditError as error:
            return found | {"error": described(error, request["path"], request["name"])}
        log, found["guessed"] = reading.log, dict(reading.guessed)
    about = Description(log)
    labels = list(log.labels)
    few = len(labels) <= MOST_LABELS
    return found | {
        "headline": about.headline,
        "summary": in_html(_cut(part) for part in about.parts() if part.kind in ("arms", "unseen")),
        "courses": _courses(about),
        "notes": [for_page(note) for note in log.notes if not note.startswith("reading ")],
        "labels": labels if few and max(map(len, labels)) <= MOST_LABELS else [],
        "arms": len(labels),
        "binary": log.binary,
        "batched": log.batch_sizes is not None,
        "ordered": log.rounds is not None,
        "unseen": [shorten(label) for label in log.unseen[:MOST_LABELS]],
    }


def _courses(about: "Description") -> list[dict[str, Any]]:
    """The shares over time of the arms with the most pulls."""
    shares = about.shares()
    if shares is None or len(shares) < 2:
        return []
    most = sorted((-about.log.pulls).argsort(kind="stable")[:MOST_COURSES].tolist())
    return [{"arm": printable(shorten(about.log.labels[k], 40)), "shares": shares[:, k].tolist()} for k in most]


def check(request: Request, progress: Progress) -> dict[str, Any]:
    """Whether the rule fits the log."""
    from debandit.checking import check as run

    progress.stage("Checking the rule against the log")
    with _heard() as heard:
        policy = _policy(request)
        log = _log(request, batched=policy.needs_batches)
        unseen = request["options"].get("unseen")
        fit = run(log, policy, unseen=unseen)
    return {
        "policy": str(policy),
        "fits": fit.fits,
        "verdict": fit.verdict,
        "lead": in_html(part for part in fit.parts() if part.kind == "verdict"),
        "text": in_html(_in_words(part) for part in fit.parts() if part.kind not in ("verdict", "note")),
        "neighbours": list(fit.neighbours),
        "heard": heard,
    }


def identify(request: Request, progress: Progress) -> dict[str, Any]:
    """Which rules explain the log best."""
    from debandit.identification import identify as run

    progress.stage("Comparing the rules")
    found = run(_log(request, guess_batches=True))
    rows = found.document()["rules"]
    return {
        "text": in_html(_in_words(part) for part in found.parts() if part.kind in ("verdict", "untried")),
        "rules": [row for row in rows if row["impossible"] == rows[0]["impossible"]][:MOST_RULES],
    }


def correct(request: Request, progress: Progress) -> dict[str, Any]:
    """The result, its report and its file, which are written into the folder."""
    from debandit.debiasing import debias
    from debandit.debiasing.cases import totals_enough
    from debandit.settings import checked_options
    from debandit.worlds import as_bootstrap

    progress.stage(STAGES[0])
    with _heard():
        policy, options = _policy(request), request["options"]
        settings, _ = checked_options({**options, "world": as_bootstrap(options.get("world", "auto"), "world")})
        log = _log(request, batched=policy.needs_batches, enough=totals_enough(policy, settings))
        progress.stage(STAGES[1])
        result = debias(log, policy, **options)
        content = _content(request, progress, log, policy, result)
        progress.stage(STAGES[4])
        _write(Path(request["folder"]), content, result)
    return {"title": content["title"]}


def _content(
    request: Request, progress: Progress, log: "ExperimentLog", policy: "Policy", result: "Debiased"
) -> dict[str, Any]:
    """What stands in the report, with what the check says and what other assumptions would give."""
    from debandit.checking import check as run
    from debandit.report import content_of
    from debandit.report.sensitivity import sensitivity

    progress.stage(STAGES[2])
    fit = run(log, policy, seed=result.settings.seed, unseen=result.settings.unseen)
    progress.stage(STAGES[3])
    others = sensitivity(log, result)
    about = {"source": request["name"], "read": _code(request, policy), "command": _typed(request)}
    return content_of(result, fit=fit, others=others, **about)


def _write(folder: Path, content: dict[str, Any], result: "Debiased") -> None:
    """The report, what stands in it for the page of the app, and the result."""
    from debandit.report import templates

    pages = templates()
    write_whole(folder / REPORT, pages.get_template("template.html").render(content))
    write_whole(folder / BODY, pages.get_template("body.html").render(content))
    write_whole(folder / RESULT, json_text(result.document()))


def _typed(request: Request) -> str:
    from debandit.readers.written import as_options
    from debandit.settings import as_flags

    name = request["name"]
    name = f"./{name}" if name.startswith("-") else name
    flags = [*as_options(request["columns"]), "--policy", request["policy"], *as_flags(request["options"])]
    return shlex.join(["debandit", "debias", name, *flags])


def _code(request: Request, policy: "Policy") -> str:
    from debandit.readers.written import as_code

    if request["path"] is None:
        return f"db.datasets.{request['name']}.log"
    return as_code(request["name"], request["columns"], batched=policy.needs_batches)


def _policy(request: Request) -> "Policy":
    from debandit.policies import as_policy

    text = request["policy"]
    if len(text) > MOST_LETTERS:
        raise InputError(f"a rule of more than {MOST_LETTERS:,} letters", where="rule", remedy="Is this a rule?")
    return as_policy(text, "rule")


def _log(request: Request, **how: Any) -> "ExperimentLog":
    from debandit.readers.reading import read

    if request["path"] is None:
        log: ExperimentLog = _dataset(request).log
        return log
    return read(request["path"], **request["columns"], **how).log


def _dataset(request: Request) -> Any:
    from debandit.datasets import find

    return find(request["name"])


def _first_rows(source: "Source", names: list[str]) -> list[list[str]]:
    """The beginning of the table as text; a column that cannot be read is empty."""
    columns = names[:PREVIEW_COLUMNS]
    shown: list[list[str]] = []
    for column in columns:
        try:
            piece = next(iter(source.read([column], [])), None)
            cells = [] if piece is None else piece.columns.column(0)[:PREVIEW_ROWS].to_pylist()
        except DebanditError:
            cells = []
        shown.append(["" if cell is None else printable(shorten(str(cell), 40)) for cell in cells])
    return [list(row) for row in itertools.zip_longest(*shown, fillvalue="")]


def _cut(part: Part) -> Part:
    """A table with as many rows as one reads."""
    if isinstance(part.content, Table):
        return part._replace(content=part.content._replace(rows=part.content.rows[:MOST_LABELS]))
    return part


def _in_words(part: Part) -> Part:
    """Advice in the words of the page."""
    said = part.kind in ("remedy", "verdict", "warning") and isinstance(part.content, str)
    return part._replace(content=for_page(str(part.content))) if said else part


@contextmanager
def _heard() -> Iterator[list[str]]:
    """What would be warned of."""
    heard: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield heard
    heard.extend(dict.fromkeys(for_page(str(each.message)) for each in caught))


ALL: dict[str, Callable[[Request, Progress], dict[str, Any]]] = {
    "look": look,
    "check": check,
    "identify": identify,
    "correct": correct,
}
