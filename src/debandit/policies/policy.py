"""What every rule has in common."""

import inspect
from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from debandit.engine.binding import class_of
from debandit.engine.data import Floats, Ints, RuleData
from debandit.engine.kernels import KernelName
from debandit.engine.objects import ObjectKernel
from debandit.errors import InputError, shorten
from debandit.policies.choices import before, index_probabilities, index_scores

INDEX = "debandit.engine.index"


class Policy(ABC):
    """The rule that chose the arms. Subclasses are frozen dataclasses whose fields are the rule's parameters."""

    name: ClassVar[str]
    binary_rewards: ClassVar[bool] = False  # the rule makes sense for 0/1 rewards only
    randomised: ClassVar[bool] = True  # given the past, more than one arm may be chosen

    @abstractmethod
    def rule(self, arm_count: int, horizon: int) -> RuleData:
        """The rule as data for the compiled loop."""

    @property
    def kernel(self) -> KernelName | ObjectKernel:
        """What the engine compiles: a module with `start`, `choose` and `learn`, or functions of the rule's own."""
        return INDEX

    @property
    def opening(self) -> int:
        """Forced initial pulls of each arm."""
        return 0

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
        return index_probabilities(self.rule(np.shape(pulls)[-1], horizon), t, pulls, sums)

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

    def path_scores(self, arms: Ints, rewards: Floats, arm_count: int) -> Floats:
        """The scores whose highest is chosen, of shape (..., T, K); NaN where the choice does not go by scores."""
        if self.kernel != INDEX or type(self).path_probabilities is not Policy.path_probabilities:
            return np.full((*arms.shape, arm_count), np.nan)
        horizon = arms.shape[-1]
        return index_scores(self.rule(arm_count, horizon), np.arange(horizon), *before(arms, rewards, arm_count))

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process finds the class of a user's file by the file, for it has no name to import it by."""
        owner = type(self)
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return remade, (owner.__module__, inspect.getfile(owner), owner.__qualname__, values)

    def __str__(self) -> str:
        options = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self))  # type: ignore[arg-type]
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


def remade(module: str, file: str, owner: str, values: dict[str, Any]) -> Policy:
    """A rule that came from another process."""
    policy: Policy = class_of(module, file, owner)(**values)
    return policy
