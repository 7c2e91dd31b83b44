"""The rules of experimentation platforms by name. All that is known of them is data, in `presets.toml`."""

import functools
import inspect
import tomllib
import warnings
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from textwrap import wrap
from typing import Any, NamedTuple

from debandit.checks import did_you_mean
from debandit.errors import InputError, PresetWarning, shorten
from debandit.policies.policy import Policy
from debandit.tables import wrapped

PREFIX = "preset:"
_WIDTH = 100


class Option(NamedTuple):
    """What a user may say of the rule."""

    text: str
    default: Any = None
    needed: bool = False  # nobody else can know it


@dataclass(frozen=True)
class Preset:
    """What a platform says of its rule; called with options, it is the rule."""

    name: str
    title: str
    rule: str
    states: list[str]
    not_covered: list[str]
    sources: list[str]
    read: date
    look_up: dict[str, Option]
    not_stated: dict[str, Option]

    @property
    def options(self) -> dict[str, Option]:
        """All options, in the order in which they are written."""
        return self.look_up | self.not_stated

    @property
    def __signature__(self) -> inspect.Signature:
        """By which `spec` knows the options."""
        return inspect.Signature(
            [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.default)
                for name, option in self.options.items()
            ]
        )

    def __call__(self, **given: Any) -> Policy:
        """The rule with these options; what is assumed besides them is a warning."""
        from debandit.policies import as_policy  # which knows presets

        for name, option in self.options.items():
            if option.needed and given.get(name) is None:
                remedy = f"Give {name}, {option.text}: {self.usage}"
                raise InputError(f"{PREFIX}{self.name} needs {name}", where="policy", remedy=remedy)
        warnings.warn(self._assumed(given), PresetWarning, stacklevel=2)
        values = {name: option.default for name, option in self.options.items()} | given
        try:
            text = self.rule.format(**{name: repr(value) for name, value in values.items()})
        except ValueError:
            what = f"{PREFIX}{self.name} is given a number of thousands of digits"
            raise InputError(what, where="policy", remedy=f"It is written {self.usage}") from None
        return as_policy(text)

    def _assumed(self, given: dict[str, Any]) -> str:
        """What one should know who uses it with these options."""

        def defaults(options: dict[str, Option]) -> str:
            left = {name: each.default for name, each in options.items() if name not in given}
            return ", ".join(f"{name}={default}" for name, default in left.items() if default is not None)

        parts = {
            "Assumed, so look it up in the platform": defaults(self.look_up),
            "Assumed, because it is stated nowhere": defaults(self.not_stated),
            "Not covered": "; ".join(self.not_covered),
        }
        said = " ".join(f"{title}: {text}." for title, text in parts.items() if text)
        return (
            f"{PREFIX}{self.name} is only as right as the platform's documentation; run debandit check with it. {said}"
        )

    @property
    def usage(self) -> str:
        """How it is written, with its defaults."""
        shown = [f"{name}={'...' if each.needed else each.default}" for name, each in self.options.items()]
        return f"{PREFIX}{self.name}({', '.join(shown)})"

    def __str__(self) -> str:
        def described(options: dict[str, Option]) -> list[str]:
            return [f"{name}: {each.text}{_default(each)}" for name, each in options.items()]

        parts = {
            "What the platform states": self.states,
            "To look up in the platform": described(self.look_up),
            "Not stated anywhere": described(self.not_stated),
            "Not covered": self.not_covered,
            f"Sources, read on {self.read}": self.sources,
        }
        lines = [self.title, "", f'--policy "{self.usage}" is', wrapped(self.rule)]
        for title, items in parts.items():
            lines += ["", f"{title}:", *(line for item in items for line in _item(item))] if items else []
        return "\n".join(lines)


def _default(option: Option) -> str:
    return " (needed)" if option.needed else "" if option.default is None else f" (default {option.default})"


def _item(text: str) -> list[str]:
    return wrap(
        text, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


@functools.cache
def presets() -> dict[str, Preset]:
    """All of them by name."""
    data = tomllib.loads((files("debandit") / "policies" / "presets.toml").read_text(encoding="utf-8"))
    return {name: _preset(name, **about) for name, about in data.items()}


def _preset(name: str, look_up: dict[str, Any], not_stated: dict[str, Any] | None = None, **about: Any) -> Preset:
    return Preset(name, look_up=_options(look_up), not_stated=_options(not_stated or {}), **about)


def _options(data: dict[str, Any]) -> dict[str, Option]:
    return {name: Option(**each) for name, each in data.items()}


def find(name: str, where: str = "") -> Preset:
    """The preset of this name."""
    known = presets()
    if name.lower() not in known:
        remedy = f"{did_you_mean(name.lower(), list(known))} There are: {', '.join(known)}".strip()
        raise InputError(f"there is no preset {shorten(name)!r}", where=where, remedy=remedy)
    return known[name.lower()]
