"""Fields of forms, made from what rules, presets and options declare, and what people typed turned into texts."""

import ast
import csv
import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from debandit import spec
from debandit.app.wording import LABELS
from debandit.checks import checked_choice, limits_text
from debandit.errors import InputError
from debandit.policies import RULES, WRAPPERS
from debandit.policies.parameters import about
from debandit.policies.presets import PREFIX, presets
from debandit.policies.rulebook import find
from debandit.settings import AVAILABLE, MISSING, OPTIONS, PERIODS

Typed = Mapping[str, str]
AROUND = [  # from the rule outward
    *("tempered", "batched", "delayed", "warm_up", "gate", "drop", "floor", "quota", "commit_when", "stop_when")
]
_INNER = spec.INNER
_PLAIN = (int, float, str, bool, type(None))  # what options are made of


class Field(NamedTuple):
    """A field of a form."""

    name: str
    label: str
    kind: str = "text"  # or number, choice, flag
    value: str = ""
    text: str = ""  # what it is for, and its limits
    choices: Sequence[tuple[str, str]] = ()  # values and words
    wide: bool = False


class Described(NamedTuple):
    """A rule, a wrapper or a platform, with the fields of its options."""

    name: str
    title: str
    text: list[str]  # paragraphs
    formula: Sequence[str]
    fields: list[Field]
    facts: Mapping[str, Sequence[str]]


def rule(name: str, typed: Typed, start: str = "") -> Described:
    """A built-in rule or a wrapper; names of fields begin with `start`."""
    entry = find(name)
    facts = {
        "It": [entry.suits] if entry.suits else [],
        "Other names": list(entry.other_names),
        "Platforms": [platform.title for platform in entry.platforms],
        "Source": [entry.rule.source] if entry.rule.source else [],
    }
    said = {option.name: option.text for option in entry.options}
    options = [each for each in dataclasses.fields(entry.rule) if each.name != _INNER]  # type: ignore[arg-type]  # all are dataclasses
    fields = [_of_option(each, start, typed, said.get(each.name, "")) for each in options]
    return Described(name, entry.rule.title, about(entry.rule), entry.rule.formula, fields, facts)


def _of_option(option: "dataclasses.Field[Any]", start: str, typed: Typed, text: str) -> Field:
    """The field of an option with its declared limits."""
    usual = "" if option.default in (None, dataclasses.MISSING) else _shown(option.default)
    name, value = start + option.name, typed.get(start + option.name, usual)
    if option.metadata.get("check") is checked_choice:
        return Field(name, option.name, "choice", value, text, [(each, each) for each in option.metadata["limits"][0]])
    limits = limits_text(option)
    return Field(name, option.name, "number" if limits else "text", value, f"{text} ({limits})" if limits else text)


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def platform(name: str, typed: Typed) -> Described:
    """The rule of a platform."""
    found = presets()[name]
    fields = [
        Field(
            f"o-{option}",
            option,
            "text",
            typed.get(f"o-{option}", "" if about.default is None else _shown(about.default)),
            about.text + ("; it is needed" if about.needed else ""),
        )
        for option, about in found.options.items()
    ]
    facts = {"Not covered": found.not_covered, f"Sources, read on {found.read}": found.sources}
    return Described(name, found.title, found.states, (), fields, facts)


def policy_of(typed: Typed) -> str:
    """The text of the rule that a form describes."""
    by = typed.get("by", "")
    if by == "text":
        return typed.get("text", "").strip()
    name = typed.get("rule", "")
    if by == "platform" and name in presets():
        options = {option: each.default for option, each in presets()[name].options.items()}
        return f"{PREFIX}{name}{_options(options, 'o-', typed)}"
    if name not in RULES:
        raise InputError("no rule was chosen", where="rule", remedy="Choose one from the list.")
    text = name + _options(RULES[name].defaults(), "o-", typed)
    for wrapper in AROUND:
        if f"w-{wrapper}" in typed:
            options = {option: value for option, value in WRAPPERS[wrapper].defaults().items() if option != _INNER}
            text = f"{wrapper}({text}{_options(options, f'w-{wrapper}-', typed, inside=True)})"
    return text


def _options(usual: Mapping[str, Any], start: str, typed: Typed, *, inside: bool = False) -> str:
    """The options that are not as usual; `inside` the brackets of a wrapper."""
    given = {option: literal(typed[start + option]) for option in usual if typed.get(start + option, "").strip()}
    said = [f"{option}={value!r}" for option, value in given.items() if not _same(value, usual[option])]
    if not said:
        return ""
    return f", {', '.join(said)}" if inside else f"({', '.join(said)})"


def _same(value: Any, usual: Any) -> bool:
    return type(value) in (int, float, str) and value == usual


def literal(text: str) -> Any:
    """A number, or a list of them, as it is written; else the text."""
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text.strip()
    several = list(value) if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(each, _PLAIN) for each in several):
        return text.strip()
    return several if isinstance(value, (list, tuple)) else value


def typed_of(policy: str) -> dict[str, str]:
    """What would have to be typed into the fields to get this rule; the text itself if no form has it."""
    as_text = {"by": "text", "text": policy}
    if policy.startswith(PREFIX):
        parsed = spec.parse(policy.removeprefix(PREFIX))
        if parsed is None or parsed.name not in presets() or spec.FIRST in parsed.options:
            return as_text
        return {"by": "platform", "rule": parsed.name, **_values(parsed.options, "o-")}
    parsed, found = spec.parse(policy), {"by": "list"}
    while parsed is not None and parsed.name in WRAPPERS and spec.FIRST not in parsed.options:
        inner = parsed.options.get(_INNER)
        found |= {f"w-{parsed.name}": "on", **_values(parsed.options, f"w-{parsed.name}-")}
        parsed = inner if isinstance(inner, spec.Parsed) else None
    if parsed is None or parsed.name not in RULES or spec.FIRST in parsed.options:
        return as_text
    found |= {"rule": parsed.name, **_values(parsed.options, "o-")}
    return found if _alike(policy_of(found), policy) else as_text


