"""Wrappers that go by a rule's chances: floors, tempering, dropping (from the inside out as written) and others."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from debandit.checks import checked_number, choice, number, option, whole
from debandit.engine import changes
from debandit.engine.conditions import Conditions, Threshold
from debandit.errors import InputError
from debandit.policies.beta_thompson import BetaThompson
from debandit.policies.policy import Lines, Policy
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
                f"it needs the probabilities of the rule, and {self.core} does not give them",
                where=self.name,
                remedy="Give your own rule a method probabilities(t, pulls, sums, horizon).",
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
    """Each arm has at least some probability.

    It is the same for all arms (`probability`), or each arm has its own (`shares`), or it falls with time (`decay`): t
    is then the first round of the batch, counted from 1. how="mix" gives out the floor first, and the rule splits the
    rest. how="clip" raises smaller probabilities to the floor and takes that from what all arms have above it. The
    rule's initial pulls stay as they are.
    """

    name: ClassVar[str] = "floor"
    title: ClassVar[str] = "Every arm keeps a minimum probability"
    formula: ClassVar[Lines] = (
        "f_k = probability, shares_k, or t^-decay / K",
        "mix:   P_k = f_k + (1 - Σ_j f_j) p_k",
        "clip:  P_k = f_k + a max(0, p_k - f_k),  a such that Σ_k P_k = 1",
    )
    source: ClassVar[str] = (
        "Hadad, Hirshberg, Zhan, Wager and Athey (2021), Confidence intervals for policy evaluation in adaptive "
        "experiments, PNAS 118 (decay, clip)"
    )
    policy: Policy
    probability: float | None = number(None, low=0, high=0.5, text="of every arm; 0.05 if nothing else is given")
    how: str = choice("mix", "clip", text="mix: the floor is dealt first; clip: small probabilities are raised")
    shares: tuple[float, ...] | None = option(None, text="a floor for each arm, 0 where there is none: [0.2, 0, 0]")
    decay: float | None = number(None, low=0, high=10, text="power with which the floor t^-decay / K falls")

    def __post_init__(self) -> None:
        if self.shares is not None:
            several = isinstance(self.shares, Iterable) and not isinstance(self.shares, str)
            several = several and len(list(self.shares)) > 1
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
            raise InputError(what, where=self.name, remedy="Give every arm a share, which may be 0.")
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
        self._check(varied, f"{self.policy.name} has no randomness: {self.name} has nothing to change")


@dataclass(frozen=True)
class Tempered(Reshaping):
    """Reshape the rule's probabilities.

    how="exploration_sampling" is for finding the best arm. A power below 1 explores more than the rule, one above 1
    less.
    """

    name: ClassVar[str] = "tempered"
    title: ClassVar[str] = "Probabilities made more or less equal"
    formula: ClassVar[Lines] = (
        "exploration_sampling:  P_k ∝ p_k (1 - p_k)",
        "power:                 P_k ∝ p_k^power",
    )
    source: ClassVar[str] = (
        "Kasy and Sautmann (2021), Adaptive treatment assignment in experiments for policy choice, Econometrica 89"
    )
    policy: Policy
    how: str = choice(EXPLORATION_SAMPLING, "power", text="which of the two formulas")
    power: float | None = number(None, low=0, high=100, text="for how=power")

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
    """Arms with a small probability get nothing, and the others' are scaled to 1. This is decided anew each time."""

    name: ClassVar[str] = "drop"
    title: ClassVar[str] = "No pulls for arms with a small probability"
    formula: ClassVar[Lines] = ("P_k ∝ p_k 1{p_k ≥ below}",)
    policy: Policy
    below: float = number(0.01, low=0, high=0.5, text="the smallest probability that an arm may have; at most 1 / K")

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
    title: ClassVar[str] = "Batches dealt in exact shares"
    formula: ClassVar[Lines] = ("users of arm k in a batch: ⌊n p_k⌋, or one more",)
    policy: Policy

    def around(self, conditions: Conditions, arm_count: int, horizon: int) -> Conditions:
        return conditions._replace(quota=True)


@dataclass(frozen=True)
class Gate(Wrapper):
    """All arms have the same chance until the rule has seen enough pulls, and successes, of every arm.

    Then it is the rule's turn, for good; it knows all rounds so far. With quotas the arms get equal shares until then.
    """

    name: ClassVar[str] = "gate"
    title: ClassVar[str] = "An even split until each arm has enough pulls"
    formula: ClassVar[Lines] = ("p_k = 1 / K until N_k ≥ pulls and S_k ≥ successes for all k, then the rule's",)
    policy: Policy
    pulls: int = whole(100, text="pulls that every arm needs")
    successes: int = whole(0, text="successes that every arm needs, of 0/1 rewards")

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
    """The rule learns of a pull and its reward together, `rounds` rounds later, or `batches` batches later.

    The arms take turns until it knows its initial pulls.
    """

    name: ClassVar[str] = "delayed"
    title: ClassVar[str] = "Rewards come late"
    formula: ClassVar[Lines] = (
        "N_k and S_k are those before round t - rounds, or those before batch b - batches in batch b",
    )
    source: ClassVar[str] = "Joulani, György and Szepesvári (2013), Online learning under delayed feedback, ICML 30"
    policy: Policy
    rounds: int = whole(0, text="rounds until a reward is known")
    batches: int = whole(0, text="or batches until a reward is known")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(not (self.rounds and self.batches), "give the delay either in rounds or in batches")
        self._check(self.rounds > 0 or self.batches > 0, "give the delay, as rounds=200 or batches=1")

    def around(self, conditions: Conditions, arm_count: int, horizon: int) -> Conditions:
        return conditions._replace(late=self.rounds, late_batches=self.batches)
