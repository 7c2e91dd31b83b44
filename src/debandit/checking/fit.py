"""The answer to: did this rule make this log? The record, and what it says in words."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from debandit.checking.counts import Counts
from debandit.checking.plausibility import Plausibility
from debandit.checking.reward_tests import RewardTests
from debandit.errors import Refused, listed, printable, shorten, with_few_sizes
from debandit.files import json_text, known, write_whole
from debandit.periods import COMMON, OWN, Drift
from debandit.tables import Column, Part, Printed, Table, plain

SCHEMA, SCHEMA_VERSION = "debandit.check", 1
LEVEL = 0.05  # below it a rule is doubtful
WARNED = 0.01  # below it a rule is implausible
FORCED = "forced"  # begins the warning of a result whose rule cannot have made the log
DOUBT = "even with the right rule, one log in twenty looks this odd (p = {p:.2g})"

_TESTS = (Column("test", "test", "text"), Column("p_value", "p", "number"), Column("finding", "finding", "text"))
_SITUATION = (Column("arm", "arm", "text"), Column("pulls", "pulls", "count"), Column("mean", "mean", "number"))
_IN_BATCH = (Column("expected", "expected", "number"), Column("taken", "in the batch", "count"))
_SCORE, _CHANCE = Column("score", "score", "number"), Column("probability", "probability", "number")
_LOGGED = Column("logged", "logged", "mark")
_MOST_ARMS = 10

REMEDY = (
    "What to do: compare the rule's options with the code that ran, give the arms in the rule's order (--arms), name "
    "the column of the time if the rows are not sorted (--time), and make sure that no round is missing or was added."
)
REMEDY_OF_BATCHES = (
    "What to do: compare the rule's options (priors, initial pulls, floors) with the code that ran, give the arms in "
    "the rule's order (--arms), and make sure that each batch ends where the rule learned of its rewards, that the "
    "batches are in the order of time, and that no round is missing or was added."
)
REMEDY_OF_COUNTS = (
    "What to do: compare the rule's options (priors, burn-in, batches) with the code that ran, and make sure that "
    "every round was counted, and none twice."
)


class Finding(NamedTuple):
    """One line of the check."""

    test: str
    p_value: float | None
    finding: str


class Looked(NamedTuple):
    """What was found by looking at rounds, or at batches, one by one."""

    unit: Literal["round", "batch"]
    size: int  # the number of them
    wrong: tuple[int, ...]  # those that the rule never makes, counted from 1
    where: str  # the first of them
    explained: str
    situation: tuple[dict[str, Any], ...]
    judged: Plausibility | None  # of a randomised rule
    finding: Finding

    @property
    def p_value(self) -> float:
        """0 if the log is impossible, 1 if a rule without randomness makes all of it."""
        return 0.0 if self.wrong else self.judged.p_value if self.judged else 1.0


@dataclass(frozen=True)
class Fit(Printed):
    """How a log looks under a rule.

    Attributes
    ----------
    policy : str
        The rule.
    arm_count, horizon : int
        Arms and rounds of the log.
    rounds_checked, batches_checked : int
        How many choices were judged one by one, or batch by batch; 0 if they were not judged in that way.
    p_value : float
        Of what decides: 0 if the log is impossible, 1 if a rule without randomness chose every arm.
    mismatches : tuple of int
        Rounds or batches, counted from 1, that the rule never makes.
    first_mismatch : str
        The first of them in words, or empty.
    situation : tuple of dict
        What the rule knew of each arm before that.
    log_likelihood, expected_log_likelihood : float or None
        Of the choices of a randomised rule.
    findings : tuple of Finding
        A line for each test.
    warnings : tuple of str
        What there is to say of the rewards.
    notes : tuple of str
        Arms that were not available in every batch, and what was left out.
    neighbours : tuple of str
        Policies much like this one that fit, if this one does not.
    """

    policy: str
    arm_count: int
    horizon: int
    rounds_checked: int
    batches_checked: int
    p_value: float
    mismatches: tuple[int, ...]
    first_mismatch: str
    situation: tuple[dict[str, Any], ...]
    log_likelihood: float | None
    expected_log_likelihood: float | None
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()
    neighbours: tuple[str, ...] = ()

    @property
    def verdict(self) -> Literal["fits", "doubtful", "implausible", "impossible"]:
        """Impossible if the rule never makes some choice of the log, implausible if p < 1 %, doubtful if p < 5 %."""
        if self.mismatches:
            return "impossible"
        return "implausible" if self.p_value < WARNED else "doubtful" if self.p_value < LEVEL else "fits"

    @property
    def fits(self) -> bool:
        """Whether the rule may have made the log, if there is some doubt or not."""
        return self.verdict in ("fits", "doubtful")

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per test."""
        return [finding._asdict() for finding in self.findings]

    def __str__(self) -> str:
        return plain(self.parts())

    def parts(self) -> list[Part]:
        """The pieces of what is printed."""
        scores = self._scores() if self.mismatches else None
        return [
            Part("verdict", self.headline, strong=True),
            Part("tests", Table(self.rows(), _TESTS, 3)),
            *([Part("mismatch", self.first_mismatch)] if self.mismatches else []),
            *([Part("mismatch", scores)] if scores else []),
            *(Part("remedy", remedy) for remedy in ([] if self.verdict == "fits" else self.remedies)),
            *(Part("note", f"note: {note}") for note in self.notes),
            *(Part("warning", f"warning: {warning}") for warning in self.warnings),
        ]

    def document(self) -> dict[str, Any]:
        """Everything, as a JSON file has it."""
        fields = {name: value for name, value in vars(self).items() if name != "findings"}
        found = {"verdict": self.verdict, "fits": self.fits, **fields, "tests": self.rows()}
        return {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, **known(found)}

    def to_json(self, path: str | Path) -> None:
        """Write everything, whole or not at all."""
        write_whole(path, json_text(self.document()))

    @property
    def headline(self) -> str:
        """The verdict in a line."""
        may = {"fits": "may", "doubtful": "may", "implausible": "is unlikely to", "impossible": "cannot"}[self.verdict]
        size, says = f"{self.arm_count:,} arms, {self.horizon:,} rounds", self.verdict if self.fits else "does not fit"
        doubt = f"; {DOUBT.format(p=self.p_value)}" if self.verdict == "doubtful" else ""
        return printable(f"{says}: {self.shown} {may} have made this log ({size}){doubt}")

    @property
    def shown(self) -> str:
        """The rule as it is shown to people."""
        return with_few_sizes(self.policy)

    @property
    def remedies(self) -> list[str]:
        """What would fit, and what to look at, if the rule does not."""
        usual = REMEDY if self.rounds_checked else REMEDY_OF_BATCHES if self.batches_checked else REMEDY_OF_COUNTS
        if not self.neighbours:
            return [usual]
        *others, last = map(with_few_sizes, self.neighbours)
        either = f"{', '.join(others)} or {last}" if others else last
        return [printable(f"This would fit: {either}. Use it if it is what ran."), usual]

    @property
    def never(self) -> str:
        """What the rule does not do, in a few words."""
        if self.mismatches[0] > (self.batches_checked or self.horizon):
            return "stops where the log stops"
        count = f"{len(self.mismatches):,} of the"
        if self.batches_checked:
            return f"makes the counts of {count} {self.batches_checked:,} batches"
        return f"makes {count} {self.rounds_checked:,} choices"

    def scores(self) -> str:
        """The first mismatch as a table, or nothing if there is none."""
        return str(self._scores() or "")

    def _scores(self) -> Table | None:
        """The first mismatch; of very many arms the logged one and the highest ones."""
        if not self.situation:
            return None
        by_score = any(row["score"] == row["score"] for row in self.situation)
        key = _SCORE if by_score else _CHANCE
        first = sorted(self.situation, key=lambda row: (not row["logged"], -row[key.key]))[:_MOST_ARMS]
        rows = [row for row in self.situation if row in first]
        return Table(rows, (*_SITUATION, key, *(_IN_BATCH if self.batches_checked else ()), _LOGGED), 4)


