"""Experiments that are decided on the way: an arm gets everything, or the experiment ends."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from debandit.checks import number, whole
from debandit.engine.conditions import Conditions
from debandit.engine.decisions import By, Decision
from debandit.errors import InputError
from debandit.policies.policy import Policy
from debandit.policies.wrappers import Wrapper

if TYPE_CHECKING:
    from debandit.log import ExperimentLog

USUAL_SHARE = 0.95


class Deciding(Wrapper):
    """What they have in common: one of four thresholds."""

    share: float | None
    probability: float | None
    value_remaining: float | None
    failures: int | None

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
            f"it needs the probabilities of {core.name}, which do not follow from pulls and sums alone; "
            "of rules like that only failures can be counted",
        )
        self._check(self.policy.randomised, f"{core.name} has no randomness: whatever it chooses has probability 1")
        self._check(
            by == "share" or core.draws_means,
            f"{core.name} does not draw the arms' means, so it does not say how likely each is the best; give a share",
        )
        says = type(core).leads_within is not Policy.leads_within
        self._check(by != "value_remaining" or says, f"{core.name} does not say what remains; give a probability")


@dataclass(frozen=True)
class CommitWhen(Deciding):
    """An arm gets everything, for good, as soon as the experiment is decided in its favour.

    That is judged whenever rewards were heard of: an arm's chance in the next batch is at least `share` (0.95), after
    floors and the like; or the rule's own `probability` that it is the best, before them; or with 95 % probability no
    arm is better than the one that is the likeliest to be the best by more than `value_remaining` of its mean (0.01);
    or another arm has this many `failures`, of 0/1 rewards: then the best of those that have not.
    """

    name: ClassVar[str] = "commit_when"
    policy: Policy
    share: float | None = number(None, low=0.5, high=1)
    probability: float | None = number(None, low=0.5, high=1)
    value_remaining: float | None = number(None, low=0, high=1)
    failures: int | None = whole(None, low=1)

    def around(self, conditions: Conditions, arm_count: int, horizon: int) -> Conditions:
        return conditions._replace(commits=self.decision)


@dataclass(frozen=True)
class StopWhen(Deciding):
    """The experiment ends as soon as it is decided, at the latest after `most` rounds.

    It is decided as `commit_when` says. `debias` and `check` must know the planned maximum, `most`: runs that have not
    stopped when the log ends go on. Batches after the log's last one have its most frequent size.
    """

    name: ClassVar[str] = "stop_when"
    policy: Policy
    share: float | None = number(None, low=0.5, high=1)
    probability: float | None = number(None, low=0.5, high=1)
    value_remaining: float | None = number(None, low=0, high=1)
    failures: int | None = whole(None, low=1)
    most: int | None = whole(None, low=1)

    def planned(self, rounds: int) -> int:
        if self.most is None:
            raise InputError(
                "it is not known how long the experiment might have lasted",
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
