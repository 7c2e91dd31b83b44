"""How to do it again: what was set, and the command and the Python code that give the same numbers."""

import shlex

from debandit.checking.fit import FORCED
from debandit.errors import printable, with_few_sizes
from debandit.result import Debiased
from debandit.settings import OPTIONS, as_flags
from debandit.tables import Column, Part, Table

_GIVEN = ("world", "runs", "unseen", "interval", "level", "method", "control", "adjust", "control_variates", "seed")
_COLUMNS = (Column("what", "setting", "text"), Column("value", "value", "text"))


def settings_part(result: Debiased, source: str) -> Part:
    """All that the numbers depend on, as a table."""
    settings = result.settings
    stand_in = settings.unseen and f"mean {settings.unseen.mean:g}, standard deviation {settings.unseen.sd:g}"
    found = {
        "log": source,
        "its fingerprint (SHA-256)": settings.log_sha256,
        "rounds": f"{settings.horizon:,}",
        "rule": with_few_sizes(settings.policy),
        "method": settings.method,
        "world": f"{settings.world} (auto: {settings.world_because})" if settings.world_because else settings.world,
        "world of arms without a reward": stand_in,
        "runs": f"{result.runs:,}{' with control variates' if settings.control_variates else ''}",
        "interval": f"{result.interval.name}, {100 * result.interval.level:g} %",
        "control": settings.control,
        "period-weighted means": None if result.adjusted is None else f"of {result.adjusted.batches:,} batches",
        "seed": f"{settings.seed}",
        "debandit": settings.version,
    }
    rows = [{"what": what, "value": value} for what, value in found.items() if value]
    return Part("settings", Table(rows, _COLUMNS, 0))


def codes_of(result: Debiased, source: str, read: str, command: str) -> list[dict[str, str]]:
    """The command and the Python code that give this result."""
    settings = result.settings
    given = {name: getattr(settings, name) for name in _GIVEN if getattr(settings, name) != OPTIONS[name].default}
    if any(warning.startswith(f"{FORCED}:") for warning in result.warnings):
        given["force"] = True
    typed = command or shlex.join(["debandit", "debias", source, "--policy", settings.policy, *as_flags(given)])
    if settings.log_index:  # commands have one log
        given["log_index"] = settings.log_index
    given = {name: tuple(value) if isinstance(value, tuple) else value for name, value in given.items()}
    options = "".join(f",\n    {name}={value!r}" for name, value in given.items())
    code = (
        f"import debandit as db\n\nlog = {read or f'db.read_log({source!r})'}\n"
        f"result = db.debias(\n    log,\n    {settings.policy!r}{options},\n)\nprint(result)"
    )
    return [
        {"title": "On the command line:", "text": printable(typed)},
        {"title": "In Python:", "text": code},
    ]