def finding_of(name: str, what: str, judged: Plausibility | None, wrong: list[str], count: int) -> Finding:
    """The finding on choices or counts; `wrong` are the names of those that the rule never makes."""
    if wrong:
        plural = "batches" if what == "batch" else f"{what}s"
        verb = "is" if len(wrong) == 1 else "are"
        text = f"{len(wrong):,} of {count:,} {plural} {verb} impossible under the rule: {listed(wrong, 5)}"
        return Finding(name, None, text)
    if judged is None:
        return Finding(name, None, f"all {count:,} agree with the rule, ties allowed")
    text = f"log-likelihood {judged.log_likelihood:.1f}, expected {judged.expected:.1f}"
    return Finding(name, judged.p_value, f"{text}; they {judged.departure}" if judged.p_value < LEVEL else text)


def of_counts(counts: Counts) -> Finding:
    """The finding on the arm with the least usual number of pulls."""
    text = f"{shorten(counts.arm)}: {counts.pulls:,} pulls, {counts.low:,.0f} to {counts.high:,.0f} in 95 % of the runs"
    return Finding("pull counts (approximate)", counts.p_value, text)


def of_rewards(tests: RewardTests) -> list[Finding]:
    """The findings on the arms that look the least like independent draws from one law, and on all arms together."""
    kinds = (
        ("drift of rewards", tests.drift, "time"),
        ("dependence of rewards", tests.dependence, "the reward before"),
    )
    found = [
        Finding(name, test.p_value, f"{shorten(test.arm)}: correlation {test.correlation:.2f} with {other}")
        for name, test, other in kinds
        if test is not None
    ]
    if tests.moves is not None and tests.in_batches:
        p_value = min(1.0, 2 * min(tests.moves.common, tests.moves.own))
        said = {COMMON: "all arms move together", OWN: "the arms move differently", "": "no arm moves"}
        found.append(Finding("drift over batches", p_value, said[tests.moves.kind(WARNED)]))
    return found


