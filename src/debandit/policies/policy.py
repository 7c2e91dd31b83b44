"""What every rule has in common."""

import inspect
from abc import ABC, abstractmethod
from dataclasses import fields
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from debandit.engine.binding import class_of
from debandit.engine.conditions import Conditions
from debandit.engine.data import TIES, Floats, Ints, RuleData
from debandit.engine.kernels import KernelName
from debandit.engine.objects import ObjectKernel
from debandit.errors import InputError, shorten
from debandit.log import ExperimentLog
from debandit.policies.choices import before, index_probabilities, index_scores, totals_at

INDEX = "debandit.engine.index"
SELDOM_CHANGED = ("initial_pulls", "ties")  # not worth a word where they are as usual


class Policy(ABC):
    """The rule that chose the arms. Subclasses are frozen dataclasses whose fields are the rule's parameters."""

    name: ClassVar[str]
    binary_rewards: ClassVar[bool] = False  # the rule makes sense for 0/1 rewards only
    randomised: ClassVar[bool] = True  # given the past, more than one arm may be chosen

    @abstractmethod
    def rule(self, arm_count: int, horizon: int) -> RuleData:
        """The rule as data for the compiled loop."""

    def conditions(self, arm_count: int, horizon: int) -> Conditions:
        """The conditions under which it is played."""
        return Conditions(self.opening)

    @property
    def kernel(self) -> KernelName | ObjectKernel:
        """What the engine compiles: a module with `start`, `choose` and `learn`, or functions of the rule's own."""
        return INDEX

    @property
    def opening(self) -> int:
        """Forced initial pulls of each arm, in index order."""
        return int(getattr(self, "initial_pulls", 0))

    def options(self) -> dict[str, Any]:
        """The rule's parameters and their values."""
        return {name: getattr(self, name) for name in self.defaults()}

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """The rule's parameters and what they are unless one says otherwise."""
        return {field.name: field.default for field in fields(cls)}  # type: ignore[arg-type]  # all are dataclasses

    def probabilities(self, t: ArrayLike, pulls: ArrayLike, sums: ArrayLike, horizon: int) -> Floats:
        """P(arm chosen in round t | the totals before it), t counted from 0.

        The totals have shape (..., K), and so has the answer; t is a number or has their leading axes.
        """
        if self.kernel != INDEX:
            raise InputError(
                f"{self.name} has code of its own and does not say how likely its choices are",
                where="policy",
                remedy="Give the rule a method probabilities(t, pulls, sums, horizon).",
            )
        return index_probabilities(_tables(self, np.shape(pulls)[-1], horizon), t, pulls, sums)

    def in_log(self, log: ExperimentLog) -> "Policy":
        """The rule as it ran in this log's batches, if it has any."""
        if log.batch_sizes is not None:
            raise InputError(
                f"the log has batches, but {self.name} hears of every reward at once",
                where="policy",
                remedy=f'If it heard of them only when a batch was over, write "batched({self.name})".',
            )
        return self

    @property
    def by_totals(self) -> bool:
        """Whether its chances follow from totals alone, so that whole batches can be drawn at once."""
        answers = self.kernel == INDEX or type(self).probabilities is not Policy.probabilities
        return answers and type(self).path_probabilities is Policy.path_probabilities

    def in_large_batches(self, arm_count: int, horizon: int) -> bool:
        """Whether it only ever sees sums of many rewards."""
        return False

    def batch_chances(self, known: int, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        """Of every arm in a batch that begins after `known` rounds with these totals, of shape (..., K)."""
        return self.probabilities(known, pulls, sums, horizon)

    @property
    def fingerprint(self) -> str:
        """What tells this rule from any other, besides its data for the engine."""
        return f"{type(self).__module__}.{type(self).__qualname__} {self} {self.kernel}"

    def path_probabilities(self, arms: Ints, rewards: Floats, arm_count: int) -> Floats:
        """P(arm chosen | the rounds before it) in every round of logs, from arms and rewards of shape (..., T).

        The answer has shape (..., T, K). Rules that look at more than totals override it.
        """
        horizon = arms.shape[-1]
        pulls, sums = before(arms, rewards, arm_count)
        return self.probabilities(np.arange(horizon), pulls, sums, horizon)

    def heard(self, arm_count: int, horizon: int) -> Ints:
        """Of how many rounds the rule has heard before each round."""
        return np.arange(horizon)

    def at_rounds(self, rounds: Ints, arms: Ints, rewards: Floats, arm_count: int) -> tuple[Floats, Floats]:
        """`path_probabilities` and `path_scores` of one log in some rounds only, in rising order."""
        if not self.by_totals:
            every = self.path_probabilities(arms, rewards, arm_count), self.path_scores(arms, rewards, arm_count)
            return every[0][rounds], every[1][rounds]
        return self._by_totals(rounds, *totals_at(arms, rewards, arm_count, rounds), len(arms))

    def _by_totals(self, rounds: Ints, pulls: Ints, sums: Floats, horizon: int) -> tuple[Floats, Floats]:
        chances = self.probabilities(rounds, pulls, sums, horizon)
        if self.kernel != INDEX:
            return chances, np.full(chances.shape, np.nan)
        return chances, index_scores(_tables(self, pulls.shape[-1], horizon), rounds, pulls, sums)

    def known_probabilities(self, arms: Ints, rewards: Floats, arm_count: int, prescribed: Ints, known: Ints) -> Floats:
        """`path_probabilities` of a rule that before round t has heard of the first known[t] rounds only.

        Rounds whose arm is `prescribed` (..., T), elsewhere -1, are none of its business; what it says of them is not
        used.
        """
        starts, back = np.unique(known, return_inverse=True)
        if not self.by_totals or len(starts) == len(known):
            return self.path_probabilities(arms, rewards, arm_count)[..., known, :]
        totals = totals_at(arms, rewards, arm_count, starts)
        return self.probabilities(starts, *totals, arms.shape[-1])[..., back, :]

    def path_scores(self, arms: Ints, rewards: Floats, arm_count: int) -> Floats:
        """The scores whose highest is chosen, of shape (..., T, K); NaN where the choice does not go by scores."""
        if self.kernel != INDEX or type(self).path_probabilities is not Policy.path_probabilities:
            return np.full((*arms.shape, arm_count), np.nan)
        horizon = arms.shape[-1]
        return index_scores(self.rule(arm_count, horizon), np.arange(horizon), *before(arms, rewards, arm_count))

    def known_scores(self, arms: Ints, rewards: Floats, arm_count: int, prescribed: Ints, known: Ints) -> Floats:
        """`path_scores` of a rule that hears of its rewards late, as in `known_probabilities`."""
        starts, back = np.unique(known, return_inverse=True)
        if self.kernel != INDEX or len(starts) == len(known):
            return self.path_scores(arms, rewards, arm_count)[..., known, :]
        rule, totals = self.rule(arm_count, arms.shape[-1]), totals_at(arms, rewards, arm_count, starts)
        return index_scores(rule, starts, *totals)[..., back, :]

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process finds the class of a user's file by the file, for it has no name to import it by."""
        owner = type(self)
        return remade, (owner.__module__, inspect.getfile(owner), owner.__qualname__, self.options())

    def __str__(self) -> str:
        usual = self.defaults()
        shown = [(k, v) for k, v in self.options().items() if k not in SELDOM_CHANGED or v != usual[k]]
        options = ", ".join(f"{name}={value!r}" for name, value in shown)
        return f"{self.name}({options})" if options else self.name

    def _check(self, holds: bool, what: str) -> None:
        if not holds:
            raise InputError(what, where=self.name)

    def _check_number(self, parameter: str, *, low: float, high: float = 1e100, whole: bool = False) -> None:
        """A parameter must be a (whole) number with low <= value <= high; numpy's numbers become Python's."""
        value = getattr(self, parameter)
        if isinstance(value, np.generic):
            value = value.item()
            object.__setattr__(self, parameter, value)
        sound = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
        self._check(
            sound and low <= value <= high,
            f"{parameter} must be a {'whole ' if whole else ''}number from {low:g} to {high:g}, "
            f"not {shorten(repr(value), 30)}",
        )

    def _check_initial_pulls(self, low: int) -> None:
        self._check_number("initial_pulls", low=low, high=10**8, whole=True)

    def _check_ties(self) -> None:
        """Breaking ties at random makes a rule randomised."""
        ties = getattr(self, "ties", "first")
        self._check(ties in TIES, f"ties must be {', '.join(TIES[:-1])} or {TIES[-1]}, not {shorten(repr(ties), 30)}")
        if ties == "random":
            object.__setattr__(self, "randomised", True)


@lru_cache(maxsize=4)
def _tables(policy: Policy, arm_count: int, horizon: int) -> RuleData:
    """They are as long as the horizon, and a batch asks for them once in every step."""
    return policy.rule(arm_count, horizon)


def remade(module: str, file: str, owner: str, values: dict[str, Any]) -> Policy:
    """A rule that came from another process."""
    policy: Policy = class_of(module, file, owner)(**values)
    return policy
