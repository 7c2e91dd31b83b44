"""What is known of each rule: for `debandit rules`, and for the page of rules that is made from it."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from debandit import policies
from debandit.errors import InputError, listed, shorten
from debandit.policies.parameters import Parameter, about, parameters
from debandit.policies.policy import Policy
from debandit.policies.presets import PREFIX, presets
from debandit.spec import unknown, usage
from debandit.tables import Column, Part, Printed, Table, plain

KINDS = {"rule": "Rules", "around": "Around a rule", "package": "Rules of other packages"}
SYMBOLS = (
    "K is the number of arms and t that of the round, counted from 1. Before round t, arm k has N_k pulls, the sum of "
    "rewards S_k and the mean mean_k = S_k / N_k. The rule pulls argmax_k, the arm with the highest value, or arm k "
    "with probability p_k; around a rule, P_k is what becomes of its p_k. θ_k is a random draw, new in every round. "
    "1{...} is 1 if that is so, else 0."
)
_OPTIONS = (
    Column("name", "option", "text"),
    Column("default", "default", "text"),
    Column("limits", "may be", "text"),
    Column("text", "what it is for", "text"),
)
_RULES = (
    Column("name", "rule", "text"),
    Column("title", "what it is", "text"),
    Column("other_names", "other names", "text"),
)


class Platform(NamedTuple):
    """A platform that uses a rule."""

    preset: str
    title: str


@dataclass(frozen=True)
class Entry(Printed):
    """All that is known of a rule, or of what may be around one."""

    rule: type[Policy]
    kind: str

    @property
    def name(self) -> str:
        """How it is called where one types it."""
        return self.rule.name

    @property
    def options(self) -> list[Parameter]:
        """Its options, with limits and defaults."""
        return parameters(self.rule)

    @property
    def other_names(self) -> dict[str, str]:
        """Other names that it answers to, and what those with options of their own stand for."""
        names = {name: "" for name, rule in policies.OTHER_NAMES.items() if rule is self.rule}
        made = {name: make() for name, make in policies.ALIASES.items()}
        return names | {name: str(rule) for name, rule in made.items() if type(rule) is self.rule}

    @property
    def platforms(self) -> list[Platform]:
        """The platforms whose presets have it."""
        return [
            Platform(PREFIX + each.name, each.title)
            for each in presets().values()
            if self.name in re.findall(r"(\w+)\(", each.rule)
        ]

    @property
    def suits(self) -> str:
        """What the rule is like, in a sentence; empty for what is around rules."""
        if self.kind != "rule":
            return ""
        needs = ["0/1 rewards"] * self.rule.binary_rewards + ["two arms"] * self.rule.two_arms
        drawn = "It draws arms at random" if self.rule.randomised else "Its choices follow from the data"
        return f"{drawn}{f'; for {listed(needs)} only' if needs else ''}."

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per option."""
        return [option._asdict() for option in self.options]

    def parts(self) -> list[Part]:
        """The pieces of what is printed."""
        names = [f"{name} ({made})" if made else name for name, made in self.other_names.items()]
        used = [f"{each.title} ({each.preset})" for each in self.platforms]
        facts = {"Other names": names, "Platforms": used, "Source": [self.rule.source] if self.rule.source else []}
        first, *more = about(self.rule)
        return [
            Part("heading", self.name, strong=True),
            Part("title", f"{self.rule.title}. {first}"),
            *([Part("formula", self.rule.formula)] if self.rule.formula else []),
            *(Part("about", text) for text in (*more, self.suits) if text),
            *([Part("options", Table(self.rows(), _OPTIONS, 0))] if self.options else []),
            *(Part("fact", f"{title}: {'; '.join(texts)}.") for title, texts in facts.items() if texts),
            Part("fact", f"Written: {self.usage}"),
        ]

    @property
    def usage(self) -> str:
        """How it is written, with its defaults."""
        return usage(self.name, self.rule)

    def document(self) -> dict[str, Any]:
        """Everything, as a JSON file has it."""
        return {
            "name": self.name,
            "kind": self.kind,
            "title": self.rule.title,
            "about": about(self.rule),
            "formula": list(self.rule.formula),
            "randomised": self.rule.randomised,
            "binary_rewards": self.rule.binary_rewards,
            "two_arms": self.rule.two_arms,
            "options": self.rows(),
            "other_names": self.other_names,
            "platforms": [each._asdict() for each in self.platforms],
            "source": self.rule.source,
            "usage": self.usage,
        }


class Rulebook(NamedTuple):
    """All rules, in short or with everything that is known of each."""

    details: bool = False

    def entries(self) -> list[Entry]:
        """All of them, in the order of the table of contents."""
        known = {"rule": policies.RULES, "around": policies.WRAPPERS, "package": policies.ADAPTERS}
        return [Entry(rule, kind) for kind, rules in known.items() for rule in rules.values()]

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per rule."""
        return [
            {
                "name": each.name,
                "other_names": ", ".join(each.other_names),
                "title": each.rule.title,
                "kind": each.kind,
                "formula": "; ".join(each.rule.formula),
                "options": each.usage,
                "platforms": ", ".join(platform.preset for platform in each.platforms),
                "source": each.rule.source,
            }
            for each in self.entries()
        ]

    def parts(self) -> list[Part]:
        """The pieces of what is printed."""
        shown, found = [Part("note", SYMBOLS)] * self.details, self.entries()
        for kind, title in KINDS.items():
            rows = [row for row in self.rows() if row["kind"] == kind]
            shown += [Part("section", title, strong=True), Part("rules", Table(rows, _RULES, 0))]
            if self.details:
                shown += [part for each in found if each.kind == kind for part in each.parts()]
        hints = "debandit rules NAME shows one rule; debandit presets lists those of platforms."
        return [*shown, *([] if self.details else [Part("next", hints)])]

    def __str__(self) -> str:
        return plain(self.parts())

    def document(self) -> dict[str, Any]:
        """Everything, as a JSON file has it."""
        return {"schema": "debandit.rules", "schema_version": 1, "rules": [each.document() for each in self.entries()]}


def find(name: str, where: str = "") -> Entry:
    """The rule of this name, or of one of its other names, with or without options behind it."""
    asked = policies.with_underscores(name.partition("(")[0].strip().lower())
    for entry in Rulebook().entries():
        if asked in (entry.name, *entry.other_names):
            return entry
    if (platform := asked.removeprefix(PREFIX)) in presets():
        what = f"{shorten(name)!r} is the rule of a platform"
        raise InputError(what, where=where, remedy=f"debandit presets {platform} shows it.")
    raise unknown(asked, policies.MAKERS, where, "rule")
