"""The parameters of rules in words, from the declarations of their fields."""

import inspect
from dataclasses import MISSING, fields
from typing import NamedTuple

from debandit.checks import limits_text
from debandit.policies.policy import Policy

SHARED = {  # what an option is for that several rules have
    "initial_pulls": "pulls of each arm, in index order, before the rule begins",
    "ties": "which of equal arms it takes",
    "first_t": "number of the first round; 0 if t is the number of rounds before",
    "draws": "for batches whose shares are those of this many draws; 0: each user has a draw",
    "prior_mean": "mean of the normal prior of each arm's mean",
    "prior_sd": "standard deviation of that prior",
    "noise_sd": "standard deviation of the rewards, as the rule believes",
    "alpha": "of the prior Beta(alpha, beta) of each arm",
    "beta": "of the same prior",
}
_TITLE = "\n\nParameters\n----------\n"


class Parameter(NamedTuple):
    """An option of a rule."""

    name: str
    default: str
    limits: str
    text: str


def parameters(rule: type[Policy]) -> list[Parameter]:
    """The options of a rule; the rule inside a wrapper is none."""
    found = []
    for field in fields(rule):  # type: ignore[arg-type]  # all are dataclasses
        if text := field.metadata.get("text") or SHARED.get(field.name, ""):
            default = "needed" if field.default is MISSING else str(field.default)
            found.append(Parameter(field.name, default, limits_text(field), text))
    return found


def add_parameters(rule: type[Policy]) -> None:
    """Put the parameters into the docstring of a rule, as numpydoc has them."""
    listed = [
        f"{each.name} : {', '.join(filter(None, (each.limits, f'default {each.default}')))}\n    {each.text}"
        for each in parameters(rule)
    ]
    if listed:
        text = (_TITLE + "\n".join(listed)).replace("\n", "\n    ").replace("    \n", "\n")
        rule.__doc__ = f"{(rule.__doc__ or '').rstrip()}{text}\n    "


def about(rule: type[Policy]) -> list[str]:
    """The paragraphs of the docstring of a rule, without its parameters."""
    text = (inspect.getdoc(rule) or "").partition(_TITLE)[0]
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
