"""Wrappers that go by a rule's chances: floors, tempering, dropping (from the inside out as written) and others."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from debandit.checks import checked_number, choice, number, whole
from debandit.engine import changes
from debandit.engine.conditions import Conditions, Threshold
from debandit.errors import InputError
from debandit.policies.beta_thompson import BetaThompson
from debandit.policies.policy import Policy
from debandit.policies.wrappers import Wrapper

USUAL_FLOOR = 0.05
EXPLORATION_SAMPLING = "exploration_sampling"


class ByChances(Wrapper):
    """Wrappers that need to know the rule's chances."""

    @property
    def needs_chances(self) -> bool:
        """Whether it does with its options."""
        return True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.needs_chances and not self.says_chances:
            raise InputError(
                f"it needs the probabilities of {self.core}, which cannot say them",
                where=self.name,
                remedy="Give a rule of your own a method probabilities(t, pulls, sums, horizon).",
            )


class Changing(ByChances):
    """Wrappers that change the rule's chances."""

    @abstractmethod
    def change(self, arm_count: int) -> changes.Change | None:
        """What becomes of the chances; None: nothing."""

    def around(self, conditions: Conditions, arm_count: int, horizon: int) -> Conditions:
        change = self.change(arm_count)
        return conditions if change is None else conditions._replace(changes=(*conditions.changes, change))


@dataclass(frozen=True)
class Floor(Changing):
    """Each arm has at least some probability: the same `probability` for all, or a share of its own in `shares`.

    Or t^-decay / K, where t is the first round of the batch, counted from 1. how="mix" gives each arm its share and the
    rule the rest: P = p + (1 - K p) P(rule). how="clip" raises smaller probabilities to the floor and takes that from
    what all have beyond it. Not in the rule's initial pulls, which stay as they are.
    """

    name: ClassVar[str] = "floor"
    policy: Policy
    probability: float | None = number(None, low=0, high=0.5)
    how: str = choice("mix", "clip")
    shares: tuple[float, ...] | None = None
    decay: float | None = number(None, low=0, high=10)

    def __post_init__(self) -> None:
        if self.shares is not None:
            several = isinstance(self.shares, Iterable) and not isinstance(self.shares, str)
            self._check(several, "shares must be a list with a number for each arm, as in shares=[0.2, 0, 0]")
            shares = tuple(float(checked_number("a share", x, 0, 1, where=self.name)) for x in self.shares)
            self._check(sum(shares) <= 1 + 1e-9, f"the shares add up to {sum(shares):g}, which is more than 1")
            object.__setattr__(self, "shares", shares)
        super().__post_init__()
        given = [name for name in ("probability", "shares", "decay") if getattr(self, name) is not None]
        self._check(len(given) <= 1, f"give either {' or '.join(given)}")

    @property
    def needs_chances(self) -> bool:
        return self.how == "clip"

    @property
    def draws(self) -> bool:
        return self.change(2 if self.shares is None else len(self.shares)) is not None

    def change(self, arm_count: int) -> changes.Least | None:
        if self.shares is not None and len(self.shares) != arm_count:
            what = f"there are {arm_count} arms, but {len(self.shares)} shares"
            raise InputError(what, where=self.name, remedy="Give each arm its share, 0 where there is none.")
        each = 1 / arm_count if self.decay is not None else self._probability(arm_count)
        least = (each,) * arm_count if self.shares is None else self.shares
        return changes.Least(least, self.decay or 0.0, self.how == "clip") if any(least) else None

    def _probability(self, arm_count: int) -> float:
        probability = USUAL_FLOOR if self.probability is None else self.probability
        if probability * arm_count > 1 + 1e-9:
            raise InputError(
                f"{arm_count} arms cannot all have a probability of {probability:g}",
                where=self.name,
                remedy=f"With {arm_count} arms it is at most {1 / arm_count:g}.",
            )
        return min(probability, 1 / arm_count)