def reward_warnings(tests: RewardTests) -> list[str]:
    """What to say where the rewards are not what debiasing assumes."""
    drift, dependence, moves, in_batches = tests
    kind, found = tests.kind(WARNED), []
    if kind and moves is not None and in_batches and moves.kind(WARNED):
        found.append(_moving(kind, moves))
    elif kind and drift is not None:
        shared = "All arms drift together." if kind == COMMON else "The arms do not all drift alike."
        found.append(
            f"{shorten(drift.arm)}: its rewards {'rise' if drift.correlation > 0 else 'fall'} over time "
            f"(p = {drift.p_value:.2g}), but debiasing assumes that they do not. {shared} Plot the rewards over time: "
            "a single mean, corrected or not, may not describe them."
        )
    if dependence is not None and dependence.p_value < WARNED:
        found.append(
            f"{shorten(dependence.arm)}: each reward is {'like' if dependence.correlation > 0 else 'unlike'} the one "
            f"before it (p = {dependence.p_value:.2g}), but debiasing assumes independent rewards. Are rows repeated, "
            "or do users have several rows? The bias may be larger than estimated."
        )
    return found


def _moving(kind: str, moves: Drift) -> str:
    """What batches mean that move the arms."""
    if kind == COMMON:
        return (
            f"all arms move together from batch to batch (p = {moves.common:.2g}), as they do when weekends differ "
            "from weekdays. An arm with more users on good days then looks too good, corrected or not. Look at the "
            "period-weighted means (--adjust batches): they do not depend on which days an arm had."
        )
    return (
        f"the arms move from batch to batch, and differently (p = {moves.own:.2g}): which one is better may depend on "
        "the day. Plot them over time. The period-weighted means (--adjust batches) are averages over all days of the "
        "log."
    )


def debias_warnings(fit: Fit) -> list[str]:
    """What stays in the result of `debias`."""
    if fit.mismatches:
        what = f"{FORCED}: {fit.shown} never {fit.never}"
        return [f"{what}, so do not trust the correction; {fit.first_mismatch}", *fit.warnings]
    if fit.p_value < WARNED:
        test = fit.findings[0]
        what = f"{fit.shown} is unlikely to have made this log (p = {fit.p_value:.2g})"
        ways_out = " ".join(fit.remedies)
        return [
            f"{what}, so the correction may be worthless; {test.test}: {test.finding}. {ways_out}",
            *fit.warnings,
        ]
    if fit.verdict == "doubtful":
        return [f"{fit.shown} is a doubtful fit: {DOUBT.format(p=fit.p_value)}", *fit.warnings]
    return list(fit.warnings)


def refusal(fit: Fit, where: str) -> Refused:
    """Why `debias` does not go on."""
    what = f"{fit.shown} cannot have made this log: it never {fit.never}"
    in_spite = "To go on anyway: --force (in Python force=True)."
    ways_out = [fit.first_mismatch, fit.scores(), *fit.remedies, in_spite]
    return Refused(what, where=where, remedy="\n".join(ways_out))
