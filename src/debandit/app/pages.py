"""From what is known to HTML: the templates, and what the larger of them need."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from debandit.app import forms
from debandit.app.tasks import STAGES
from debandit.errors import printable, with_few_sizes
from debandit.policies import RULES, WRAPPERS
from debandit.policies.presets import presets
from debandit.policies.rulebook import SYMBOLS
from debandit.worlds import FITTED

STEPS = (("Log", ""), ("Columns", "columns"), ("Rule", "rule"), ("Options", "options"), ("Report", "report"))
WAYS = {  # to say which rule it was
    "list": "Choose it from a list",
    "platform": "It ran on a platform",
    "text": "Write it",
    "unknown": "I do not know it",
}
MOST_METRICS = 50  # to choose from
_WIDTH, _HEIGHT = 240, 28  # of a small picture of an arm's share


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("debandit.app"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters |= {"code": _with_code, "picture": _picture, "safe_html": Markup}
    environment.filters |= {"few_sizes": with_few_sizes}
    environment.globals |= {"steps": STEPS, "ways": WAYS, "stages": STAGES}
    return environment


def _shown(value: Any) -> Any:
    """Text in lines, whatever is in it; names of columns and what was typed may have NULs."""
    return "\n".join(map(printable, value.splitlines())) if type(value) is str else value


def render(template: str, **known: Any) -> str:
    """The page."""
    return _environment().get_template(template).render(**known)


def columns_form(seen: Mapping[str, Any], typed: forms.Typed, columns: Mapping[str, Any]) -> dict[str, Any]:
    """What the page of columns needs: the fields, which column is used as what, and what is wrong."""
    fields, error = forms.column_fields(seen["names"], seen["guessed"], typed), seen.get("error")
    used = {role: column for role, column in {**seen["guessed"], **columns}.items() if isinstance(column, str)}
    metrics = columns.get("metrics", [])
    return {
        "seen": seen,
        "fields": fields,
        "used": used,
        "metrics": metrics,
        "others": [name for name in dict.fromkeys(seen["names"]) if name not in used.values()][:MOST_METRICS],
        "counts": "pulls" in used,
        "rounds": (*forms.ROUNDS, "batch_by"),
        "of_counts": (*forms.COUNTS, *forms.MEANS, "available"),
        "means": not used.keys().isdisjoint(forms.MEANS),
        "error": error,
        "wrong": forms.with_error(fields, error) if error else "",
    }


def rule_form(
    by: str, name: str, typed: forms.Typed, seen: Mapping[str, Any], error: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What the page of rules needs: those to choose from, and the fields of the one that is chosen."""
    found: dict[str, Any] = {"by": by, "chosen": None, "around": [], "typed": typed}
    if by == "platform":
        found["choices"] = [(each, preset.title, "") for each, preset in presets().items()]
        if name:
            found["chosen"] = forms.platform(name, typed)
    elif by == "list":
        found["choices"] = [(each, rule.title, _unsuited(each, seen)) for each, rule in RULES.items()]
        if name:
            found["chosen"] = forms.rule(name, typed, "o-")
            found["symbols"] = SYMBOLS
            found["around"] = [forms.rule(each, typed, f"w-{each}-") for each in WRAPPERS]
    described = [found["chosen"]] * bool(found["chosen"]) + found["around"]
    fields = {field.name: field for each in described for field in each.fields}
    wrong = "" if not error else "text" if by == "text" else forms.with_error(fields, error)
    return found | {"error": error, "wrong": wrong}


def options_form(typed: forms.Typed, seen: Mapping[str, Any], error: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the page of options needs; what an arm without rewards is taken for is asked at once if there is one."""
    fields = forms.option_fields(typed, seen["labels"], list(FITTED))
    first = [*forms.USUAL, *(["unseen"] if seen["unseen"] else [])]
    further = [name for name in fields if name not in first]
    return {
        "fields": fields,
        "first": first,
        "further": further,
        "changed": bool(typed) and not set(further).isdisjoint(forms.options_of(typed)),
        "error": error,
        "wrong": forms.with_error(fields, error) if error else "",
    }


def _unsuited(name: str, seen: Mapping[str, Any]) -> str:
    """What the rule needs and this log has not."""
    rule, lacks = RULES[name], []
    if rule.binary_rewards and not seen["binary"]:
        lacks.append("0/1 rewards")
    if rule.two_arms and seen["arms"] != 2:
        lacks.append("two arms")
    return f"needs {' and '.join(lacks)}" if lacks else ""


def _with_code(text: str) -> Markup:
    """A text of documentation, with `names` as code."""
    parts = str(escape(text)).split("`")
    return Markup("".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts)))


def _picture(shares: Sequence[float]) -> Markup:
    """A small picture of an arm's share over time."""
    step = _WIDTH / len(shares)
    corners = [f"{x * step:.1f},{_HEIGHT * (1 - share):.1f}" for i, share in enumerate(shares) for x in (i, i + 1)]
    points = " ".join([f"0,{_HEIGHT}", *corners, f"{_WIDTH},{_HEIGHT}"])
    box = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none"'
    return Markup(f'<svg class="share" {box} aria-hidden="true"><polygon points="{points}"/></svg>')