class Reshaping(Changing):
    """Those that make sense only if the rule has more than one arm to choose from."""

    def __post_init__(self) -> None:
        super().__post_init__()
        varied = self.core.randomised or any(isinstance(layer, Changing) for layer in self.layers[1:])
        self._check(varied, f"{self.policy.name} has no randomness, so that there is nothing to be {self.name}")


@dataclass(frozen=True)
class Tempered(Reshaping):
    """The rule's probabilities p become shares in proportion to p (1 - p), or to p^power.

    how="exploration_sampling" is the first (Kasy and Sautmann, Econometrica 89 (1), 2021); a power below 1 explores
    more than the rule, one above 1 less.
    """

    name: ClassVar[str] = "tempered"
    policy: Policy
    how: str = choice(EXPLORATION_SAMPLING, "power")
    power: float | None = number(None, low=0, high=100)

    def __post_init__(self) -> None:
        if self.power is not None:
            object.__setattr__(self, "how", "power")
        super().__post_init__()
        self._check(self.how != "power" or self.power is not None, "give the power, as in power=0.5")

    def change(self, arm_count: int) -> changes.Temper:
        return changes.Temper(self.power)


def exploration_sampling(alpha: float = 1.0, beta: float = 1.0, initial_pulls: int = 0, draws: int = 0) -> Tempered:
    """Thompson sampling for 0/1 rewards whose probabilities p become shares in proportion to p (1 - p)."""
    return Tempered(BetaThompson(alpha, beta, initial_pulls, draws))


@dataclass(frozen=True)
class Drop(Reshaping):
    """Arms with a probability below `below` get nothing, and the others' are scaled to 1; judged anew each time."""

    name: ClassVar[str] = "drop"
    policy: Policy
    below: float = number(0.01, low=0, high=0.5)

    def change(self, arm_count: int) -> changes.Dropping:
        if self.below > 1 / arm_count:
            raise InputError(
                f"with {arm_count} arms all of them may have a probability below {self.below:g}",
                where=self.name,
                remedy=f"It is at most {1 / arm_count:g}.",
            )
        return changes.Dropping(self.below)


@dataclass(frozen=True)
class Quota(ByChances):
    """A batch of n users is dealt in fixed shares, not drawn user by user.

    Each arm gets the whole part of n p, and the users who are left are drawn by the fractions.
    """

    name: ClassVar[str] = "quota"
    policy: Policy

    def around(self, conditions: Conditions, arm_count: int, horizon: int) -> Conditions:
        return conditions._replace(quota=True)


@dataclass(frozen=True)
class Gate(Wrapper):
    """All arms have the same chance until the rule has heard of `pulls` pulls, and `successes`, of every arm.

    Then it is the rule's turn, for good; it knows of all rounds before. With quotas the arms get equal shares before.
    """

    name: ClassVar[str] = "gate"
    policy: Policy
    pulls: int = whole(100)
    successes: int = whole(0)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "binary_rewards", self.policy.binary_rewards or self.successes > 0)

    @property
    def draws(self) -> bool:
        return self.pulls > 0 or self.successes > 0

    @property
    def opening(self) -> int:
        """0 if there is a gate, for it is not known beforehand what an arm lacks after it."""
        return 0 if self.draws else self.policy.opening

    def around(self, conditions: Conditions, arm_count: int, horizon: int) -> Conditions:
        gate = Threshold(self.pulls, self.successes, horizon)
        return conditions._replace(gate=gate) if self.draws else conditions


@dataclass(frozen=True)
class Delayed(Wrapper):
    """The rule hears of a pull and its reward together, `rounds` rounds later, or `batches` batches later.

    Until it has heard of its initial pulls the arms take turns.
    """

    name: ClassVar[str] = "delayed"
    policy: Policy
    rounds: int = whole(0)
    batches: int = whole(0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(not (self.rounds and self.batches), "give the delay either in rounds or in batches")
        self._check(self.rounds > 0 or self.batches > 0, "give the delay, as rounds=200 or batches=1")

    def around(self, conditions: Conditions, arm_count: int, horizon: int) -> Conditions:
        return conditions._replace(late=self.rounds, late_batches=self.batches)