def _values(options: Mapping[str, Any], start: str) -> dict[str, str]:
    return {f"{start}{name}": _shown(value) for name, value in options.items() if name != _INNER and value is not None}


def _alike(one: str, other: str) -> bool:
    """Whether two texts are the same rule in the same wrappers, options aside."""
    return re.findall(r"(\w+)\(", f"{one}(") == re.findall(r"(\w+)\(", f"{other}(")


_HELP = {  # of columns
    "arm": "What was shown, given or chosen.",
    "reward": "What came of it: 0 or 1, or a number.",
    "time": "Only if the rows are not in the order of time.",
    "pulls": "How many users, or rounds, the row stands for.",
    "successes": "How many of them succeeded.",
    "batch": "If the rule learned only between batches: a day, a wave.",
    "metrics": "Outcomes besides the reward to correct, such as revenue.",
    "arms": "With commas between them; by default in the order in which they appear.",
    "available": "auto: as the rows show; all: every arm was available in every batch.",
}
ROUNDS, COUNTS, MEANS = ("reward", "time"), ("pulls", "successes"), ("mean", "sd", "sum", "squares")


def column_fields(names: Sequence[str], guessed: Mapping[str, str], typed: Typed) -> dict[str, Field]:
    """The fields of the form in which one says which column is what."""
    fields = {}
    for role in ("arm", "batch", *ROUNDS, *COUNTS, *MEANS):
        guess = guessed.get(role)
        first = f"{guess} (guessed)" if guess else "none" if role in ("time", "batch", *MEANS) else "to be guessed"
        choices = [("", first), *([("none", "the rows are in order")] if role == "time" else [])]
        choices += [(name, name) for name in dict.fromkeys(names)]
        fields[role] = Field(role, LABELS[role], "choice", typed.get(role, ""), _HELP.get(role, ""), choices)
    whole: dict[str, list[tuple[str, str]]] = {
        "batch_by": [("", "as they are"), *((period, period) for period in PERIODS)],
        "missing": [(each, each) for each in MISSING],
        "available": [(each, each) for each in AVAILABLE],
    }
    for name, choices in whole.items():
        label = LABELS[name.replace("_", "-")]
        fields[name] = Field(name, label, "choice", typed.get(name, ""), _HELP.get(name, ""), choices)
    fields["arms"] = Field("arms", LABELS["arms"], "text", typed.get("arms", ""), _HELP["arms"], wide=True)
    return fields


def columns_of(typed: Typed, metrics: Sequence[str]) -> dict[str, Any]:
    """The options of `read` that a form says; csv.Error if it has what no browser sends."""
    names = ("arm", "batch", *ROUNDS, *COUNTS, *MEANS, "batch_by", "missing", "available")
    columns: dict[str, Any] = {name: typed[name] for name in names if typed.get(name)}
    if typed.get("arms", "").strip():
        columns["arms"] = [label.strip() for label in next(csv.reader([typed["arms"]]), [])]
    return columns | ({"metrics": list(metrics)} if metrics else {})


USUAL = ("control", "level", "interval", "seed")
FURTHER = ("world", "runs", "adjust", "method", "unseen", "control_variates", "force")


def option_fields(typed: Typed, labels: Sequence[str], worlds: Sequence[str]) -> dict[str, Field]:
    """The fields of the options of `debias`."""
    fields = {}
    for name in (*USUAL, *FURTHER):
        option = OPTIONS[name]
        field = _of_option(option, "", typed, "")
        field = field._replace(label=LABELS[name.replace("_", "-")], text=option.metadata["text"])
        if isinstance(option.default, bool):
            usual = "on" if option.default and not typed else ""
            field = field._replace(kind="flag", value=typed.get(name, usual))
        fields[name] = field
    if labels:
        choices = [("", "none: the best one among the others"), *((label, label) for label in labels)]
        fields["control"] = fields["control"]._replace(kind="choice", choices=choices)
    fields["world"] = fields["world"]._replace(kind="choice", choices=[(each, each) for each in worlds])
    return fields


def options_of(typed: Typed) -> dict[str, Any]:
    """The options of `debias` that a form says, those at their defaults left out."""
    found: dict[str, Any] = {}
    for name in (*USUAL, *FURTHER):
        usual, text = OPTIONS[name].default, typed.get(name, "")
        value: Any = text if name == "control" else text.strip()  # which is a label
        if isinstance(usual, bool):
            value = name in typed
        elif not value:
            continue
        elif name in ("level", "runs", "seed", "unseen"):
            value = literal(text)
        if value != usual:
            found[name] = value
    return found


def with_error(fields: Mapping[str, Field], error: Mapping[str, Any]) -> str:
    """The name of the field that an error is about; empty if it is about none."""
    known: dict[str, str] = dict(_names(fields))
    return next((known[word] for word in error.get("fields", ()) if word in known), "")


def _names(fields: Mapping[str, Field]) -> Iterator[tuple[str, str]]:
    for name in fields:
        yield name, name
        yield name.replace("_", "-"), name
        yield name.rpartition("-")[2], name
    if "metrics" in fields:
        yield "metric", "metrics"
