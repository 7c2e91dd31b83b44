"""Experiments that are decided on the way: an arm gets everything, or the experiment ends."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from debandit.checks import number, whole
from debandit.engine.conditions import Conditions
from debandit.engine.decisions import By, Decision
from debandit.errors import InputError
from debandit.policies.policy import Lines, Policy
from debandit.policies.wrappers import Wrapper

if TYPE_CHECKING:
    from debandit.log import ExperimentLog

USUAL_SHARE = 0.95


@dataclass(frozen=True)
class Deciding(Wrapper):
    """What they have in common: one of four thresholds."""

    formula: ClassVar[Lines] = (
        "share:            P_k ≥ share for an arm k, P_k its chance in the next batch",
        "probability:      p_k ≥ probability for an arm k, p_k its chance under the rule alone",
        "value_remaining:  P(θ_j ≤ (1 + value_remaining) θ_k for all j) ≥ 0.95, k with the highest p_k",
        "failures:         N_k - S_k ≥ failures for an arm k",
    )
    policy: Policy
    share: float | None = number(
        None, low=0.5, high=1, text="an arm's chance in the next batch; 0.95 if nothing else is given"
    )
    probability: float | None = number(None, low=0.5, high=1, text="the rule's own chance, before floors and the like")
    value_remaining: float | None = number(
        None, low=0, high=1, text="by which share of its mean the leader may still be beaten; 0.01 is usual"
    )
    failures: int | None = whole(None, low=1, text="failures of an arm, of 0/1 rewards; the best of the others wins")

    @property
    def decision(self) -> Decision:
        """The threshold; by default a share."""
        by: By
        for by in ("probability", "value_remaining", "failures"):
            if (threshold := getattr(self, by)) is not None:
                return Decision(by, threshold)
        return Decision("share", USUAL_SHARE if self.share is None else self.share)

    def __post_init__(self) -> None:
        super().__post_init__()
        names = ("share", "probability", "value_remaining", "failures")
        given = [name for name in names if getattr(self, name) is not None]
        self._check(len(given) <= 1, f"give either {' or '.join(given)}")
        by, core = self.decision.by, self.core
        if by == "failures":
            object.__setattr__(self, "binary_rewards", True)
            return
        self._check(
            self.by_totals,
            f"it needs probabilities that follow from pulls and sums alone, and those of {core.name} do not; with such "
            "a rule only failures can be counted",
        )
        self._check(self.policy.randomised, f"{core.name} has no randomness: whatever it chooses has probability 1")
        self._check(
            by == "share" or core.draws_means,
            f"{core.name} does not draw the arms' means, so it does not say how likely each is the best; give a share",
        )
        says = type(core).leads_within is not Policy.leads_within
        self._check(
            by != "value_remaining" or says, f"{core.name} does not say how much value remains; give a probability"
        )


@dataclass(frozen=True)
class CommitWhen(Deciding):
    """An arm gets everything, for good, as soon as the experiment is decided in its favour.

    This is decided whenever the rule has learned, by one of four thresholds; the default is share=0.95.
    """

    name: ClassVar[str] = "commit_when"
    title: ClassVar[str] = "The winner gets everything"

    def around(self, conditions: Conditions, arm_count: int, horizon: int) -> Conditions:
        return conditions._replace(commits=self.decision)


@dataclass(frozen=True)
class StopWhen(Deciding):
    """The experiment ends as soon as it is decided, at the latest after `most` rounds.

    It is decided as `commit_when` says. `debias` and `check` must know the planned maximum, `most`: runs that have not
    stopped when the log ends go on. Batches after the log's last one have its most frequent size.
    """

    name: ClassVar[str] = "stop_when"
    title: ClassVar[str] = "The experiment ends with a winner"
    most: int | None = whole(None, low=1, text="the planned maximum of rounds")

    def planned(self, rounds: int) -> int:
        if self.most is None:
            raise InputError(
                "how long could the experiment have lasted? The log does not say",
                where=self.name,
                remedy="Give the planned maximum of rounds, as in stop_when(RULE, share=0.95, most=10000).",
            )
        self._allowed(rounds)
        return self.most

    def _allowed(self, rounds: int) -> None:
        if self.most is not None and rounds > self.most:
            what = f"the experiment has {rounds:,} rounds, but at most {self.most:,} were planned"
            raise InputError(what, where=self.name, remedy="Give the planned maximum of rounds as most.")

    def in_batches(self, log: "ExperimentLog", rounds: int = 0) -> Policy:
        return super().in_batches(log, max(rounds, self.planned(log.horizon)))

    def around(self, conditions: Conditions, arm_count: int, horizon: int) -> Conditions:
        self._allowed(horizon)
        return conditions._replace(stops=self.decision)
