"""The answer: rules ranked by how well they explain a log, in numbers and in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from debandit.errors import listed
from debandit.files import json_text, known, write_whole
from debandit.identification.score import Scored
from debandit.policies import Policy
from debandit.policies.policy import SELDOM_CHANGED
from debandit.policies.wrappers import Wrapper
from debandit.tables import Column, Part, Printed, Table, plain

SCHEMA, SCHEMA_VERSION = "debandit.identified", 1
CLEAR, LIKELY = 0.95, 0.75  # weights
CERTAIN = -1e-3  # a log-likelihood above this explains every round
UNTRIED = "Delays, quotas, tempered or dropped shares and early stops were not tried."
MISFIT = 0.01  # a p-value below this says that not even the best rule fits
AS_GOOD = 1.0  # log-likelihoods that differ by less say nothing

_COLUMNS = (
    Column("rule", "rule", "text"),
    Column("log_likelihood", "log-likelihood", "score"),
    Column("impossible", "impossible rounds", "count"),
    Column("weight", "weight", "share"),
)


@dataclass(frozen=True)
class Candidate:
    """One of the rules: the best of its name, or one that explains the log nearly as well as the best of all.

    Attributes
    ----------
    policy : Policy
        The rule with its options.
    log_likelihood : float
        Of all choices.
    impossible : int
        Rounds whose arm the rule never chooses.
    weight : float
        Its posterior probability, whatever its numbers are, if the log is of one of them.
    note : str
        What else there is to say.
    """

    policy: Policy
    log_likelihood: float
    impossible: int
    weight: float
    note: str


@dataclass(frozen=True)
class Identified(Printed):
    """All rules that were tried, the best one first.

    Attributes
    ----------
    candidates : tuple of Candidate
        The rules, with their log-likelihoods, weights, and the rounds that they never make.
    horizon, arm_count : int
        Rounds and arms of the log.
    p_value : float
        Of the choices under the best rule; 1 if that has no randomness.
    looked_at : int
        How many rounds the rules were tried on: all, or the first ones where there are many rounds and arms.
    left_out : tuple of str
        Rules that were not tried, because that would take long with so many arms.
    """

    candidates: tuple[Candidate, ...]
    horizon: int
    arm_count: int
    p_value: float = 1.0
    looked_at: int = 0
    left_out: tuple[str, ...] = ()

    @property
    def policy(self) -> Policy:
        """The rule that explains the log best, with its options."""
        return self.candidates[0].policy

    @property
    def twins(self) -> list[Policy]:
        """Other rules that explain every round, if the best one does: no data of this log can tell them apart."""
        best, *others = self.candidates
        return [other.policy for other in others if min(best.log_likelihood, other.log_likelihood) > CERTAIN]

    @property
    def as_good(self) -> list[Policy]:
        """Other rules whose choices look as likely as the best one's, though they do not explain every round.

        Those with more around them are left out, for they can mimic it: a floor of 0.01 is hardly one.
        """
        best, *others = self.candidates
        twins, most = self.twins, _layers(best.policy)
        near = [other.policy for other in others if other.log_likelihood > best.log_likelihood - AS_GOOD]
        return [policy for policy in near if policy not in twins and _layers(policy) <= most]

    @property
    def verdict(self) -> str:
        """'clear', 'some doubt' or 'cannot tell', by the weight of the best and whether another explains as much.

        'none fits' if the best one is unlikely to have made the log; never clear if it cannot have made all of it.
        """
        impossible = self.candidates[0].impossible
        if self.p_value < MISFIT and not impossible:
            return "none fits"
        weight = self.candidates[0].weight
        doubt = weight < CLEAR or self.twins or self.as_good or impossible
        return "cannot tell" if weight < LIKELY else "some doubt" if doubt else "clear"

    def rows(self) -> list[dict[str, Any]]:
        """One row for each rule."""
        return [
            {
                "rule": brief(each.policy),
                "log_likelihood": each.log_likelihood,
                "impossible": each.impossible,
                "weight": each.weight,
            }
            for each in self.candidates
        ]

    def __str__(self) -> str:
        return plain(self.parts())

    def parts(self) -> list[Part]:
        """The pieces of what is printed."""
        rounds = f"{self.horizon:,} rounds"
        if self.looked_at < self.horizon:
            rounds += f", of which the first {self.looked_at:,} were looked at"
        size = f"{self.arm_count:,} arms, {rounds}; the rules by how well they explain the choices:"
        verdict, *more = self._words()
        return [
            Part("verdict", verdict, strong=True),
            *(Part("verdict", text) for text in more),
            Part("caption", size),
            Part("table", Table(self.rows(), _COLUMNS, 3)),
            Part("untried", UNTRIED),
            Part("next", "Next: debandit check with this rule tells how well it fits the log."),
        ]

    def document(self) -> dict[str, Any]:
        """Everything, as a JSON file has it."""
        found = {
            "verdict": self.verdict,
            "policy": str(self.policy),
            "p_value": self.p_value,
            "arm_count": self.arm_count,
            "horizon": self.horizon,
            "looked_at": self.looked_at,
            "left_out": [*self.left_out],
            "twins": [*map(str, self.twins)],
            "as_good": [*map(str, self.as_good)],
            "rules": [row | {"policy": str(c.policy)} for row, c in zip(self.rows(), self.candidates, strict=True)],
        }
        return {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, **known(found)}

    def to_json(self, path: str | Path) -> None:
        """Write everything, whole or not at all."""
        write_whole(path, json_text(self.document()))

    def _words(self) -> list[str]:
        best, second = self.candidates[:2]
        lines = [f"{_VERDICTS[self.verdict]} {brief(best.policy)}; the runner-up is {brief(second.policy)}."]
        if self.verdict == "none fits":
            batches = "" if best.policy.needs_batches else " Were there batches? Then name their column."
            lines.append(
                f"But it is unlikely to have made these choices, either (p = {self.p_value:.2g}).{batches} If you "
                "think of a rule that is not tried here, as with a delay, debandit check says how well it fits."
            )
        if best.note:
            lines.append(f"{best.note[0].upper()}{best.note[1:]}.")
        if best.impossible:
            lines.append(
                f"But {best.policy.core.name} never chooses the arm of {best.impossible:,} of the {self.looked_at:,} "
                f"rounds: it agrees with {1 - best.impossible / self.looked_at:.1%}. Are rounds missing, or was it not "
                "followed?"
            )
        if self.twins:
            lines.append(
                f"Every round agrees with {_all_of(self.twins)}, too: this log cannot tell them apart."
                " The weights only say which of them need more special options."
            )
        if self.as_good:
            lines.append(
                f"The choices look as likely under {_all_of(self.as_good)}: only that such rules are "
                "rarer, or fit many other logs as well, speaks against them."
            )
        if self.left_out:
            lines.append(f"Not tried, because it would take long with so many arms: {listed([*self.left_out])}.")
        return lines


_VERDICTS = {
    "none fits": "None of the rules fits. The best of them is",
    "clear": "Clear:",
    "some doubt": "With some doubt:",
    "cannot tell": "This log cannot tell. The best guess is",
}


def ranked(
    fits: Sequence[Scored], *, horizon: int, arm_count: int, looked_at: int | None = None, left_out: Sequence[str] = ()
) -> Identified:
    """Weights are posterior probabilities, because a score is the logarithm of prior odds times evidence."""
    order = sorted(fits, key=lambda fit: -fit.score)
    scores = np.array([fit.score for fit in order])
    weights = np.exp(scores - scores[0])
    weights /= weights.sum()
    candidates = tuple(
        Candidate(fit.policy, fit.log_likelihood, fit.impossible, float(weight), fit.note)
        for fit, weight in zip(order, weights, strict=True)
    )
    looked_at = horizon if looked_at is None else looked_at
    return Identified(candidates, horizon, arm_count, looked_at=looked_at, left_out=tuple(left_out))


def _all_of(policies: Sequence[Policy]) -> str:
    """All of them, to be typed: rules with something around them are too long for a list of names."""
    return ", ".join(map(brief, policies))


def _layers(policy: Policy) -> int:
    return len(policy.layers) if isinstance(policy, Wrapper) else 0


def brief(policy: Policy) -> str:
    """The rule with the options that are not at their defaults, or with all of one or two; no list of batches."""
    usual, options = policy.defaults(), policy.options()
    if isinstance(policy, Wrapper):
        changed = [(name, value) for name, value in options.items() if name != "policy" and value != usual[name]]
        numbers = [f"{name}={value!r}" for name, value in changed if not isinstance(value, tuple)]
        return f"{policy.name}({', '.join([brief(policy.policy), *numbers])})"
    few = sum(name not in SELDOM_CHANGED for name in options) <= 2
    shown = {k: v for k, v in options.items() if v != usual[k] or (few and k not in SELDOM_CHANGED)}
    text = ", ".join(f"{name}={value!r}" for name, value in shown.items())
    return f"{policy.name}({text})" if text else policy.name
