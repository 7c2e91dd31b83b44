"""The answer to: did this rule make this log?"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from debandit.errors import printable
from debandit.tables import Column, render

LEVEL = 0.05  # of rejection by `check`
HARDLY = 0.01  # below it `debias` warns

_TESTS = (Column("test", "test", "text"), Column("p_value", "p", "number"), Column("finding", "finding", "text"))
_SITUATION = (Column("arm", "arm", "text"), Column("pulls", "pulls", "count"), Column("mean", "mean", "number"))
_SCORE, _CHANCE = Column("score", "score", "number"), Column("probability", "probability", "number")
_LOGGED = Column("logged", "logged", "mark")
_MOST_ARMS = 10

REMEDY = (
    "What to do: compare the rule's options with the code that ran, give the arms in the rule's order (--arms), name "
    "the column of the time if the rows are not sorted (--time), and make sure that no round is missing or was added."
)
REMEDY_OF_COUNTS = (
    "What to do: compare the rule's options (priors, burn-in, batches) with the code that ran, and make sure that the "
    "counts are those of all rounds and of no others."
)


class Finding(NamedTuple):
    """One line of the check."""

    test: str
    p_value: float | None
    finding: str


@dataclass(frozen=True)
class Fit:
    """How a log looks under a rule."""

    policy: str
    arm_count: int
    horizon: int
    rounds_checked: int  # 0 if the choices could not be judged one by one
    p_value: float  # of what decides: 0 if the log is impossible, 1 if a rule without randomness chose every arm
    mismatches: tuple[int, ...]  # rounds, counted from 1, whose arm the rule never chooses
    first_mismatch: str  # in words, or empty
    situation: tuple[dict[str, Any], ...]  # what the rule knew of each arm before that round
    log_likelihood: float | None  # of the choices of a randomised rule
    expected_log_likelihood: float | None
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]  # about the rewards

    @property
    def verdict(self) -> Literal["fits", "implausible", "impossible"]:
        """Impossible if the rule never does so, implausible if p is below 5 %."""
        return "impossible" if self.mismatches else "implausible" if self.p_value < LEVEL else "fits"

    @property
    def fits(self) -> bool:
        """Whether the rule may have made the log."""
        return self.verdict == "fits"

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per test."""
        return [finding._asdict() for finding in self.findings]

    def __str__(self) -> str:
        parts = [self.headline, render(self.rows(), _TESTS, 3)]
        if self.mismatches:
            parts += [printable(self.first_mismatch), self.scores()]
        if not self.fits:
            parts += [self.remedy]
        parts += [f"warning: {printable(warning)}" for warning in self.warnings]
        return "\n\n".join(parts)

    @property
    def headline(self) -> str:
        """The verdict in a line."""
        may = {"fits": "may have made", "implausible": "hardly made", "impossible": "cannot have made"}[self.verdict]
        size = f"{self.arm_count:,} arms, {self.horizon:,} rounds"
        return printable(f"{'fits' if self.fits else 'does not fit'}: {self.policy} {may} this log ({size})")

    @property
    def remedy(self) -> str:
        """What to look at if the rule does not fit."""
        return REMEDY if self.rounds_checked else REMEDY_OF_COUNTS

    def scores(self) -> str:
        """The first mismatch as a table; of very many arms the logged one and the highest ones."""
        if not self.situation:
            return ""
        by_score = any(row["score"] == row["score"] for row in self.situation)
        key = _SCORE if by_score else _CHANCE
        first = sorted(self.situation, key=lambda row: (not row["logged"], -row[key.key]))[:_MOST_ARMS]
        rows = [row for row in self.situation if row in first]
        return render(rows, (*_SITUATION, key, _LOGGED), 4)
